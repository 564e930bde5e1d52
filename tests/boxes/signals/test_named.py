"""Functions of segments by name."""

import math

import pytest

from australis.boxes.signals.named import call, check
from australis.errors import ExpressionError

KNOWN = {"band": None, "mean": None}


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("mean", "mean", ()),
        (" mean ( ) ", "mean", ()),
        ("band(3,4)", "band", (3.0, 4.0)),
        ("band( -1.5 , 1e3, inf )", "band", (-1.5, 1000.0, math.inf)),
    ],
)
def test_a_name_and_its_arguments(text: str, name: str, arguments: tuple[float, ...]) -> None:
    assert call(text, KNOWN, "statistic") == (name, arguments)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("maen", "there is no statistic `maen`; did you mean `mean`"),
        ("", "there is no statistic ``"),
        ("band(1", r"there is no statistic `band\(1`"),
        ("band((1))", "there is no statistic"),
        ("band(a)", "the arguments of band are numbers"),
        ("band(1,)", "the arguments of band are numbers"),
    ],
)
def test_what_does_not_read_is_refused(text: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        call(text, KNOWN, "statistic")


@pytest.mark.parametrize(
    ("count", "least", "most", "message"),
    [
        (0, 1, 1, "0 arguments, not 1$"),
        (3, 1, 2, "3 arguments, not 1 to 2"),
        (1, 2, None, "1 arguments, not 2 or more"),
        (2, 2, None, None),
        (0, 0, 0, None),
    ],
)
def test_how_many_arguments_there_may_be(count: int, least: int, most: int | None, message: str | None) -> None:
    if message is None:
        check("band", (0.0,) * count, least, most)
    else:
        with pytest.raises(ExpressionError, match=message):
            check("band", (0.0,) * count, least, most)
