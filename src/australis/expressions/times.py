"""Kernels on dates, times, timestamps and intervals; a timestamp with a zone is read in its zone."""

from __future__ import annotations

from typing import Any, cast

import pyarrow as pa

from australis.arrow.compute import Datum, pc
from australis.errors import near
from australis.expressions.operand import MisfitError

_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond", "microsecond")


def clock(value: Datum) -> Datum:
    """A date has a time of day too: midnight."""
    return pc.cast(value, pa.timestamp("s")) if pa.types.is_date(value.type) else value


def date_trunc(unit: str, value: Datum) -> Datum:
    if unit.lower() not in _UNITS:
        raise MisfitError(
            f"there is no unit `{unit}` to cut to{near(unit, _UNITS) or '.'} The units are {', '.join(_UNITS)}"
        )
    return pc.floor_temporal(value, unit=cast(Any, unit.lower()))


def epoch(value: Datum) -> Datum:
    """Seconds since 1970, since midnight, or in an interval."""
    type: Any = value.type
    if pa.types.is_date(type):
        return epoch(pc.cast(value, pa.timestamp("s")))
    count = pc.cast(value, pa.int32()) if pa.types.is_time32(type) else pc.cast(value, pa.int64())
    return pc.divide(pc.cast(count, pa.float64(), safe=False), float(_PER_SECOND[type.unit]))


def to_timestamp(seconds: Datum) -> Datum:
    if pa.types.is_integer(seconds.type):
        return pc.cast(pc.multiply_checked(seconds, pa.scalar(10**6, pa.int64())), pa.timestamp("us"))
    return pc.cast(pc.cast(pc.round(pc.multiply(seconds, 1e6)), pa.int64()), pa.timestamp("us"))


def day_of_week(value: Datum) -> Datum:
    return pc.day_of_week(value, count_from_zero=False, week_start=1)
