"""The aggregate functions, each by what it makes of one window."""

import math
import statistics
from datetime import datetime, timedelta
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import australis as au
from australis.arrow.schema import data_type, schema
from australis.boxes.aggregate.aggregate import Aggregate
from australis.errors import ExpressionError, RunError
from australis.expressions.aggregate import aggregation
from australis.model.order import Order
from australis.testing import drive, train

NAN = float("nan")


def fold(function: str, type_: str, values: list[Any], panes: bool = False, at: list[int] | None = None) -> Any:
    """What a function makes of a column; with panes, of a window whose tuples lie in several."""
    places = list(range(len(values))) if at is None else at
    box = Aggregate((("made", aggregation(function)),), Order("at", slack=9), 1000, 500 if panes else 1000)
    spread = [place * 90 for place in places] if panes else places
    stream = train(schema({"at": "int", "x": type_}), at=spread, x=values)
    results = dict(drive(box, [stream])[0])
    return results[0]


NUMBERS = st.lists(st.none() | st.integers(-9, 9), min_size=1, max_size=10)
BOTH = pytest.mark.parametrize("panes", [False, True])


def there(values: list[Any]) -> list[Any]:
    return [value for value in values if value is not None]


@BOTH
@given(NUMBERS)
def test_arithmetic_passes_nulls_over(panes: bool, values: list[int | None]) -> None:
    left = there(values)
    assert fold("count(*)", "int", values, panes) == len(values)
    assert fold("count(x)", "int", values, panes) == len(left)
    assert fold("sum(x)", "int", values, panes) == (sum(left) if left else None)
    assert fold("min(x)", "int", values, panes) == min(left, default=None)
    assert fold("max(x)", "int", values, panes) == max(left, default=None)
    assert fold("avg(x)", "int", values, panes) == (pytest.approx(statistics.fmean(left)) if left else None)


@BOTH
@given(NUMBERS)
def test_variances(panes: bool, values: list[int | None]) -> None:
    left = [float(value) for value in there(values)]
    many = len(left) > 1
    assert fold("variance(x)", "int", values, panes) == (pytest.approx(statistics.variance(left)) if many else None)
    assert fold("stddev(x)", "double", values, panes) == (pytest.approx(statistics.stdev(left)) if many else None)
    assert fold("var_pop(x)", "int", values, panes) == (pytest.approx(statistics.pvariance(left)) if left else None)
    assert fold("stddev_pop(x)", "double", values, panes) == (pytest.approx(statistics.pstdev(left)) if left else None)


def test_a_variance_far_from_zero_is_exact() -> None:
    assert fold("variance(x)", "double", [1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16]) == 30.0


@BOTH
@given(st.lists(st.none() | st.sampled_from(["", "a", "b", "ba"]), min_size=1, max_size=10))
def test_extremes_of_strings(panes: bool, values: list[str | None]) -> None:
    assert fold("min(x)", "string", values, panes) == min(there(values), default=None)
    assert fold("max(x)", "string", values, panes) == max(there(values), default=None)
    assert fold("count(distinct x)", "string", values) == len(set(there(values)))


@BOTH
@given(st.lists(st.tuples(st.integers(0, 3), st.none() | st.integers(0, 9)), min_size=1, max_size=9))
def test_first_and_last_go_by_value_and_then_by_arrival(panes: bool, tuples: list[tuple[int, int | None]]) -> None:
    at, values = [place for place, _ in tuples], [value for _, value in tuples]
    if min(at) > 0:
        at[0] = 0
    ordered = [value for _, value in sorted(zip(at, values, strict=True), key=lambda pair: pair[0])]
    assert fold("first(x)", "int", values, panes, at) == ordered[0]
    assert fold("last(x)", "int", values, panes, at) == ordered[-1]


WIDE, LOW = Decimal("9" * 38), Decimal("-" + "9" * 38)
DECIMALS = st.lists(
    st.none() | st.sampled_from([WIDE, LOW, Decimal(0), Decimal(-1)]) | st.integers(-99, 99).map(Decimal),
    min_size=1,
    max_size=9,
)


