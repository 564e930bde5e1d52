"""Sources that leave unread what matters to nobody: answers, numbers and counts are the same."""

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import australis as au
from australis.connectors.source import Source
from australis.connectors.sources import chunked, parquet
from australis.connectors.sources.files import Files
from australis.connectors.sources.memory import MemorySource
from australis.engine import task
from australis.engine.addresses import MEASURES
from australis.engine.job import Job
from australis.engine.measures import progress
from australis.engine.optimizing import follow, rearranged
from australis.engine.selecting import selecting, selections
from australis.engine.succession import planned
from australis.expressions import expr
from australis.model.network import Network
from australis.plan.drawn import optimized
from australis.plan.rules import Firing
from australis.testing import rows
from tests.engine.test_stamp import trains_of


@au.function("double")
def of_train(mph):  # type: ignore[no-untyped-def]
    return np.cumsum(np.asarray(mph)) % 100.0


SPEC = "time int, vid int, mph int"
A, B = au.stream("a", SPEC), au.stream("b", SPEC)
FAST = A.filter("time >= 300", box="late").filter("mph > 30", box="fast")


def write(path: Path, count: int = 1000, group: int = 50, shift: int = 0) -> Path:
    """Tuples in the order of their time, in small row groups."""
    at = np.arange(shift, shift + count)
    columns = {"time": at, "vid": at % 7, "mph": at * 37 % 100}
    pq.write_table(pa.table({name: pa.array(each, pa.int64()) for name, each in columns.items()}), path, group)
    return path


def job_of(net: Network, folder: Path, optimize: bool, partitions: int = 2, **paths: Path) -> Job:
    sources: dict[str, Source] = {name: Files(str(path), net.schemas[name]["out"]) for name, path in paths.items()}
    job = Job(net, planned(net, sources, partitions), sources, str(folder / "checkpoint"), partitions)
    return selecting(job, {}) if optimize else job


NETS = {
    "filters in a row": (au.network(out=FAST), {"a": 300}),
    "two branches": (
        au.network(out=FAST, other=A.filter("time between 100 and 199 and vid = 1", box="some")),
        {"a": 200},
    ),
    "windows behind them": (
        au.network(out=FAST.aggregate(on="time", size=100, by="vid", n="count(*)", last="last(mph)")),
        {"a": 300},
    ),
    "inputs that meet": (
        au.network(out=FAST.union(B.filter("time >= 400", box="early"), box="both").map(time="time", vid="vid")),
        {"a": 300, "b": 400},
    ),
    "tuples that are counted": (
        au.network(
            out=FAST.union(B, box="both").aggregate(on="tup#", size=5, by="vid", first="first(time)", mph="max(mph)")
        ),
        {"a": 300},
    ),
    "a table": (
        au.network(
            B.write(au.table("seen", "vid int, last int", key="vid"), last="time"),
            out=FAST.read(au.table("seen", "vid int, last int", key="vid")),
        ),
        {"a": 300},
    ),
    "a function that is not pure": (au.network(out=FAST.filter("of_train(mph) > 50", box="odd")), {"a": 300}),
    "a rest that is used": (au.network(out=A.filter("time >= 300", box="late").rest), {}),
    "an input that is an output": (au.network(out=FAST, all=A), {}),
}


@pytest.mark.parametrize("name", NETS)
def test_local_runs_give_the_same_in_the_same_order(name: str, tmp_path: Path) -> None:
    net, skipped = NETS[name]
    given = {each: write(tmp_path / f"{each}.parquet") for each in ("a", "b") if each in net.schemas}
    for train in (30, 70, 1 << 16):
        whole, some = (net.run_local(given, train=train, optimize=optimize) for optimize in (False, True))
        assert {output: rows(table) for output, table in some.items()} == {
            output: rows(table) for output, table in whole.items()
        }
        assert some.skipped == skipped
        assert whole.skipped == {}
        assert {each: some.counts[each].given for each in given} == {each: whole.counts[each].given for each in given}
        assert some.late == whole.late
        told = [firing for firing in some.firings if firing.rule == "push_into_source"]
        assert [firing.boxes[0] for firing in told] == list(skipped)


