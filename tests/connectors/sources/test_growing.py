"""Files and folders that grow while they are read."""

import json
import os
from pathlib import Path

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

SCHEMA = schema("i int")


class Follower:
    """Reads what is new, a batch at a time, and remembers its offsets."""

    def __init__(self, source: Source, limit: int = 1000) -> None:
        self.source, self.limit = source, limit
        self.offsets = [source.start()]
        self.numbers: list[int] = []

    def more(self) -> list[int | None]:
        found = []
        while (end := self.source.latest(self.offsets[-1], self.limit)) != self.offsets[-1]:
            for split in self.source.splits(self.offsets[-1], end, 2):
                for part in self.source.read(split):
                    found += [i for (i,) in rows(part.tuples)]
                    self.numbers += part.number.tolist()
            self.offsets.append(end)
        assert self.numbers == sorted(set(self.numbers))
        assert not self.source.finished(self.offsets[-1])
        return found


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl"])
def test_only_whole_lines_are_read_and_each_once(name, tmp_path):
    path = tmp_path / name
    follower = Follower(Files(str(path), SCHEMA, follow=True))
    assert follower.more() == []
    text = "i\n1\n2\n" if name == "log.csv" else '{"i": 1}\n{"i": 2}\n'
    written = 0
    seen = []
    with path.open("a") as file:
        for char in text:
            file.write(char)
            file.flush()
            written += 1
            seen.append(follower.more())
            if char != "\n":
                assert seen[-1] == []
    assert [i for part in seen for i in part] == [1, 2]
    assert len(follower.offsets) == (4 if name == "log.csv" else 3)  # the header moves the offset too


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), max_size=12), st.integers(1, 4))
def test_a_folder_that_grows_by_lines_and_files_gives_each_tuple_once(tmp_path_factory, growth, limit):
    folder = tmp_path_factory.mktemp("growing")
    follower = Follower(Files(str(folder), SCHEMA, follow=True), limit)
    seen, count, file = [], 0, 0
    for new, lines in growth:
        file += new
        path = folder / f"part-{file:03}.csv"
        if not path.exists():
            path.write_text("i\n")
        with path.open("a") as text:
            text.writelines(f"{i}\n" for i in range(count + 1, count + 1 + lines))
        count += lines
        seen += follower.more()
    assert seen == list(range(1, count + 1))
    again = Follower(Files(str(folder), SCHEMA, follow=True), 1000)
    assert again.more() == seen
    assert again.numbers == follower.numbers


def test_a_file_is_taken_when_it_has_its_name(tmp_path):
    follower = Follower(Files(str(tmp_path), SCHEMA, follow=True))
    for name in (".a.csv", "_a.csv", "a.csv.tmp", "notes.txt"):
        (tmp_path / name).write_text("i\n1\n")
        assert follower.more() == []
    (tmp_path / "a.csv.tmp").rename(tmp_path / "a.csv")
    assert follower.more() == [1]


def test_the_last_line_of_a_file_needs_no_line_end_once_another_follows(tmp_path):
    follower = Follower(Files(str(tmp_path), SCHEMA, follow=True))
    (tmp_path / "a.csv").write_text("i\n1\n2")
    assert follower.more() == [1]
    (tmp_path / "b.csv").write_text("i\n3\n")
    assert follower.more() == [2, 3]


def test_files_by_time(tmp_path):
    follower = Follower(Files(str(tmp_path / "*.csv"), SCHEMA, follow=True, order="time"))
    for seconds, name in ((1, "z.csv"), (2, "a.csv"), (2, "b.csv"), (3, "0.csv")):
        (tmp_path / name).write_text(f"i\n{seconds}\n")
        os.utime(tmp_path / name, (seconds, seconds))
        assert follower.more() == [seconds]
    (tmp_path / "late.csv").write_text("i\n9\n")
    os.utime(tmp_path / "late.csv", (2, 2))
    with pytest.raises(RunError, match=r"come or changed that stand before .*0.csv in the order of their times"):
        follower.more()


