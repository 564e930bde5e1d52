"""Lead: what every partition must know of the objects, where the focal ones are and what time it is (SOLE 3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from australis.box import EVERYWHERE, Key, Moment, Tables, Trains, bound
from australis.moving import check, leading
from australis.moving import objects as known
from australis.moving import queries as asked
from australis.moving.timing import advance, clock, silence, time_type
from australis.order import Order
from australis.span import Span
from australis.table import Table
from australis.train import Ints, Train, empty


@dataclass(frozen=True)
class Lead:
    """The reports of focal objects, the last of each in a train, for `watch` in many partitions.

    Focal are the objects that queries on the right name, or, where there is no such input, those of `focals`. When a
    query comes, its focal object is told of where it is known; with `forgets` it is when it reports next. With a
    `timeout`, a row without an identifier tells the latest time of each train.

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

    kind: ClassVar[str] = "lead"

    @property
    def arity(self) -> int:
        return 2 if self.focals is None else 1

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        check.objects(inputs[0], self.id, (self.x, self.y), ())
        self._timeout(inputs[0])
        if self.focals is None:
            check.queries(inputs[1])
        return {"out": self._schema(inputs[0])}

    def keys(self, *inputs: pa.Schema) -> tuple[Key, ...] | None:
        return ((self.id,), EVERYWHERE) if self.focals is None else None

    def tables(self, *inputs: pa.Schema) -> Tables:
        if self.focals is not None:
            return {}
        objects, queries = inputs
        time = time_type(objects, self.time)
        following: list[Any] = [
            pa.field("bound", pa.bool_(), nullable=False),
            pa.field(asked.FOCAL, pa.int64(), nullable=False),
        ]
        return {
            "objects": known.table(objects.field(self.id), (), time),
            "queries": Table(pa.schema([queries.field(asked.QUERY), *following]), (asked.QUERY,)),
            "clock": clock(objects, self.time),
        }

    def holds(self, *inputs: pa.Schema) -> str:
        if self.focals is not None:
            return ""
        return "each query's focal object" if self.forgets else "where each object is; each query's focal object"

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        reports = trains[0]
        schema = self._schema(reports.schema)
        if not any(map(len, trains)):
            return (empty(schema),)
        named = known.named(reports, self.id)
        ids = np.asarray(reports[self.id].take(named).cast(pa.int64()))
        if self.focals is not None:
            last = _last(ids)
            focal, stored = named[last][np.isin(ids[last], self.focals)], None
        else:
            focal, stored = self._known(tables, trains, ids, named)
        number = max(moment.number, *(int(train.number[-1]) for train in trains if len(train)))
        parts = [self._told(reports, focal, schema)]
        if stored is not None:
            parts.append(stored)
        parts += self._tick(reports, schema)
        tuples = pa.Table.from_batches(parts).combine_chunks().to_batches()
        found = tuples[0] if tuples else empty(schema).tuples
        ts = np.full(found.num_rows, max(int(train.ts.max()) for train in trains if len(train)))
        numbers = np.full(found.num_rows, number)
        # An object's reports may lie in several partitions: by their numbers, the last one wins.
        ts[: len(focal)], numbers[: len(focal)] = reports.ts[focal], reports.number[focal]
        return (Train(found, ts, numbers),)

    def _known(self, tables: Tables, trains: Trains, ids: Ints, named: Ints) -> tuple[Ints, pa.RecordBatch | None]:
        """The rows of focal objects, and where those are that a query names anew."""
        reports, rows = trains
        objects, queries = tables["objects"], tables["queries"]
        wanted = asked.Rows(rows, self.conditions)
        good = np.flatnonzero(wanted.good)
        slots = queries.find([rows[asked.QUERY].take(good)], len(good))
        last = known.latest(slots, len(queries.alive))
        slots, good = slots[last], good[last]
        for name in ("bound", asked.FOCAL):
            queries[name][slots] = wanted.columns[name][good]
        fresh = queries[asked.FOCAL][slots[wanted.bound[good] & ~wanted.removes[good]]]
        queries.free(slots[wanted.removes[good]])
        focals = np.unique(queries[asked.FOCAL][queries.alive & queries["bound"]])
        last = _last(ids)
        if not self.forgets:
            self._keep(tables, reports, named[last])
        silent = np.setdiff1d(fresh, ids)
        found = objects.lookup([pa.array(silent)], len(silent))
        there = found[found >= 0]
        columns = [objects.get(name, there) for name in (self.id, known.X, known.Y)]
        if self.time is not None:
            columns.append(objects.get(known.TIME, there))
        schema = self._schema(reports.schema)
        cast = [column.cast(field.type) for column, field in zip(columns, schema, strict=True)]
        return named[last][np.isin(ids[last], focals)], pa.RecordBatch.from_arrays(cast, schema=schema)

    def _keep(self, tables: Tables, reports: Train, rows: Ints) -> None:
        """Write where objects are that report; those that are nowhere, or have been silent too long, go."""
        objects, now = tables["objects"], tables["clock"]
        slots = objects.find([reports[self.id].take(rows)], len(rows))
        columns: dict[str, Any] = {
            known.X: known.coordinate(reports, self.x),
            known.Y: known.coordinate(reports, self.y),
        }
        placed = np.isfinite(columns[known.X]) & np.isfinite(columns[known.Y])
        if self.time is not None:
            columns[known.TIME], timed = Order(self.time).places(reports)
            placed &= timed
            advance(now, columns[known.TIME][timed])
        for name, values in columns.items():
            objects[name][slots] = values[rows]
        gone = np.zeros(len(objects.alive), np.bool_)
        gone[slots] = ~placed[rows]
        if self.timeout is not None and len(now):
            gone |= objects.alive & (objects[known.TIME] < now["now"][0] - self._timeout(reports.schema))
        objects.free(np.flatnonzero(gone))

    def _told(self, reports: Train, rows: Ints, schema: pa.Schema) -> pa.RecordBatch:
        columns = [reports[field.name].take(rows).cast(field.type) for field in schema]
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def _tick(self, reports: Train, schema: pa.Schema) -> list[pa.RecordBatch]:
        """A row that tells the latest time."""
        if self.timeout is None or self.time is None:
            return []
        times, timed = Order(self.time).places(reports)
        if not timed.any():
            return []
        at = int(np.flatnonzero(timed)[times[timed].argmax()])
        columns = [pa.nulls(1, field.type) for field in schema][:-1]
        return [pa.RecordBatch.from_arrays([*columns, reports[self.time].slice(at, 1)], schema=schema)]

    @bound
    def _timeout(self, objects: pa.Schema) -> Any:
        return silence(objects, self.time, self.timeout)

    @bound
    def _schema(self, objects: pa.Schema) -> pa.Schema:
        time = None if self.time is None else objects.field(self.time)
        return leading.schema(objects.field(self.id), self.x, self.y, time)


def _last(ids: Ints) -> Ints:
    """The last row of each identifier, in order."""
    _, first = np.unique(ids[::-1], return_index=True)
    rows: Ints = np.sort(len(ids) - 1 - first)
    return rows
