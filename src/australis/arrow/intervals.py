"""Interval literals: `interval '10' minute`, `interval '1 hour 30 minutes'`."""

import datetime as dt
import re

from australis.errors import ExpressionError, near

_UNITS = {
    "microsecond": dt.timedelta(microseconds=1),
    "us": dt.timedelta(microseconds=1),
    "millisecond": dt.timedelta(milliseconds=1),
    "ms": dt.timedelta(milliseconds=1),
    "second": dt.timedelta(seconds=1),
    "sec": dt.timedelta(seconds=1),
    "s": dt.timedelta(seconds=1),
    "minute": dt.timedelta(minutes=1),
    "min": dt.timedelta(minutes=1),
    "hour": dt.timedelta(hours=1),
    "h": dt.timedelta(hours=1),
    "day": dt.timedelta(days=1),
    "d": dt.timedelta(days=1),
    "week": dt.timedelta(weeks=1),
}
_UNEVEN = ("month", "quarter", "year", "decade", "century")
_PART = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*,?")


def interval(text: str) -> dt.timedelta:
    """The length that a text names, to the microsecond.

    >>> interval("1 hour 30 minutes")
    datetime.timedelta(seconds=5400)
    """
    total, at = dt.timedelta(), 0
    while at < len(text.rstrip()) or at == 0:
        match = _PART.match(text, at)
        if match is None:
            raise ExpressionError(f"`{text}` is no interval; write `interval '10' minute` or `interval '90 seconds'`")
        try:
            total += float(match[1]) * _unit(match[2]) if "." in match[1] else int(match[1]) * _unit(match[2])
        except OverflowError:
            raise ExpressionError(f"the interval `{text}` is too long") from None
        at = match.end()
    return total


def _unit(word: str) -> dt.timedelta:
    for unit in (word.lower(), word.lower().removesuffix("s")):
        if unit in _UNITS:
            return _UNITS[unit]
        if unit in _UNEVEN:
            raise ExpressionError(f"a {unit} has no fixed length; write it in days, or use date_trunc('{unit}', ...)")
    raise ExpressionError(f"there is no unit `{word}` of time{near(word, _UNITS)}")
