"""Filters are asked of the same tuples: counts of patterns, held against one tuple at a time."""

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import australis as au
from australis.connectors.sources.memory import MemorySource
from australis.engine import filter_samples
from australis.engine.addresses import MEASURES
from australis.engine.filter_samples import FilterSamples
from australis.engine.job import Job
from australis.engine.measures import rows_of
from australis.engine.succession import planned
from australis.engine.superbox import Event, sampled, steps, tables_of
from australis.model.box import Moment
from australis.model.qos import JointPasses
from australis.model.train import Train
from australis.plan import plan
from australis.plan.chains import chains
from australis.plan.rules import counted_filters
from tests.engine.test_stamp import trains_of

STREAM = au.stream("numbers", "n int, x double")
ROW = STREAM.filter("n % 2 = 0", box="even").filter("n < 3000", box="low").filter("x > 0.5", box="far")
LATER = STREAM.filter("n >= 0", box="any").map(n="n", x="x + 0", box="copy").filter("n % 3 = 0", box="third")
LATER = LATER.filter("n % 6 = 0", box="sixth").filter("cast(n as smallint) > 9", box="unsure")


def tuples(count: int, first: int = 0) -> pa.RecordBatch:
    n = np.arange(first, first + count) % 9973
    x = [None if at % 11 == 0 else float("nan") if at % 7 == 0 else (at * 37 % 100) / 100 for at in n.tolist()]
    return pa.record_batch({"n": pa.array(n, pa.int32()), "x": pa.array(x, pa.float64())})


def trains(length: int = 2000) -> list[Train]:
    """Some trains, of which three are sampled."""
    none, like = np.zeros(length, np.int64), tuples(length)
    firsts = [1 + length * at for at in range(1000)]
    chosen = [first for first in firsts if sampled(Train(like, none, np.arange(first, first + length)))][:3]
    return [
        Train(tuples(length, first), none, np.arange(first, first + length)) for first in sorted({*chosen, *firsts[:5]})
    ]


def expected(batches: list[pa.RecordBatch], predicates: dict[str, object]) -> Counter[int]:
    found: Counter[int] = Counter()
    for batch in batches:
        for row in batch.to_pylist():
            found[sum(1 << place for place, test in enumerate(predicates.values()) if test(row))] += 1  # type: ignore[operator]
    return found


TESTS = {
    "even": lambda row: row["n"] % 2 == 0,
    "far": lambda row: row["x"] is not None and row["x"] > 0.5,
    "low": lambda row: row["n"] < 3000,
}
SIXTHS = {"sixth": lambda row: row["n"] % 6 == 0, "third": lambda row: row["n"] % 3 == 0}


@pytest.mark.parametrize("chained", [False, True])
@pytest.mark.parametrize(("stream", "tests"), [(ROW, TESTS), (LATER, SIXTHS)])
def test_sampled_trains_are_shown_to_all_filters(stream: au.Stream, tests: dict[str, object], chained: bool) -> None:
    net = au.network(out=stream)
    samples = FilterSamples(counted_filters(net))
    known = chains(net, plan(net).stages[0]) if chained else {}
    every = trains()
    for train in every:
        for event in steps(
            net, net.nodes, tables_of(net, net.nodes), {("numbers", "out"): train}, Moment(0), chains=known
        ):
            if isinstance(event, Event):
                samples.see(event)
    chosen = [train.tuples for train in every if sampled(train)]
    assert len(chosen) == 3
    (passes,) = samples.passes()
    assert passes.filters == tuple(sorted(tests))
    counts = expected(chosen, dict(sorted(tests.items())))
    assert dict(enumerate(passes.counts)) == {pattern: counts[pattern] for pattern in range(1 << len(tests))}


def test_of_a_long_train_a_few_tuples_at_even_distances(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filter_samples, "MOST_TUPLES", 100)
    net = au.network(out=ROW)
    samples = FilterSamples(counted_filters(net))
    train = next(train for train in trains(1999) if sampled(train))
    samples.see(Event(net.named["even"], (train,), {}))
    (passes,) = samples.passes()
    some = train.tuples.take(pa.array(range(0, 1999, 20)))
    assert passes.tuples == len(some) == 100
    assert passes.counts == tuple(expected([some], TESTS)[pattern] for pattern in range(8))


def test_filters_without_columns_and_trains_that_are_not_sampled() -> None:
    net = au.network(out=STREAM.filter("true", box="all").filter("1 < 0", box="none"))
    samples = FilterSamples(counted_filters(net))
    train = next(train for train in trains() if sampled(train))
    samples.see(Event(net.named["all"], (train.slice(0, 999),), {}))
    assert list(samples.passes()) == []
    samples.see(Event(net.named["all"], (train,), {}))
    assert list(samples.passes()) == [JointPasses(("all", "none"), (0, 2000, 0, 0))]


@pytest.mark.parametrize("partitions", [1, 3])
def test_tasks_tell_it_with_their_measurements(partitions: int, tmp_path: Path) -> None:
    net = au.network(out=ROW)
    sources = {"numbers": MemorySource(tuple(tuples(1000, 1000 * at) for at in range(600)))}
    job = Job(net, planned(net, sources, partitions), sources, str(tmp_path / "checkpoint"), partitions)
    told = [
        row
        for _, found in trains_of(job, 200_000, tmp_path)
        for row in rows_of(train.tuples for train in found[MEASURES])
        if row["kind"] == "filters"
    ]
    assert told
    assert {row["name"] for row in told} == {"even, far, low"}
    counts = np.sum([row["passes"] for row in told], axis=0)
    assert len(counts) == 8
    assert counts.sum() % 1000 == 0
    assert abs(counts[0b001::2].sum() / counts.sum() - 0.5) < 0.01  # half of them are even
