"""What tasks and the driver measure."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import australis as au
from australis.connectors.source import Part, Split
from australis.connectors.sources.memory import MemorySource
from australis.engine import measures, parcels, task
from australis.engine.addresses import MEASURES
from australis.engine.job import Job
from australis.engine.measures import TaskMeasures
from australis.engine.parcels import Parcel, encode, pack
from australis.engine.succession import planned
from australis.engine.superbox import steps, tables_of
from australis.model.box import Moment
from australis.model.train import Train
from australis.plan.rules import Firing
from australis.testing import train
from tests.engine.test_stamp import trains_of

NUMBERS = au.stream("numbers", "n bigint, g bigint")


def numbers(count: int) -> MemorySource:
    n = np.arange(count)
    return MemorySource((pa.record_batch({"n": pa.array(n), "g": pa.array(n % 7)}),))


def network() -> au.Network:
    kept = NUMBERS.filter("n % 2 = 0", box="even")
    counted = kept.aggregate(on="n", size=10, by="g", cars="count(*)", box="counts")
    return au.network(out=counted, total=counted.aggregate(on="n", size=100, cars="sum(cars)", box="sums"), all=kept)


def measured(net: au.Network, source: object, partitions: int, limit: int, folder: Path) -> list[dict[str, object]]:
    sources = {"numbers": source}
    job = Job(net, planned(net, sources, partitions), sources, str(folder / "checkpoint"), partitions)
    batches = trains_of(job, limit, folder)
    return [row for _, trains in batches for row in measures.rows_of(train.tuples for train in trains[MEASURES])]


@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.parametrize("limit", [70, 1000])
def test_sources_exchanges_and_sinks_have_their_tuples_however_they_are_cut(
    partitions: int, limit: int, tmp_path: Path
) -> None:
    rows = measured(network(), numbers(500), partitions, limit, tmp_path)
    given, taken = Counter[object](), Counter[object]()
    for row in rows:
        given[row["kind"], row["name"], row["port"]] += row["given"] or 0
        taken[row["kind"], row["name"], row["port"]] += row["taken"] or 0
        assert row["kind"] == "arrow" or row["seconds"] >= 0
    assert given["source", "numbers", "out"] == 500
    seconds = {kind: sum(row["seconds"] for row in rows if row["kind"] == kind) for kind in ("source", "sink", "box")}
    assert min(seconds.values()) > 0
    exchanges = {place[1]: count for place, count in taken.items() if place[0] == "exchange"}
    if partitions == 1:
        assert exchanges.keys() <= {"even", "counts"}
    else:  # the filter runs where it is read, and its tuples go to the partitions of their groups, then to one
        assert exchanges == {"even": 250, "counts": given["arrow", "counts", "out"]}
        assert sum(row["seconds"] for row in rows if row["kind"] == "exchange") > 0
    assert {row["name"] for row in rows if row["kind"] == "sink"} == {"out", "total", "all"}


@dataclass(frozen=True)
class Slow:
    """A source that takes a second for each part, by the clock of a test."""

    held: MemorySource
    clock: SimpleNamespace

    def __getattr__(self, name: str) -> object:
        return getattr(self.held, name)

    def read(self, split: Split) -> Iterator[Part]:
        for part in self.held.read(split):
            self.clock.now += 1.0
            yield part
        self.clock.now += 0.5  # to find that there is no more


def test_reading_is_what_the_source_takes_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(measures, "time", SimpleNamespace(thread_time=lambda: clock.now))
    net, held = network(), MemorySource(numbers(10).batches * 3)
    (split,) = held.splits(held.start(), held.latest(held.start(), 100), 1)
    counted = TaskMeasures(net)
    parts = []
    for part in counted.reading("numbers", Slow(held, clock).read(split)):
        clock.now += 100  # what is made of it
        parts.append(part.tuples.num_rows)
    assert parts == [10, 10, 10]
    assert counted.costs == {("source", "numbers", "out"): [3.5, 0]}


def test_packing_is_charged_to_the_arrow_or_the_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=0.0)

    def slow_pack(trains: list[object], folder: str = "") -> bytes:
        clock.now += 1.0
        return pack(trains, folder)

    monkeypatch.setattr(parcels, "pack", slow_pack)
    monkeypatch.setattr("australis.engine.exchange.time", SimpleNamespace(thread_time=lambda: clock.now))
    net, source = network(), numbers(500)
    job = Job(net, planned(net, {"numbers": source}, 3), {"numbers": source}, str(tmp_path / "checkpoint"), 3)
    seen: list[TaskMeasures] = []
    monkeypatch.setattr(
        task, "TaskMeasures", lambda *given, **more: seen.append(TaskMeasures(*given, **more)) or seen[-1]
    )
    (split,) = source.splits(source.start(), source.latest(source.start(), 1000), 1)
    rows = task.read_splits(job, task.Batch(1, 0, True), 0, {"numbers": split})
    costs = {place[:2]: seconds for place, (seconds, _) in seen[0].costs.items() if place[0] != "source"}
    assert costs == {("exchange", "even"): 3.0, ("sink", "all"): 1.0}  # a parcel for each partition; one for the driver
    assert job.addresses[rows["address"].to_pylist()[-1]] == MEASURES


def test_each_parcel_is_packed_before_the_next_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    order = []
    monkeypatch.setattr(parcels, "pack", lambda trains, folder="": order.append("packed") or b"")

    def asked() -> Iterator[Parcel]:
        for address in range(2):
            order.append("asked")
            yield Parcel(address, 0, [])

    assert encode(asked()).num_rows == 2
    assert order == ["asked", "packed"] * 2
    assert encode([]).num_rows == 0


def table(*rows: tuple[str, int | None, float | None]) -> pa.RecordBatch:
    named = [{"kind": kind, "partition": partition, "seconds": seconds} for kind, partition, seconds in rows]
    return pa.RecordBatch.from_pylist(named, measures.SCHEMA)


def test_the_fixed_cost_of_a_batch_is_what_is_left_of_its_time() -> None:
    tables = [
        table(("source", 0, 1.0), ("box", 0, 0.5), ("arrow", 0, None), ("exchange", 0, 0.25)),
        table(("source", 1, 0.25), ("box", 1, 0.5), ("sink", None, 0.125), ("output", None, None)),
    ]
    (row,) = measures.whole_batch(7, 4.0, tables).to_pylist()
    assert (row["batch"], row["kind"], row["seconds"], row["fixed"]) == (7, "batch", 4.0, 2.125)
    (row,) = measures.whole_batch(7, 1.0, tables).to_pylist()
    assert row["fixed"] == 0.0
    (row,) = measures.whole_batch(7, 1.0, []).to_pylist()
    assert row["fixed"] == 1.0


def test_columns_of_before_are_where_they_were() -> None:
    before = [
        "batch",
        "kind",
        "name",
        "port",
        "partition",
        "seconds",
        "taken",
        "given",
        "late",
        "refused",
        "bytes",
        "delay",
        "worst",
    ]
    assert measures.SCHEMA.names[: len(before)] == before
    (row,) = measures.sink(3, "out", 0.5, 10).to_pylist()
    assert {name: value for name, value in row.items() if value is not None} == {
        "batch": 3, "kind": "sink", "name": "out", "seconds": 0.5, "taken": 10
    }  # fmt: skip


REPORTS = au.stream("reports", "time int, mph int")
STATS = REPORTS.filter("mph > 60", box="fast").aggregate(on="time", size=10, n="count(*)", box="stats")
FAST = au.network(out=STATS)


def stepped(times: list[int], mph: list[int]) -> dict[tuple[str, str, str], dict[str, Any]]:
    """The rows of one step, by kind, name and port."""
    task_measures = TaskMeasures(FAST)
    reports = train("time int, mph int", time=times, mph=mph)
    task_measures.count("reports", "out", reports)
    nodes = FAST.nodes
    task_measures.run(steps(FAST, nodes, tables_of(FAST, nodes), {("reports", "out"): reports}, Moment(len(times))))
    table = task_measures.table(7, 2)
    assert table.schema == measures.SENT
    assert {(row["batch"], row["partition"]) for row in table.to_pylist()} == {(7, 2)}
    return {(row["kind"], row["name"], row["port"]): row for row in table.to_pylist()}


def test_boxes_and_arrows_are_counted() -> None:
    rows = stepped([1, 2, 15, 3], [70, 50, 80, 90])
    fast, stats = rows["box", "fast", "out"], rows["box", "stats", "out"]
    assert (fast["taken"], fast["given"], fast["late"], fast["refused"]) == (4, 3, None, None)
    assert (stats["taken"], stats["given"], stats["late"]) == (3, 1, 1)
    assert rows["arrow", "reports", "out"]["given"] == 4
    assert rows["arrow", "reports", "out"]["taken"] is None
    assert rows["arrow", "reports", "out"]["bytes"] == 4 * 8
    assert (rows["arrow", "fast", "rest"]["taken"], rows["arrow", "fast", "rest"]["given"]) == (4, 1)
    assert all(row["seconds"] >= 0 for row in rows.values() if row["kind"] == "box")


def test_what_every_partition_has_is_counted_by_one() -> None:
    task_measures = TaskMeasures(FAST)
    trains = {("reports", "out"): train("time int, mph int", time=[1], mph=[70])}
    boxes = steps(FAST, FAST.nodes, tables_of(FAST, FAST.nodes), trains, Moment(1))
    task_measures.run(boxes, {("fast", "out")})
    assert ("fast", "out") not in task_measures.arrows
    assert task_measures.arrows["fast", "rest"][0] == 0


def entered(*times: int) -> Train:
    return Train(train("a bigint", a=list(times)).tuples, np.array(times, np.int64), np.arange(len(times)))


def test_ages_are_since_the_oldest_tuples_came() -> None:
    now = 1_800_000_000_000_000
    parts = [
        measures.part("out", "f", [entered(), entered(now - 10**6, now - 3 * 10**6)]),
        measures.part("out", "", [entered(now)]),
    ]
    empty = measures.part("out", "f", [entered()])
    (row,) = measures.rows_of([measures.output(3, "out", measures.rows_of([*parts, empty]), now)])
    assert (row["given"], row["age"], row["oldest"]) == (3, 4 / 3, 3.0)
    (none,) = measures.rows_of([measures.output(3, "out", measures.rows_of([empty]), now)])
    assert (none["given"], none["age"], none["oldest"]) == (0, None, None)


def test_a_batch_in_short() -> None:
    task_measures = TaskMeasures(FAST)
    reports = train("time int, mph int", time=[1, 15, 3], mph=[70, 80, 90])
    task_measures.count("reports", "out", reports)
    trains = {("reports", "out"): reports}
    task_measures.run(steps(FAST, FAST.nodes, tables_of(FAST, FAST.nodes), trains, Moment(3)))
    tables = [
        task_measures.table(1, 0),
        measures.output(1, "out", measures.rows_of([measures.part("out", "", [entered(0)])]), 10**6),
    ]
    assert measures.progress(FAST, 1, tables) == {
        "batch": 1, "taken": {"reports": 3}, "given": {"out": 1}, "delay": {"out": 0.0}, "late": {"stats": 1},
        "refused": {}, "shed": {}, "skipped": {},
    }  # fmt: skip
    assert measures.progress(FAST, 2, []) == {
        "batch": 2, "taken": {"reports": 0}, "given": {}, "delay": {}, "late": {}, "refused": {},
        "shed": {}, "skipped": {},
    }  # fmt: skip


def test_a_rule_is_a_row_of_the_first_batch_of_what_it_made() -> None:
    rules = measures.rules(7, [Firing("reorder", ("dear", "cheap"), 0.4), Firing("share", ("a", "b"), None)])
    assert rules.schema == measures.SCHEMA
    told = [(row["batch"], row["kind"], row["name"], row["port"], row["gain"]) for row in rules.to_pylist()]
    assert told == [(7, "rule", "reorder", "dear, cheap", 0.4), (7, "rule", "share", "a, b", None)]
