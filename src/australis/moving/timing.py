"""The time of reports, by which objects that have been silent for too long are gone (SOLE 3.1)."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from australis.columns import Values
from australis.errors import NetworkError
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
    """For how long an object may be silent, in values of its time."""
    if timeout is None:
        return None
    if time is None:
        raise NetworkError("a `timeout` is told by the objects' time: give `time`, its column")
    return measure(timeout, Order(time).check(objects), time)


def advance(clock: Table, times: Values) -> None:
    """Set the clock to the latest time, if it is later."""
    if not len(times):
        return
    if not len(clock):
        clock.insert(1)
        clock["now"][0] = times[0]
    clock["now"][0] = max(clock["now"][0], times.max())
    clock.touched[0] = True
