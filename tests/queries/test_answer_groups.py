"""Groups of an answer: aggregates over the objects that are in it now."""

import pytest

import australis as au
from australis.errors import ExpressionError
from australis.queries import sql

TABLES = {"cars": "id int, x double, y double, type string, speed int"}
INSIDE = "INSIDE (0, 0, 10, 10)"


def query(columns: str, rest: str = "") -> au.Stream:
    return sql(f"SELECT {columns} FROM cars {INSIDE} {rest}", TABLES)


def kinds(stream: au.Stream) -> list[str]:
    return [node.box.kind for node in au.network(out=stream).nodes]


def test_aggregates_are_a_tally_and_groups_without_any_are_distinct() -> None:
    assert "tally" in kinds(query("count(*)"))
    assert "distinct" in kinds(query("type", "GROUP BY type"))
    assert query("type, max(speed) AS most", "GROUP BY type").schema.names == ["sign", "type", "most"]
    assert query("speed / 10, count(*) AS n", "GROUP BY speed / 10").schema.names == ["sign", "speed / 10", "n"]


def test_having_is_a_filter_of_groups() -> None:
    assert "filter" in kinds(query("count(*) AS n", "HAVING n > 3"))
    assert "filter" not in kinds(query("count(*) AS n"))


@pytest.mark.parametrize(
    ("columns", "rest", "message"),
    [
        ("count(*)", "GROUP BY window(speed, 10)", "an answer is what is there now, so it has no windows"),
        ("count(*)", "GROUP BY window_start", "so it has no windows"),
        ("type AS sign, count(*)", "GROUP BY type", "`sign` tells what enters and leaves an answer"),
        ("type, count(*) AS type", "GROUP BY type", "two columns are named `type`"),
        ("speed, count(*)", "GROUP BY type", "`speed` is neither grouped by nor in an aggregate"),
    ],
)
def test_what_is_no_group_is_told(columns: str, rest: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        query(columns, rest)
