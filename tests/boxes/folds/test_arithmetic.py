"""Folds of numbers: count, sum, avg, min, max and the variances."""

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.boxes.folds.test_folds import BOTH, fold, there

NUMBERS = st.lists(st.none() | st.integers(-9, 9), min_size=1, max_size=10)


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
