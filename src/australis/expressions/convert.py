"""Conversions of values: what CAST and TRY_CAST do, and what operators do by themselves."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pyarrow as pa

from australis.arrow.compute import Datum, as_array, null, nulls, pc
from australis.arrow.durations import interval
from australis.arrow.schema import Type, numeric, textual
from australis.expressions.operand import MisfitError, Operand, constant, kind

_ZONED = r"[T ].*(Z|[+-]\d{2}(:?\d{2})?)$"
# What a text must look like to be worth reading as a type; it need not be enough.
_NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
_FORMS: tuple[tuple[Any, str], ...] = (
    (pa.types.is_integer, r"^\s*[+-]?\d+\s*$"),
    (pa.types.is_floating, _NUMBER[:-1] + r"|^\s*[+-]?(?i:nan|inf|infinity)\s*$"),
    (pa.types.is_decimal, _NUMBER),
    (pa.types.is_boolean, r"^\s*(?i:true|false|0|1)\s*$"),
    (pa.types.is_date, r"^\s*\d{4}-\d{2}-\d{2}\s*$"),
    (pa.types.is_time, r"^\s*\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?\s*$"),
    (pa.types.is_timestamp, r"^\s*\d{4}-\d{2}-\d{2}([T ].+)?\s*$"),
)


def converted(arg: Operand, type: Type) -> Operand:
    """The operand as another type, as operators and functions convert their arguments."""
    if arg.type == type:
        return arg
    if arg.value is None:
        run = arg.run
        return Operand(type, lambda batch: _widened(run(batch), type), arg.text)
    try:
        return constant(scalar(arg.value, type), arg.text)
    except pa.ArrowInvalid:
        raise MisfitError(f"`{arg.text}` does not read as {kind(type)}") from None


def scalar(value: Datum, type: Type) -> Datum:
    """A constant cast to a type."""
    if not value.is_valid:
        return null(type)
    if textual(value.type) and pa.types.is_duration(type):
        length: dt.timedelta = interval(value.as_py())
        return pa.scalar(length, pa.duration("us")).cast(type)
    return as_array(_cast(as_array(value, 1), type), 1)[0]


def cast(datum: Datum, type: Type) -> Datum:
    """CAST: a value that does not fit raises ArrowInvalid; a number is cut toward zero, a time to its unit."""
    return scalar(datum, type) if isinstance(datum, pa.Scalar) else _cast(datum, type)


def try_cast(datum: Datum, type: Type) -> Datum:
    """TRY_CAST: a value that does not fit becomes null."""
    values = as_array(datum, 1)
    try:
        result = _cast(values, type)
    except pa.ArrowInvalid:
        form = next((form for accepts, form in _FORMS if accepts(type)), None)
        if textual(values.type) and form is not None:
            values = pc.if_else(pc.match_substring_regex(values, form), values, null(values.type))
        result = _fitting(values, type)
    return result[0] if isinstance(datum, pa.Scalar) else result


def castable(source: Type, target: Type) -> None:
    """Raise a MisfitError, with what to do instead, when no value of one type becomes the other."""
    if pa.types.is_null(source) or (textual(source) and pa.types.is_duration(target)):
        return
    if numeric(source) and pa.types.is_temporal(target) and not pa.types.is_duration(target):
        raise MisfitError("a number has no unit of time; use to_timestamp(seconds)")
    if numeric(source) and pa.types.is_duration(target):
        raise MisfitError("a number has no unit of time; multiply it, as in `x * interval '1' second`")
    if pa.types.is_temporal(source) and numeric(target):
        raise MisfitError("a time has no unit as a number; use epoch(t) for seconds")
    try:
        _cast(nulls(0, source), target)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        raise MisfitError(f"there is no cast from {kind(source)} to {kind(target)}") from None


def _fitting(values: Datum, type: Type) -> Datum:
    """Cast the values that fit, the others to null, by halves: only values that do not fit cost more than one call."""
    try:
        return _cast(values, type)
    except pa.ArrowInvalid:
        if len(values) == 1:
            return nulls(1, type)
        half = len(values) // 2
        return pa.concat_arrays([_fitting(values[:half], type), _fitting(values[half:], type)])


def _widened(datum: Datum, type: Type) -> Datum:
    # Large integers lose digits as doubles, as in SQL, rather than fail.
    safe = not (pa.types.is_floating(type) and pa.types.is_integer(datum.type))
    return pc.cast(datum, type, safe=safe)


def _cast(values: Datum, type: Type) -> Datum:
    source = values.type
    if source == type:
        return values
    if textual(source):
        return _read(values, type)
    if pa.types.is_duration(source) and textual(type):
        raise MisfitError("an interval has no text; use epoch(interval) for seconds")
    if pa.types.is_integer(type) and (pa.types.is_floating(source) or pa.types.is_decimal(source)):
        return pc.trunc(values).cast(type)
    if pa.types.is_floating(type) and numeric(source):
        return values.cast(type, safe=False)
    if pa.types.is_decimal(type) and pa.types.is_decimal(source):
        if type.scale < source.scale:
            # With room for a carry: Arrow's rounding forgets a value that does not fit if one after it does.
            wider = values.cast(pa.decimal256(min(source.precision + 1, 76), source.scale))
            values = pc.round(wider, ndigits=type.scale, round_mode="half_towards_infinity")
        return values.cast(type)
    if pa.types.is_decimal(type) and (pa.types.is_integer(source) or pa.types.is_boolean(source)):
        # Arrow asks for room for every value of the source's type; only those that are there need it.
        scale = max(type.scale, 0)
        integers = values.cast(pa.int8()) if pa.types.is_boolean(source) else values
        return integers.cast(pa.decimal256(20 + scale, scale)).cast(type)
    if pa.types.is_timestamp(type) and type.tz is not None and _naive(source):
        return pc.assume_timezone(_cast(values, pa.timestamp(type.unit)), type.tz)
    if pa.types.is_timestamp(source) and source.tz is not None and pa.types.is_timestamp(type) and type.tz is None:
        return _cast(pc.local_timestamp(values), type)
    if pa.types.is_temporal(source) and pa.types.is_temporal(type) and _bits(type) <= _bits(source):
        return values.cast(type, safe=False)  # a coarser unit cuts; it cannot overflow
    return values.cast(type)


def _naive(type: Any) -> bool:
    return pa.types.is_date(type) or (pa.types.is_timestamp(type) and type.tz is None)


def _bits(type: Any) -> int:
    """How fine the unit of a temporal type is."""
    if pa.types.is_date(type):
        return 0
    return ("s", "ms", "us", "ns").index(type.unit) + 1


def _read(values: Datum, type: Type) -> Datum:
    """Read texts as values of a type; spaces around them do not matter."""
    if textual(type) or pa.types.is_binary(type) or pa.types.is_large_binary(type):
        return values.cast(type)
    if pa.types.is_duration(type):
        raise MisfitError("only a literal text is read as an interval; multiply, as in `x * interval '1' second`")
    trimmed = pc.utf8_trim_whitespace(values)
    if pa.types.is_integer(type):
        decimal = pc.replace_substring_regex(trimmed, r"^([+-]?)0[xX]", "x")  # Arrow would read such a text
        return pc.replace_substring_regex(decimal, r"^\+(\d)", r"\1").cast(type)
    if pa.types.is_time(type):
        day = pc.binary_join_element_wise(pa.scalar("1970-01-01", values.type), trimmed, pa.scalar(" ", values.type))
        return day.cast(pa.timestamp(type.unit)).cast(type)
    if pa.types.is_timestamp(type) and type.tz is not None:
        none = null(values.type)
        zoned = pc.match_substring_regex(trimmed, _ZONED)
        absolute = pc.if_else(zoned, trimmed, none).cast(type)
        local = pc.if_else(zoned, none, trimmed).cast(pa.timestamp(type.unit))
        return pc.coalesce(absolute, pc.assume_timezone(local, type.tz))
    return trimmed.cast(type)
