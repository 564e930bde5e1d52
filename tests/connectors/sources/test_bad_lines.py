"""Bad lines: each goes to the dead letters by itself, and its neighbours are read."""

import csv
import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.connectors.push.bodies import JSON, Refused, post
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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BLOCK", 300)
        patch.setattr(sift, "_CHUNK", 8)
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


FIELDS = st.fixed_dictionaries({}, optional={
    "a": st.none() | st.integers(-(2**33), 2**33) | st.text(max_size=2) | st.just(1.5) | st.just([1]),
    "b": st.none() | st.floats(-1e9, 1e9) | st.integers(-9, 9) | st.text(max_size=2),
    "c": st.none() | st.text(max_size=5) | st.integers(0, 9) | st.just({"d": 1}),
    "e": st.just({"f": [1, {}]}),
})  # fmt: skip
OBJECTS = FIELDS.map(json.dumps) | FIELDS.map(lambda fields: "  " + json.dumps(fields, ensure_ascii=False) + " ")
BROKEN = st.sampled_from([
    '{"a": 1', '"a": 1}', '{"a": 1} {"a": 2}', '{"a":{"b":1}', "[]", "null", "x", '{"a": 1}x', '{"a": 1, "a": 2}', "",
    '{"c": "', '"}', "{}{}", '{"a": NaN}', '{"a": 01}', "{", "}",
])  # fmt: skip


def json_oracle(line: str):
    pairs: list[str] = []

    def once(found):
        if len({name for name, _ in found}) < len(found):
            raise ValueError(line)
        return dict(found)

    fields = json.loads(line, object_pairs_hook=once)
    assert not pairs
    if not isinstance(fields, dict):
        raise ValueError(line)
    row = []
    for name, kinds in (("a", int), ("b", (int, float)), ("c", str)):
        value = fields.get(name)
        if value is not None and (not isinstance(value, kinds) or isinstance(value, bool)):
            raise ValueError(line)
        row.append(value_of(name, str(value)) if value is not None and name != "c" else value)
    return tuple(row)


@given(st.lists(OBJECTS | BROKEN, max_size=40), st.integers(1, 5))
def test_json_agrees_with_a_line_at_a_time(folder, given_lines, splits):
    tuples, letters = read(folder / "a.jsonl", "".join(f"{line}\n" for line in given_lines).encode(), splits=splits)
    good, bad, at = [], [], 0
    for line in given_lines:
        raw = line.encode()
        if line:
            try:
                good.append((at, json_oracle(line)))
            except ValueError:
                bad.append((at, raw))
        at += len(raw) + 1
    assert [(position, raw) for position, raw, _ in letters] == bad
    assert tuples == good


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


DEEP = 5_000
NO_OBJECTS = {
    "list": b"[1, 2]", "names": b'["d"]', "text": b'"d"', "number": b"7", "null": b"null",
    "deep list": b"[" * DEEP + b"]" * DEEP,
    "deep value": b'{"a": ' + b"[" * DEEP + b"]" * DEEP + b"}",
    "deep object": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "open": b'{"a":' * DEEP,
}  # fmt: skip


@pytest.mark.parametrize("kind", NO_OBJECTS)
@pytest.mark.parametrize("splits", [1, 3])
def test_lines_that_are_no_flat_objects_are_letters_where_a_column_is_absent(tmp_path, kind, splits):
    wanted = schema("a int, dd int")
    line = NO_OBJECTS[kind]
    for before in (b"", b'{"a": 0}\n'):
        tuples, letters = read(tmp_path / "a.jsonl", before + line + b'\n{"a": 1}\n', wanted, splits)
        assert [row for _, row in tuples] == [(0, None)] * bool(before) + [(1, None)]
        assert [(position, raw) for position, raw, _ in letters] == [(len(before), line)]
        assert letters[0][2]


def test_only_objects_name_columns():
    with pytest.raises(Refused, match="no column a; there are aa; did you mean `aa`"):
        post(JSON, b'["a"]\n{"aa": 3}\n', schema("a int"))


def test_one_column_of_csv_keeps_its_nulls(folder):
    tuples, letters = read(folder / "one.csv", b"a\n1\n\nx\n3\n", schema("a int"))
    assert [row for _, row in tuples] == [(1,), (None,), (3,)]
    assert [raw for _, raw, _ in letters] == [b"x"]


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