@BOTH
@given(DECIMALS)
def test_decimals_are_summed_exactly(panes: bool, values: list[Decimal | None]) -> None:
    left = there(values)
    with localcontext(prec=60):
        scaled = [None if value is None else value.scaleb(-6) for value in values]
        total = sum(there(scaled), Decimal(0)) if left else None
        small = [None if value is None else value % 100 for value in scaled]
        # With panes there are windows beside the one looked at: of the first six tuples, and of those after them.
        windows = [scaled, *([scaled[:6], scaled[6:]] if panes else [])]
        fits = all(abs(sum(there(window), Decimal(0))) <= WIDE.scaleb(-6) for window in windows)
    if not fits:
        with pytest.raises(RunError, match="overflows: it has more than 32 digits before the point"):
            fold("sum(x)", "decimal(38, 6)", scaled, panes)
    else:
        assert fold("sum(x)", "decimal(38, 6)", scaled, panes) == total
    mean = None if total is None else pytest.approx(float(total) / len(left), rel=1e-14)
    assert fold("avg(x)", "decimal(38, 6)", scaled, panes) == mean
    spread = statistics.stdev(map(float, there(small))) if len(left) > 1 else None
    assert fold("stddev(x)", "decimal(38, 6)", small, panes) == (
        None if spread is None else pytest.approx(spread, rel=1e-9, abs=1e-9)
    )


@pytest.mark.parametrize(
    ("given", "function", "made"),
    [
        ("decimal(6, 2)", "sum(a)", "decimal(16, 2)"),
        ("decimal(38, 2)", "sum(a)", "decimal(38, 2)"),
        ("decimal32(6, 2)", "sum(a)", "decimal(16, 2)"),
        ("decimal(6, 2)", "avg(a)", "double"),
        ("decimal(6, 2)", "stddev(a)", "double"),
        ("decimal(6, 2)", "max(a)", "decimal(6, 2)"),
    ],
)
def test_types_of_folds_of_decimals(given: str, function: str, made: str) -> None:
    box = Aggregate((("made", aggregation(function)),), Order("at"), 1, 1)
    assert box.outputs(schema(f"at int, a {given}"))["out"].field("made").type == data_type(made)


@pytest.mark.parametrize(
    ("function", "type_", "values", "made"),
    [
        ("min(x)", "double", [NAN, 2.0, 1.0], 1.0),
        ("max(x)", "double", [1.0, NAN, 2.0], NAN),
        ("min(x)", "timestamp", [datetime(2003, 3, 2), None, datetime(2003, 3, 1)], datetime(2003, 3, 1)),
        ("max(x)", "date", [datetime(2003, 3, 2).date(), None], datetime(2003, 3, 2).date()),
        ("sum(x)", "interval", [timedelta(seconds=1), timedelta(seconds=2)], timedelta(seconds=3)),
        ("sum(x)", "decimal(6, 2)", [Decimal("1.50"), Decimal("-12.00"), None], Decimal("-10.50")),
        ("avg(x)", "decimal32(6, 2)", [Decimal("1.50"), Decimal("0.00"), None], 0.75),
        ("max(x)", "decimal(6, 2)", [Decimal("1.50"), Decimal("12.00"), None], Decimal("12.00")),
        ("sum(x)", "boolean", [True, None, True, False], 2),
        ("max(x)", "uint64", [2**63, 2**64 - 1, 1], 2**64 - 1),
        ("min(x)", "smallint", [-(2**15), 3], -(2**15)),
        ("sum(x)", "int", [2**31 - 1, 2**31 - 1], 2**32 - 2),
        ("sum(x)", "uint64", [2**60 + 1, 2**60 + 2], 2**61 + 3),
        ("first(x)", "string", [None, "a"], None),
        ("last(x)", "boolean", [None, True], True),
        ("count(distinct x)", "double", [0.0, -0.0, NAN, NAN, None, 1.5], 3),
        ("max(x) - min(x)", "int", [3, 9, 5], 6),
        ("coalesce(sum(x), 0)", "int", [None], 0),
    ],
)
def test_other_types(function: str, type_: str, values: list[Any], made: Any) -> None:
    got = fold(function, type_, values)
    assert got == made or (isinstance(made, float) and math.isnan(made) and math.isnan(got))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("sum(s)", "sum takes a number, not string"),
        ("avg(s)", "avg takes a number, not string"),
        ("sum(distinct x)", "distinct is for count alone"),
        ("sum(y)", r"`y`.*at, x, s"),
        ("max(l)", r"`l`"),
    ],
)
def test_what_does_not_fit_is_refused(function: str, message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        Aggregate((("made", aggregation(function)),), Order("at"), 1, 1).outputs(schema("at int, x int, s string"))


MOST, LEAST = 2**63 - 1, -(2**63)
TYPES = {
    "bigint": st.integers(LEAST, MOST) | st.sampled_from([LEAST, -1, 0, 1, MOST]),
    "uint64": st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**63 - 1, 2**63, 2**64 - 1]),
    "int": st.integers(-(2**31), 2**31 - 1),
}
LARGE = st.sampled_from(sorted(TYPES)).flatmap(
    lambda type_: st.tuples(st.just(type_), st.lists(st.none() | TYPES[type_], min_size=1, max_size=10))
)


