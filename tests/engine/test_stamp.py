"""Tuples are stamped with when they came, and windows time out by that, however a backlog is cut."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import australis as au
from australis.arrow.schema import schema
from australis.connectors.source import Offset, Part, Split
from australis.connectors.sources.memory import MemorySource
from australis.connectors.sources.rate import Rate
from australis.engine.batch import Batch, room
from australis.engine.job import Job
from australis.engine.spark.control import Control, Directive
from australis.engine.spark.rounds import run_round, unpack_outputs
from australis.engine.spark.shipping import ship
from australis.engine.spark.stream_source import StreamReader
from australis.engine.stamp import cut, read_ahead, stamp
from australis.engine.state import state
from australis.engine.succession import planned
from australis.model.train import Train
from australis.testing import rows, train

SECOND = 1_000_000
NOW = 1_000 * SECOND


def part(count: int, **more: object) -> Part:
    return Part(pa.record_batch({"a": pa.array(range(count), pa.int64())}), np.arange(1, count + 1), **more)


@pytest.mark.parametrize(
    ("ts", "expected"),
    [
        (None, [NOW] * 3),
        (7, [7] * 3),
        (NOW + 1, [NOW] * 3),
        (np.array([5, NOW, NOW + 9]), [5, NOW, NOW]),
        (-(2**63), [-(2**63)] * 3),
    ],
)
def test_tuples_came_when_their_source_says_but_not_after_the_clock(ts: object, expected: list[int]) -> None:
    (train,) = stamp(
        [part(0, ts=ts if not isinstance(ts, np.ndarray) else ts[:0]), part(3, ts=ts)], Batch(1, NOW), 0, []
    )
    assert train.ts.tolist() == expected
    assert train.ts.dtype == np.int64


@dataclass(frozen=True)
class Own:
    """A class of somebody's own, from before there were times: only what the protocol asks for."""

    held: MemorySource

    schema = property(lambda self: self.held.schema)
    finite = property(lambda self: True)
    timed = property(lambda self: False)

    def start(self) -> Offset:
        return self.held.start()

    def latest(self, offset: Offset, limit_rows: int) -> Offset:
        return self.held.latest(offset, limit_rows)

    def splits(self, start: Offset, end: Offset, count: int) -> list[Split]:
        return self.held.splits(start, end, count)

    def read(self, split: Split) -> Iterator[Part]:
        return self.held.read(split)

    def finished(self, offset: Offset) -> bool:
        return self.held.finished(offset)

    def backlog(self, offset: Offset) -> int:
        return self.held.backlog(offset)


def run(job: Job, limit: int, folder: Path, twice: bool = False) -> Iterator[tuple[Batch, list[object], list[int]]]:
    """The batches of a job, with what each gives to the output `out`, and when that came."""
    before: object = None
    for batch, trains in trains_of(job, limit, folder, twice):
        found = [row for train in trains.get("out", []) for row in rows(train)]
        times = [ts for train in trains.get("out", []) for ts in train.ts.tolist()]
        if twice and before is not None:
            assert (batch, found, times) == before
            before = None
            continue
        before = batch, found, times
        yield batch, found, times


def trains_of(
    job: Job, limit: int, folder: Path, twice: bool = False, shed: dict[str, object] | None = None
) -> Iterator[tuple[Batch, dict[str, list[Train]]]]:
    """The batches of a job, with all trains that come to the driver; each batch is run once, or twice."""
    control = Control(str(folder))
    control.write_job(job.number, ship(job))
    control.write(Directive(job.number, limit, shed=shed))
    reader = StreamReader(control)
    offset = reader.initialOffset()
    while (after := reader.latestOffset(offset)) != offset:
        for _ in range(1 + twice):
            pieces = reader.partitions(offset, after)
            made = [each for piece in pieces for each in reader.read(piece)]
            for at in range(len(job.rounds)):
                there, made = pa.Table.from_batches(made), []
                for partition in range(job.partitions):
                    mine = there.filter(pa.compute.equal(there["bucket"], partition)).to_batches()
                    made += run_round(job, at, pieces[0].batch, partition, iter(mine))
            yield pieces[0].batch, unpack_outputs(job, pa.Table.from_batches(made))
            if twice:
                state.warm.clear()
        offset = after


