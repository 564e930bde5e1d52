"""Positions of branches: whatever branches take in each batch, each gives what it gives without waiting, in order."""

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.request import Request, urlopen

import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

import australis as au
from australis.connectors.source import Offset, Part, Source, Split
from australis.connectors.sources.files import Files
from australis.connectors.sources.memory import MemorySource
from australis.connectors.sources.push import Push
from australis.connectors.sources.rate import Rate
from australis.engine.addresses import DEAD_LETTERS, MEASURES
from australis.engine.job import Job
from australis.engine.measures import progress
from australis.engine.positions import Positions, Takes, advance, backlogs, readings_apart
from australis.engine.spark.control import Control, Directive
from australis.engine.spark.shipping import ship
from australis.engine.spark.stream_source import StreamReader, TaskInput
from australis.engine.state import state
from australis.engine.succession import planned
from australis.errors import RunError
from australis.model.network import Network
from australis.testing import rows
from tests.engine.test_task import GOLDEN, batches, golden

REPORTS = au.stream("reports", "n bigint, seg bigint")
COLUMNS = (("n", "n"), ("seg", "n % 7"))
THIRD = REPORTS.filter("n % 3 = 0", box="third")
STATS = REPORTS.aggregate(on="n", size=10, by="seg", c="count(*)", box="stats")
NET = au.network(
    fast=THIRD,
    stats=STATS,
    sums=REPORTS.aggregate(on="n", size=15, by="seg", s="sum(n)", box="sums"),
    all=REPORTS,
)
"""Four branches. Those of windows take the same exchange."""


def job_of(net: Network, source: Source, folder: Path, partitions: int = 2) -> Job:
    sources = {"reports": source}
    return Job(net, planned(net, sources, partitions), sources, str(folder / "checkpoint"), partitions)


def random_takes(job: Job, chance: random.Random, most: int) -> Iterator[Takes]:
    """Branches that wait, take a few tuples, or all."""
    while True:
        takes = {
            branch.name: {name: chance.choice((0, 0, 1, chance.randint(1, most))) for name in branch.inputs}
            for branch in job.branches
            if branch.inputs and chance.random() < 0.7
        }
        yield from repeat(takes, chance.choice((1, 1, 4)))


def rate(tuples: int = 100) -> Rate:
    """So many tuples, all of which are there."""
    return Rate(REPORTS.schema, 1e9, COLUMNS, limit=tuples, began=0)


def run(
    job: Job, limit: int, folder: Path, takes: Iterator[Takes] | None = None, cold: float = 0.0
) -> tuple[dict[str, list[Any]], int]:
    """What each output gives in all, and how many tuples were counted as taken; some tasks have no warm state."""
    found: dict[str, list[Any]] = {output.name: [] for output in job.network.outputs}
    taken = 0
    for number, results in enumerate(batches(job, limit, folder, takes)):
        for name in found:
            found[name] += rows(results[name])
        taken += sum(progress(job.network, number, [results[MEASURES]])["taken"].values())
        if random.Random(number).random() < cold:
            state.warm.clear()
    return found, taken


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[int, dict[str, list[Any]]]:
    """What a run gives in which no branch waits, by the number of partitions."""
    folders = {partitions: tmp_path_factory.mktemp("whole") for partitions in (1, 2, 3)}
    return {each: run(job_of(NET, rate(), at, each), 1000, at)[0] for each, at in folders.items()}


@given(seed=st.integers(0, 1000), partitions=st.integers(1, 3), limit=st.sampled_from([9, 30, 1000]))
def test_whatever_branches_take_each_gives_the_same_in_the_same_order(
    tmp_path_factory: pytest.TempPathFactory, undisturbed: Any, seed: int, partitions: int, limit: int
) -> None:
    folder = tmp_path_factory.mktemp("job")
    job = job_of(NET, rate(), folder, partitions)
    found, taken = run(job, limit, folder, random_takes(job, random.Random(seed), limit), cold=0.3)
    assert found == undisturbed[partitions]
    assert taken == 100  # though some were read several times


