"""Replay, rate, memory, and the text forms of sources."""

import pickle

import pyarrow as pa
import pyarrow.parquet
import pytest

from australis import RunError, SchemaError
from australis.arrow.schema import schema
from australis.connectors.source import Source, parts
from australis.connectors.sources.files import Files
from australis.connectors.sources.memory import MemorySource
from australis.connectors.sources.rate import Rate
from australis.connectors.sources.replay import Replay
from australis.connectors.sources.uri import source
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


def test_a_rate_gives_so_many_a_second_and_the_same_again():
    clock = Clock()
    wanted = schema("time timestamptz, vid int, name string, odd boolean, tiny tinyint, half double")
    rate = Rate(wanted, 10, (("vid", "n % 3"), ("half", "n / 2.0")), limit=1000, clock=clock)
    start = rate.start()
    assert start == {"began": clock.now, "n": 0}
    clock.now += SECOND
    end = rate.latest(start, 100)
    found = between(rate, start, end)
    assert len(found) == 11
    assert rate.backlog(start) == 11
    assert found[5][1:] == (2, "5", True, 5, 2.5)
    assert (found[5][0] - found[0][0]).total_seconds() == 0.5
    assert rate.latest(start, 4)["n"] == 4
    clock.now += 1000 * SECOND
    assert between(rate, start, end, 4) == found
    assert rate.finished(rate.latest(end, 10_000))
    numbers = [n for split in rate.splits(start, end, 3) for part in rate.read(split) for n in part.number.tolist()]
    assert numbers == list(range(1, 12))
    assert rows(next(iter(rate.read(rate.splits({**end, "n": 200}, {**end, "n": 201}, 1)[0]))).tuples)[0][4] == 72


def test_mistakes_in_a_rate_are_told():
    for error, told, spec, text in (
        (RunError, "rate: 0.0 tuples a second; give a rate above zero", "vid int", "rate:0"),
        (RunError, "rate:x: the rate is a number, not `x`", "vid int", "rate:x"),
        (RunError, r"rate:1\?v=n: there is no option v; there are vid, limit, began", "vid int", "rate:1?v=n"),
        (SchemaError, "rate: column vid is int32, but `'a'` is string", "vid int", "rate:1?vid='a'"),
        (RunError, "rate: column l is list<.*not made of a counter; give an expression", "l array<int>", "rate:1"),
    ):
        with pytest.raises(error, match=told):
            source(text, spec)


def test_memory():
    batches = tuple(pa.record_batch({"i": list(range(low, low + 5))}) for low in (0, 5, 10))
    memory = pickle.loads(pickle.dumps(MemorySource(batches)))
    assert memory.schema.names == ["i"]
    for limit in (1, 4, 100):
        for count in (1, 2, 5):
            offset, found, numbers = memory.start(), [], []
            while not memory.finished(offset):
                end = memory.latest(offset, limit)
                for split in memory.splits(offset, end, count):
                    for part in memory.read(split):
                        found += rows(part.tuples)
                        numbers += part.number.tolist()
                offset = end
            assert found == [(i,) for i in range(15)]
            assert numbers == list(range(1, 16))
    assert memory.splits(offset, offset, 3) == []
    with pytest.raises(RunError, match="at least one batch, and all of them have the same schema"):
        MemorySource(())


def test_text_forms(tmp_path):
    save(tmp_path, "csv", [1, 2])
    assert source("reports/*.csv", "a int") == Files("reports/*.csv", schema("a int"))
    assert source("a?.csv?header=false&delimiter=;", "a int") == Files(
        "a?.csv", schema("a int"), header=False, delimiter=";"
    )
    assert source("x/?follow=true&order=time&strict=TRUE&null=NA", "a int") == Files(
        "x", schema("a int"), follow=True, order="time", strict=True, nulls=("", "NA")
    )
    assert source("replay:r.parquet?on=time&speed=10&began=5&follow=true", SCHEMA) == Replay(
        Files("r.parquet", SCHEMA, follow=True), "time", 10.0, 5 * SECOND
    )
    assert source("rate:1000?limit=5&vid=n+1", SCHEMA) == Rate(SCHEMA, 1000.0, (("vid", "n+1"),), 5)
    assert len([row for part in parts(source(tmp_path / "reports.csv", SCHEMA)) for row in rows(part.tuples)]) == 2


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("kafka:reports", "there is no source `kafka:reports`; a source is a file, glob or folder .*replay:.*rate:"),
        ("repaly:a.csv?on=time", "did you mean `replay`"),
        ("a.csv?folow=true", "there is no option folow; there are follow, .*did you mean `follow`"),
        ("a.csv?follow=yes", "follow is true or false, not `yes`"),
        ("a.csv?order=size", "the order of files is `name` or `time`, not `size`"),
        ("a.csv?follow=true&x", "`x` is no option; write name=value"),
        ("replay:a.csv", r"say which column is the time, such as replay:a.csv\?on=time"),
        ("replay:a.csv?on=time&speed=fast", "speed is a number, not `fast`"),
    ],
)
def test_mistakes_in_text_forms_are_told(text, told):
    with pytest.raises(RunError, match=told):
        source(text, SCHEMA)
