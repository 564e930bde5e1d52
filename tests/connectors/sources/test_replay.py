"""Replay: tuples come when they are due."""

import pyarrow as pa
import pyarrow.parquet
import pytest

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
