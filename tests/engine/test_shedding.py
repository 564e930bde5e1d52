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
from australis.engine.measures import progress, rows_of
from australis.engine.succession import planned
from australis.engine.totals import Totals
from australis.qos.ranks import WindowPart
from australis.qos.shedding import ShedPlan, shed_plan
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


def reports(count: int) -> MemorySource:
    chance = np.random.default_rng(3)
    times = np.arange(count) // 20 + chance.integers(-4, 4, count)
    columns = {"t": times, "seg": chance.integers(0, 7, count), "mph": chance.integers(0, 100, count)}
    return MemorySource((pa.record_batch({name: pa.array(each, pa.int32()) for name, each in columns.items()}),))


def run(
    network: au.Network, plan: ShedPlan | None, partitions: int, limit: int, folder: Path, twice: bool = False
) -> tuple[list[dict[str, Counter]], Totals]:
    """The rows of outputs, batch by batch, and the totals."""
    sources = {"reports": reports(3000)}
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