@BOTH
@given(LARGE)
@example(("bigint", [1_750_000_000_000_000_000] * 6))
@example(("bigint", [MOST, 1, -1]))
@example(("bigint", [MOST, MOST, MOST, LEAST, LEAST, LEAST]))
@example(("uint64", [2**64 - 1] * 9))
def test_sums_and_averages_of_large_whole_numbers_are_exact(panes: bool, given_: tuple[str, list[int | None]]) -> None:
    type_, values = given_
    left = there(values)
    windows = [values, values[:6], values[6:]] if panes else [values]  # of the windows beside it too
    if all(LEAST <= sum(there(window)) <= MOST for window in windows):
        assert fold("sum(x)", type_, values, panes) == (sum(left) if left else None)
    else:
        with pytest.raises(
            RunError, match=r"^`sum\(x\)`: overflow; the result does not fit in 64 bits, cast to double"
        ):
            fold("sum(x)", type_, values, panes)
    mean = Fraction(sum(left), len(left)) if left else None
    assert fold("avg(x)", type_, values, panes) == (pytest.approx(float(mean), rel=1e-15) if left else None)


@BOTH
@given(LARGE)
@example(("bigint", [1_750_000_000_000_000_000 + step for step in range(4)]))
@example(("uint64", [2**64 - 1, 2**64 - 2, 2**64 - 5]))
@example(("bigint", [MOST, LEAST]))
def test_variances_of_large_whole_numbers(panes: bool, given_: tuple[str, list[int | None]]) -> None:
    type_, values = given_
    left = there(values)
    exact = statistics.pvariance(map(Fraction, left)) if left else None
    assert fold("var_pop(x)", type_, values, panes) == (pytest.approx(float(exact), rel=1e-9) if left else None)


def test_a_sum_of_intervals_that_no_interval_holds_is_an_error() -> None:
    whole = timedelta(microseconds=2**62)
    assert fold("sum(x)", "interval", [whole, -whole, whole]) == whole
    with pytest.raises(RunError, match=r"`sum\(x\)`: overflow; .*epoch"):
        fold("sum(x)", "interval", [whole, whole])


def test_an_overflow_names_the_box() -> None:
    stream = au.stream("s", "at int, x bigint")
    net = au.network(total=stream.aggregate(on="at", size=9, y="sum(x)", box="totals"))
    with pytest.raises(RunError, match=r"^aggregate totals: `sum\(x\)`: overflow"):
        net.run_local(s=pa.table({"at": [1, 2], "x": [MOST, 1]}))
