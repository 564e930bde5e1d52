"""A text file as a reader of lines."""

import gzip
from pathlib import Path

import pytest

from australis.arrow.schema import schema
from australis.connectors.sources.text import Text, check
from australis.errors import RunError

SCHEMA = schema("a int")
ROWS = b"1\n22\n\n333\n4"


def text(path: Path, data: bytes, header: bool = True) -> Text:
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return Text(str(path), SCHEMA, "json" if ".jsonl" in path.name else "csv", header, ",", ("",))


def values(file: Text, begin: int, stop: int) -> list[int | None]:
    return [value for part in file.read(begin, stop) for value in part.tuples["a"].to_pylist()]


@pytest.mark.parametrize("head", [b"a\n", b"\xef\xbb\xbfa\r\n"])
def test_any_line_is_a_place_to_cut(tmp_path: Path, head: bytes) -> None:
    file = text(tmp_path / "a.csv", head + ROWS)
    stop = file.end(0, final=True)
    assert values(file, 0, stop) == [1, 22, None, 333, 4]
    for position in range(stop):
        cut = file.snap(position, stop)
        assert values(file, 0, cut) + values(file, cut, stop) == [1, 22, None, 333, 4]
    assert file.end(0, final=False) == stop - 1


def test_a_packed_file_is_read_whole(tmp_path: Path) -> None:
    file = text(tmp_path / "a.csv.gz", b"a\n" + ROWS)
    assert file.whole
    assert file.snap(1, file.size) == file.reach(0, file.size, 1) == file.end(0, final=False) == file.size
    assert values(file, 0, file.size) == [1, 22, None, 333, 4]
    assert values(file, file.size, file.size) == []


def test_without_a_header_the_first_line_is_a_tuple(tmp_path: Path) -> None:
    file = text(tmp_path / "a.csv", ROWS, header=False)
    assert values(file, 0, file.size)[0] == 1
    objects = text(tmp_path / "a.jsonl", b'{"a": 1}\n{"a": null}\n\n')
    assert values(objects, 0, objects.size) == [1, None]


def test_a_file_may_only_grow_at_its_end(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    planned = len(b"a\n1\n")
    assert text(path, b"a\n1\n22\n").lost(planned, planned) == ""
    assert "fewer than the 4 that it had" in text(path, b"a\n").lost(planned, planned)
    assert "was changed, and not only at its end" in text(path, b"a\n12345\n").lost(planned, planned)


def test_only_text_is_read_compressed() -> None:
    check("a.parquet")
    with pytest.raises(RunError, match="only CSV and JSON lines are read compressed"):
        check("a.parquet.gz")
