"""JSON lines as a source."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.connectors.push.bodies import JSON, Refused, post
from tests.connectors.sources.test_bad_lines import read, small_blocks, value_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    with small_blocks():
        yield tmp_path_factory.mktemp("bad")


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
DEEP = 5_000
NO_OBJECTS = {
    "list": b"[1, 2]", "names": b'["d"]', "text": b'"d"', "number": b"7", "null": b"null",
    "deep list": b"[" * DEEP + b"]" * DEEP,
    "deep value": b'{"a": ' + b"[" * DEEP + b"]" * DEEP + b"}",
    "deep object": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "open": b'{"a":' * DEEP,
}  # fmt: skip


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
