"""Durations as people write them: spans of windows, intervals of expressions, timeouts and triggers."""

from __future__ import annotations

import re
from datetime import timedelta
from fractions import Fraction
from math import floor

import pyarrow as pa

from australis.errors import ExpressionError, SchemaError, near

Span = int | float | str
"""A number for an attribute of numbers, a duration such as `10 minutes` for one of times."""

TUP = "tup#"
"""The virtual attribute that numbers the tuples of a stream, or of each group, from 1 as they arrive."""
_UNITS = (
    (7 * 86400 * 10**9, ("week", "w")),
    (86400 * 10**9, ("day", "d")),
    (3600 * 10**9, ("hour", "hr", "h")),
    (60 * 10**9, ("minute", "min", "m")),
    (10**9, ("second", "sec", "s")),
    (10**6, ("millisecond", "ms")),
    (10**3, ("microsecond", "us")),
    (1, ("nanosecond", "ns")),
)
"""Each unit in nanoseconds, and its names; a name may end in `s`, in capitals or not."""
_NANOSECONDS = {name: size for size, names in _UNITS for name in names}
_WHOLE_UNITS = [(size // 10**3, names[0]) for size, names in _UNITS if 10**3 <= size <= 86400 * 10**9]
"""The units that intervals are written in, from days down, in microseconds."""
_UNEVEN = ("month", "quarter", "year", "decade", "century")
_LONGEST = (1 << 63) - 1
_PART = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*([a-z]+)\s*,?", re.IGNORECASE)


def duration(text: str) -> int:
    """Nanoseconds of a duration, zero or more.

    >>> duration("10 minutes"), duration("1h 30min"), duration("500 ms")
    (600000000000, 5400000000000, 500000000)
    """
    try:
        total = _nanoseconds(text)
        if total < 0:
            raise ValueError("it is below zero.")
    except ValueError as error:
        advice = _advice(error, "`10 minutes`, `90 s` or `1h 30min`")
        raise SchemaError(f"`{text}` is not a duration: {advice}") from None
    if total > _LONGEST:
        raise SchemaError(f"`{text}` is longer than the 292 years that times in nanoseconds reach: write a shorter one")
    return round(total)


def interval(text: str) -> timedelta:
    """The length of an interval in an expression, rounded to the microsecond; it may be below zero.

    >>> interval("1 hour 30 minutes"), interval("-1.5 s")
    (datetime.timedelta(seconds=5400), datetime.timedelta(days=-1, seconds=86398, microseconds=500000))
    """
    try:
        return timedelta(microseconds=round(_nanoseconds(text) / 1000))
    except ValueError as error:
        advice = _advice(error, "`interval '10' minute` or `interval '1h 30min'`")
        raise ExpressionError(f"`{text}` is no interval: {advice}") from None
    except OverflowError:
        raise ExpressionError(f"the interval `{text}` is too long: write one of up to 106751991 days") from None


def _advice(error: ValueError, examples: str) -> str:
    return f"{error} Write for example {examples}" if error.args else f"write for example {examples}"


def _nanoseconds(text: str) -> Fraction:
    """The exact sum of the parts of a duration.

    Raises a ValueError, which names the unit where that is what cannot be read.
    """
    total, end = Fraction(0), 0
    while end < len(text.rstrip()) or end == 0:
        part = _PART.match(text, end)
        if part is None:
            raise ValueError
        total += Fraction(part[1]) * _size(part[2])
        end = part.end()
    return total


def _size(word: str) -> int:
    """A unit in nanoseconds."""
    for unit in (word.lower(), word.lower().removesuffix("s")):
        if unit in _NANOSECONDS:
            return _NANOSECONDS[unit]
        if unit in _UNEVEN:
            raise ValueError(f"a {unit} has no fixed length; count its days, or use date_trunc('{unit}', ...).")
    raise ValueError(f"there is no unit `{word}` of time{near(word, _NANOSECONDS) or '.'}")


def whole_units(length: timedelta) -> tuple[int, str]:
    """A length as a count of the largest unit, up to days, of which it is a whole number.

    >>> whole_units(timedelta(minutes=90))
    (90, 'minute')
    """
    count = length // timedelta(microseconds=1)
    return next((count // size, unit) for size, unit in _WHOLE_UNITS if count % size == 0)


def seconds(length: str | float) -> float:
    """Seconds of a duration; a number counts them already.

    >>> seconds("500 ms"), seconds(2)
    (0.5, 2.0)
    """
    return duration(length) / 1e9 if isinstance(length, str) else float(length)


def microseconds(length: Span) -> int:
    """Microseconds of a duration, or of a number of seconds, such as a timeout.

    >>> microseconds("500 ms"), microseconds(2)
    (500000, 2000000)
    """
    total = Fraction(duration(length), 1000) if isinstance(length, str) else _exact(length) * 10**6
    if total > _LONGEST:
        raise SchemaError(f"{length} seconds are more than the clock counts: give a shorter time, or none")
    return floor(total)


def is_duration(text: str) -> bool:
    """Whether a text reads as a duration."""
    try:
        duration(text)
    except SchemaError:
        return False
    return True


def spelled(span: Span | timedelta) -> Span:
    """A span as text or a number: a timedelta becomes a duration in words."""
    if isinstance(span, timedelta):
        microseconds = span // timedelta(microseconds=1)
        return f"{microseconds // 10**6} s" if microseconds % 10**6 == 0 else f"{microseconds} us"
    return span


def measure(span: Span, type_: pa.DataType, name: str) -> int | float:
    """A span in the units of an attribute's values; a duration counts seconds where those are plain numbers.

    >>> measure("1 minute", pa.int32(), "time"), measure("500 ms", pa.float64(), "time")
    (60, 0.5)
    """
    if isinstance(span, str) and not pa.types.is_temporal(type_):
        if name == TUP:
            raise SchemaError(f"`{span}` measures nothing on `{name}`, which counts tuples: give a number of them")
        size = Fraction(duration(span), 10**9)
    elif isinstance(span, str):
        size = Fraction(duration(span), _unit(type_))
        if size.denominator != 1:
            raise SchemaError(f"`{span}` is no whole number of units of `{name}`, a {type_}: give one that is")
    elif pa.types.is_temporal(type_):
        raise SchemaError(f"{span} measures nothing on `{name}`, a {type_}: give a duration such as `10 minutes`")
    else:
        size = _exact(span)
    if pa.types.is_floating(type_):
        return float(size)
    if size.denominator != 1:
        seconds = " of seconds" if isinstance(span, str) else ""
        raise SchemaError(f"{span} is no whole number{seconds}, as `{name}`, a {type_}, needs")
    if abs(size) > _LONGEST:
        raise SchemaError(f"{span} is more than `{name}`, a {type_}, can reach: give up to {_LONGEST}")
    return int(size)


def _exact(number: float) -> Fraction:
    try:
        return Fraction(number)
    except (ValueError, OverflowError):
        raise SchemaError(f"a span is a finite number, or a duration such as `10 minutes`, not {number}") from None


def _unit(type_: pa.DataType) -> int:
    """The unit of a type of times in nanoseconds."""
    if pa.types.is_date(type_):
        return _NANOSECONDS["day" if pa.types.is_date32(type_) else "ms"]
    unit: str = getattr(type_, "unit")  # noqa: B009 (all that is left of temporal types has one)
    return _NANOSECONDS[unit]
