"""Shedding by the tasks of a job: in any partitions and batches, the same when a batch is run again, and counted."""

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import australis as au
from australis.connectors.sources.memory import MemorySource
from australis.engine.addresses import MEASURES
from australis.engine.job import Job
from australis.engine.measures import SCHEMA, part, progress, rows_of
from australis.engine.measures import output as output_row
from australis.engine.service import ServiceWindow
from australis.engine.spark.control import Control, Directive
from australis.engine.succession import planned
from australis.engine.totals import Totals
from australis.kernels import generated
from australis.model.train import Train
from australis.qos.monitor import Monitor
from australis.qos.ranks import BINS, NumberRank, WindowPart
from australis.qos.shedding import ShedPlan, TupleKeep, shed_plan
from australis.qos.worth import Worths
from australis.testing import rows
from tests.engine.test_stamp import trains_of

REPORTS = au.stream("reports", "t int, seg int, mph int")
EVERY = REPORTS.map(box="every", t="t", seg="seg", mph="mph * 2")
STATS = EVERY.aggregate(on="t", size=10, by="seg", slack=1, n="count(*)", s="sum(mph)", box="stats")
NETWORK = au.network(
    stats=STATS.filter("n > 0", box="busy"),
    archive=EVERY.map(box="archive", x="mph"),
    exact=EVERY.filter("mph > 100", box="exact"),
)
PART = WindowPart((2, 9), (0.4, 1.0))


def reports(count: int, disorder: int = 4) -> MemorySource:
    chance = np.random.default_rng(3)
    times = np.arange(count) // 20 + chance.integers(-disorder, max(disorder, 1), count)
    columns = {"t": times, "seg": chance.integers(0, 7, count), "mph": chance.integers(0, 100, count)}
    return MemorySource((pa.record_batch({name: pa.array(each, pa.int32()) for name, each in columns.items()}),))


def run(
    network: au.Network,
    plan: ShedPlan | None,
    partitions: int,
    limit: int,
    folder: Path,
    twice: bool = False,
    disorder: int = 4,
) -> tuple[list[dict[str, Counter]], Totals]:
    """The rows of outputs, batch by batch, and the totals."""
    sources = {"reports": reports(3000, disorder)}
    folder.mkdir()
    job = Job(network, planned(network, sources, partitions), sources, str(folder / "checkpoint"), partitions)
    found, totals = [], Totals()
    for batch, trains in trains_of(job, limit, folder, twice, None if plan is None else plan.render()):
        outputs = [output.name for output in network.outputs]
        found.append({name: Counter(row for each in trains.get(name, []) for row in rows(each)) for name in outputs})
        tables = [each.tuples for each in trains[MEASURES]]
        totals.add(progress(network, batch.version, tables) | {"seconds": 0.0, "letters": 0}, tables)
        assert all(row["given"] <= row["taken"] for row in rows_of(tables) if row["kind"] == "shed")
    return found, totals


def summed(batches: list[dict[str, Counter]]) -> dict[str, Counter]:
    return {name: sum((batch[name] for batch in batches), Counter()) for name in batches[0]}


@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.parametrize("limit", [400, 5000])
def test_outputs_are_parts_of_the_exact_ones_and_all_is_counted(partitions: int, limit: int, tmp_path: Path) -> None:
    plan = shed_plan(NETWORK, {"archive": 0.2}, {"stats": PART})
    exact = summed(run(NETWORK, None, partitions, limit, tmp_path / "exact")[0])
    batches, totals = run(NETWORK, plan, partitions, limit, tmp_path / "shed")
    found = summed(batches)
    assert found["exact"] == exact["exact"]
    assert found["stats"] <= exact["stats"]
    for row, count in exact["stats"].items():
        assert found["stats"][row] == count or 20 <= row[0] < 90
    left = sum(20 <= row[0] < 90 for row in found["stats"]) / sum(20 <= row[0] < 90 for row in exact["stats"])
    assert 0.2 < left < 0.6
    assert found["archive"] <= exact["archive"]
    assert sum(found["archive"].values()) == pytest.approx(600, abs=80)
    assert totals.shed["box archive"] == 3000 - sum(found["archive"].values())
    assert totals.shed["box stats"] > 500