def test_a_file_that_comes_before_those_read_is_told(tmp_path):
    follower = Follower(Files(str(tmp_path), SCHEMA, follow=True))
    (tmp_path / "b.csv").write_text("i\n1\n")
    assert follower.more() == [1]
    (tmp_path / "a.csv").write_text("i\n2\n")
    with pytest.raises(RunError, match=r"stand before .*b.csv in the order of their names.*new files come last"):
        follower.more()


@pytest.mark.parametrize("order", ["name", "time"])
def test_a_file_that_comes_in_place_of_one_that_was_moved_away_is_told(tmp_path, order):
    follower = Follower(Files(str(tmp_path), SCHEMA, follow=True, order=order))
    for index, name in enumerate(("a.csv", "b.csv", "c.csv")):
        put(tmp_path / name, index)
        assert follower.more() == [index]
    (tmp_path / "a.csv").unlink()
    assert follower.more() == []
    put(tmp_path / "aa.csv", 0)
    with pytest.raises(RunError, match=r"come or changed that stand before .*c.csv.*, after it was read: .*aa"):
        follower.more()
    (tmp_path / "aa.csv").unlink()
    assert follower.more() == []  # nothing was lost by it


def put(path, value):
    path.write_text(f"i\n{value}\n")
    os.utime(path, (value + 1, value + 1))


@pytest.mark.parametrize("text", ["i\n10\n", "i\n0\n7\n"], ids=["another", "grown"])
def test_a_file_that_was_read_and_is_another_now_is_told(tmp_path, text):
    follower = Follower(Files(str(tmp_path), SCHEMA, follow=True))
    for index, name in enumerate(("a.csv", "b.csv")):
        put(tmp_path / name, index)
        assert follower.more() == [index]
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(RunError, match=r"come or changed that stand before .*b.csv .*: .*a.csv; see to it that new"):
        follower.more()


@pytest.mark.parametrize("text", ["i\n0\n", "i\n0\n7\n"], ids=["touched", "grown"])
def test_by_time_a_file_that_has_changed_is_told_and_not_read_again(tmp_path, text):
    follower = Follower(Files(str(tmp_path), SCHEMA, follow=True, order="time"))
    for index, name in enumerate(("a.csv", "b.csv")):
        put(tmp_path / name, index)
        assert follower.more() == [index]
    (tmp_path / "a.csv").write_text(text)
    os.utime(tmp_path / "a.csv", (9, 9))
    with pytest.raises(RunError, match=r"files have changed that stood before .*b.csv .*: .*a.csv; see to it that"):
        follower.more()


STEPS = st.lists(st.tuples(st.sampled_from(["put", "put", "move", "back", "again"]), st.integers(0, 9)), max_size=14)


@given(STEPS, st.integers(1, 3))
@example([("put", 2), ("put", 5), ("move", 2), ("put", 1)], 3)
@example([("put", 2), ("put", 5), ("move", 5), ("again", 0), ("put", 1), ("move", 1), ("put", 7)], 1)
def test_every_file_is_read_once_or_told(tmp_path_factory, steps, limit):
    """Files come and go in any order, also while nobody reads; beside a list of what was read."""
    folder, away = tmp_path_factory.mktemp("files"), tmp_path_factory.mktemp("away")
    follower = Follower(Files(str(folder), SCHEMA, follow=True), limit)
    read: list[int] = []
    for act, number in steps:
        here, there = folder / f"{number}.csv", away / f"{number}.csv"
        if act == "put" and not here.exists() and not there.exists():
            here.write_text(f"i\n{number}\n")
        elif act == "move" and here.exists() and number in read:
            here.rename(there)
        elif act == "back" and there.exists():
            there.rename(here)
        elif act == "again":
            offset = json.loads(json.dumps(follower.offsets[-1]))
            follower = Follower(Files(str(folder), SCHEMA, follow=True), limit)
            follower.offsets.append(offset)
        present = sorted(int(path.stem) for path in folder.glob("*.csv"))
        if any(number < max(read, default=0) and number not in read for number in present):
            with pytest.raises(RunError, match="files have come or changed that stand before"):
                follower.more()
            here.unlink()
        new = [number for number in present if number > max(read, default=-1)]
        assert follower.more() == new
        read += new


