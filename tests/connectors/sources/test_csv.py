"""CSV as a source."""

import csv

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from tests.connectors.sources.test_bad_lines import read, small_blocks, value_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    with small_blocks():
        yield tmp_path_factory.mktemp("bad")


INTS = st.integers(-(2**33), 2**33).map(str) | st.sampled_from(["", "1", "x", "1.5", "--1", "1e3", "2147483648"])
FLOATS = st.floats(-1e9, 1e9).map(repr) | st.sampled_from(["", "1", "x", "1..2", "1e5", "0,5"])
TEXTS = st.text("abc é", max_size=5) | st.sampled_from(['"a,b"', '"a""b"', "NULL"])
ROWS = st.tuples(INTS, FLOATS, TEXTS).map(",".join)
ODD = st.sampled_from(["", "garbage", "1,2", "1,2,3,4", " ", ",,", '1,2,"open'])


def csv_oracle(line: str):
    if not closed(line):
        raise ValueError(line)
    (found,) = csv.reader([line])
    if len(found) != 3:
        raise ValueError(line)
    return tuple(value_of(name, text) for name, text in zip("abc", found, strict=True))


def closed(line: str) -> bool:
    inside = False
    for char in line:
        inside ^= char == '"'
    return not inside


@given(st.lists(ROWS | ODD, max_size=60), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.integers(1, 5))
@example(['1,2,"open'], "\n", True, 1)
@example(["1,2,x", '1,2,"open', "3,4,y"], "\n", False, 1)
def test_csv_agrees_with_a_line_at_a_time(folder, given_lines, end, last, splits):
    text = "a,b,c" + end + end.join(given_lines) + (end if last else "")
    tuples, letters = read(folder / "a.csv", text.encode(), splits=splits)
    good, bad, at = [], [], len("a,b,c" + end)
    for line in given_lines:
        raw = line.encode()
        if line:
            try:
                good.append((at, csv_oracle(line)))
            except ValueError:
                bad.append((at, raw))
        at += len(raw) + len(end)
    assert [(position, raw) for position, raw, _ in letters] == bad
    assert tuples == good


def test_one_column_of_csv_keeps_its_nulls(folder):
    tuples, letters = read(folder / "one.csv", b"a\n1\n\nx\n3\n", schema("a int"))
    assert [row for _, row in tuples] == [(1,), (None,), (3,)]
    assert [raw for _, raw, _ in letters] == [b"x"]