SOME = EVERY.aggregate(on="t", size=10, by="seg", n="count(*)", s="sum(mph)", shed="sample", box="some")
SAMPLED = au.network(some=SOME.output(delivered={0: 0, 1: 1}), exact=EVERY.filter("mph > 100", box="exact"))


def by_window(found: Counter) -> dict[tuple, tuple]:
    return {row[:2]: row[2:] for row in found}


@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.parametrize("limit", [400, 5000])
def test_windows_of_samples_are_those_of_the_exact_run(partitions: int, limit: int, tmp_path: Path) -> None:
    plan = shed_plan(SAMPLED, {}, samples={"some": 0.3})
    exact = summed(run(SAMPLED, None, partitions, limit, tmp_path / "exact", disorder=0)[0])
    batches, totals = run(SAMPLED, plan, partitions, limit, tmp_path / "shed", twice=True, disorder=0)
    assert batches[::2] == batches[1::2]
    found = summed(batches[::2])
    assert found["exact"] == exact["exact"]
    whole, some = by_window(exact["some"]), by_window(found["some"])
    assert some.keys() == whole.keys()
    for window, (n, _, seen) in some.items():
        assert n == pytest.approx(whole[window][0] * seen)
    assert sum(n for n, _, _ in some.values()) == pytest.approx(900, abs=100)
    assert totals.shed["box some"] == 3000 - totals.boxes["some"].taken > 500


@pytest.mark.parametrize("partitions", [1, 2])
def test_what_outputs_of_samples_lose_is_what_their_windows_have_not_seen(partitions: int, tmp_path: Path) -> None:
    sources, job_folder = {"reports": reports(3000, 0)}, tmp_path / "job"
    job_folder.mkdir()
    job = Job(SAMPLED, planned(SAMPLED, sources, partitions), sources, str(tmp_path / "checkpoint"), partitions)
    window, monitor, seen = ServiceWindow(SAMPLED), Monitor(), Counter()
    plan = shed_plan(SAMPLED, {}, samples={"some": 0.3})
    for batch, trains in trains_of(job, 1000, job_folder, shed=plan.render()):
        measured = list(rows_of(each.tuples.select(SCHEMA.names) for each in trains[MEASURES]))
        window.add(batch.version * 1_000_000, measured)
        monitor = monitor.add(measured, 1.0)
        for row in measured:
            if row["kind"] == "sampled":
                seen.update(came=row["taken"], seen=row["seen"])
    assert seen["came"] == 3000
    service = window.outputs()
    assert service["some"].loss == pytest.approx(1 - seen["seen"] / 3000)
    assert service["some"].utility == pytest.approx(seen["seen"] / 3000)
    assert service["exact"].loss == 0
    exact, _ = run(SAMPLED, None, partitions, 1000, tmp_path / "exact", disorder=0)
    assert monitor.costs(SAMPLED).boxes["some"].selectivity["out"] == pytest.approx(
        sum(summed(exact)["some"].values()) / 3000, rel=0.05
    )


def test_a_batch_that_is_run_again_leaves_out_the_same(tmp_path: Path) -> None:
    plan = shed_plan(NETWORK, {"archive": 0.2}, {"stats": PART})
    batches, totals = run(NETWORK, plan, 2, 700, tmp_path / "twice", twice=True)
    assert batches[::2] == batches[1::2]
    assert totals.shed["box archive"] == 3000 - sum(summed(batches[::2])["archive"].values())


def test_the_greatest_window_of_a_box_is_told_wherever_tuples_are_left_out(tmp_path: Path) -> None:
    network = au.network(stats=STATS)
    plan = shed_plan(network, {}, {"stats": PART})
    assert set(plan.places) == {("input", "reports")}
    sources = {"reports": reports(3000)}
    job = Job(network, planned(network, sources, 2), sources, str(tmp_path / "checkpoint"), 2)
    greatest = []
    for _, trains in trains_of(job, 1000, tmp_path, shed=plan.render()):
        seen = [row["window"] for row in rows_of(each.tuples for each in trains[MEASURES]) if row["name"] == "stats"]
        greatest.append(max(window for window in seen if window is not None))
    assert greatest == sorted(greatest)
    assert greatest[-1] == 15


