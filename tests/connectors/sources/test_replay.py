"""Replay: tuples come when they are due."""

import json
import pickle

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from australis import RunError
from australis.arrow.schema import schema
from australis.connectors.source import Source
from australis.connectors.sources.files import Files
from australis.connectors.sources.replay import Replay
from australis.testing import rows

SCHEMA = schema("time int, vid int")
SECOND = 1_000_000


class Clock:
    now = 1_000 * SECOND

    def __call__(self) -> int:
        return self.now


def between(given: Source, start, end, count: int = 1):
    return [row for split in given.splits(start, end, count) for part in given.read(split) for row in rows(part.tuples)]


def save(folder, kind: str, times) -> str:
    path = folder / f"reports.{kind}"
    if kind == "csv":
        path.write_text("vid,time\n" + "".join(f"{i},{'' if t is None else t}\n" for i, t in enumerate(times)))
    else:
        columns = {"time": pa.array(times, pa.int32()), "vid": pa.array(range(len(times)), pa.int32())}
        pa.parquet.write_table(pa.table(columns), path, row_group_size=3)
    return str(path)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_replay_gives_each_tuple_when_it_is_due(kind, tmp_path):
    times = [100, 100, 101, None, 105, 104, 110, 110]
    clock = Clock()
    replay = Replay(Files(save(tmp_path, kind, times), SCHEMA), "time", speed=10, began=clock.now, clock=clock)
    offset, seen = replay.start(), {}
    for tenths in range(11):
        clock.now = replay.began + tenths * SECOND // 10
        due = replay.backlog(offset)
        end = replay.latest(offset, 100)
        seen[tenths] = [vid for _, vid in between(replay, offset, end, 2)]
        assert due == len(seen[tenths])
        assert replay.latest(end, 100) == end
        offset = end
    assert {tenths: vids for tenths, vids in seen.items() if vids} == {0: [0, 1], 1: [2, 3], 5: [4, 5], 10: [6, 7]}
    assert replay.finished(offset)


def test_a_replay_is_bounded_and_catches_up(tmp_path):
    clock = Clock()
    replay = Replay(Files(save(tmp_path, "parquet", range(20)), SCHEMA), "time", clock=clock)
    offset = replay.start()
    assert between(replay, offset, replay.latest(offset, 5)) == [(0, 0)]
    clock.now += 10 * SECOND
    end = replay.latest(offset, 5)
    assert [time for time, _ in between(replay, offset, end)] == [0, 1, 2, 3, 4]
    assert [time for time, _ in between(replay, end, replay.latest(end, 100))] == [5, 6, 7, 8, 9, 10]
    assert not replay.finished(end)


def test_a_replay_of_timestamps_that_begins_later(tmp_path):
    clock = Clock()
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f'{{"at": "2020-01-01T00:00:0{i}Z"}}\n' for i in range(5)))
    replay = Replay(Files(str(path), schema("at timestamptz")), "at", began=clock.now + SECOND, clock=clock)
    offset = replay.start()
    assert replay.latest(offset, 10) == offset
    clock.now += 3 * SECOND
    assert len(between(replay, offset, replay.latest(offset, 10))) == 3


def test_mistakes_in_a_replay_are_told(tmp_path):
    files = Files(save(tmp_path, "csv", [1]), schema("time int, s string"))
    for on, speed, told in (
        ("tiem", 1, "replay: no column tiem; there are time, s; did you mean `time`"),
        ("s", 1, "replay: column s is string; it needs numbers of seconds, or timestamps"),
        ("time", 0, "replay: the speed is 0; give one above zero"),
    ):
        with pytest.raises(RunError, match=told):
            Replay(files, on, speed)
    with pa.output_stream(tmp_path / "a.csv.gz") as file:
        file.write(b"time,s\n1,x\n")
    packed = Replay(Files(str(tmp_path / "a.csv.gz"), files.schema), "time")
    with pytest.raises(RunError, match=r"a.csv.gz: a compressed file is read whole, and cannot be replayed; unpack it"):
        packed.latest(packed.start(), 1)


def stamps(given: Source, cuts, splits: int) -> list[int]:
    """When the tuples between offsets came, in batches of so many tuples."""
    found, offset = [], given.start()
    for limit in cuts:
        end = json.loads(json.dumps(given.latest(offset, limit)))
        for split in pickle.loads(pickle.dumps(given.splits(offset, end, splits))) if end != offset else ():
            for part in given.read(split):
                assert len(part.ts) == part.tuples.num_rows
                found += part.ts.tolist()
        offset = end
    assert given.finished(offset)
    return found


TIMES = st.lists(st.none() | st.integers(-5, 40), min_size=1, max_size=30)


@given(TIMES, st.sampled_from(["csv", "parquet"]), st.integers(1, 4), st.sampled_from([0.5, 1, 1000]), st.data())
@example([None, None, 3, 1, None, 5, 4], "csv", 3, 1, None)
@example([None], "parquet", 1, 1, None)
def test_replayed_tuples_came_when_they_were_due_however_they_are_cut(
    tmp_path_factory, times, kind, splits, speed, data
):
    clock, latest, due = Clock(), None, []
    first = next((time for time in times if time is not None), 0)
    for time in times:  # one row at a time
        latest = max((each for each in (latest, time) if each is not None), default=None)
        due.append(clock.now + int(max(0 if latest is None else latest - first, 0) * SECOND / speed))
    path = save(tmp_path_factory.mktemp("replay"), kind, times)
    replay = Replay(Files(path, SCHEMA), "time", speed=speed, began=clock.now, clock=clock)
    clock.now += 1000 * SECOND
    cuts = [] if data is None else data.draw(st.lists(st.integers(1, 9), max_size=5))
    assert stamps(replay, [*cuts, *([100] if data else [1] * 100)], splits) == due


def test_what_waits_in_a_replay_came_no_earlier_than_what_was_taken(tmp_path):
    clock = Clock()
    replay = Replay(Files(save(tmp_path, "parquet", [0, 1, 3, 2, 9]), SCHEMA), "time", began=clock.now, clock=clock)
    offset = replay.start()
    clock.now += 4 * SECOND
    assert replay.arrived(offset) == replay.began
    offset = replay.latest(offset, 3)
    assert replay.arrived(offset) == replay.began + 3 * SECOND
    offset = replay.latest(offset, 3)
    assert replay.arrived(offset) is None  # the last is not due yet
    clock.now += 5 * SECOND
    offset = replay.latest(offset, 3)
    assert replay.finished(offset)
    assert replay.arrived(offset) is None


def test_an_offset_of_a_replay_without_times_is_taken_up(tmp_path):
    clock = Clock()
    replay = Replay(Files(save(tmp_path, "parquet", [0, 1, 3, 2, 9]), SCHEMA), "time", began=clock.now, clock=clock)
    clock.now += 100 * SECOND
    old = {name: replay.latest(replay.start(), 3)[name] for name in ("began", "first", "at")}
    end = replay.latest(old, 100)
    found = [part.ts.tolist() for split in replay.splits(old, end, 1) for part in replay.read(split)]
    assert found == [[replay.began + 2 * SECOND, replay.began + 9 * SECOND]]
    assert replay.arrived(old) == replay.began