def test_an_offset_is_as_long_as_the_files_that_are_still_there(tmp_path):
    follower = Follower(Files(str(tmp_path), SCHEMA, follow=True), 1)
    for number in range(100):
        put(tmp_path / f"{number:03}.csv", number)
        assert follower.more() == [number]
    assert len(json.dumps(follower.offsets[-1])) < 100 * 12 + 300
    for number in range(99):
        (tmp_path / f"{number:03}.csv").unlink()
    put(tmp_path / "100.csv", 100)
    assert follower.more() == [100]
    put(tmp_path / "101.csv", 101)
    assert follower.more() == [101]
    assert len(json.dumps(follower.offsets[-1])) < 400


def test_files_that_were_read_may_be_moved_away(tmp_path):
    follower = Follower(Files(str(tmp_path), SCHEMA, follow=True))
    for index, name in enumerate(("a.csv", "b.csv", "c.csv", "d.csv")):
        (tmp_path / name).write_text(f"i\n{index}\n")
        assert follower.more() == [index]
        if name != "c.csv":
            (tmp_path / name).unlink()
    (tmp_path / "c.csv").unlink()
    assert follower.more() == []
    (tmp_path / "e.csv").write_text("i\n4\n")
    assert follower.more() == [4]


def save(path, values) -> None:
    given = pa.table({"i": pa.array(values, pa.int32())})
    if path.suffix == ".parquet":
        pa.parquet.write_table(given, path)
        return
    with pa.ipc.new_file(path, given.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as file:
        file.write_table(given)


@pytest.mark.parametrize("kind", ["arrow", "parquet"])
@pytest.mark.parametrize("count", [1, 100_000])  # fewer rows than the file has bytes, and more
def test_files_of_rows_may_be_moved_away_once_they_were_read_to_their_end(kind, count, tmp_path):
    first, second = tmp_path / f"a.{kind}", tmp_path / f"b.{kind}"
    save(first, [7] * count)
    assert (first.stat().st_size > count) == (count == 1)
    follower = Follower(Files(str(tmp_path), SCHEMA, follow=True), count)
    assert follower.more() == [7] * count
    assert json.loads(json.dumps(follower.offsets)) == follower.offsets
    first.unlink()
    assert follower.more() == []
    save(second, [8] * (count + 1))
    end = follower.source.latest(follower.offsets[-1], count)
    second.unlink()
    with pytest.raises(RunError, match=rf"b.{kind}: gone, after it was read up to {count}, which is not its end"):
        follower.source.latest(end, count)


def test_a_file_that_was_replayed_in_part_may_not_be_moved_away(tmp_path):
    save(tmp_path / "a.parquet", [0] * 50_000 + [10] * 50_000)
    replay = Replay(Files(str(tmp_path), SCHEMA, follow=True), "i", clock=lambda: 0)
    end = replay.latest(replay.start(), 1 << 20)
    assert end["at"]["files"][-1][1] == 50_000
    (tmp_path / "a.parquet").unlink()
    with pytest.raises(RunError, match="gone, after it was read up to 50000"):
        replay.latest(end, 1)


def test_a_folder_that_is_not_there_yet(tmp_path):
    follower = Follower(Files(str(tmp_path / "later" / "*.csv"), SCHEMA, follow=True))
    assert follower.more() == []
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "a.csv").write_text("i\n1\n")
    assert follower.more() == [1]


def test_a_file_that_was_corrected_after_it_was_planned_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "reports.csv"
    path.write_text("k,x\n1,a\n2,b\n")
    source = Files(str(path), pa.schema({"k": pa.int64(), "x": pa.string()}))
    (split,) = source.splits(source.start(), source.latest(source.start(), 10), 1)
    path.write_text("k,x\n1,a\n2,b\n3,c\n")
    assert [row for part in source.read(split) for row in part.tuples["k"].to_pylist()] == [1, 2]
    path.write_text("k,x\n1,corrected\n2,b\n")
    with pytest.raises(RunError, match="was changed, and not only at its end"):
        list(source.read(split))
