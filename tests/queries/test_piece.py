"""Pieces of a query's text."""

import pytest

from australis.errors import ExpressionError, SchemaError, TextPlace, unknown
from australis.queries.piece import Piece, error_at

WHOLE = "SELECT mph\nFROM reports\nWHERE speed > mph"
WHERE = Piece(WHOLE, WHOLE.index("speed"), len(WHOLE))


def test_a_piece_is_its_text() -> None:
    assert WHERE.text == "speed > mph"
    assert str(WHERE.expr) == "speed > mph"
    assert Piece(WHOLE, 3, 3).text == ""


@pytest.mark.parametrize(
    ("name", "line", "column"), [(None, 3, 7), ("mph", 3, 15), ("r.mph", 3, 15), ("ph", 3, 7), ("sp.ed", 3, 7)]
)
def test_a_name_is_found_as_a_whole_word(name: str | None, line: int, column: int) -> None:
    place = WHERE.place(name)
    assert (place.line, place.column) == (line, column)
    assert WHERE.error("why", name).first(TextPlace) == place


def test_errors_in_an_expression_point_into_the_query() -> None:
    whole = "SELECT a + FROM b"
    with pytest.raises(ExpressionError, match="line 1, column "):
        _ = Piece(whole, 7, 10).expr


def test_an_error_gets_one_place() -> None:
    with pytest.raises(SchemaError) as told, WHERE.locate_errors():
        raise SchemaError("no", unknown("mph", ["mhp"]))
    place = told.value.first(TextPlace)
    assert place is not None
    assert (place.line, place.column) == (3, 15)
    at = error_at(WHOLE, "why", 0)
    with pytest.raises(ExpressionError) as again, WHERE.locate_errors():
        raise at
    first = again.value.first(TextPlace)
    assert first is not None
    assert (first.line, first.column) == (1, 1)