def test_what_nobody_wants_does_not_enter(tmp_path: Path) -> None:
    network = au.network(a=EVERY.map(box="a", x="mph"), b=EVERY.filter("mph > 50", box="b"))
    batches, totals = run(network, shed_plan(network, {"a": 0.3, "b": 0.5}), 2, 1000, tmp_path / "shed")
    assert totals.shed["input reports"] == pytest.approx(1500, abs=120)
    assert totals.boxes["every"].taken == 3000 - totals.shed["input reports"]
    assert sum(summed(batches)["a"].values()) == pytest.approx(900, abs=100)


def test_without_a_plan_nothing_is_left_out(tmp_path: Path) -> None:
    batches, totals = run(NETWORK, None, 2, 1000, tmp_path / "exact")
    assert totals.shed == {}
    assert sum(summed(batches)["archive"].values()) == 3000


GRAPH = {100: 0.0, 140: 0.3, 180: 1.0}
FAST = EVERY.filter("mph > 100", box="fast").map(box="columns", v="mph", seg="seg")
VALUED = au.network(
    fast=FAST.output(delivered={0: 0, 1: 1}, value={"v": GRAPH}),
    by_seg=EVERY.map(box="copy", seg="seg", mph="mph").output(delivered={0: 0, 1: 1}, value={"seg": {0: 1.0, 6: 0.0}}),
)
ALONE = au.network(fast=FAST.output(delivered={0: 0, 1: 1}, value={"v": GRAPH}))


class Pressing(MemorySource):
    """Tuples in memory that cannot wait."""

    urgent = True


def speeds(count: int, low: int, high: int) -> pa.RecordBatch:
    chance = np.random.default_rng(7)
    columns = {"t": np.arange(count), "seg": chance.integers(0, 7, count), "mph": chance.integers(low, high, count)}
    return pa.record_batch({name: pa.array(each, pa.int32()) for name, each in columns.items()})


def steered(
    network: au.Network, tuples: list[pa.RecordBatch], kept: dict[str, float], partitions: int, folder: Path
) -> tuple[list[dict[str, list]], ServiceWindow]:
    """The tuples of outputs, batch by batch of 1000, each after the tenth shed by the worth of those before.

    And the service.
    """
    sources = {"reports": Pressing(tuple(tuples))}
    folder.mkdir()
    job = Job(network, planned(network, sources, partitions), sources, str(folder / "checkpoint"), partitions)
    worths, window, found = Worths(network), ServiceWindow(network), []
    for batch, trains in trains_of(job, 1000, folder):
        tables = [each.tuples.select(SCHEMA.names) for each in trains[MEASURES]]
        for output in network.outputs:
            parts = rows_of([part(output.name, "", trains.get(output.name, []))])
            tables.append(output_row(batch.version, output.name, parts, batch.clock))
        measured = list(rows_of(tables))
        worths, offers = worths.add(measured, 1.0)
        window.add(batch.version * 1_000_000, measured, offers)
        found.append({o.name: [row for each in trains.get(o.name, []) for row in rows(each)] for o in network.outputs})
        plan = shed_plan(network, kept if len(found) >= 10 else {}, worth=worths.counts())
        Control(str(folder)).write(Directive(job.number, 1000, shed=plan.render()))
    return found, window


def worth(values: list) -> np.ndarray:
    return np.interp([row[0] for row in values], list(GRAPH), list(GRAPH.values()))


