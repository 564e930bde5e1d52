"""Bad lines: each goes to the dead letters by itself, and its neighbours are read."""

from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.connectors.source import parts
from australis.connectors.sources import lines, sift
from australis.connectors.sources.files import Files
from australis.testing import rows

SCHEMA = schema("a int, b double, c string")


def read(path, data: bytes, wanted=SCHEMA, splits: int = 1):
    """Tuples with their positions, letters with theirs, and the reasons."""
    path.write_bytes(data)
    source = Files(str(path), wanted)
    start = source.start()
    end = source.latest(start, 1 << 30)
    found = [part for split in source.splits(start, end, splits) for part in source.read(split)]
    numbers = [n - 1 for part in found for n in part.number.tolist()]
    tuples = list(zip(numbers, [row for part in found for row in rows(part.tuples)], strict=True))
    return tuples, [(x.position, x.raw, x.reason) for part in found for x in part.letters]


@contextmanager
def small_blocks():
    """Lines are read a few at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BLOCK", 300)
        patch.setattr(sift, "_CHUNK", 8)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    with small_blocks():
        yield tmp_path_factory.mktemp("bad")


def value_of(name: str, text: str):
    """A value that means one thing to everybody, or a ValueError."""
    if text == "":
        return None
    if name == "a":
        if not -(2**31) <= int(text) < 2**31:
            raise ValueError(text)
        return int(text)
    return float(text) if name == "b" else text


WILD = st.lists(st.binary(max_size=20) | st.text('",\r 0.xé', max_size=12).map(str.encode), max_size=30)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
@settings(max_examples=60)
@given(WILD, st.integers(1, 4))
def test_the_fate_of_a_line_is_its_own(folder, name, wild, splits):
    good = b"1,2,x" if name == "a.csv" else b'{"a": 1, "b": 2, "c": "x"}'
    head = b"a,b,c\n" if name == "a.csv" else b""
    wild = [line.replace(b"\n", b"").removeprefix(b"\xef\xbb\xbf") for line in wild]  # a mark of files, not of lines
    text = [line for odd in wild for line in (odd, good)]
    tuples, letters = read(folder / name, head + b"".join(line + b"\n" for line in text), splits=splits)
    at, alone_tuples, alone_letters = len(head), [], []
    known = {}
    for line in text:
        if line not in known:
            known[line] = read(folder / f"alone-{name}", head + line + b"\n")
        (ours, theirs), shift = known[line], at - len(head)
        alone_tuples += [(position + shift, row) for position, row in ours]
        alone_letters += [(position + shift, raw, reason) for position, raw, reason in theirs]
        at += len(line) + 1
    assert tuples == alone_tuples
    assert letters == alone_letters
    assert len([row for _, row in tuples if row == (1, 2.0, "x")]) >= len(wild)


def test_reasons_name_the_column_and_the_value(folder):
    data = b'a,x,b,c\n1,,2,3\nx,,2,3\n1,,x,3\n1,2\n9999999999,,1,\n1,,1,\xff\n1,,1,"\n'
    _, letters = read(folder / "a.csv", data)
    assert [reason for _, _, reason in letters] == [
        "column a: int32: invalid value 'x'",
        "column b: double: invalid value 'x'",
        "2 values for 4 columns",
        "column a: int32: invalid value '9999999999'",
        "invalid UTF-8",
        "a quote is not closed, or there is a carriage return, in the line",
    ]
    _, letters = read(folder / "a.jsonl", b'{"a": "x"}\n{"a": 1.5}\n{"c": "\xff"}\n{"a":1}{"a":2}\nx\n{"a" 1}\n')
    assert [reason for _, _, reason in letters] == [
        "Column(/a) changed from number to string",
        "Failed to convert JSON to int32, couldn't parse:1.5",
        "invalid UTF-8",
        "more than one JSON object in a line",
        "not a JSON object in one line",
        "Missing a colon after a name of object member",
    ]


def test_a_file_of_nothing_but_bad_lines(folder):
    tuples, letters = read(folder / "a.csv", b"a,b,c\n" + b"x,y,z\n" * 500)
    assert tuples == []
    assert len(letters) == 500


def test_letters_of_a_packed_file_tell_the_place_in_its_text(tmp_path):
    import gzip

    with gzip.open(tmp_path / "a.csv.gz", "wb") as file:
        file.write(b"a,b,c\n1,2,3\nx,2,3\n")
    (part,) = parts(Files(str(tmp_path / "a.csv.gz"), SCHEMA))
    assert [(x.position, x.raw) for x in part.letters] == [(12, b"x,2,3")]
