"""Reader: the tokens of a query, one after the other."""

import pytest

from australis.errors import ExpressionError
from australis.queries.reader import TokenReader


def test_words_are_in_upper_case_and_quoted_ones_are_none() -> None:
    reader = TokenReader("""select "from" 'where' group  by""")
    assert [reader.word(ahead) for ahead in range(-1, 5)] == ["", "SELECT", "", "", "GROUP BY", ""]


def test_words_are_accepted_all_or_none() -> None:
    reader = TokenReader("INSERT INTO x")
    assert not reader.accept("INSERT", "INTO", "Y")
    assert reader.at == 0
    assert reader.accept("INSERT", "INTO")
    assert (reader.at, reader.at_end, reader.name("a name"), reader.at_end) == (2, False, "x", True)
    with pytest.raises(ExpressionError, match=r"line 1, column 14: a name is missing here"):
        reader.name("a name")


@pytest.mark.parametrize(
    ("token", "name"),
    [("speed", True), ('"from"', True), ("from", False), ("3", False), ("'a'", False), ("knn", False)],
)
def test_what_is_a_name(token: str, name: bool) -> None:
    assert TokenReader(token).is_name(0) == name


@pytest.mark.parametrize(
    ("text", "expression", "rest"),
    [
        ("a + b, c", "a + b", ","),
        ("f(a, b[1], (c)) FROM s", "f(a, b[1], (c))", "FROM"),
        ("(SELECT a FROM b) c", "(SELECT a FROM b) c", ""),
        ("a IS DISTINCT FROM b FROM s", "a IS DISTINCT FROM b", "FROM"),
        ("a.from FROM s", "a.from", "FROM"),
        ("a LEFT JOIN b", "a", "LEFT"),
        ("left(a, 3) GROUP BY b", "left(a, 3)", "GROUP BY"),
        ("a) b", "a", ")"),
        ("größer > 'ü,' ; b", "größer > 'ü,'", ";"),
    ],
)
def test_an_expression_ends_where_something_else_begins(text: str, expression: str, rest: str) -> None:
    reader = TokenReader(text)
    assert (reader.expression("a column").text, reader.word()) == (expression, rest)


def test_an_expression_is_missing() -> None:
    for text in ("", ", a", "FROM s"):
        with pytest.raises(ExpressionError, match="a column is missing here"):
            TokenReader(text).expression("a column")


@pytest.mark.parametrize(
    ("text", "expression", "alias"),
    [
        ("a AS b", "a", "b"),
        ("a b", "a", "b"),
        ("a + b", "a + b", None),
        ("count(*) n", "count(*)", "n"),
        ("INTERVAL '1' DAY", "INTERVAL '1' DAY", None),
        ("CASE WHEN a THEN b END c", "CASE WHEN a THEN b END", "c"),
        ("3", "3", None),
    ],
)
def test_the_alias_at_the_end(text: str, expression: str, alias: str | None) -> None:
    reader = TokenReader(text)
    reader.expression("a column")
    piece, name = reader.alias(0)
    assert (piece.text, name) == (expression, alias)