@pytest.mark.parametrize("partitions", [1, 2])
def test_of_a_value_graph_the_tuples_of_most_worth_come_out(partitions: int, tmp_path: Path) -> None:
    tuples = [speeds(30_000, 0, 100)]
    exact, _ = steered(ALONE, tuples, {}, partitions, tmp_path / "exact")
    found, window = steered(ALONE, tuples, {"fast": 0.4}, partitions, tmp_path / "shed")
    assert found[:10] == exact[:10]
    for all_of_it, some in zip(exact[10:], found[10:], strict=True):
        offered, kept = Counter(all_of_it["fast"]), Counter(some["fast"])
        assert kept <= offered
        dropped = list((offered - kept).elements())
        assert worth(some["fast"]).min() >= worth(dropped).max() - 1 / BINS - 1e-12
    late_exact, late = ([row for batch in each[10:] for row in batch["fast"]] for each in (exact, found))
    share = len(late) / len(late_exact)
    assert share == pytest.approx(0.4, abs=0.04)
    # As many tuples by chance would be worth this part of all.
    kept_worth = worth(late).sum() / worth(late_exact).sum()
    assert kept_worth > 1.5 * share
    service = window.outputs()["fast"]
    everything = [[row for batch in each for row in batch["fast"]] for each in (found, exact)]
    assert service.loss == pytest.approx(1 - len(everything[0]) / len(everything[1]), abs=0.03)
    assert service.utility == pytest.approx(worth(everything[0]).sum() / worth(everything[1]).sum(), abs=0.03)


def test_tuples_come_out_again_when_the_better_ones_end(tmp_path: Path) -> None:
    tuples = [speeds(15_000, 0, 100), speeds(45_000, 54, 65)]  # most of the first are worth more
    exact, _ = steered(ALONE, tuples, {}, 2, tmp_path / "exact")
    found, _ = steered(ALONE, tuples, {"fast": 0.4}, 2, tmp_path / "shed")
    parts = [len(some["fast"]) / len(all_of_it["fast"]) for all_of_it, some in zip(exact, found, strict=True)]
    assert np.mean(parts[15:17]) < 0.2
    assert np.mean(parts[-10:]) == pytest.approx(0.4, abs=0.05)


def test_two_outputs_that_value_tuples_otherwise_get_theirs_from_one_input(tmp_path: Path) -> None:
    tuples = [speeds(30_000, 0, 100)]
    exact, _ = steered(VALUED, tuples, {}, 2, tmp_path / "exact")
    found, window = steered(VALUED, tuples, {"fast": 0.3, "by_seg": 0.5}, 2, tmp_path / "shed")
    service = window.outputs()
    for name in ("fast", "by_seg"):
        came, offered = (sum(len(batch[name]) for batch in each[10:]) for each in (found, exact))
        assert came / offered == pytest.approx({"fast": 0.3, "by_seg": 0.5}[name], abs=0.04)
        came, offered = (sum(len(batch[name]) for batch in each) for each in (found, exact))
        assert service[name].loss == pytest.approx(1 - came / offered, abs=0.03)
    segs = Counter(row[0] for batch in found[10:] for row in batch["by_seg"])
    assert set(segs) == {0, 1, 2, 3}


def test_a_batch_that_is_run_again_leaves_out_the_same_by_worth(tmp_path: Path) -> None:
    counts = {"fast": tuple(range(BINS)), "by_seg": (5,) * BINS}
    plan = shed_plan(VALUED, {"fast": 0.3, "by_seg": 0.5}, worth=counts)
    assert ShedPlan.parse(plan.render()) == plan
    batches, _ = run(VALUED, plan, 2, 700, tmp_path / "twice", twice=True)
    assert batches[::2] == batches[1::2]


def test_a_place_within_a_chain_is_a_place_once_the_chain_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generated, "WORTH", -1)
    archive = REPORTS.map(box="ratio", r="mph / (seg + 1)").filter("r >= 0", box="real").map(box="told", r="r * 2")
    network = au.network(archive=archive.output(delivered={0: 0, 1: 1}))
    plan = ShedPlan({("box", "real"): (TupleKeep(NumberRank(1), 0.5),)})
    (alone,), _ = run(network, plan, 1, 3000, tmp_path / "box by box")
    job = Job(network, planned(network, {"reports": reports(3000)}, 1), {"reports": reports(3000)}, str(tmp_path), 1)
    (chain,) = job.chains[0].values()
    ten = Train(reports(10).batches[0], np.zeros(10, np.int64), np.arange(10))
    chain.step(ten)
    for thread in [each.thread for each in generated._COMPILATIONS.values() if each.thread is not None]:
        thread.join()
    assert chain.step(ten) is not None
    (compiled,), totals = run(network, plan, 1, 3000, tmp_path / "compiled")
    assert compiled == alone
    assert 1000 < totals.shed["box real"] < 2000
