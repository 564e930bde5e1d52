"""Evaluation agrees with a row-at-a-time interpreter in plain Python."""

import math
import operator
import pickle
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.errors import ExpressionError, RunError
from australis.expressions import Expr, expr
from australis.expressions.expression import of
from australis.expressions.node import FunctionCall, Literal, Name, Node, apply

SCHEMA = schema("i int, j bigint, k smallint, x double, p boolean, q boolean, s string, r string")
COLUMNS: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys("ijk", st.none() | st.integers(-5, 5)),
    "x": st.none() | st.sampled_from([-1.5, 0.0, 0.5, 2.0, 4.0]),
    **dict.fromkeys("pq", st.none() | st.booleans()),
    **dict.fromkeys("sr", st.none() | st.sampled_from(["", "a", "ab", "b"])),
}
ROWS = st.lists(st.fixed_dictionaries(COLUMNS), max_size=8)


def batch(rows: list[dict[str, Any]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(rows, schema=SCHEMA)


def evaluate(text: str, rows: list[dict[str, Any]]) -> list[Any]:
    bound = expr(text).bind(SCHEMA)
    result = bound.evaluate(batch(rows))
    assert isinstance(result, pa.Array)
    assert result.type == bound.type
    return list(result.to_pylist())


# Trees that are well typed: numbers, truths and texts.
NUMBERS = st.deferred(
    lambda: st.one_of(
        st.sampled_from("ijkx").map(Name),
        st.sampled_from([None, -2, 0, 1, 3, 0.5, 2.0]).map(Literal),
        st.builds(apply, st.sampled_from(["+", "-", "*", "/", "//", "%", "nullif"]), NUMBERS, NUMBERS),
        st.builds(apply, st.sampled_from(["neg", "abs"]), NUMBERS),
        st.builds(apply, st.sampled_from(["coalesce", "greatest", "least"]), NUMBERS, NUMBERS),
        st.builds(apply, st.just("case"), TRUTHS, NUMBERS, TRUTHS, NUMBERS),
        st.builds(apply, st.just("case"), TRUTHS, NUMBERS, NUMBERS),
    )
)
TEXTS = st.deferred(
    lambda: st.one_of(
        st.sampled_from("sr").map(Name),
        st.sampled_from([None, "", "a", "ab"]).map(Literal),
        st.builds(apply, st.sampled_from(["||", "coalesce"]), TEXTS, TEXTS),
    )
)
COMPARISONS = ["=", "!=", "<", "<=", ">", ">=", "is distinct from", "in"]
TRUTHS = st.deferred(
    lambda: st.one_of(
        st.sampled_from("pq").map(Name),
        st.sampled_from([None, True, False]).map(Literal),
        st.builds(apply, st.sampled_from(["and", "or"]), TRUTHS, TRUTHS),
        st.builds(apply, st.just("not"), TRUTHS),
        st.builds(apply, st.sampled_from(COMPARISONS), NUMBERS, NUMBERS),
        st.builds(apply, st.sampled_from(COMPARISONS), TEXTS, TEXTS),
        st.builds(apply, st.just("between"), NUMBERS, NUMBERS, NUMBERS),
        st.builds(lambda x, values: apply("in", x, *values), NUMBERS, st.lists(NUMBERS, min_size=1, max_size=4)),
        st.builds(apply, st.just("is null"), st.one_of(NUMBERS, TEXTS, TRUTHS)),
    )
)


def oracle(node: Node, row: dict[str, Any]) -> Any:
    """One row, with SQL's rules for null written out."""
    if isinstance(node, Name):
        return row[node.name]
    if isinstance(node, Literal):
        return node.value
    return _applied(node, [oracle(arg, row) for arg in node.args])


def _applied(node: FunctionCall, args: list[Any]) -> Any:
    match node.function, args:
        case "and", _:
            return False if False in args else None if None in args else True
        case "or", _:
            return True if True in args else None if None in args else False
        case "case", _:
            pairs = [(args[i], args[i + 1]) for i in range(0, len(args) - 1, 2)]
            return next((value for test, value in pairs if test), args[-1] if len(args) % 2 else None)
        case "coalesce", _:
            return next((arg for arg in args if arg is not None), None)
        case "greatest", _:
            return max((arg for arg in args if arg is not None), default=None)
        case "least", _:
            return min((arg for arg in args if arg is not None), default=None)
        case "is null", [one]:
            return one is None
        case "is distinct from", [one, two]:
            return one is not two if one is None or two is None else one != two
        case "nullif", [one, two]:
            return None if one is not None and one == two else one
        case "in", [one, *others]:
            hits = [None if one is None or other is None else one == other for other in others]
            return True if True in hits else None if None in hits else False
        case "between", [one, low, high]:
            return _applied(FunctionCall("and", ()), [_strict(">=", one, low), _strict("<=", one, high)])
    return _strict(node.function, *args)


PLAIN = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}


def _strict(function: str, *args: Any) -> Any:
    """Null where an operand is."""
    if None in args:
        return None
    one, two = (*args, None)[:2]
    match function:
        case "not":
            return not one
        case "neg":
            return -one
        case "abs":
            return abs(one)
        case "||":
            return "".join(args)
        case "/":
            return one / two if two else None
        case "//":
            return None if not two else math.trunc(one / two)
        case "%":
            return None if not two else math.fmod(one, two)
    return PLAIN[function](one, two)


def _agree(tree: Node, rows: list[dict[str, Any]]) -> None:
    result, expected = evaluate(str(of(tree)), rows), [oracle(tree, row) for row in rows]
    assert [value is None for value in result] == [value is None for value in expected]
    for one, two in zip(result, expected, strict=True):
        assert one == two or math.isclose(one, two, rel_tol=1e-9, abs_tol=1e-9)


@given(TRUTHS, ROWS)
@example(expr("i in (1, null, 2)").node, [{**dict.fromkeys(COLUMNS), "i": 3}])
@example(expr("k = 2.0 and i < 0.5").node, [{**dict.fromkeys(COLUMNS), "i": 0, "k": 2}])
@example(expr("null = null").node, [dict.fromkeys(COLUMNS)])
@example(expr("case when null then p else q end is null").node, [dict.fromkeys(COLUMNS)])
def test_truths_agree_with_the_oracle(tree: Node, rows: list[dict[str, Any]]) -> None:
    _agree(tree, rows)


@given(NUMBERS, ROWS)
@example(expr("i // x % 0").node, [{**dict.fromkeys(COLUMNS), "i": -5, "x": 2.0}])
@example(expr("i % j").node, [{**dict.fromkeys(COLUMNS), "i": -5, "j": 3}])
@example(expr("greatest(null, null)").node, [])
@example(expr("coalesce(null, null)").node, [dict.fromkeys(COLUMNS)])
def test_numbers_agree_with_the_oracle(tree: Node, rows: list[dict[str, Any]]) -> None:
    _agree(tree, rows)


@given(TEXTS, ROWS)
def test_texts_agree_with_the_oracle(tree: Node, rows: list[dict[str, Any]]) -> None:
    _agree(tree, rows)


@given(TRUTHS, ROWS)
def test_a_mask_takes_null_for_false(tree: Node, rows: list[dict[str, Any]]) -> None:
    bound = of(tree).bind(SCHEMA)
    if not pa.types.is_boolean(bound.type):  # a bare null
        return
    assert bound.mask(batch(rows)).to_pylist() == [oracle(tree, row) is True for row in rows]


@given(st.lists(st.none() | st.integers(-20, 20)), st.lists(st.none() | st.integers(-20, 20), min_size=1, max_size=30))
@example([3, None], [1] * 20)
@example([3, None], [*range(10, 30), None])
def test_long_lists_of_in_agree_with_short_ones(values: list[int | None], options: list[int | None]) -> None:
    rows = [{**dict.fromkeys(COLUMNS), "i": value} for value in values]
    written = ", ".join("null" if option is None else str(option) for option in options)
    tree = apply("in", Name("i"), *map(Literal, options))
    assert evaluate(f"i in ({written})", rows) == [oracle(tree, row) for row in rows]


ROW = {"i": 1, "j": 2**62, "k": None, "x": 0.5, "p": True, "q": None, "s": "12", "r": "x"}


@pytest.mark.parametrize("text", ["j * 4", "j + j + j", "-(j * -2)", "0 - j - j - j", "abs(j * 2)"])
def test_overflow_names_the_expression(text: str) -> None:
    with pytest.raises(RunError, match="overflow") as error:
        evaluate(text, [ROW])
    assert f"`{expr(text)}`" in str(error.value)


def test_integers_are_added_in_64_bits() -> None:
    assert evaluate("i * 2147483647 + 2147483647", [ROW]) == [2**32 - 2]


def test_large_integers_compare_exactly_with_integers_and_as_doubles_with_doubles() -> None:
    assert evaluate("j = 4611686018427387904", [ROW]) == [True]
    assert evaluate("j + 1 = 4611686018427387904", [ROW]) == [False]
    assert evaluate("j + 1 > x", [ROW]) == [True]


@pytest.mark.parametrize("text", ["1 + 1", "null", "'a' || 'b'", "pi() > 3", "interval '1' day", "cast('1' as int)"])
@pytest.mark.parametrize("count", [0, 1, 5])
def test_constants_fill_a_batch(text: str, count: int) -> None:
    assert len(evaluate(text, [ROW] * count)) == count


def test_dictionaries_are_read_and_copied() -> None:
    colours = pa.RecordBatch.from_pydict({"c": pa.array(["red", "blue", None]).dictionary_encode()})
    assert expr("c = 'red'").bind(colours.schema).evaluate(colours).to_pylist() == [True, False, None]
    assert expr("c").bind(colours.schema).evaluate(colours).equals(colours.column("c"))


def test_a_predicate_is_a_boolean() -> None:
    with pytest.raises(ExpressionError, match="`i` is int, and a predicate is a boolean"):
        expr("i").bind(SCHEMA).mask(batch([]))


def test_binding_is_cached() -> None:
    assert expr("i < 3").bind(SCHEMA) is expr("i  < 3").bind(SCHEMA)


def test_an_expression_is_a_value() -> None:
    one, two = expr("mph<40"), expr("mph  <  40")
    assert one == two == Expr("mph < 40")
    assert {one: 1}[two] == 1
    assert pickle.loads(pickle.dumps(one)) == one
    assert len({expr("1"), expr("1.0"), expr("true")}) == 3


def test_what_an_expression_reads() -> None:
    both = expr("left.pos - right.pos > my_f(left.pos, abs(time)) and count(*) > other(1)")
    assert both.columns == ("left.pos", "right.pos", "time")
    assert both.functions == ("my_f", "other")
    assert both.copies is None
    assert expr("mph").copies == "mph"
    assert expr("left.pos").copies == "left.pos"


def test_rename() -> None:
    renamed = expr("right.pos + pos * 2").rename({"right.pos": "pos_2", "vid": "car", "pos": "odd name"})
    assert str(renamed) == 'pos_2 + "odd name" * 2'