@pytest.mark.slow
@pytest.mark.parametrize("partitions", [1, 2])
@pytest.mark.parametrize("folder", GOLDEN, ids=lambda folder: folder.name)
def test_branches_of_golden_networks_may_wait(
    folder: Path, partitions: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("australis.engine.spark.stream_source.time", SimpleNamespace(time_ns=lambda: 10**18))
    net, sources = golden(folder)
    job = Job(net, planned(net, sources, partitions), sources, str(tmp_path / "checkpoint"), partitions)
    found, _ = run(job, 7, tmp_path, random_takes(job, random.Random(partitions), 7), cold=0.3)
    for name, table in net.run_local({name: source.path for name, source in sources.items()}).items():
        assert Counter(found[name]) == Counter(rows(table)), name


READS: list[int] = []


@dataclass(frozen=True)
class CountedRate(Rate):
    """A rate that notes what is read of it."""

    def read(self, split: Split) -> Iterator[Part]:
        READS.extend(range(*split.pieces[0][1:]))
        return super().read(split)


def test_what_branches_take_together_is_read_once(tmp_path: Path) -> None:
    READS.clear()
    job = job_of(NET, CountedRate(REPORTS.schema, 1e9, COLUMNS, limit=100, began=0), tmp_path)
    some = {"stats": {"reports": 0}, "all": {"reports": 0}}  # they read the same when they catch up
    run(job, 30, tmp_path, chain([{}, some], repeat({})))
    assert Counter(READS) == Counter([*range(100), *range(30, 100)])


def test_dead_letters_are_told_of_once(tmp_path: Path) -> None:
    (tmp_path / "reports.csv").write_text("n,seg\n1,1\nx,1\n2,2\n3,3\n")
    job = job_of(NET, Files(str(tmp_path / "reports.csv"), REPORTS.schema), tmp_path)
    waits = chain([{"stats": {"reports": 0}}] * 2, repeat({}))
    letters = [row for each in batches(job, 2, tmp_path, waits) for row in each[DEAD_LETTERS].to_pylist()]
    assert [letter["raw"] for letter in letters] == [b"x,1"]


def positions_of(job: Job, front: int, **behind: int) -> Positions:
    def at(n: int) -> dict[str, Offset]:
        return {"reports": {"began": 0, "n": n}}

    return Positions(at(front), {name: at(n) for name, n in behind.items()})


def test_branches_go_as_far_as_they_take_and_none_overtakes_the_front(tmp_path: Path) -> None:
    job = job_of(NET, rate(), tmp_path)

    def after(before: Positions, limit: int = 30, **takes: int) -> Positions:
        return advance(job, before, limit, {name: {"reports": most} for name, most in takes.items()}).after

    start = positions_of(job, 0)
    assert after(start) == positions_of(job, 30)
    assert after(start, stats=0) == positions_of(job, 30, stats=0)
    assert after(start, stats=50) == positions_of(job, 30)
    assert after(positions_of(job, 30, stats=0), stats=10) == positions_of(job, 60, stats=10)
    assert after(positions_of(job, 30, stats=20)) == positions_of(job, 60, stats=50)
    assert after(positions_of(job, 90, stats=80)) == positions_of(job, 100)
    # If none of those at the front takes more, the front stays where they get to.
    every = dict.fromkeys(("fast", "stats", "sums", "all"), 5)
    assert after(start, **every) == positions_of(job, 5)
    assert after(start, **every | {"fast": 9}) == positions_of(job, 9, stats=5, sums=5, all=5)
    # Something always runs.
    assert after(start, **dict.fromkeys(every, 0)) == positions_of(job, 30)
    assert after(positions_of(job, 100, stats=80), stats=0) == positions_of(job, 100)


def test_the_front_waits_where_all_who_take_an_input_are_behind(tmp_path: Path) -> None:
    job = job_of(au.network(all=REPORTS), rate(), tmp_path)
    before = positions_of(job, 50, all=20)
    moved = advance(job, before, 20, {})
    assert moved.after == positions_of(job, 50, all=40)
    assert advance(job, moved.after, 20, {}).after == positions_of(job, 50)


def test_the_backlog_is_that_of_the_branch_that_is_furthest_behind(tmp_path: Path) -> None:
    job = job_of(NET, rate(), tmp_path)
    assert backlogs(job, positions_of(job, 90, stats=20, all=30)) == {"reports": 80}
    assert backlogs(job, Positions()) == {"reports": 100}


def test_what_branches_read_by_themselves_stands_in_the_offset(tmp_path: Path) -> None:
    job = job_of(NET, rate(), tmp_path)
    before = positions_of(job, 30, stats=10, sums=10, all=0)
    moved = advance(job, before, 20, {"stats": {"reports": 5}, "sums": {"reports": 5}})
    apart = readings_apart(job, before, moved, clock=1)
    assert [(each["branches"], each["from"]["reports"]["n"], each["to"]["reports"]["n"]) for each in apart] == [
        (["stats", "sums"], 10, 15),
        (["all"], 0, 20),
    ]
    assert [each["first"] for each in apart] == [[], []]
    # Where all go by themselves, one of them reads what is new.
    beats = au.stream("beats", "n bigint, seg bigint")
    both = au.network(a=REPORTS.union(beats, box="one"), b=REPORTS.union(beats, box="two"))
    sources = {"reports": rate(), "beats": rate()}
    job = Job(both, planned(both, sources, 1), sources, str(tmp_path), 1)
    start = Positions().of_job(job)
    moved = advance(job, start, 20, {"a": {"reports": 7, "beats": 1}, "b": {"reports": 3, "beats": 4}})
    (one, two) = readings_apart(job, start, moved, clock=1)
    assert (one["first"], two["first"]) == (["reports"], ["beats"])


def test_a_branch_does_not_wait_in_a_source_whose_offsets_are_not_compared(tmp_path: Path) -> None:
    job = job_of(NET, MemorySource((pa.record_batch({"n": [1, 2], "seg": [0, 0]}),)), tmp_path)
    assert job.patient == ()
    with pytest.raises(RunError, match="MemorySource: a branch cannot wait in a source whose offsets are not compared"):
        advance(job, Positions().of_job(job), 10, {"stats": {"reports": 1}})


def test_what_comes_later_in_time_waits_for_the_branch_that_is_behind(tmp_path: Path) -> None:
    late = REPORTS.aggregate(on="n", size=100, c="count(*)", timeout=2, box="late")
    net = au.network(late=late, all=REPORTS)
    # Ten tuples a second, which came long ago: the clock of a branch is when the first came that waits for it.
    job = job_of(net, Rate(REPORTS.schema, 10, COLUMNS, limit=100, began=0), tmp_path, 1)
    takes = {"late": {"reports": 25}}
    found = [rows(each["late"]) for each in batches(job, 50, tmp_path, repeat(takes))]
    waits = [rows(each["late"]) for each in batches(replace(job, checkpoint=f"{tmp_path}/c"), 25, tmp_path)]
    assert [row for each in found for row in each] == [row for each in waits for row in each]
    assert len(found) == 4


def posted(folder: Path, tuples: int) -> None:
    """Post tuples to a spool, one by one."""
    with closing(Push("127.0.0.1", 0, REPORTS.schema, str(folder)).open()) as endpoint:
        for n in range(tuples):
            body = f'{{"n": {n}, "seg": {n % 7}}}\n'.encode()
            url = "http://{}:{}".format(*endpoint.address)
            urlopen(Request(url, body, {"Content-Type": "application/x-ndjson"})).close()


def test_posts_are_kept_until_no_branch_needs_them(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    posted(spool, 12)
    job = job_of(NET, Push("127.0.0.1", 0, REPORTS.schema, str(spool)), tmp_path)
    control = Control(str(tmp_path))
    control.write_job(1, ship(job))
    control.write(Directive(1, 4))
    reader, left, found = StreamReader(control), [], list[Any]()
    before = reader.initialOffset()
    for most in (0, 2, 0, 4, 4, 4):
        control.write(Directive(1, 4, takes={"all": {"reports": most}}))
        after = reader.latestOffset(before)
        for piece in reader.partitions(before, after):
            assert isinstance(piece, TaskInput)
            for split in (each.splits.get("reports") for each in piece.apart):
                parts = [] if split is None else job.sources["reports"].read(split)
                found += [row for part in parts for row in rows(part.tuples)]
        reader.commit(after)
        before = after
        left.append(len(list(spool.glob("*.jsonl"))))
    assert "behind" not in after
    assert found == [(n, n % 7) for n in range(12)]
    assert left == [12, 11, 11, 7, 3, 1]  # the last file that was read stays until the next has been


def test_a_spool_that_is_half_full_is_told(tmp_path: Path) -> None:
    source = Push("127.0.0.1", 0, REPORTS.schema, str(tmp_path), limit=1000)
    assert source.filled() == 0
    posted(tmp_path, 30)
    assert 0 < Push("127.0.0.1", 0, REPORTS.schema, str(tmp_path), limit=1 << 30).filled() < source.filled()


def changing(tmp_path: Path, after: Network) -> tuple[StreamReader, Control, dict[str, Any]]:
    """A run in which one branch is behind, and that is to go on with another network."""
    before = job_of(NET, rate(), tmp_path)
    control = Control(str(tmp_path))
    control.write_job(1, ship(before))
    control.write_job(2, ship(replace(job_of(after, rate(), tmp_path), number=2)))
    control.write(Directive(1, 20, takes={"stats": {"reports": 5}}))
    reader = StreamReader(control)
    offset = reader.latestOffset(reader.initialOffset())
    control.write(Directive(2, 20))
    return reader, control, offset


def test_a_change_keeps_the_positions_of_branches(tmp_path: Path) -> None:
    more = au.network(
        stats=STATS,
        few=STATS.filter("c < 2", box="few"),
        new=REPORTS.filter("n > 5", box="new"),
    )
    reader, control, offset = changing(tmp_path, more)
    control.write(Directive(2, 20, takes={"stats, few": {"reports": 0}}))
    after = reader.latestOffset(offset)
    assert (after["network"], after["began"], after["inputs"]["reports"]["n"]) == (2, 2, 40)
    assert {name: each["reports"]["n"] for name, each in after["behind"].items()} == {"stats, few": 5}
    assert reader.partitions(offset, after)


def test_a_change_that_joins_branches_lets_them_catch_up_first(tmp_path: Path) -> None:
    joined = au.network(stats=STATS, fast=THIRD, both=THIRD.join(STATS, "left.seg = right.seg", on="n", size=10))
    reader, _, offset = changing(tmp_path, joined)
    first = reader.latestOffset(offset)
    assert (first["network"], first["inputs"]["reports"]["n"]) == (1, 20)  # the others wait for it
    assert "behind" not in first
    second = reader.latestOffset(first)
    assert (second["network"], second["began"], second["inputs"]["reports"]["n"]) == (2, 3, 40)
