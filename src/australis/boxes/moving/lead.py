"""Lead: what every partition must know of the objects, where the focal ones are and what time it is (SOLE 3.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from australis.arrow.durations import Span
from australis.boxes.moving import check, leading
from australis.boxes.moving import objects as known
from australis.boxes.moving import queries as asked
from australis.boxes.moving.families import Updating
from australis.boxes.moving.moments import parts, running
from australis.boxes.moving.timing import clock, judge, leeway, oldest, silence, time_type
from australis.model.box import EVERYWHERE, Key, Moment, Tables, Trains, bound
from australis.model.order import Order
from australis.model.table import Table
from australis.model.train import Ints, Train, concat, empty, joined


@dataclass(frozen=True)
class Lead(Updating):
    """The reports of focal objects, the last of each in a train, for `watch` in many partitions.

    Focal are the objects that queries on the right name, or, where there is no such input, those of `focals`. When a
    query comes, its focal object is told of where it is known; with `forgets` it is when it reports next. With a
    `timeout`, a row without an identifier tells the latest time of each train. Reports that
    `watch` refuses go no further. With `each`, all reports of focal objects are told of, and each later time.

    >>> from australis.testing import apply, rows, train
    >>> objects = train("id int, x double, y double", id=[1, 2, 2], x=[0, 5, 6], y=[0, 0, 1])
    >>> rows(apply(Lead(focals=(2, 3)), objects)[0])
    [(2, 6.0, 1.0)]
    """

    id: str = "id"
    x: str = "x"
    y: str = "y"
    time: str | None = None
    timeout: Span | None = None
    focals: tuple[int, ...] | None = None
    conditions: tuple[str, ...] = ()
    forgets: bool = False
    earth: bool = False
    ahead: Span | None = None
    each: bool = False

    kind: ClassVar[str] = "lead"
    composed: ClassVar[bool] = True

    @property
    def arity(self) -> int:
        return 2 if self.focals is None else 1

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        check.objects(inputs[0], self.id, (self.x, self.y), ())
        self._timeout(inputs[0])
        self._leeway(inputs[0])
        if self.focals is None:
            check.queries(inputs[1])
        return {"out": self._schema(inputs[0])}

    def keys(self, *inputs: pa.Schema) -> tuple[Key, ...] | None:
        return ((self.id,), EVERYWHERE) if self.focals is None else None

    def tables(self, *inputs: pa.Schema) -> Tables:
        now = {} if self.timeout is None else {"clock": clock(inputs[0], self.time)}
        if self.focals is not None:
            return now
        objects, queries = inputs
        time = time_type(objects, self.time)
        following: list[Any] = [
            pa.field("bound", pa.bool_(), nullable=False),
            pa.field(asked.FOCAL, pa.int64(), nullable=False),
        ]
        return {
            "objects": known.table(objects.field(self.id), (), time),
            "queries": Table(pa.schema([queries.field(asked.QUERY), *following]), (asked.QUERY,)),
            **now,
        }

    def holds(self, *inputs: pa.Schema) -> str:
        if self.focals is not None:
            return "" if self.timeout is None else "the time"
        return "each query's focal object" if self.forgets else "where each object is; each query's focal object"

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        reports = trains[0]
        schema = self._schema(reports.schema)
        if not any(map(len, trains)):
            return (empty(schema),)
        before = tables["clock"]["now"][0] if self.timeout is not None and len(tables["clock"]) else None
        number = max(moment.number, *(int(train.number[-1]) for train in trains if len(train)))
        latest = max(int(train.ts.max()) for train in trains if len(train))
        trains = (self._believed(tables, reports), *trains[1:])
        told_parts = [self._part(tables, part, number, latest) for part in self._parts(trains)]
        told_parts.append(self._tick(trains[0], before, number, latest))
        out = concat(schema, told_parts)
        return (out.take(np.argsort(out.number, kind="stable")) if self.each else out,)

    def _parts(self, trains: Trains) -> Iterator[Trains]:
        """The trains as they are taken: with `each`, those with queries apart from the others."""
        if not any(map(len, trains)):
            return
        if not self.each or len(trains) < 2 or not len(trains[1]):
            yield trains
            return
        for part in parts(trains, asked.QUERY, len(trains[0]), np.empty(0, np.int64)):
            yield part.trains

    def _part(self, tables: Tables, trains: Trains, number: int, latest: int) -> Train:
        """The tuples that leave after a part: where focal objects are now."""
        reports = trains[0]
        schema = self._schema(reports.schema)
        named = known.named(reports, self.id)
        ids = np.asarray(reports[self.id].take(named).cast(pa.int64()))
        if self.focals is not None:
            last = np.arange(len(ids)) if self.each else _last(ids)
            focal, stored, when = named[last][np.isin(ids[last], self.focals)], None, np.empty(0, np.int64)
        else:
            focal, stored, when = self._known(tables, trains, ids, named)
        told = [self._told(reports, focal, schema), *([] if stored is None else [stored])]
        tuples = joined(told)
        ts, numbers = np.full(tuples.num_rows, latest), np.full(tuples.num_rows, number)
        # An object's reports may lie in several partitions: by their numbers, the last one wins.
        ts[: len(focal)], numbers[: len(focal)] = reports.ts[focal], reports.number[focal]
        if self.each:
            numbers[len(focal) :] = when
        out = Train(tuples, ts, numbers)
        return out.take(np.argsort(numbers, kind="stable")) if self.each else out

    def _believed(self, tables: Tables, reports: Train) -> Train:
        """Set the clock, and give the reports that can be true."""
        fine = known.possible(reports, self.x, self.y, self.earth)
        if self.timeout is not None and self.time is not None:
            times, timed = Order(self.time).places(reports)
            timed &= True if fine is None else fine
            ids = known.identifiers(reports, self.id)
            wrong = judge(tables["clock"], times, timed, ids, self._leeway(reports.schema))
            if wrong is not None:
                fine = ~wrong if fine is None else fine & ~wrong
        return reports if fine is None else reports.where(pa.array(fine))

    def _known(self, tables: Tables, trains: Trains, ids: Ints, named: Ints) -> tuple[Ints, pa.RecordBatch, Ints]:
        """The rows of focal objects, and where those are that a query names anew, with the numbers at which it does."""
        reports, rows = trains
        objects, queries = tables["objects"], tables["queries"]
        wanted = asked.QueryRows(rows, self.conditions, self.earth)
        good = np.flatnonzero(wanted.good)
        slots = queries.find([rows[asked.QUERY].take(good)], len(good))
        last = known.latest(slots, len(queries.alive))
        slots, good = slots[last], good[last]
        for name in ("bound", asked.FOCAL):
            queries[name][slots] = wanted.columns[name][good]
        follows = wanted.bound[good] & ~wanted.removes[good]
        fresh, since = queries[asked.FOCAL][slots[follows]], rows.number[good[follows]]
        queries.free(slots[wanted.removes[good]])
        focals = np.unique(queries[asked.FOCAL][queries.alive & queries["bound"]])
        last = _last(ids)
        if not self.forgets:
            self._keep(tables, reports, named[last])
        order = np.argsort(since, kind="stable")
        silent, first = np.unique(fresh[order], return_index=True)
        when, other = since[order][first], ~np.isin(silent, ids)
        silent, when = silent[other], when[other]
        found_slots = objects.lookup([pa.array(silent)], len(silent))
        there = found_slots[found_slots >= 0]
        columns = [objects.get(name, there) for name in (self.id, known.X, known.Y)]
        if self.time is not None:
            columns.append(objects.get(known.TIME, there))
        schema = self._schema(reports.schema)
        cast = [column.cast(field.type) for column, field in zip(columns, schema, strict=True)]
        focal_rows = named if self.each else named[last]
        here = ids if self.each else ids[last]
        return (
            focal_rows[np.isin(here, focals)],
            pa.RecordBatch.from_arrays(cast, schema=schema),
            when[found_slots >= 0],
        )

    def _keep(self, tables: Tables, reports: Train, rows: Ints) -> None:
        """Write where objects are that report; those that are nowhere, or have been silent too long, go."""
        objects = tables["objects"]
        slots = objects.find([reports[self.id].take(rows)], len(rows))
        columns: dict[str, Any] = {
            known.X: known.coordinate(reports, self.x),
            known.Y: known.coordinate(reports, self.y),
        }
        placed = np.isfinite(columns[known.X]) & np.isfinite(columns[known.Y])
        if self.time is not None:
            columns[known.TIME], timed = Order(self.time).places(reports)
            placed &= timed
        for name, values in columns.items():
            objects[name][slots] = values[rows]
        gone = np.zeros(len(objects.alive), np.bool_)
        gone[slots] = ~placed[rows]
        least = None if self.timeout is None else oldest(tables["clock"], self._timeout(reports.schema))
        if least is not None:
            gone |= objects.alive & (objects[known.TIME] < least)
        objects.free(np.flatnonzero(gone))

    def _told(self, reports: Train, rows: Ints, schema: pa.Schema) -> pa.RecordBatch:
        columns = [reports[field.name].take(rows).cast(field.type) for field in schema]
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def _tick(self, reports: Train, before: Any, number: int, latest: int) -> Train:
        """Rows that tell the latest time of a train; with `each`, the latest after each report that changes it."""
        schema = self._schema(reports.schema)
        if self.timeout is None or self.time is None:
            return empty(schema)
        times, timed = Order(self.time).places(reports)
        rows = np.flatnonzero(timed)
        if not len(rows):
            return empty(schema)
        if self.each:
            first = times[rows[0]] if before is None else before
            nows = running(times[rows], np.arange(len(rows)), len(rows), first, self._leeway(reports.schema))
            rows = rows[np.append(before is None or nows[0] != before, nows[1:] != nows[:-1])]
            ts, numbers = reports.ts[rows], reports.number[rows]
        else:
            rows = rows[times[rows].argmax()][None]
            ts, numbers = np.full(1, latest), np.full(1, number)
        columns = [pa.nulls(len(rows), field.type) for field in schema][:-1]
        tuples = pa.RecordBatch.from_arrays([*columns, reports[self.time].take(rows)], schema=schema)
        return Train(tuples, ts, numbers)

    @bound
    def _timeout(self, objects: pa.Schema) -> Any:
        return silence(objects, self.time, self.timeout)

    @bound
    def _leeway(self, objects: pa.Schema) -> float:
        return leeway(objects, self.time, self.timeout, self.ahead)

    @bound
    def _schema(self, objects: pa.Schema) -> pa.Schema:
        time = None if self.time is None else objects.field(self.time)
        return leading.schema(objects.field(self.id), self.x, self.y, time)


def _last(ids: Ints) -> Ints:
    """The last row of each identifier, in order."""
    _, first = np.unique(ids[::-1], return_index=True)
    rows: Ints = np.sort(len(ids) - 1 - first)
    return rows