def results(job: Job, folder: Path) -> tuple[list[object], Counter[str], Counter[str]]:
    """What each batch gives, with arrival numbers, each batch being run twice; the tuples taken, and those skipped."""
    folder.mkdir()
    found: list[object] = []
    taken, skipped = Counter[str](), Counter[str]()
    for batch, trains in trains_of(job, 170, folder, twice=True):
        outputs = {output.name: trains.get(output.name, []) for output in job.network.outputs}
        found.append({
            name: sorted(pair for train in each for pair in zip(train.number.tolist(), rows(train), strict=True))
            for name, each in outputs.items()
        })  # fmt: skip
        told = progress(job.network, batch.version, [train.tuples for train in trains[MEASURES]])
        if len(found) % 2:
            taken.update(told["taken"])
            skipped.update(told["skipped"])
    assert found[::2] == found[1::2]
    return found, taken, skipped


@pytest.mark.parametrize("name", NETS)
@pytest.mark.parametrize("partitions", [1, 3])
def test_tasks_give_the_same_with_the_same_numbers(
    name: str, partitions: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (chunked, parquet):
        monkeypatch.setattr(module, "BATCH", 40)
    monkeypatch.setattr(task, "TRAIN", 16)
    net, skipped = NETS[name]
    paths = {each: write(tmp_path / f"{each}.parquet") for each in ("a", "b") if each in net.schemas}
    jobs = [job_of(net, tmp_path / str(optimize), optimize, partitions, **paths) for optimize in (False, True)]
    whole, some = (results(job, tmp_path / f"control{at}") for at, job in enumerate(jobs))
    assert some[:2] == whole[:2]
    assert some[1] == dict.fromkeys(paths, 1000)
    # A batch ends within a row group, which is read for both.
    assert whole[2] == {}
    assert some[2].keys() == skipped.keys()
    assert all(count <= some[2][each] + 50 * 6 for each, count in skipped.items())


def test_what_does_not_read_is_a_letter_all_the_same(tmp_path: Path) -> None:
    tuples = pa.table({"time": [1, 2**40, 3, 4, 500, 600], "vid": [1] * 6, "mph": [99] * 6})
    pq.write_table(tuples, tmp_path / "a.parquet", row_group_size=2)
    for optimize in (False, True):
        unread: list[object] = []
        found = au.network(out=FAST).run_local(a=tmp_path / "a.parquet", unread=unread, optimize=optimize)  # type: ignore[arg-type]
        assert [row[0] for row in rows(found["out"])] == [500, 600]
        assert [each.count for each in unread] == [1]  # type: ignore[attr-defined]
        assert found.skipped == ({"a": 2} if optimize else {})


def test_a_source_is_told_what_matters_in_the_network_of_its_job(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet")
    first, _ = optimized(au.network(out=FAST))
    job = job_of(first, tmp_path, True, a=path)
    assert job.predicates == {"a": expr("mph > 30 and time >= 300")}
    assert job.firings == (Firing("push_into_source", ("a", "late", "fast"), None),)
    turned = au.network(out=A.filter("mph > 30", box="fast").filter("time >= 300", box="late"))
    after = rearranged(job, 1, turned, [], 2)
    assert after is not None
    assert after.predicates == job.predicates
    assert after.firings == ()  # it is no news
    early = au.network(out=A.filter("time < 300", box="late"))
    changed = follow(after, 5, early, job.sources, 3)
    assert changed.predicates == {"a": expr("time < 300")}
    assert changed.firings == (Firing("push_into_source", ("a", "late"), None),)
    blind = follow(after, 5, early, job.sources, 3, rules=False)
    assert blind.predicates == {}
    assert blind.firings == ()
    assert follow(after, 5, au.network(out=A), job.sources, 3).predicates == {}


def test_tables_and_other_sources_are_read_whole(tmp_path: Path) -> None:
    cars = au.static("cars", "vid int, class int")
    net = au.network(out=FAST.join(cars.filter("class > 1"), "left.vid = right.vid"))
    for path in ("a", "cars"):
        pq.write_table(pa.table({name: [1] for name in ("time", "vid", "mph", "class")}), tmp_path / f"{path}.parquet")
    sources: dict[str, Source] = {
        each.name: Files(str(tmp_path / f"{each.name}.parquet"), each.schema) for each in net.inputs
    }
    assert selections(net, sources).keys() == {"a"}
    held = MemorySource((pa.record_batch({name: pa.array([1], pa.int32()) for name in ("time", "vid", "mph")}),))
    assert selections(net, sources | {"a": held}) == {}
