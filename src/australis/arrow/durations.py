"""Spans: sizes of windows, in the values of the attribute that they are taken on."""

from __future__ import annotations

import re
from datetime import timedelta
from fractions import Fraction
from math import floor

import pyarrow as pa

from australis.errors import SchemaError

Span = int | float | str
"""A number for an attribute of numbers, a duration such as `10 minutes` for one of times."""

_NANOSECONDS = {
    "ns": 1, "nanosecond": 1, "us": 10**3, "microsecond": 10**3, "ms": 10**6, "millisecond": 10**6,
    "s": 10**9, "sec": 10**9, "second": 10**9, "m": 60 * 10**9, "min": 60 * 10**9, "minute": 60 * 10**9,
    "h": 3600 * 10**9, "hr": 3600 * 10**9, "hour": 3600 * 10**9, "d": 86400 * 10**9, "day": 86400 * 10**9,
    "w": 7 * 86400 * 10**9, "week": 7 * 86400 * 10**9,
}  # fmt: skip
TUP = "tup#"
"""The virtual attribute that numbers the tuples of a stream, or of each group, from 1 as they arrive."""
_LONGEST = (1 << 63) - 1
_PART = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*", re.IGNORECASE)


def duration(text: str) -> int:
    """Nanoseconds of a duration as people write it.

    >>> duration("10 minutes"), duration("1h 30min"), duration("500 ms")
    (600000000000, 5400000000000, 500000000)
    """
    total, end = Fraction(0), 0
    for part in _PART.finditer(text):
        unit = part[2].lower()
        unit = unit if unit in _NANOSECONDS else unit.removesuffix("s")
        if part.start() != end or unit not in _NANOSECONDS:
            break
        total += Fraction(part[1]) * _NANOSECONDS[unit]
        end = part.end()
    if not text.strip() or end != len(text):
        raise SchemaError(f"`{text}` is not a duration: write for example `10 minutes`, `90 s` or `1h 30min`")
    if total > _LONGEST:
        raise SchemaError(f"`{text}` is longer than the 292 years that times in nanoseconds reach: give a shorter one")
    return round(total)


def seconds(given: str | float) -> float:
    """Seconds of a duration, or of a number of them.

    >>> seconds("500 ms"), seconds(2)
    (0.5, 2.0)
    """
    return duration(given) / 1e9 if isinstance(given, str) else float(given)


def microseconds(given: Span) -> int:
    """Microseconds of a duration, or of a number of seconds, such as a timeout.

    >>> microseconds("500 ms"), microseconds(2)
    (500000, 2000000)
    """
    total = Fraction(duration(given), 1000) if isinstance(given, str) else _exact(given) * 10**6
    if total > _LONGEST:
        raise SchemaError(f"{given} seconds are more than the clock counts: give a shorter time, or none")
    return floor(total)


def is_duration(text: str) -> bool:
    """Whether a text reads as a duration."""
    try:
        duration(text)
    except SchemaError:
        return False
    return True


def spelled(span: Span | timedelta) -> Span:
    """A span with a timedelta in words."""
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
            raise SchemaError(f"`{span}` is no whole number of steps of `{name}`, a {type_}")
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


def _exact(given: float) -> Fraction:
    try:
        return Fraction(given)
    except (ValueError, OverflowError):
        raise SchemaError(f"a span is a finite number, or a duration such as `10 minutes`, not {given}") from None


def _unit(type_: pa.DataType) -> int:
    if pa.types.is_date32(type_):
        return 86400 * 10**9
    if pa.types.is_date64(type_):
        return 10**6
    unit: str = getattr(type_, "unit")  # noqa: B009 (all that is left of temporal types has one)
    return {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[unit]
