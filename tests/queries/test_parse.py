"""Parse the text of queries."""

import pytest

from australis.errors import ExpressionError
from australis.queries.parse import parse
from australis.queries.query import Query, Select, Statement


def select(text: str) -> Select:
    (statement,) = parse(text)
    (only,) = statement.query.selects
    assert isinstance(only, Select)
    return only


def names(text: str) -> list[tuple[str, bool]]:
    return [(each.name, each.output) for each in parse(text)]


def test_statements() -> None:
    assert names("SELECT a FROM s") == [("out", True)]
    assert names(";;SELECT a FROM s;;") == [("out", True)]
    assert names("CREATE VIEW v AS SELECT a FROM s; INSERT INTO o SELECT a FROM v") == [("v", False), ("o", True)]
    assert names('create temporary view "my view" as select a from s;') == [("my view", False)]


def test_the_columns_of_a_select() -> None:
    items = select('SELECT *, r.*, a, b AS c, d e, f(x, "g h") AS "i j", CASE WHEN a THEN 1 END k FROM r').items
    assert [(item.piece.text, item.name, item.star, item.of) for item in items] == [
        ("*", None, True, None),
        ("r.*", None, True, "r"),
        ("a", None, False, None),
        ("b", "c", False, None),
        ("d", "e", False, None),
        ('f(x, "g h")', "i j", False, None),
        ("CASE WHEN a THEN 1 END", "k", False, None),
    ]


def test_the_clauses_of_a_select() -> None:
    found = select("SELECT a FROM s WHERE a > 1 AND (b) GROUP BY a, f(b, c) HAVING count(*) > 2")
    assert found.where is not None
    assert found.having is not None
    assert (found.where.text, found.having.text) == ("a > 1 AND (b)", "count(*) > 2")
    assert [group.text for group in found.groups] == ["a", "f(b, c)"]
    assert select("SELECT DISTINCT a FROM s").distinct is not None
    assert select("SELECT a FROM s").distinct is None
    assert select("SELECT a FROM s WHERE a IS DISTINCT FROM b").where is not None


def test_joins() -> None:
    joins = select("SELECT * FROM a, b JOIN c ON a.x = c.x INNER JOIN d USING (x, y) CROSS JOIN e").joins
    assert [(join.part.name, join.on and join.on.text, join.using) for join in joins] == [
        ("b", None, ()),
        ("c", "a.x = c.x", ()),
        ("d", None, ("x", "y")),
        ("e", None, ()),
    ]


def test_queries_in_queries() -> None:
    (statement,) = parse(
        "WITH v AS (SELECT 1 FROM s), w AS (SELECT 2 FROM v) SELECT 3 FROM w UNION ALL (SELECT 4 FROM v)"
    )
    assert isinstance(statement, Statement)
    assert [name for name, _ in statement.query.views] == ["v", "w"]
    first, second = statement.query.selects
    assert isinstance(first, Select)
    assert isinstance(second, Query)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no query"),
        (" ; ", "there is no query"),
        ("SELECT a", "FROM is missing here"),
        ("SELECT FROM s", "a column is missing here"),
        ("SELECT a FROM", "a stream's name is missing here"),
        ("SELECT a FROM s UNION SELECT a FROM s", "write UNION ALL"),
        ("SELECT a FROM s LIMIT 3", "a stream has no end"),
        ("SELECT a FROM (SELECT b FROM s", "the parenthesis is not closed here"),
        ("SELECT a FROM s LEFT JOIN t ON x", "only inner joins are planned"),
        ("SELECT a FROM s JOIN t", "ON is missing here"),
        ("WITH RECURSIVE v AS (SELECT 1 FROM v) SELECT 1 FROM v", "no recursive query"),
        ("SELECT a FROM SESSION(TABLE s, time, 3)", "there is no table function SESSION"),
    ],
)
def test_mistakes_are_told(text: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        parse(text)
