"""Tokens of SQL text."""

import pytest

from australis.errors import ExpressionError
from australis.expressions.words import place, source, tokenize


def words(text: str) -> list[str]:
    return [token.text for token in tokenize(text)]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("mph < 40", ["mph", "<", "40"]),
        ("Upper(name)", ["@upper", "(", "name", ")"]),
        ("upper", ["upper"]),
        ("cast(a as decimal(9, 2))", ["@cast", "(", "a", ",", "decimal(9, 2)", ")"]),
        ("extract(hour from at)", ["@extract", "(", "hour", ",", "at", ")"]),
        ("position('a' in b)", ["@position", "(", "a", ",", "b", ")"]),
        ("date '2026-01-01'", ["@cast", "(", "2026-01-01", ",", "date", ")"]),
        ("interval '10' minute", ["@interval", "(", "10 minute", ")"]),
        ("interval '10' and b", ["@interval", "(", "10", ")", "and", "b"]),
        ("a in (1, 2)", ["a", "in", "(", "1", ",", "2", ")"]),
        ("a -- the rest\n + 1", ["a", "+", "1"]),
        ("show", ["show"]),
    ],
)
def test_calls_are_plain_and_other_words_stay(text: str, tokens: list[str]) -> None:
    assert words(text) == tokens


def test_places_are_those_in_the_text() -> None:
    text = "größer < `odd``name`"
    assert source(text).endswith('größer < "odd`name"')
    assert [place(token.start) for token in tokenize(text)] == [0, 7, 9]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "an expression is empty"),
        ("-- nothing", "an expression is empty"),
        ("a; b", "not several statements"),
        ("(select a)", "no SELECT and no subquery"),
        ("sum(a) over (x)", "no window function"),
        ("'a", "the ' is not closed"),
        ("a /* b", r"the /\* is not closed"),
    ],
)
def test_what_is_no_expression(text: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        tokenize(text)


def test_words_that_are_columns_beside_their_calls() -> None:
    assert words("over + date + interval") == ["over", "+", "date", "+", "interval"]