def job_of(source: object, net: object, partitions: int, folder: Path) -> Job:
    sources = {"numbers": source}
    return Job(net, planned(net, sources, partitions), sources, str(folder / "checkpoint"), partitions)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The clock of the process that plans."""
    clock = SimpleNamespace(now=NOW)
    monkeypatch.setattr("australis.engine.spark.stream_source.time", SimpleNamespace(time_ns=lambda: clock.now * 1000))
    return clock


def test_a_source_that_says_nothing_gives_the_clock_of_the_batch(clock: SimpleNamespace, tmp_path: Path) -> None:
    source = Own(MemorySource((pa.record_batch({"n": pa.array(range(5), pa.int64())}),)))
    net = au.network(out=au.stream("numbers", "n bigint").filter("n > 1"))
    found = list(run(job_of(source, net, 2, tmp_path), 100, tmp_path))
    assert [times for *_, times in found] == [[NOW] * 3]
    assert [batch.until for batch, *_ in found] == [NOW]


@pytest.mark.slow
@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.parametrize("limit", [1, 7, 64, 1000])
def test_windows_of_a_backlog_time_out_the_same_however_it_is_cut(
    limit: int, partitions: int, clock: SimpleNamespace, tmp_path: Path
) -> None:
    # One tuple a second; a group's tuples come 3 s apart, and every 30 s there is a pause of 12 s in each group.
    numbers = au.stream("numbers", "n bigint, g bigint")
    net = au.network(
        out=numbers.aggregate(on="n", size=60, by="g", timeout="10 seconds", cars="count(*)", least="min(n)")
    )
    columns = (("n", "n"), ("g", "n % 3 + n // 30 % 2 * 3"))
    source = Rate(numbers.schema, 1.0, columns, limit=200, began=NOW - 500 * SECOND, clock=lambda: NOW)
    found = [row for _, rows, _ in run(job_of(source, net, partitions, tmp_path), limit, tmp_path) for row in rows]
    assert Counter(found) == Counter(oracle(200))


def oracle(count: int) -> list[tuple[int, int, int, int]]:
    """One tuple at a time: a window is done 10 s after its first tuple came; what comes for it later is late."""
    windows: dict[tuple[int, int], list[int]] = {}
    for n in range(count):
        key = (n // 60 * 60, n % 3 + n // 30 % 2 * 3)
        if key not in windows or n - windows[key][0] <= 10:
            windows.setdefault(key, []).append(n)
    return [(start, g, len(held), held[0]) for (start, g), held in windows.items()]


def test_a_batch_that_is_run_again_gives_the_same_times(clock: SimpleNamespace, tmp_path: Path) -> None:
    numbers = au.stream("numbers", "n bigint")
    net = au.network(out=numbers.map(n="n"))
    source = Rate(numbers.schema, 10.0, limit=95, began=NOW - 5 * SECOND, clock=lambda: NOW + 60 * SECOND)
    found = list(run(job_of(source, net, 2, tmp_path), 40, tmp_path, twice=True))
    times = [ts for *_, each in found for ts in each]
    assert times == [min(NOW - 5 * SECOND + n * 100_000, NOW) for n in range(95)]
    assert [batch.until for batch, *_ in found] == [NOW - SECOND, NOW, NOW]


def test_while_something_waits_windows_wait_too(clock: SimpleNamespace, tmp_path: Path) -> None:
    numbers = au.stream("numbers", "n bigint")
    source = Rate(numbers.schema, 1.0, limit=5, began=NOW - 100 * SECOND, clock=lambda: NOW)
    moments = [
        batch.moment.clock
        for batch, *_ in run(job_of(source, au.network(out=numbers.map(n="n")), 1, tmp_path), 2, tmp_path)
    ]
    assert moments == [NOW - 98 * SECOND, NOW - 96 * SECOND, NOW]
    assert Batch(1, NOW).moment.clock == NOW


SCHEMA = schema("a int")


def numbered(values: list[int], number: list[int] | None = None) -> Part:
    tuples = pa.record_batch([pa.array(values, pa.int32())], SCHEMA)
    return Part(tuples, np.array(number or range(1, len(values) + 1), np.int64))


def test_tuples_are_numbered_in_their_split_and_no_train_is_empty() -> None:
    batch = Batch(1, 77, first=1000, room=room(2))
    trains = list(stamp([numbered([1, 2]), numbered([]), numbered([3])], batch, 1, []))
    assert [each.tuples["a"].to_pylist() for each in trains] == [[1, 2], [3]]
    base = 1000 + (1 << 26)
    assert [each.number.tolist() for each in trains] == [[base, base + 1], [base + 2]]
    assert [each.ts.tolist() for each in trains] == [[77, 77], [77]]


def test_numbers_of_their_own_are_counted_from_those_before() -> None:
    (found,) = stamp([numbered([1, 2], [11, 15])], Batch(1, 0, first=100), 3, [], before=10)
    assert found.number.tolist() == [101, 105]


def test_tuples_that_were_skipped_have_numbers_and_letters_have_none() -> None:
    batch = Batch(1, 77, first=1000, room=room(1))
    skipped = Part(numbered([]).tuples, np.zeros(0, np.int64), skipped=10, places=np.zeros(0, np.int64))
    some = replace(numbered([1, 2], [4, 9]), skipped=3, places=np.array([1, 4]))
    trains = list(stamp([some, skipped, numbered([3])], batch, 0, []))
    assert [each.number.tolist() for each in trains] == [[1001, 1004], [1015]]
    assert [some.between(begin, begin + 2).num_rows for begin in range(0, some.length, 2)] == [1, 0, 1]


def test_trains_that_reach_equally_far_though_tuples_were_skipped() -> None:
    numbers = [np.array([100, 101, 109]), np.array([111, 112, 140])]
    trains = [Train(numbered([1, 2, 3]).tuples, np.zeros(3, np.int64), each) for each in numbers]
    found = list(cut(SCHEMA, trains, 10, first=100))
    assert [each.number.tolist() for each in found] == [[100, 101, 109], [111, 112], [], [], [140]]
    assert [len(each) for each in cut(SCHEMA, trains, 4)] == [4, 2]


@pytest.mark.parametrize("length", [1, 2, 3, 7, 99])
@pytest.mark.parametrize("sizes", [[], [0], [7], [1, 0, 2, 4], [3, 4]])
def test_trains_of_one_length(sizes: list[int], length: int) -> None:
    numbers = iter(range(99))
    trains = [train(SCHEMA, a=[next(numbers) for _ in range(size)]) for size in sizes]
    found = [each.tuples["a"].to_pylist() for each in cut(SCHEMA, trains, length)]
    whole = list(range(sum(sizes)))
    assert found == [whole[at : at + length] for at in range(0, len(whole), length)]


def test_items_read_ahead_are_the_same() -> None:
    assert list(read_ahead(range(100))) == list(range(100))
    assert list(read_ahead([])) == []


def test_an_error_comes_after_the_items_before_it() -> None:
    def failing() -> Iterator[int]:
        yield from (1, 2)
        raise OSError("gone")

    items = read_ahead(failing())
    assert [next(items), next(items)] == [1, 2]
    with pytest.raises(OSError, match="gone"):
        next(items)


def test_nothing_more_is_read_once_it_is_abandoned() -> None:
    read: list[int] = []

    def endless() -> Iterator[int]:
        while True:
            read.append(1)
            yield 1

    items = read_ahead(endless())
    next(items)
    items.close()  # type: ignore[attr-defined]
    assert 1 <= len(read) < 10
