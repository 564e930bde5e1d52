"""Finite inputs that meet in a union are merged by time, and every runner counts the same of them."""

import heapq
from collections import Counter
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import australis as au
from australis.api.network import Network
from australis.connectors.binding import unordered
from australis.connectors.sinks.memory import MemorySink
from australis.connectors.sources.files import Files
from australis.engine.addresses import MEASURES
from australis.engine.job import Job
from australis.engine.merging import done, merging
from australis.engine.succession import planned
from australis.engine.totals import Totals
from australis.testing import rows
from tests.engine.test_task import batches

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = "time int, vid int"
A, B, C = (au.stream(name, COLUMNS) for name in "abc")
Tuples = list[tuple[int | None, int]]


def counted(*streams: au.Stream, slack: int, by: tuple[str, ...] = ()) -> Network:
    alike = [stream.map(time="cast(time as bigint)", vid="vid") for stream in streams]
    both = alike[0].union(*alike[1:], box="both") if len(alike) > 1 else alike[0]
    stats = both.filter("vid >= 0").aggregate(on="time", size=10, slack=slack, by=by, n="count(*)", box="stats")
    return au.network(stats=stats)


def shuffled(random: Random, most: int = 60) -> Tuples:
    """Tuples of about one time in order, some a little out of it, more or fewer to the hour than those of others."""
    step = random.choice([1, 3, 10])
    times = [i * step + random.choice([0, 0, 0, 0, -3 * step, 7]) for i in range(random.randrange(most))]
    return [(None if random.random() < 0.02 else max(time, 0), random.randrange(3)) for time in times]


def merged(inputs: list[Tuples]) -> Tuples:
    """The oracle: whichever has come least far is next."""
    placed = []
    for side, tuples in enumerate(inputs):
        reach, run = -1.0, []
        for time, vid in tuples:
            reach = reach if time is None else max(reach, time)
            run.append((reach, side, (time, vid)))
        placed.append(run)
    return [each for *_, each in heapq.merge(*placed, key=lambda each: each[:2])]


def files(inputs: list[Tuples], folder: Path) -> dict[str, str]:
    for name, tuples in zip("abc", inputs, strict=False):
        lines = [f"{'' if time is None else time},{vid}\n" for time, vid in tuples]
        (folder / f"{name}.csv").write_text("time,vid\n" + "".join(lines))
    return {name: str(folder / f"{name}.csv") for name, _ in zip("abc", inputs, strict=False)}


def table(tuples: Tuples) -> pa.RecordBatch:
    names = A.schema.names
    return pa.RecordBatch.from_pylist([dict(zip(names, each, strict=True)) for each in tuples], schema=A.schema)


@pytest.mark.slow
@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.parametrize("seed", range(8))
def test_runners_agree_on_files_that_meet(
    seed: int, partitions: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("australis.engine.task.TRAIN", 5)
    monkeypatch.setattr("australis.engine.spark.stream_source.time", SimpleNamespace(time_ns=lambda: 10**18))
    random = Random(seed)
    inputs = [shuffled(random) for _ in range(random.choice([2, 3]))]
    slack, by = random.choice([0, 1, 5]), random.choice([(), ("vid",)])
    net = counted(*(A, B, C)[: len(inputs)], slack=slack, by=by)
    expected = counted(A, slack=slack, by=by).run_local(a=table(merged(inputs)))
    given = files(inputs, tmp_path)
    for size in (1, 4, 1000):
        found = net.run_local(given, train=size)
        assert rows(found["stats"]) == rows(expected["stats"])
        assert found.late == expected.late
    sources = {i.name: Files(given[i.name], i.schema) for i in net.inputs}
    net = merging(net, unordered(sources))
    job = Job(net, planned(net, sources, partitions), sources, str(tmp_path / "checkpoint"), partitions)
    totals, stats = Totals(), Counter[Any]()
    for number, each in enumerate(batches(job, random.choice([3, 20, 1000]), tmp_path), 1):
        nothing = {"batch": number, "taken": {}, "given": {}, "delay": {}, "letters": 0, "seconds": 0.0}
        totals.add(nothing, [each[MEASURES]])
        stats.update(rows(each["stats"]))
    assert stats == Counter(rows(expected["stats"]))
    assert totals.late == expected.late


def test_which_unions_are_merged() -> None:
    def on(net: Network, *finite: str) -> list[str]:
        return [node.box.on for node in merging(net, finite).nodes if node.box.kind == "union"]  # type: ignore[attr-defined]

    net = counted(A, B, slack=0)
    assert on(net, "a", "b") == ["time"]
    assert on(net, "a") == [""], "b has no end"
    assert on(counted(A, A.filter("vid > 1"), slack=0), "a") == [""], "one input arrives in its own order"
    assert on(au.network(out=A.union(B)), "a", "b") == [""], "nothing goes by order"
    twice = A.union(B)
    windows = {name: twice.aggregate(on=name, size=5, n="count(*)") for name in ("time", "vid")}
    assert on(au.network(windows), "a", "b") == [""], "on which of the two?"
    assert on(au.network(out=A.union(B).aggregate(on="tup#", size=5, n="count(*)")), "a", "b") == [""]
    renamed = A.union(B).map(at="time").bsort("at", 3)
    assert on(au.network(out=renamed), "a", "b") == ["time"]
    nested = A.union(A.filter("vid > 1")).union(B).join(C, on="time", size=5)
    assert on(au.network(out=nested), "a", "b", "c") == ["", "time"]
    assert merging(au.network(out=A), ["a"]) == au.network(out=A)


def test_inputs_that_are_done_are_not_waited_for() -> None:
    late = A.aggregate(on="time", size=5, n="count(*)").map(time="time", vid="cast(n as int)")
    net = au.network(out=A.filter("vid > 1").union(B, late, on="time", box="both"))
    node = net.named["both"]
    assert done(net, node, ["a"]) == {0}
    assert done(net, node, ["a", "b"]) == {0, 1}, "the windows give more at the end"


@pytest.mark.spark
def test_spark_merges_files_by_time(spark: "SparkSession", tmp_path: Path) -> None:
    inputs: list[Tuples] = [[(i, 1) for i in range(300)], [(3 * i, 2) for i in range(100)]]
    net, found = counted(A, B, slack=0), MemorySink()
    given = files(inputs, tmp_path)
    run = net.run(given, stats=found, spark=spark, partitions=2, train=40, checkpoint=tmp_path / "checkpoint")
    local = net.run_local(given)
    assert Counter(rows(found.table())) == Counter(rows(local["stats"]))
    assert sum(local["stats"].column("n").to_pylist()) == 400
    assert run.totals.late == local.late == {}
    net.run(given, stats=found, spark=spark, checkpoint=tmp_path / "checkpoint")  # the same network: it is over
