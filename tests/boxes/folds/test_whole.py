"""Folds of whole numbers: exact however large the numbers."""

import statistics
from datetime import timedelta
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import australis as au
from australis.errors import RunError
from tests.boxes.folds.test_folds import BOTH, fold, there

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
