"""The greatest and the least of several values: nulls are left out, NaN ranks above every number.

Of values that are equal, such as 0.0 and -0.0, the first one stays. The compiled loops of `writer` do the same.
"""

from __future__ import annotations

from functools import partial, reduce

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.arrow.compute import Datum, pc
from australis.kernels.jit import kernel

Doubles = npt.NDArray[np.float64]


def greatest(*values: Datum) -> Datum:
    return reduce(partial(_better, up=True), values)


def least(*values: Datum) -> Datum:
    return reduce(partial(_better, up=False), values)


def beats(other: str, value: str, up: bool) -> str:
    """The code for whether a number takes the place of one before it; whole numbers are never NaN."""
    return f"({other} > {value} or {other} != {other})" if up else f"({other} < {value} or {value} != {value})"


def _better(one: Datum, two: Datum, up: bool) -> Datum:
    type_ = one.type
    if pa.types.is_floating(type_):
        if pa.types.is_float64(type_) and not _scalar(one) and _no_nulls(one) and _no_nulls(two):
            return _doubles(one, two, up)
        # NaN: see `beats`
        better = pc.or_(pc.greater(two, one), pc.is_nan(two)) if up else pc.or_(pc.less(two, one), pc.is_nan(one))
        return pc.coalesce(pc.if_else(better, two, one), one, two)
    if pa.types.is_integer(type_):
        return pc.max_element_wise(one, two) if up else pc.min_element_wise(one, two)
    better = pc.greater(two, one) if up else pc.less(two, one)
    return pc.coalesce(pc.if_else(better, two, one), one, two)


def _scalar(datum: Datum) -> bool:
    return isinstance(datum, pa.Scalar)


def _no_nulls(datum: Datum) -> bool:
    return bool(datum.is_valid) if _scalar(datum) else datum.null_count == 0


def _doubles(one: Datum, two: Datum, up: bool) -> Datum:
    left = one.to_numpy()
    right = two.to_numpy() if not _scalar(two) else pa.array([two.as_py()], two.type).to_numpy()
    out = np.empty(len(left), np.float64)
    (_greater if up else _less)(left, right, out)
    return pa.array(out)


@kernel
def _greater(one: Doubles, two: Doubles, out: Doubles) -> None:
    if len(two) == 1:
        other = two[0]
        for i in range(len(one)):
            out[i] = other if other > one[i] or other != other else one[i]
    else:
        for i in range(len(one)):
            out[i] = two[i] if two[i] > one[i] or two[i] != two[i] else one[i]


@kernel
def _less(one: Doubles, two: Doubles, out: Doubles) -> None:
    if len(two) == 1:
        other = two[0]
        for i in range(len(one)):
            out[i] = other if other < one[i] or one[i] != one[i] else one[i]
    else:
        for i in range(len(one)):
            out[i] = two[i] if two[i] < one[i] or one[i] != one[i] else one[i]
