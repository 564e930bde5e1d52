"""Pairs: their columns, and the predicates that match them."""

from typing import Any

import pytest

from australis.arrow.schema import schema
from australis.boxes.join.join import Join
from australis.boxes.join.pair import Match, Pair, match
from australis.errors import ExpressionError, SchemaError
from australis.expressions import expr
from australis.model.order import Order
from australis.testing import train
from tests.boxes.join.test_join import Case
from tests.oracles.running import run


def test_a_right_column_that_the_left_has_gets_another_name() -> None:
    made = Case().box.outputs(schema("a int, g string, p int"), schema("b int, g string, q bigint"))
    assert made["out"].names == ["a", "g", "p", "b", "g_right", "q"]
    assert list(made) == ["out", "late_left", "late_right"]


def test_whole_numbers_of_different_width_are_one_key_only_if_equal() -> None:
    box = Join(Order("a"), Order("a"), 9, expr("left.k = right.k"))
    left = train("a int, k bigint", a=[1, 2], k=[-1, 7])
    right = train(schema({"a": "int", "k": "uint64"}), a=[1, 2], k=[2**64 - 1, 7], first=3)
    assert [row for row, _, _ in run(box, [left, right])[0]] == [(2, 7, 2, 7)]


PAIR = Pair(schema("a int, g string, d double"), schema("b bigint, g string, d double"))


@pytest.mark.parametrize(
    ("predicate", "left", "right", "rest"),
    [
        ("a = b", ("a",), ("b",), None),
        ("b = a", ("a",), ("b",), None),
        ("left.g = right.g and a = b", ("g", "a"), ("g", "b"), None),
        ("left.g = right.g and a < b", ("g",), ("g",), "a < b"),
        ("left.d = right.d", (), (), "d = d_right"),  # of doubles, -0.0 equals 0.0 and NaN is equal to itself
        ("left.g = right.g or a = b", (), (), "g = g_right or a = b"),
        ("a = 1 and b = 2", (), (), "a = 1 and b = 2"),
    ],
)
def test_equalities_of_both_sides_are_keys(predicate: str, left: Any, right: Any, rest: str | None) -> None:
    found = match(expr(predicate), PAIR)
    assert (found.left, found.right) == (left, right)
    assert found.rest == (None if rest is None else expr(rest))


def test_without_a_predicate_all_match() -> None:
    assert match(None, PAIR) == Match((), (), None)


def test_columns_go_by_their_side() -> None:
    assert PAIR.schema.names == ["a", "g", "d", "b", "g_right", "d_right"]
    assert PAIR.passes == {
        0: {"a": "a", "g": "g", "d": "d"},
        1: {"b": "b", "g": "g_right", "d": "d_right"},
    }


@pytest.mark.parametrize(
    ("predicate", "message"),
    [
        ("g = 'x'", r"say `left\.g` or `right\.g`"),
        ("right.a = 1", "the right side has no column `a`"),
        ("a + b", "no predicate"),
    ],
)
def test_a_predicate_that_does_not_fit_is_refused(predicate: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        match(expr(predicate), PAIR)


def test_names_that_clash_in_spite_of_the_suffix_are_refused() -> None:
    with pytest.raises(SchemaError, match="g_right"):
        _ = Pair(schema("g int, g_right int"), schema("g int")).schema
