"""Kernels on numbers that Arrow lacks, or has with other rules than SQL's."""

from __future__ import annotations

from functools import reduce

import numpy as np
import pyarrow as pa

from australis.arrow.compute import Datum, null, pc
from australis.expressions import decimals


def plus(one: Datum, two: Datum) -> Datum:
    return decimals.plus(one, two) if _decimals(one, two) else pc.add_checked(one, two)


def minus(one: Datum, two: Datum) -> Datum:
    return decimals.minus(one, two) if _decimals(one, two) else pc.subtract_checked(one, two)


def times(one: Datum, two: Datum) -> Datum:
    """A product; an interval times a double is rounded to its unit."""
    if _decimals(one, two):
        return decimals.times(one, two)
    for length, factor in ((one, two), (two, one)):
        if pa.types.is_duration(length.type) and pa.types.is_floating(factor.type):
            product = pc.multiply(pc.cast(pc.cast(length, pa.int64()), pa.float64(), safe=False), factor)
            return pc.cast(pc.cast(pc.round(product), pa.int64()), length.type)
    return pc.multiply_checked(one, two)


def over(one: Datum, two: Datum) -> Datum:
    """A quotient, null where the divisor is zero."""
    if pa.types.is_duration(one.type) and pa.types.is_floating(two.type):
        quotient = pc.divide(pc.cast(pc.cast(one, pa.int64()), pa.float64(), safe=False), nonzero(two))
        return pc.cast(pc.cast(pc.round(quotient), pa.int64()), one.type)
    return pc.divide(one, nonzero(two))


def whole_over(one: Datum, two: Datum) -> Datum:
    """A quotient cut toward zero, null where the divisor is zero."""
    if pa.types.is_integer(one.type):
        return pc.divide_checked(one, nonzero(two))
    return pc.trunc(pc.divide(one, nonzero(two)))


def remainder(one: Datum, two: Datum) -> Datum:
    """The remainder of a division cut toward zero, with the sign of the dividend; null where the divisor is zero."""
    two = nonzero(two)
    if isinstance(one, pa.Scalar) and isinstance(two, pa.Scalar):
        return remainder(pa.array([one.as_py()], one.type), two)[0]
    valid = pc.and_(pc.is_valid(one), pc.is_valid(two))
    left, right = (_plain(datum, fill) for datum, fill in ((one, 0), (two, 1)))
    with np.errstate(invalid="ignore"):  # of infinity it is NaN
        values = pa.array(np.fmod(left, right), one.type)
    return values if pc.all(valid).as_py() else pc.if_else(valid, values, null(one.type))


def nonzero(divisor: Datum) -> Datum:
    """The divisor, with null for zero."""
    zero = pc.cast(pa.scalar(0, pa.int64()), divisor.type)
    if isinstance(divisor, pa.Scalar):
        return null(divisor.type) if divisor == zero else divisor
    return pc.if_else(pc.equal(divisor, zero), null(divisor.type), divisor)


def every(*args: Datum) -> Datum:
    return reduce(pc.and_kleene, args)


def some(*args: Datum) -> Datum:
    return reduce(pc.or_kleene, args)


def between(value: Datum, low: Datum, high: Datum) -> Datum:
    return pc.and_kleene(pc.greater_equal(value, low), pc.less_equal(value, high))


def distinct(one: Datum, two: Datum) -> Datum:
    """Whether two values differ, where null is a value like others."""
    return pc.coalesce(pc.not_equal(one, two), pc.xor(pc.is_valid(one), pc.is_valid(two)))


def null_if(one: Datum, two: Datum) -> Datum:
    return pc.if_else(pc.coalesce(pc.equal(one, two), False), null(one.type), one)


def rounded(value: Datum, digits: int = 0) -> Datum:
    """Half is rounded away from zero, as in SQL."""
    return pc.round(value, ndigits=digits, round_mode="half_towards_infinity")


def floor(value: Datum) -> Datum:
    return value if pa.types.is_integer(value.type) else pc.floor(value)


def ceil(value: Datum) -> Datum:
    return value if pa.types.is_integer(value.type) else pc.ceil(value)


def trunc(value: Datum) -> Datum:
    return value if pa.types.is_integer(value.type) else pc.trunc(value)


def _decimals(one: Datum, two: Datum) -> bool:
    """Whether one is a decimal, and the other a decimal or an integer."""
    return (pa.types.is_decimal(one.type) or pa.types.is_decimal(two.type)) and not (
        pa.types.is_temporal(one.type) or pa.types.is_temporal(two.type)
    )


def _plain(datum: Datum, fill: int) -> Datum:
    """Values for numpy, with `fill` in the place of null."""
    filled = pc.coalesce(datum, pa.scalar(fill, datum.type))
    if isinstance(filled, pa.Scalar):
        return np.asarray(filled.as_py(), dtype=datum.type.to_pandas_dtype())
    return filled.to_numpy(zero_copy_only=False)
