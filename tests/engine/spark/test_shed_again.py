"""Runs on Spark that shed, and are killed and started again: a batch that was planned before leaves out the same."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.csv
import pytest

import australis as au
from australis.engine import ledger
from australis.engine.batch import Batch
from australis.engine.measures import rows_of
from australis.engine.steering import Steering
from australis.engine.totals import Totals
from australis.errors import RunError
from australis.testing import rows
from tests.boxes.moving.test_lightening import city
from tests.engine.spark.test_restarted import uncommit
from tests.engine.spark.test_run import REPORTS, reports
from tests.engine.test_shedding_objects import ASKING, SHIPS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SIZE, BATCHES, LATER = 300, 5, 3
"""Tuples in a batch, batches before the kill, and after it."""
PARTS = (0.3, 0.7, 0.2)
"""What is kept in one batch after another; of the first one, all."""
GRAPH = {0: 0.0, 0.5: 0.8, 1: 1.0}
COUNTED = ("batch", "kind", "name", "port", "taken", "given", "seen", "members", "missed", "objects", "results")


def twice(stream: au.Stream) -> au.Network:
    """A network that gives the same to two outputs: one sink takes a batch as often as it is run, the other once."""
    return au.network(attempts=stream.output(delivered=GRAPH), results=stream.output(delivered=GRAPH))


def windows() -> au.Stream:
    return REPORTS.aggregate(
        on="time", size=140, by="vid", n="count(*)", s="sum(mph)", last="last(time)", shed="sample", box="stats"
    )


TICKS, WANTED = city(SIZE, 40, BATCHES + LATER, [0.0, 0.3, 0.5, 0.8])


def moving(number: int) -> dict[str, pa.RecordBatch]:
    return {"ships": TICKS[number].tuples} | ({} if number else {"queries": WANTED.tuples})


@dataclass(frozen=True)
class Case:
    net: au.Network
    inputs: Callable[[int], Mapping[str, pa.RecordBatch]]
    """What comes for each batch."""

    def put(self, folder: Path, number: int) -> None:
        """Let the tuples of a batch come, all at once."""
        for name, tuples in self.inputs(number).items():
            (folder / name).mkdir(exist_ok=True)
            pa.csv.write_csv(pa.Table.from_batches([tuples]), folder / "coming")
            (folder / "coming").rename(folder / name / f"{number}.csv")


CASES = {
    "samples": Case(twice(windows()), lambda number: {"reports": reports(SIZE, SIZE * number)}),
    "objects": Case(twice(SHIPS.moving.watch(ASKING, every="train", shed="objects", box="watch")), moving),
    "queries": Case(twice(SHIPS.moving.watch(ASKING, every="train", shed="queries", box="watch")), moving),
}


@contextmanager
def shedding() -> Iterator[None]:
    """Let outputs keep the parts above, in the place of what the controller would say of this machine."""

    def after(steering: Steering, batch: Batch, taken: Mapping[str, int], tables: Any, _: object) -> dict[str, Any]:
        steering.note(rows_of(tables), taken, 1.0, 1.0)
        kept = {output.name: PARTS[(batch.version - 1) % len(PARTS)] for output in steering.job.network.outputs}
        plan, steering.shedder = steering.shedder.plan(kept, steering._seen, lacking=steering._lacking)
        assert plan is not None
        return {"interval": 0.0, "shed": plan.render(), "least": 0, "takes": {}}

    with patch.object(Steering, "after", after):
        yield


@dataclass
class Attempts:
    """A sink that is given each batch as often as it is run, and may fail once."""

    fails_at: int | None = None
    rows: dict[int, list[Counter[tuple[object, ...]]]] = field(default_factory=dict)

    def take(self, batch: int, table: pa.Table) -> None:
        self.rows.setdefault(batch, []).append(Counter(rows(table)))
        if batch == self.fails_at:
            self.fails_at = None
            raise OSError("the disk is full")


@dataclass(frozen=True)
class Found:
    attempts: Attempts
    results: Counter[tuple[object, ...]]
    before: Totals
    """When the run was started again."""
    totals: Totals
    measured: list[dict[str, Any]]
    """What was counted in each batch, by the place."""


def ran(spark: "SparkSession", case: Case, folder: Path, attempts: Attempts, killed: Callable[[Path], None]) -> Found:
    """A run that is killed, and started again."""
    folder.mkdir()
    sinks = {"attempts": attempts.take, "results": f"{folder}/results.csv"}
    given: dict[str, Any] = {"spark": spark, "checkpoint": folder / "checkpoint", "train": 2 * SIZE}
    follow = {name: f"{folder}/{name}?follow=true" for name in case.inputs(0)}
    full = nullcontext() if attempts.fails_at is None else pytest.raises(RunError, match="the disk is full")
    case.put(folder, 0)
    with shedding(), full, case.net.start({**follow, **sinks}, **given, partitions=2) as run:
        for number in range(1, BATCHES + 1):
            while run.since_start.batches < number:
                assert not run.wait(0.01)
            if number < BATCHES:
                case.put(folder, number)
    killed(folder / "checkpoint")
    for number in range(BATCHES, BATCHES + LATER):
        case.put(folder, number)
    again = case.net.start({name: f"{folder}/{name}" for name in follow} | sinks, **given)
    assert again.wait()
    measured = ledger.read(folder / "checkpoint").select(COUNTED).to_pylist()
    places = [row for row in measured if row["kind"] in ("source", "box", "shed", "sampled")]
    results = Counter(rows(pa.csv.read_csv(folder / "results.csv")))
    return Found(attempts, results, run.totals, again.totals, sorted(places, key=str))


@pytest.fixture(scope="module", params=CASES)
def undisturbed(
    request: pytest.FixtureRequest, spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory
) -> tuple[Case, Found]:
    """The same, if nobody kills it."""
    case = CASES[request.param]
    return case, ran(spark, case, tmp_path_factory.mktemp("whole") / "run", Attempts(), lambda checkpoint: None)


@pytest.mark.parametrize("fails", [False, True], ids=["before its last commit", "before its sinks had the last batch"])
def test_a_batch_that_was_planned_before_a_kill_leaves_out_the_same(
    fails: bool, undisturbed: tuple[Case, Found], spark: "SparkSession", tmp_path: Path
) -> None:
    case, expected = undisturbed
    attempts = Attempts(BATCHES if fails else None)
    found = ran(spark, case, tmp_path / "run", attempts, (lambda checkpoint: None) if fails else uncommit)
    assert {batch: len(each) for batch, each in attempts.rows.items() if len(each) > 1} == {BATCHES: 2}
    first, second = attempts.rows[BATCHES]
    assert first == second
    assert first
    assert attempts.rows.keys() == expected.attempts.rows.keys()
    for batch, each in expected.attempts.rows.items():
        assert attempts.rows[batch][-1] == each[0], batch
    assert found.results == expected.results
    assert found.results == sum((each[-1] for each in attempts.rows.values()), Counter())
    assert found.before.version == BATCHES - fails
    for name in ("version", "batches", "taken", "given", "shed", "ports"):
        assert getattr(found.totals, name) == getattr(expected.totals, name), name
    assert found.measured == expected.measured


def test_something_is_left_out_of_each_batch_but_the_first(undisturbed: tuple[Case, Found]) -> None:
    case, found = undisturbed
    shed = Counter[int]()
    for row in found.measured:
        shed[row["batch"]] += row["taken"] - row["given"] if row["kind"] == "shed" else 0
    assert found.before.batches == BATCHES
    assert max(found.before.taken.values()) == BATCHES * SIZE
    assert [batch for batch in range(1, BATCHES + 1) if shed[batch]] == [*range(2, BATCHES + 1)]
    assert sum(shed.values()) == sum(found.totals.shed.values()) > SIZE
    if case is CASES["samples"]:
        whole = case.net.run_local(reports=reports(SIZE * (BATCHES + LATER)), optimize=False)["results"]
        counts = {row[:2]: row[2] for row in rows(whole)}
        assert {row[:2] for row in found.results} == counts.keys()
        assert any(seen < 1 for *_, seen in found.results)
        assert all(n == pytest.approx(counts[time, vid] * seen) for time, vid, n, *_, seen in found.results)
