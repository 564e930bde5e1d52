"""The parameters of boxes as people write them."""

import math
from datetime import timedelta

import pytest

import australis as au
from australis.arguments import LARGEST
from australis.arrow.schema import schema
from australis.errors import ExpressionError, NetworkError, SchemaError
from australis.expressions import expr
from australis.model.order import Order
from australis.model.parameters import (
    advance,
    by,
    columns,
    conjunction,
    expression,
    functions,
    no_order,
    often,
    optional_span,
    order,
    sides,
    span,
    write_sides,
)


@pytest.mark.parametrize(
    ("written", "text"), [("a + 1", "a + 1"), (True, "true"), (-3, "-3"), (0.5, "0.5"), (au.col("a") > 1, "a > 1")]
)
def test_an_expression_of_text_of_terms_and_of_constants(written: au.Expr | str | float, text: str) -> None:
    assert str(expression(written)) == text
    assert dict(columns({"x": written})) == {"x": expr(text)}


def test_a_function_that_is_not_there_is_told() -> None:
    with pytest.raises(ExpressionError, match=r"there is no function `uper`.*did you mean `upper`"):
        expression("uper(name)")
    with pytest.raises(ExpressionError, match=r"`summ\(a\)`: there is no function `summ`.*did you mean `sum`"):
        functions({"x": "summ(a)"})


def test_predicates_that_all_hold() -> None:
    assert conjunction(["a > 1"]) == expr("a > 1")
    assert conjunction(["a > 1", "b", "c or d"]) == expr("a > 1 and b and (c or d)")
    with pytest.raises(NetworkError, match="at least one predicate"):
        conjunction([])


@pytest.mark.parametrize("number", [0, -1, 0.5, LARGEST, -LARGEST])
def test_a_span_is_a_number(number: float) -> None:
    assert span(number) == number
    assert optional_span(number) == number
    assert often(number) == number
    assert advance(number) == number


@pytest.mark.parametrize("written", [math.nan, math.inf, -math.inf, LARGEST + 1, -LARGEST - 1, True, None, [1]])
def test_what_is_no_span(written: object) -> None:
    with pytest.raises(NetworkError, match="a span is a"):
        span(written)  # type: ignore[arg-type]


def test_text_that_is_no_duration_is_no_span_but_may_be_a_predicate() -> None:
    with pytest.raises((NetworkError, SchemaError, ExpressionError)):
        span("speed > 3")
    assert advance("speed > 3") == expr("speed > 3")
    assert advance("3 minutes") == "3 minutes"
    assert advance(timedelta(0)) == span(timedelta(0))


def test_columns_to_group_by_are_named_once() -> None:
    assert (by("vid"), by([]), by(["a", "b"])) == (("vid",), (), ("a", "b"))
    with pytest.raises(NetworkError, match="named twice among a, b, a"):
        by(["a", "b", "a"])


def test_orders_of_text_of_mappings_and_of_themselves() -> None:
    made = Order("time", 2, ("vid",))
    assert order("time", 2, "vid") == order({"on": "time", "slack": 2, "by": "vid"}) == order(made) == made
    with pytest.raises(NetworkError, match=r"there is no key `slak`.*did you mean `slack`"):
        order({"on": "time", "slak": 2})
    with pytest.raises(NetworkError, match="the key `on` is missing"):
        order({"slack": 2})


def test_one_order_for_both_sides_or_a_pair() -> None:
    time = Order("time")
    assert sides(None) == (None, None)
    assert sides("time") == (time, time)
    assert sides([None, "time"]) == (None, time)
    for pair in [(None, None), (time, time), (None, time), (Order("at", 1), time)]:
        assert sides(write_sides(*pair)) == pair  # type: ignore[arg-type]
    with pytest.raises(NetworkError, match="a pair for left and right; 3 are given"):
        sides(["a", "b", "c"])


def test_columns_to_order_by_are_proposed() -> None:
    assert "a column such as time, at, or tup#" in str(no_order(schema("name string, time int, at timestamp")))
