"""Kernels on texts; positions count characters from 1."""

from typing import Any

import pyarrow as pa
import pytest

from australis.expressions import texts
from australis.expressions.operand import MisfitError

WORDS = ["", None, "a", "größer", "a,b,,c", "\U0001f600x"]
COLUMN = pa.array(WORDS)


def by_rows(one: Any) -> list[Any]:
    """What Python gives for each word; null stays null."""
    return [None if word is None else one(word) for word in WORDS]


@pytest.mark.parametrize(("start", "length"), [(1, None), (2, 2), (0, 1), (-2, None), (-2, 1), (-2, 5), (9, 1), (1, 0)])
def test_parts_of_texts(start: int, length: int | None) -> None:
    def part(word: str) -> str:
        first = start - 1 if start > 0 else max(len(word) + start, 0) if start else 0
        if start < 0 and len(word) + start < 0 and length is not None:
            return word[: max(len(word) + start + length, 0)]
        return word[first:] if length is None else word[first : first + length]

    assert texts.substr(COLUMN, start, length).to_pylist() == by_rows(part)


@pytest.mark.parametrize("count", [0, 1, 3, 99, -1])
def test_the_first_and_the_last(count: int) -> None:
    assert texts.left(COLUMN, count).to_pylist() == by_rows(lambda word: word[:count])
    last = (lambda word: word[-count:]) if count > 0 else (lambda word: word[-count:] if count else "")
    assert texts.right(COLUMN, count).to_pylist() == by_rows(last)


@pytest.mark.parametrize("width", [-1, 0, 2, 8])
def test_padded_or_cut(width: int) -> None:
    size = max(width, 0)
    assert texts.lpad(COLUMN, width, "ü").to_pylist() == by_rows(lambda word: word.rjust(size, "ü")[:size])
    assert texts.rpad(COLUMN, width).to_pylist() == by_rows(lambda word: word.ljust(size)[:size])


@pytest.mark.parametrize("part", ["", "b", "ß", "x", "no", ","])
def test_where_a_part_begins_and_what_it_parts(part: str) -> None:
    assert texts.instr(COLUMN, part).to_pylist() == by_rows(lambda word: word.find(part) + 1)
    assert texts.replace(COLUMN, part, "!").to_pylist() == by_rows(
        lambda word: word.replace(part, "!") if part else word
    )
    for place in (1, 2, 9) if part else ():
        split = by_rows(lambda word, place=place: [*word.split(part), *[""] * 9][place - 1])
        assert texts.split_part(COLUMN, part, place).to_pylist() == split


def test_nulls_in_texts_that_are_joined() -> None:
    one, two = pa.array(["a", None, "c", None]), pa.array(["x", "y", None, None])
    assert texts.join(one, two).to_pylist() == ["ax", None, None, None]
    assert texts.concat(one, two).to_pylist() == ["ax", "y", "c", ""]
    assert texts.concat_ws(pa.scalar("-"), one, two).to_pylist() == ["a-x", "y", "c", ""]


@pytest.mark.parametrize(
    ("pattern", "group", "found"),
    [
        (r"(\d+)-(\d+)", None, "12"),
        (r"(\d+)-(\d+)", 2, "34"),
        (r"(\d+)-(\d+)", 0, "12-34"),
        (r"\d+", None, "12"),
        (r"(?P<first>\d)(?:\d)-(\d)", 2, "3"),
        (r"[(]|\(|(4)", 1, "4"),
        (r"(x)", None, None),
    ],
)
def test_groups_of_patterns(pattern: str, group: int | None, found: str | None) -> None:
    assert texts.regexp_extract(pa.array(["12-34", None]), pattern, group).to_pylist() == [found, None]


def test_spaces_and_other_characters_are_cut_off() -> None:
    padded = pa.array([" \t x ", None])
    assert [trim(padded)[0].as_py() for trim in (texts.trim, texts.ltrim, texts.rtrim)] == ["x", "x ", " \t x"]
    assert texts.trim(pa.array(["xyax"]), "xy").to_pylist() == ["a"]


def test_options_that_make_no_sense_are_told() -> None:
    for wrong in (
        lambda: texts.substr(COLUMN, 1, -1),
        lambda: texts.lpad(COLUMN, 3, "ab"),
        lambda: texts.split_part(COLUMN, ",", 0),
        lambda: texts.split_part(COLUMN, "", 1),
        lambda: texts.regexp_extract(COLUMN, "(a)", 2),
    ):
        with pytest.raises(MisfitError):
            wrong()
