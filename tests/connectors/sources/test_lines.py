"""Lines of text: a file cut in blocks of whole lines."""

import gzip
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.connectors.sources import lines
from australis.connectors.sources.lines import blocks, line_ends, lines_of, next_line, unpacked, whole_lines

TEXT = b"one\n\ntwo two two\r\n\r\nlast"


@given(st.lists(st.sampled_from([b"a", b"\n", b"\r", b"\r\n", b"xyz"])).map(b"".join), st.booleans())
def test_lines_are_those_between_line_ends(data: bytes, keep_empty: bool) -> None:
    found = lines_of(data, len(data), 100, keep_empty)
    wanted, at = [], 0
    for line in data.split(b"\n")[: None if data and not data.endswith(b"\n") else -1]:
        text = line.removesuffix(b"\r")
        wanted += [(100 + at, text)] if text or keep_empty else []
        at += len(line) + 1
    assert [(int(place), found.line(row)) for row, place in enumerate(found.position)] == wanted


def test_lines_with_their_ends() -> None:
    found = lines_of(TEXT, len(TEXT), 0, True)
    assert found.array().to_pylist() == [b"one\n", b"\n", b"two two two\r\n", b"\r\n", b"last"]
    assert found.buffer(1, 3).to_pybytes() == b"\ntwo two two\r\n"
    assert found.buffer(4, 5).to_pybytes() == b"last"


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_blocks_are_of_whole_lines(tmp_path: Path, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "BLOCK", size)
    (tmp_path / "a.csv").write_bytes(TEXT)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(TEXT))
    for pieces in (blocks(str(tmp_path / "a.csv"), 0, len(TEXT)), unpacked(str(tmp_path / "a.csv.gz"), "gzip")):
        found = [(begin, bytes(data[:cut])) for begin, data, cut in pieces]
        assert b"".join(data for _, data in found) == TEXT
        assert all(data.endswith(b"\n") for _, data in found[:-1])
        assert [begin for begin, _ in found] == [0, *accumulate(len(data) for _, data in found[:-1])]


def test_places_of_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(TEXT)
    starts = [0, 4, 5, 18, 20]
    for position in range(len(TEXT) + 1):
        later = [start for start in starts if start >= position]
        assert next_line(str(path), position, len(TEXT)) == (later[0] if later else len(TEXT))
    assert (next_line(str(path), -3, 9), next_line(str(path), 99, 9)) == (0, 9)
    assert [line_ends(str(path), at) for at in (1, 4, 5, len(TEXT))] == [False, True, True, False]
    assert [whole_lines(str(path), begin, len(TEXT)) for begin in (0, 20, 22)] == [20, 20, 22]
