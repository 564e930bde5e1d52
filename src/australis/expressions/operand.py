"""Operands: parts of an expression that have a type, and the types that they have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from australis.arrow.compute import Datum, Scalar
from australis.arrow.schema import Type, numeric, textual, type_text
from australis.errors import SchemaError

_UNITS = ("s", "ms", "us", "ns")
_DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}


class MisfitError(Exception):
    """Types do not fit; `bind` makes it an ExpressionError that names the expression and the part."""


@dataclass(frozen=True)
class Operand:
    """A typed part: how to compute it from a batch, its text, and its value when it reads no column."""

    type: Type
    run: Callable[[pa.RecordBatch], Datum]
    text: str
    value: Scalar | None = None

    @property
    def constant(self) -> bool:
        return self.value is not None


def constant(value: Scalar, text: str) -> Operand:
    """An operand that is the same for every row."""
    return Operand(value.type, lambda batch: value, text, value)


def kind(type: Type) -> str:
    """A type's name in messages."""
    try:
        return type_text(type)
    except SchemaError:
        return str(type)


def common(args: Sequence[Operand], *, lossless: bool = False) -> Type:
    """The type that all operands can take.

    A literal takes the columns' type where it fits, so that no column is cast for it. `lossless` lets a float literal
    do so too: right for comparisons, not where the type shows in the result.
    """
    fixed = [arg for arg in args if not arg.constant and not pa.types.is_null(arg.type)]
    literals = [arg for arg in args if arg.constant and not pa.types.is_null(arg.type)]
    if not fixed:
        fixed, literals = literals, []
    type: Type = pa.null()
    for arg in fixed:
        type = _both(type, arg, args)
    for arg in literals:
        if not _takes(type, arg, lossless):
            type = _both(type, arg, args)
    return type


def _both(type: Type, arg: Operand, args: Sequence[Operand]) -> Type:
    wide = widest(type, arg.type)
    if wide is None:
        raise MisfitError(
            f"{' and '.join(f'`{a.text}` is {kind(a.type)}' for a in args)}; cast one to the type of the other"
        )
    return wide


def _takes(type: Type, literal: Operand, lossless: bool) -> bool:
    """Whether a column's type holds the literal's value exactly."""
    if textual(literal.type) and pa.types.is_temporal(type) and not pa.types.is_duration(type):
        return True  # read as that temporal when it is converted
    if not (numeric(literal.type) and numeric(type)) or literal.value is None:
        return False
    if pa.types.is_floating(literal.type) and not (lossless or pa.types.is_float64(type)):
        return False
    value: int | float | Decimal | None = literal.value.as_py()
    if value is None:
        return True
    if isinstance(value, float) and not np.isfinite(value):
        return pa.types.is_floating(type)
    if pa.types.is_integer(type):
        low, high = int_range(type)
        return value == int(value) and low <= value <= high
    if pa.types.is_float32(type) or pa.types.is_float64(type):
        return float(value) == value if pa.types.is_float64(type) else float(np.float32(value)) == value
    try:
        pa.scalar(Decimal(value), type)
    except (pa.ArrowInvalid, ValueError):
        return False
    return True


def int_range(type: Type) -> tuple[int, int]:
    """The least and the greatest value of an integer type."""
    if pa.types.is_signed_integer(type):
        return -(2 ** (type.bit_width - 1)), 2 ** (type.bit_width - 1) - 1
    return 0, 2**type.bit_width - 1


def widest(one: Type, two: Type) -> Type | None:
    """The smallest type that holds the values of both, or none."""
    if one == two or pa.types.is_null(two):
        return one
    if pa.types.is_null(one):
        return two
    if numeric(one) and numeric(two):
        return _widest_number(one, two)
    if textual(one) and textual(two):
        return pa.large_string()
    if pa.types.is_timestamp(one) or pa.types.is_timestamp(two):
        return _widest_timestamp(one, two)
    if pa.types.is_date(one) and pa.types.is_date(two):
        return pa.date32()
    if pa.types.is_duration(one) and pa.types.is_duration(two):
        return pa.duration(finest(one, two))
    if pa.types.is_time(one) and pa.types.is_time(two):
        unit = finest(one, two)
        return pa.time64(unit) if unit in ("us", "ns") else pa.time32(unit)
    return None


def computed(type: Any) -> Type:
    """The type in which kernels compute with values of a type: they know no small decimals, and little of float16."""
    if pa.types.is_decimal(type) and type.bit_width < 128:
        return pa.decimal128(type.precision, type.scale)
    return pa.float32() if pa.types.is_float16(type) else type


def finest(one: Any, two: Any) -> Any:
    """The finer of two temporal types' units."""
    return max(one.unit, two.unit, key=_UNITS.index)


def _widest_number(one: Type, two: Type) -> Type | None:
    if pa.types.is_floating(one) or pa.types.is_floating(two):
        return pa.float64()
    if pa.types.is_decimal(one) or pa.types.is_decimal(two):
        (whole_one, scale_one), (whole_two, scale_two) = _digits(one), _digits(two)
        scale = max(scale_one, scale_two)
        precision = max(whole_one, whole_two) + scale
        return pa.decimal128(precision, scale) if precision <= 38 else pa.decimal256(min(precision, 76), scale)
    if pa.types.is_signed_integer(one) == pa.types.is_signed_integer(two):
        return max(one, two, key=lambda type: type.bit_width)
    lows, highs = zip(int_range(one), int_range(two), strict=True)
    for type in (pa.int16(), pa.int32(), pa.int64()):
        low, high = int_range(type)
        if low <= min(lows) and max(highs) <= high:
            return type
    return pa.decimal128(20, 0)  # no integer type holds both bigint and uint64


def _digits(type: Any) -> tuple[int, int]:
    """Digits before and after the point."""
    return (type.precision - type.scale, type.scale) if pa.types.is_decimal(type) else (_DIGITS[type.bit_width], 0)


def _widest_timestamp(one: Any, two: Any) -> Type | None:
    if pa.types.is_date(one) or pa.types.is_date(two):
        stamp = two if pa.types.is_date(one) else one
        return stamp if pa.types.is_timestamp(stamp) and stamp.tz is None else None
    if not (pa.types.is_timestamp(one) and pa.types.is_timestamp(two)) or (one.tz is None) != (two.tz is None):
        return None
    return pa.timestamp(finest(one, two), one.tz if one.tz == two.tz else "UTC")
