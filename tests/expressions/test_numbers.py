"""Kernels on numbers, with SQL's rules."""

import math
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from australis.expressions import numbers

LEAST, MOST = -(2**63), 2**63 - 1
NAN, INF = math.nan, math.inf


def shown(values: Any) -> list[Any]:
    """Values as texts, so that NaN is itself and zeros have a sign."""
    return [None if value is None else repr(value) for value in values]


def both_ways(kernel: Callable[..., Any], one: list[Any], two: list[Any], type_: pa.DataType) -> list[Any]:
    """A kernel over columns, which scalars and columns of one value agree with."""
    whole = kernel(pa.array(one, type_), pa.array(two, type_)).to_pylist()
    for row, value in enumerate(whole):
        left, right = pa.scalar(one[row], type_), pa.scalar(two[row], type_)
        for found in (kernel(left, right), kernel(pa.array([left.as_py()], type_), right)[0]):
            assert shown([found.as_py()]) == shown([value])
    return whole


@pytest.mark.parametrize(
    ("one", "two", "quotient", "rest"),
    [
        (7, 2, 3, 1),
        (-7, 2, -3, -1),
        (7, -2, -3, 1),
        (-7, -2, 3, -1),
        (LEAST, 1, LEAST, 0),
        (MOST, -1, -MOST, 0),
        (1, 0, None, None),
        (0, 5, 0, 0),
        (None, 2, None, None),
        (2, None, None, None),
    ],
)
def test_whole_numbers_are_cut_toward_zero(one: Any, two: Any, quotient: Any, rest: Any) -> None:
    assert both_ways(numbers.whole_over, [one], [two], pa.int64()) == [quotient]
    assert both_ways(numbers.remainder, [one], [two], pa.int64()) == [rest]


def test_the_least_whole_number_has_no_opposite() -> None:
    with pytest.raises(pa.ArrowInvalid, match="overflow"):
        numbers.whole_over(pa.array([LEAST]), pa.array([-1]))
    assert numbers.remainder(pa.array([LEAST]), pa.array([-1])).to_pylist() == [0]


def test_doubles_are_divided() -> None:
    one, two = [7.5, -7.5, 1.0, INF, NAN, 5.0, -0.0, None], [2.0, 2.0, 0.0, 2.0, 1.0, INF, 1.0, 1.0]
    assert shown(both_ways(numbers.over, one, two, pa.float64())) == shown(
        [3.75, -3.75, None, INF, NAN, 0.0, -0.0, None]
    )
    assert shown(both_ways(numbers.remainder, one, two, pa.float64())) == shown(
        [1.5, -1.5, None, NAN, NAN, 5.0, -0.0, None]
    )


def test_zeros_of_both_signs_are_no_divisors() -> None:
    assert numbers.nonzero(pa.array([0.0, -0.0, NAN, None, 5e-324])).is_null().to_pylist() == [
        True, True, False, True, False,
    ]  # fmt: skip
    assert not numbers.nonzero(pa.scalar(0)).is_valid


def test_sums_and_products_that_do_not_fit_fail() -> None:
    for kernel, one, two in ((numbers.plus, MOST, 1), (numbers.minus, LEAST, 1), (numbers.times, LEAST, -1)):
        with pytest.raises(pa.ArrowInvalid, match="overflow"):
            kernel(pa.array([one]), pa.array([two]))
    assert numbers.plus(pa.array([MOST - 1, None]), pa.scalar(1)).to_pylist() == [MOST, None]


def test_lengths_of_time_are_rounded_to_their_unit() -> None:
    length, half = pa.array([3, -3, None], pa.duration("s")), pa.scalar(0.5)
    assert numbers.times(length, half).cast(pa.int64()).to_pylist() == [2, -2, None]
    assert numbers.times(half, length).cast(pa.int64()).to_pylist() == [2, -2, None]
    assert numbers.over(length, pa.scalar(2.0)).cast(pa.int64()).to_pylist() == [2, -2, None]
    assert numbers.over(length, pa.scalar(0.0)).null_count == 3


def test_null_is_a_value_where_distinctness_is_asked() -> None:
    assert both_ways(numbers.distinct, [1, 1, None, None], [1, 2, 3, None], pa.int64()) == [False, True, True, False]
    assert both_ways(numbers.null_if, [1, 1, None, 4], [1, 2, 3, None], pa.int64()) == [None, 1, None, 4]


def test_between_may_be_decided_beside_a_null() -> None:
    value, low, high = pa.array([5, 5, 5, None]), pa.array([1, None, None, 1]), pa.array([9, 4, 9, 9])
    assert numbers.between(value, low, high).to_pylist() == [True, False, None, None]


def test_half_is_rounded_away_from_zero() -> None:
    assert numbers.rounded(pa.array([0.5, -0.5, 2.5, -2.5, None])).to_pylist() == [1.0, -1.0, 3.0, -3.0, None]
    assert numbers.rounded(pa.array([15.0, -25.0]), -1).to_pylist() == [20.0, -30.0]
    for kernel in (numbers.floor, numbers.ceil, numbers.trunc):
        assert kernel(pa.array([LEAST, MOST])).to_pylist() == [LEAST, MOST]
    assert [kernel(pa.array([-1.5]))[0].as_py() for kernel in (numbers.floor, numbers.ceil, numbers.trunc)] == [
        -2,
        -1,
        -1,
    ]
