"""Sums, differences and products of decimals, in as many digits as they need, up to 38.

The result's type is Spark's. Beyond 38 digits it gives up digits after the point, but for six, and the result is
rounded. A result that still does not fit is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa

from australis.arrow.compute import Datum, as_array, pc
from australis.arrow.schema import Type
from australis.expressions.operand import MisfitError, kind

MOST = 38
"""The digits of a decimal in 128 bits."""
_MOST_WIDE = 76
_KEPT = 6
_DIGITS = {8: 3, 16: 5, 32: 10, 64: 19}
"""The digits of integers by their bits."""

Shape = tuple[int, int]
"""Precision and scale."""


def plus(one: Datum, two: Datum) -> Datum:
    return _computed(pc.add_checked, _sum_shape, one, two)


def minus(one: Datum, two: Datum) -> Datum:
    return _computed(pc.subtract_checked, _sum_shape, one, two)


def times(one: Datum, two: Datum) -> Datum:
    return _computed(pc.multiply_checked, _product_shape, one, two)


def shape(type_: Any) -> Shape:
    """The precision and scale of a decimal, or of one that holds every value of an integer type."""
    if pa.types.is_decimal(type_):
        return type_.precision, type_.scale
    return 20 if pa.types.is_uint64(type_) else _DIGITS[type_.bit_width], 0


def bounded(precision: int, scale: int) -> Shape:
    """The precision and scale of a result in 38 digits: digits after the point are given up, but for six."""
    if precision <= MOST:
        return precision, scale
    return MOST, max(MOST - (precision - scale), min(scale, _KEPT))


def whole(type_: Any, digits: int = 0) -> tuple[Type, Type]:
    """The type in which a decimal is rounded, with room for a carry, and that of the result, with `digits` or fewer."""
    if type_.bit_width > 128:
        return type_, type_
    precision, scale = shape(type_)
    kept = min(scale, max(digits, 0))
    gives = max(precision - scale + 1, 1 - digits) + kept
    room = max(precision, scale - digits) + 1
    if room > _MOST_WIDE:
        raise MisfitError(f"nothing is left of {kind(type_)} that is rounded to {digits} digits; round it to more")
    return pa.decimal256(room, scale), pa.decimal128(min(gives, MOST), kept)


def _sum_shape(one: Shape, two: Shape) -> Shape:
    scale = max(one[1], two[1])
    return max(one[0] - one[1], two[0] - two[1]) + scale + 1, scale


def _product_shape(one: Shape, two: Shape) -> Shape:
    return one[0] + two[0] + 1, one[1] + two[1]


def _computed(
    kernel: Callable[[Any, Any], Datum], rule: Callable[[Shape, Shape], Shape], one: Datum, two: Datum
) -> Datum:
    shapes = shape(one.type), shape(two.type)
    precision, scale = rule(*shapes)
    if pa.types.is_decimal256(one.type) or pa.types.is_decimal256(two.type):
        if precision > _MOST_WIDE:
            raise MisfitError(f"the result has {precision} digits, and a decimal at most 76; cast to fewer")
        return kernel(pc.cast(one, pa.decimal256(*shapes[0])), pc.cast(two, pa.decimal256(*shapes[1])))
    if precision <= MOST:
        return kernel(pc.cast(one, pa.decimal128(*shapes[0])), pc.cast(two, pa.decimal128(*shapes[1])))
    return _rounded(_wide(kernel, scale, one, two), scale, *bounded(precision, scale))


def _wide(kernel: Callable[[Any, Any], Datum], scale: int, one: Datum, two: Datum) -> Datum:
    """The exact result, which fits in 256 bits for two decimals of 38 digits.

    Arrow's rules ask for more, so that the kernel gets types of fewer digits than the values may have.
    """
    sides = one, two
    if kernel is pc.multiply_checked:
        wide = [_with_precision(pc.cast(side, pa.decimal256(MOST, shape(side.type)[1])), MOST - 1) for side in sides]
    else:
        wide = [_with_precision(pc.cast(side, pa.decimal256(_MOST_WIDE, scale)), _MOST_WIDE - 1) for side in sides]
    return _with_precision(kernel(*wide), _MOST_WIDE)


def _with_precision(datum: Datum, precision: int) -> Datum:
    """The same digits as a type of another precision."""
    if isinstance(datum, pa.Scalar):
        return _with_precision(as_array(datum, 1), precision)[0]
    type_ = pa.decimal256(precision, datum.type.scale)
    return pa.Array.from_buffers(type_, len(datum), datum.buffers(), offset=datum.offset)


def _rounded(exact: Datum, scale: int, precision: int, kept: int) -> Datum:
    """Half away from zero. Arrow's own rounding gives up near the limit of 256 bits, so a half is added."""
    try:
        if kept < scale:
            half = Decimal(5).scaleb(-kept - 1)
            halves = [pa.scalar(value, pa.decimal256(_MOST_WIDE - 1, scale)) for value in (-half, half)]
            below = pc.less(exact, pa.scalar(Decimal(0), exact.type))
            exact = _with_precision(
                pc.add(_with_precision(exact, _MOST_WIDE - 1), pc.if_else(below, *halves)), _MOST_WIDE
            )
            exact = pc.cast(exact, pa.decimal256(_MOST_WIDE, kept), safe=False)  # which cuts
        return pc.cast(exact, pa.decimal128(precision, kept))
    except pa.ArrowInvalid:
        before = precision - kept
        raise pa.ArrowInvalid(
            f"overflow; the result has more than {before} digits before the point, cast to double or to fewer digits"
        ) from None
