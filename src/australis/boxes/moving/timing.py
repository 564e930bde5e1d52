"""The time of reports, by which objects that have been silent for too long are gone (SOLE 3.1)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa

from australis.arrow.columns import Values
from australis.arrow.durations import Span, measure
from australis.errors import NetworkError, listing, near
from australis.kernels.jit import inner
from australis.model.order import Order, place_type
from australis.model.table import Table
from australis.model.train import Bools, Ints

_TIMEOUTS = 1000
"""How many timeouts a report's time may be from that of others, by default."""
_MANY = 10
REPORT, TRAIN = "report", "train"
"""The values of `every` for updates after each report, and after each train."""


def clock(objects: pa.Schema, time: str | None) -> Table:
    """The latest time of any report, once there is one, and what reports in a row say that are far from it."""
    kept = time_type(objects, time)
    types = {
        "now": kept, "far": kept, "run": pa.int64(), "who": pa.int64(), "several": pa.bool_(),
        "since": kept, "known": pa.bool_(),
    }  # fmt: skip
    return Table(pa.schema([pa.field(name, type_, nullable=False) for name, type_ in types.items()]))


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


def often(objects: pa.Schema, time: str | None, every: Span | None) -> Any:
    """The span of time after which answers are told, in values of it; none if it is after reports, or after trains."""
    if every in (None, REPORT, TRAIN):
        return None
    if time is None:
        raise NetworkError(f"`every` {every} is a span of the objects' time: give `time`, its column")
    assert every is not None
    span = measure(every, Order(time).check(objects), time)
    if not 0 < span < math.inf:
        raise NetworkError(f"`every` is `report`, `train` or a span of time, more than nothing, not {every}")
    return span


def leeway(objects: pa.Schema, time: str | None, timeout: Span | None, ahead: Span | None, span: Any = None) -> float:
    """How far from the latest time a report's may be, in values of it; endless where silence means nothing."""
    if ahead is not None:
        if timeout is None or time is None:
            raise NetworkError(
                "`ahead` bounds the times by which objects time out: give `timeout` and `time`, or drop it"
            )
        allowed = float(measure(ahead, Order(time).check(objects), time))
        if not 0 < allowed < math.inf:
            raise NetworkError(f"`ahead` is how far off a time may be, more than nothing, not {ahead}")
        return allowed
    silent = span if timeout is None else silence(objects, time, timeout)
    return math.inf if silent is None else float(_TIMEOUTS * (silent or 1))


def judge(clock: Table, times: Values, timed: Bools, ids: Ints, leeway: float) -> Bools | None:
    """Which reports of a train tell a time that is not believed, if any do, and the latest time that is.

    A time is not believed if it is further than the leeway from the latest one, so that one object's wrong clock
    leaves all others as they are. But if the reports that follow say so too, of two objects or ten of one, time has
    moved on, or was wrong before.
    """
    known = times[timed]
    if not len(known):
        return None
    low, high = float(known.min()), float(known.max())
    if not len(clock):
        clock.insert(1)
        clock["now"][0] = known[0]
    clock.touched[0] = True
    now = float(clock["now"][0])
    if not clock["run"][0] and max(high, now) - min(low, now) <= leeway:
        clock["now"][0] = max(clock["now"][0], known.max())
        return None
    refused = np.zeros(len(times), np.bool_)
    latest, far, run, who, several = (clock[name] for name in ("now", "far", "run", "who", "several"))
    _judge(times, timed, ids, leeway, latest, far, run, who, several, refused)
    return refused if refused.any() else None


@inner
def _judge(
    times: Values, timed: Bools, ids: Ints, leeway: float, now: Values, far: Values, run: Ints, who: Ints,
    several: Bools, refused: Bools,
) -> None:  # fmt: skip
    for row in range(len(times)):
        if not timed[row]:
            continue
        time = times[row]
        if abs(float(time) - float(now[0])) <= leeway:
            now[0], run[0] = max(now[0], time), 0
            continue
        if run[0] > 0 and abs(float(time) - float(far[0])) <= leeway:
            run[0] += 1
            several[0] = several[0] or ids[row] != who[0]
        else:
            run[0], far[0], who[0], several[0] = 1, time, ids[row], False
        if several[0] or run[0] >= _MANY:
            now[0], run[0] = time, 0
        else:
            refused[row] = True


def tell(clock: Table, times: Values, leeway: float) -> None:
    """Set the clock to the latest of times that were believed elsewhere; far back too, if all of them are."""
    if not len(times):
        return
    latest = times.max()
    if not len(clock):
        clock.insert(1)
        clock["now"][0] = latest
    now = clock["now"][0]
    clock["now"][0] = latest if latest > now or float(now) - float(latest) > leeway else now
    clock.touched[0] = True


def latest(clock: Table) -> Any:
    """The latest time of all reports, if any has told one."""
    return clock["now"][0].item() if len(clock) else None


def oldest(clock: Table, timeout: Any) -> Any:
    """The earliest time of objects that have not been silent for too long, if any can have been."""
    if timeout is None or not len(clock):
        return None
    now = clock["now"][0].item()
    return max(now - timeout, np.iinfo(np.int64).min) if isinstance(now, int) else now - timeout


def least(clock: Table) -> Any:
    """A time before all others."""
    return -math.inf if clock["now"].dtype.kind == "f" else np.iinfo(np.int64).min
