"""What comes before and after the answers of a watch: which tuples are believed, in which order, and who is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from australis.boxes.moving import holding, memory, stepwise
from australis.boxes.moving import objects as known
from australis.boxes.moving import queries as asked
from australis.boxes.moving.grid import CellGrid
from australis.boxes.moving.moments import parts, running
from australis.boxes.moving.regions import Floats, Regions
from australis.boxes.moving.shedding import accuracies
from australis.boxes.moving.timing import judge, least, tell
from australis.model.box import Moment, Tables, Trains
from australis.model.order import Order
from australis.model.table import Table
from australis.model.train import Bools, Ints, Train, empty

if TYPE_CHECKING:
    from australis.boxes.moving.watch import Watch


def moments(
    box: Watch, tables: Tables, trains: Trains, before: Any, now: Any, ports: dict[str, pa.Schema]
) -> tuple[list[Train], list[Train], list[Train]]:
    """The updates of tuples one after another, the queries that do not read, and candidates."""
    clock_ = clock(box, tables, trains, before)
    breaks = np.empty(0, np.int64)
    if clock_ is not None:
        breaks = clock_.numbers[1:][clock_.nows[1:] < clock_.nows[:-1]]
    out_: list[Train] = []
    wrong_: list[Train] = []
    near: list[Train] = []
    wanted = (ports["out"], *([ports["candidates"]] if "candidates" in ports else []))
    for part in parts(trains, asked.QUERY, len(tables["objects"]), breaks):
        last = max(int(each.number[-1]) for each in part.trains if len(each))
        if clock_ is not None:
            _set(tables["clock"], clock_.at(last))
        if part.asks:
            out, wrong, *more = box._together(tables, part.trains, Moment(last), apart=True)
            wrong_.append(wrong)
        else:
            out, *more = stepwise.step(box, tables, part.trains, clock_, wanted)
        out_.append(out)
        near += more
    if now is not None:
        _set(tables["clock"], now)
    return out_, wrong_, near


def believed(box: Watch, tables: Tables, trains: Trains) -> tuple[Trains, Train]:
    """The reports that tell what can be, and the others; the clock is set."""
    reports = trains[0]
    fine = known.possible(reports, box.x, box.y, box.earth)
    if box.time is not None and (box.timeout is not None or box._span(reports.schema) is not None):
        times, timed = Order(box.time).places(reports)
        timed &= True if fine is None else fine
        leeway_ = box._leeway(reports.schema)
        if box.spread:
            told, heard = Order(box.time).places(trains[2])
            tell(tables["clock"], told[heard], leeway_)
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
    some, since = holding.released(tables, trains, box.time, span, box._leeway(objects), first, end)
    if len(clock_):
        clock_["since"][0], clock_["known"][0], clock_.touched[0] = since, True, True
    return some, first


def clock(box: Watch, tables: Tables, trains: Trains, before: Any) -> stepwise.TrainClock | None:
    """The latest time after each tuple."""
    if box.timeout is None or box.time is None:
        return None
    given = [trains[0], *trains[2:]]
    numbers = np.unique(np.concatenate([each.number for each in given]))
    times, timed = map(np.concatenate, zip(*(Order(box.time).places(each) for each in given), strict=True))
    at = np.concatenate([np.searchsorted(numbers, each.number) for each in given])
    order = np.flatnonzero(timed)[np.argsort(at[timed], kind="stable")]
    first = times.dtype.type(least(tables["clock"]) if before is None else before)
    nows = running(times[order], at[order], len(numbers), first, box._leeway(trains[0].schema))
    return stepwise.TrainClock(numbers, nows, first)


def remember(
    box: Watch,
    tables: Tables,
    trains: Trains,
    whole: CellGrid,
    after: Regions,
    leaders: Ints,
    gone: Bools,
    reported: Ints,
) -> Floats | None:
    """Let go of objects that nobody wants, and shed some where there is a budget; the accuracies that are left."""
    objects, queries = tables["objects"], tables["queries"]
    if box.cache is None:
        return None
    width = box._width(*(train.schema for train in trains[:2]))
    everyone = known.points(objects, objects.alive & ~gone)
    wants = memory.wanted(queries, everyone, whole, after, leaders, width)
    gone |= objects.alive & (wants.counts == 0)
    if box.budget is None:
        return None
    shed, accessed = objects[known.SHED].copy(), np.zeros(len(objects.alive), np.bool_)
    accessed[reported] = True
    wants, accuracy = memory.strict(wants, queries, after), np.tile(queries[asked.ACCURACY], 2)
    if box.shed == "objects":
        memory.lighten(wants, everyone, accuracy, shed, accessed, leaders, box.budget)
    else:
        memory.shrink(wants, queries, after, shed, leaders, width, box.budget)
    objects.touched |= shed != objects[known.SHED]
    objects[known.SHED][:] = shed
    part: Floats = accuracies(wants, shed).reshape(2, -1).min(axis=0)
    return part


def accuracy_told(box: Watch, queries: Table, part: Floats, there: Bools, trains: Trains, number: int) -> Train:
    """The accuracies of queries that are others than were last told."""
    those = np.flatnonzero(there & (queries[asked.MISSED] != 1 - part))
    queries[asked.MISSED][those] = 1 - part[those]
    queries.touched[those] = True
    columns = [queries.get(asked.QUERY, those), pa.array(part[those])]
    tuples = pa.RecordBatch.from_arrays(columns, schema=accuracy(trains[1].schema))
    latest = max(int(train.ts.max()) for train in trains if len(train))
    return Train(tuples, np.full(len(those), latest), np.full(len(those), number))


def accuracy(queries: pa.Schema) -> pa.Schema:
    return pa.schema([queries.field(asked.QUERY), pa.field(asked.ACCURACY, pa.float64())])


def _set(clock: Table, now: Any) -> None:
    if len(clock):
        clock["now"][0] = now
