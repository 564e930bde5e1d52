"""Aggregate functions from which values can be taken out again."""

import pytest

from australis.arrow.schema import schema
from australis.boxes.moving import Tally
from australis.errors import AustralisError
from australis.expressions import aggregation
from australis.testing import Cut, train
from tests.oracles.running import run

UPDATES = "query int, sign int, type string, tons double"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("first(tons)", r"`first\(tons\)` cannot take values out again.*count, sum, avg, min, max"),
        ("sum(type)", r"`type` is a string, not a number"),
        ("sum(mass)", r"`mass`"),
    ],
)
def test_a_tally_says_what_it_cannot_do(function: str, message: str) -> None:
    with pytest.raises(AustralisError, match=message):
        Tally(("type",), (("x", aggregation(function)),)).outputs(schema(UPDATES))
    with pytest.raises(AustralisError, match="two columns would be named `type`"):
        Tally(("type",), (("type", aggregation("count(*)")),)).outputs(schema(UPDATES))
    with pytest.raises(AustralisError, match=r"`typ` is no column.*type"):
        Tally(("typ",), (("n", aggregation("count(*)")),)).outputs(schema(UPDATES))


def test_the_rest_of_rounding_goes_with_the_last_tuple_of_a_sum() -> None:
    box = Tally((), (("s", aggregation("sum(tons)")), ("n", aggregation("count(*)"))))
    updates = train(UPDATES, query=[1] * 4, sign=[1, 1, -1, -1], type=["tug"] * 4, tons=[1e16, 1.0, 1e16, 1.0])
    found = run(box, [updates], Cut((1, 2, 3)))[0]
    assert [row for row, _, _ in found][-1] == (1, None, 0)
