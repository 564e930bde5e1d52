"""The tree of an expression."""

import datetime as dt

import pytest

from australis.expressions import expr
from australis.expressions.node import (
    NULL,
    FunctionCall,
    Literal,
    Name,
    apply,
    ascending,
    names,
    renamed,
    replaced,
    walk,
)

A, B, C = Name("a"), Name("b"), Name("c")


def test_equal_expressions_share_one_form() -> None:
    assert apply("and", apply("and", A, B), apply("and", B, C)) == FunctionCall("and", (A, B, B, C))
    assert apply("or", apply("and", A, B), C) == FunctionCall("or", (FunctionCall("and", (A, B)), C))
    assert apply("-", apply("-", A, B), C) != apply("-", A, apply("-", B, C))


@pytest.mark.parametrize("value", [1, -(2**63), 0.5, float("inf"), dt.timedelta(days=-1)])
def test_a_negated_number_is_a_number(value: float) -> None:
    assert apply("neg", Literal(value)) == Literal(-value)


@pytest.mark.parametrize("value", [0, 0.0, True, "1", None, dt.timedelta(0)])
def test_zero_keeps_its_sign_apart_and_what_is_no_number_too(value: object) -> None:
    assert apply("neg", Literal(value)) == FunctionCall("neg", (Literal(value),))  # type: ignore[arg-type]


def test_parts_come_in_the_order_written() -> None:
    tree = expr("b + f(a, b, null)").node
    assert [part for part in walk(tree) if not isinstance(part, FunctionCall)] == [B, A, B, NULL]
    assert names(tree) == ("b", "a")
    assert names(Literal(1)) == ()


def test_the_topmost_part_is_replaced_and_flat_forms_stay_flat() -> None:
    tree = expr("a and b").node
    assert replaced(tree, lambda part: expr("b and c").node if part == A else None) == expr("b and c and b").node
    assert replaced(tree, lambda part: C) == C
    assert renamed(expr("a + b + a").node, {"a": "b", "b": "a"}) == expr("b + a + b").node


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("a", "a"),
        ("a + 5", "a"),
        ("a - interval '1' day", "a"),
        ("cast(a as date)", "a"),
        ("cast(a - 1 as bigint) + 2", "a"),
        ("cast(a as timestamp)", "a"),
        ("cast(a as time)", None),
        ("cast(a as time32[s])", None),
        ("5 - a", None),
        ("a + b", None),
        ("-a", None),
        ("a * 2", None),
        ("5", None),
    ],
)
def test_what_an_expression_ascends_with(text: str, column: str | None) -> None:
    assert ascending(expr(text).node) == column
