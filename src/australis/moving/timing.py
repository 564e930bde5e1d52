"""The time of reports, by which objects that have been silent for too long are gone (SOLE 3.1)."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from australis.columns import Values
from australis.errors import NetworkError, listing, near
from australis.order import Order, place_type
from australis.span import Span, measure
from australis.table import Table


def clock(objects: pa.Schema, time: str | None) -> Table:
    """The latest time of any report, once there is one."""
    return Table(pa.schema([pa.field("now", time_type(objects, time), nullable=False)]))


def time_type(objects: pa.Schema, time: str | None) -> pa.DataType:
    """The type in which times are kept."""
    return pa.int64() if time is None else place_type(Order(time).check(objects))


def silence(objects: pa.Schema, time: str | None, timeout: Span | None) -> Any:
    """For how long an object may be silent, in values of its time, which is a column of theirs."""
    if time is None and timeout is not None:
        raise NetworkError("a `timeout` is told by the objects' time: give `time`, its column")
    if time is None:
        return None
    if time not in objects.names:
        raise NetworkError(
            f"`time` is a column of the objects, not `{time}`; there are {listing(objects.names)}"
            f"{near(time, objects.names)}"
        )
    type_ = Order(time).check(objects)
    span = None if timeout is None else measure(timeout, type_, time)
    if span is not None and span < 0:
        raise NetworkError(f"a `timeout` of {timeout} lies in the past: give 0 or more")
    return span


def advance(clock: Table, times: Values) -> None:
    """Set the clock to the latest time, if it is later."""
    if not len(times):
        return
    if not len(clock):
        clock.insert(1)
        clock["now"][0] = times[0]
    clock["now"][0] = max(clock["now"][0], times.max())
    clock.touched[0] = True
