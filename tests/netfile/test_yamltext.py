"""YAML as people mean it."""

import math
from typing import Any

import pytest

from australis.errors import NetworkError
from australis.netfile.yamltext import Block, Document, dumps

TEXT = """\
australis: 2
boxes:
  fast:
    filter: mph > 60
    from: [a, b]
"""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on", "on"),
        ("no", "no"),
        ("Yes", "Yes"),
        ("true", True),
        ("FALSE", False),
        ("~", None),
        ("", None),
        ("Null", None),
        ("1:30", "1:30"),
        ("0x1F", "0x1F"),
        ("010", "010"),
        ("1_000", "1_000"),
        ("2026-11-16", "2026-11-16"),
        ("0", 0),
        ("+7", 7),
        ("-9223372036854775808", -(2**63)),
        ("1.", 1.0),
        (".5", 0.5),
        ("-1e3", -1000.0),
        ("1e400", math.inf),
        (".inf", ".inf"),
        (".nan", ".nan"),
        (".", "."),
        ("-", [None]),
        ("<<", "<<"),
    ],
)
def test_words_and_numbers(text: str, value: object) -> None:
    found = Document(text, "f").data
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3", "line 3, column 1: the key `a` stands here again; it is in line 1 too"),
        ("? [a]\n: 1", "a key is a name, not a list or a mapping"),
        ("a: [1", "line 1, column 6: "),
        ("9" * 5000, "f: .*digits"),
        ("a: \0", "f: "),
    ],
)
def test_mistakes_are_told_with_their_places(text: str, message: str) -> None:
    with pytest.raises(NetworkError, match=message):
        Document(text, "f")


@pytest.mark.parametrize(
    ("path", "inside", "line", "column"),
    [
        ((), (), 1, 1),
        (("boxes", "fast"), (), 3, 3),
        (("boxes", "fast", "from", 1), (), 5, 15),
        (("boxes", "fast", "from", 2), (), 5, 5),
        (("boxes", "slow", "from"), (), 2, 1),
        (("boxes", "fast"), ("arguments", "filter"), 4, 5),
    ],
)
def test_places_are_those_of_the_innermost_part_that_is_there(
    path: tuple[object, ...], inside: tuple[str, ...], line: int, column: int
) -> None:
    place = Document(TEXT, "f").place(path, *inside)
    assert (place.line, place.column) == (line, column)


@pytest.mark.parametrize(
    "data",
    [
        {"no": "on", "n": "1", "t": "true", "e": "", "f": 1.5, "l": [], "none": None},
        Block({"a": {"b": ["x" * 60, "y" * 60]}, "one": "two\nthree: four"}),
        ["größer", "# no", "- a", "1e3", -(2**63), 1e300],
    ],
)
def test_what_is_written_is_read_back(data: Any) -> None:
    assert Document(dumps(data), "f").data == data


def test_a_block_has_a_line_for_each_key_and_the_rest_is_short() -> None:
    assert dumps(Block({"a": {"b": 1, "c": [2, 3]}})) == "a: {b: 1, c: [2, 3]}\n"
