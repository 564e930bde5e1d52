"""Admission: which tuples a watch believes, and in which order it takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from australis.boxes.moving import holding, stepwise, trainwise
from australis.boxes.moving import objects as known
from australis.boxes.moving import queries as asked
from australis.boxes.moving.moments import parts, running
from australis.boxes.moving.timing import judge, least, tell
from australis.model.box import Moment, Tables, Trains
from australis.model.order import Order
from australis.model.table import Table
from australis.model.train import Train, empty

if TYPE_CHECKING:
    from australis.boxes.moving.watch import Watch


def moments(
    box: Watch, tables: Tables, trains: Trains, before: Any, now: Any, schemas: tuple[pa.Schema, ...]
) -> tuple[list[Train], list[Train], list[Train]]:
    """Take tuples one after another; gives their updates, the queries that cannot be read, and candidates."""
    clock_ = clock(box, tables, trains, before)
    breaks = np.empty(0, np.int64)
    if clock_ is not None:
        breaks = clock_.numbers[1:][clock_.nows[1:] < clock_.nows[:-1]]
    updates: list[Train] = []
    refused: list[Train] = []
    candidates: list[Train] = []
    for part in parts(trains, asked.QUERY, len(tables["objects"]), breaks):
        last = max(int(each.number[-1]) for each in part.trains if len(each))
        if clock_ is not None:
            _set(tables["clock"], clock_.at(last))
        if part.asks:
            out, wrong, *near = trainwise.step(box, tables, part.trains, Moment(last), schemas, apart=True)
            refused.append(wrong)
        else:
            out, *near = stepwise.step(box, tables, part.trains, clock_, schemas)
        updates.append(out)
        candidates += near
    if now is not None:
        _set(tables["clock"], now)
    return updates, refused, candidates


def believed(box: Watch, tables: Tables, trains: Trains) -> tuple[Trains, Train]:
    """Set the clock, and give the trains without the reports that cannot be true, and these reports."""
    reports = trains[0]
    fine = known.possible(reports, box.x, box.y, box.earth)
    if box.time is not None and (box.timeout is not None or box._span(reports.schema) is not None):
        times, timed = Order(box.time).places(reports)
        timed &= True if fine is None else fine
        leeway_ = box._leeway(reports.schema)
        if box.spread:
            focal_times, heard = Order(box.time).places(trains[2])
            tell(tables["clock"], focal_times[heard], leeway_)
        ids = known.identifiers(reports, box.id)
        wrong = judge(tables["clock"], times, timed, ids, leeway_)
        if wrong is not None:
            fine = ~wrong if fine is None else fine & ~wrong
    if fine is None:
        return trains, empty(reports.schema)
    return (reports.where(pa.array(fine)), *trains[1:]), reports.where(pa.array(~fine))


def released(box: Watch, tables: Tables, trains: Trains, moment: Moment) -> tuple[Trains, Any]:
    """The tuples of spans of time that are over, and the latest time before them."""
    objects, clock_ = trains[0].schema, tables["clock"]
    span, end = box._span(objects), moment.number if moment.end else None
    first = clock_["since"][0].item() if len(clock_) and clock_["known"][0] else least(clock_)
    assert box.time is not None
    over, since = holding.released(tables, trains, box.time, span, box._leeway(objects), first, end)
    if len(clock_):
        clock_["since"][0], clock_["known"][0], clock_.touched[0] = since, True, True
    return over, first


def clock(box: Watch, tables: Tables, trains: Trains, before: Any) -> stepwise.TrainClock | None:
    """The latest time after each tuple."""
    if box.timeout is None or box.time is None:
        return None
    timed_trains = [trains[0], *trains[2:]]
    numbers = np.unique(np.concatenate([each.number for each in timed_trains]))
    times, timed = map(np.concatenate, zip(*(Order(box.time).places(each) for each in timed_trains), strict=True))
    at = np.concatenate([np.searchsorted(numbers, each.number) for each in timed_trains])
    order = np.flatnonzero(timed)[np.argsort(at[timed], kind="stable")]
    first = times.dtype.type(least(tables["clock"]) if before is None else before)
    nows = running(times[order], at[order], len(numbers), first, box._leeway(trains[0].schema))
    return stepwise.TrainClock(numbers, nows, first)


def _set(clock: Table, now: Any) -> None:
    if len(clock):
        clock["now"][0] = now
