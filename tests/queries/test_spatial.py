"""The spatial clauses of a query, in all of their forms (SOLE 3.4)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.queries import Inside, NearestClause, sql
from australis.queries.parse import parse
from australis.queries.query import Select

OBJECTS = {"objects": "id int, x double, y double, time int, class string"}


def clauses_of(text: str) -> list[Inside | NearestClause]:
    (statement,) = parse(text)
    (select,) = statement.query.selects
    assert isinstance(select, Select)
    return [clause for clause, _ in select.spatial]


@pytest.mark.parametrize(
    ("clauses", "expected"),
    [
        ("INSIDE (1, 20, 3.5, -4)", [Inside(1, -4, 3.5, 20)]),  # top left and bottom right
        ("INSIDE ('M', 7, 10, 4)", [Inside(-5, -2, 5, 2, focal=7)]),
        ("kNN (3, 1.5, -2)", [NearestClause(3, 1.5, -2)]),
        ("knn ('M', 3, 7)", [NearestClause(3, focal=7)]),
        ("INSIDE (0, 0, 1, 1) kNN (3, 0, 0)", [Inside(0, 0, 1, 1), NearestClause(3, 0, 0)]),
    ],
)
@pytest.mark.parametrize("where", ["", "WHERE class = 'car' AND x > 3"])
def test_clauses_are_cut_out(clauses: str, expected: list[Inside | NearestClause], where: str) -> None:
    text = f"SELECT id, x FROM objects {where} {clauses}"
    assert clauses_of(text) == expected
    assert sql(text, OBJECTS).schema.names == ["sign", "id", "x"]


def test_the_words_are_columns_elsewhere() -> None:
    stream = sql("SELECT inside, r.knn FROM r WHERE inside > 3 AND knn < 4", {"r": "inside int, knn int"})
    assert stream.schema.names == ["inside", "knn"]


@given(st.lists(st.floats(-1e6, 1e6).map(lambda v: round(v, 3)), min_size=4, max_size=4))
def test_corners_are_as_written(corners: list[float]) -> None:
    x1, y1, x2, y2 = corners
    text = f"SELECT id FROM objects INSIDE ({x1:f}, {y1:f}, {x2:f}, {y2:f})"
    assert clauses_of(text) == [Inside(min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2))]
    asked = Inside(min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)).question
    assert asked["x"] - asked["width"] / 2 <= min(x1, x2)
    assert asked["y"] + asked["height"] / 2 >= max(y1, y2)
