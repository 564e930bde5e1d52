"""Nearest: the k nearest of what each partition has found for a query, told by what enters and leaves (SOLE 3.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from australis.arrow.columns import plain
from australis.boxes.moving.families import Updating
from australis.boxes.moving.mergers import Events, mergers
from australis.boxes.moving.moments import Carried
from australis.boxes.moving.objects import latest
from australis.boxes.moving.overlaps import FoundUpdates
from australis.boxes.moving.placements import Placements, sequences
from australis.boxes.moving.queries import QUERY, K
from australis.boxes.moving.revising import Before
from australis.boxes.moving.watch import AWAY, SIGN
from australis.errors import SchemaError, listing, near
from australis.model.box import Key, Moment, Tables, Trains
from australis.model.table import Table
from australis.model.train import Bools, Ints, Train, empty

_QUERY, _MEMBER = "#query", "#member"


@dataclass(frozen=True)
class Nearest(Updating):
    """Updates of the answers of kNN queries, from `candidates` of all partitions of a `watch`.

    A candidate with sign 1 comes, or is told of again as it lies elsewhere; with -1 it goes. Of those that are equally
    far the smaller identifiers are nearer. With `revise`, a member whose carried values change leaves and enters. With
    `each`, updates are told after each arrival number, else after trains.

    >>> from australis.testing import apply, rows, train
    >>> near = train("query int, sign tinyint, id int, k bigint, away double",
    ...     query=[1, 1, 1], sign=[1, 1, 1], id=[7, 8, 9], k=[2, 2, 2], away=[4.0, 1.0, 9.0])
    >>> rows(apply(Nearest(), near)[0])
    [(1, 1, 7), (1, 1, 8)]
    """

    id: str = "id"
    revise: bool = False
    each: bool = False

    kind: ClassVar[str] = "nearest"
    composed: ClassVar[bool] = True

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        (stream,) = inputs
        for name in (QUERY, self.id):
            if name not in stream.names:
                raise SchemaError(f"`{name}` is no column; there are {listing(stream.names)}{near(name, stream.names)}")
        return {"out": _updates(stream)}

    def keys(self, *inputs: pa.Schema) -> tuple[Key, ...] | None:
        return ((QUERY,),)

    def tables(self, *inputs: pa.Schema) -> Tables:
        (stream,) = inputs
        hidden = [(_QUERY, pa.int64()), (_MEMBER, pa.bool_()), (AWAY, pa.float64())]
        fields = [pa.field(name, type_, nullable=False) for name, type_ in hidden]
        carried = [stream.field(name) for name in self._carry(stream)]
        key = [stream.field(QUERY), stream.field(self.id)]
        return {
            "candidates": Table(pa.schema([*key, *fields, *carried]), (QUERY, self.id)),
            "queries": Table(pa.schema([stream.field(QUERY), pa.field(K, pa.int64(), nullable=False)]), (QUERY,)),
        }

    def holds(self, *inputs: pa.Schema) -> str:
        return "for each kNN query the k nearest of each partition"

    def passes(self, port: str, *inputs: pa.Schema) -> Mapping[int, Mapping[str, str]]:
        return super().passes(port, *inputs) or {0: {"query": "query"}}

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        (train,) = trains
        if not len(train):
            return (empty(_updates(train.schema)),)
        near, queries = tables["candidates"], tables["queries"]
        if self.each:
            return (self._each(near, queries, train),)
        asking = queries.find([train[QUERY]], len(train))
        queries[K][asking] = plain(train[K])[0]
        slots = near.find([train[QUERY], train[self.id]], len(train))
        last = latest(slots, len(near.alive))
        rows, slots = last, slots[last]
        comes = plain(train[SIGN])[0][rows] > 0
        was = Before(near, self._carry(train.schema), slots)
        near[_QUERY][slots] = asking[rows]
        self._put(near, train, slots[comes], rows[comes])
        gone = np.zeros(len(near.alive), np.bool_)
        gone[slots[~comes]] = True
        changed = np.zeros(len(queries.alive), np.bool_)
        changed[asking] = True
        affected = np.flatnonzero(near.alive & changed[near[_QUERY]])
        member = np.zeros(len(near.alive), np.bool_)
        member[affected] = _nearest(near, queries[K], affected[~gone[affected]], self.id, affected)
        before = near[_MEMBER].copy()
        again = was.revised(before & member) if self.revise else np.zeros(len(before), np.bool_)
        lost = affected[(before & (~member | again))[affected]]
        won = affected[(member & (~before | again))[affected]]
        near[_MEMBER][affected] = member[affected]
        near.touched[lost] = near.touched[won] = True
        out = self._train(train, near, was, lost, won, _oldest(train, asking, near[_QUERY]), moment)
        near.free(np.flatnonzero(gone))
        left = np.bincount(near[_QUERY][near.alive], minlength=len(queries.alive))
        queries.free(np.flatnonzero(changed & (left == 0)))
        return (out,)

    def _each(self, near: Table, queries: Table, train: Train) -> Train:
        """The updates after each of the arrival numbers of a train."""
        before, stored = queries[K].copy(), near.alive.copy()
        asking = queries.find([train[QUERY]], len(train))
        slots = near.find([train[QUERY], train[self.id]], len(train))
        near[_QUERY][slots] = asking
        changed = np.zeros(len(queries.alive), np.bool_)
        changed[asking] = True
        there, known = np.zeros(len(near.alive), np.bool_), np.zeros(len(queries.alive), np.int64)
        there[: len(stored)], known[: len(before)] = stored, before
        numbers = np.unique(train.number)
        moments = np.searchsorted(numbers, train.number)
        comes = plain(train[SIGN])[0] > 0
        away = np.where(comes, plain(train[AWAY])[0], np.nan)
        ids = near[self.id].astype(np.int64)
        affected = np.flatnonzero(near.alive & changed[near[_QUERY]])
        placed = sequences(
            affected, np.where(there, near[AWAY], np.nan)[affected], ids[affected], slots, moments, away, len(numbers)
        )
        carried = Carried(near, train, tuple(self._carry(train.schema)), placed)
        again = carried.again() if self.revise else np.zeros(len(placed.slots), np.bool_)
        order = np.lexsort((moments, asking))
        events = Events(asking[order], moments[order], plain(train[K])[0].astype(np.int64)[order])
        updates, member = mergers(
            placed, placed.points.x, near[_QUERY][placed.slots], events, known, again, len(numbers)
        )
        out = self._updates_of(train, near, queries, placed, carried, updates, numbers, moments)
        last = np.flatnonzero(placed.after < 0)
        final, row = placed.slots[last], placed.row[last]
        gone = np.isnan(placed.points.x[last])
        fresh = ~gone & (row >= 0)
        self._put(near, train, final[fresh], row[fresh])
        near[_MEMBER][affected] = member[affected]
        near.touched[affected] = True
        queries[K][events.queries] = events.k
        near.free(final[gone])
        left = np.bincount(near[_QUERY][near.alive], minlength=len(queries.alive))
        queries.free(np.flatnonzero(changed & (left == 0)))
        return out

    def _updates_of(
        self, train: Train, near: Table, queries: Table, placed: Placements, carried: Carried, updates: FoundUpdates,
        numbers: Ints, moments: Ints,
    ) -> Train:  # fmt: skip
        slots = placed.slots[updates.places]
        order = np.lexsort((placed.points.id[updates.places], updates.versions, updates.signs, updates.moments))
        rows = carried.told(updates, self.revise)[order]
        arrays = [queries.get(QUERY, updates.versions[order]), pa.array(updates.signs[order].astype(np.int8))]
        arrays += [near.get(self.id, slots[order])]
        arrays += [column.take(rows) for column in carried.columns.values()]
        stamps = np.full(len(numbers), np.iinfo(np.int64).max)
        np.minimum.at(stamps, moments, train.ts)
        tuples = pa.RecordBatch.from_arrays(arrays, schema=_updates(train.schema))
        return Train(tuples, stamps[updates.moments[order]], numbers[updates.moments[order]])

    def _put(self, near: Table, train: Train, slots: Ints, rows: Ints) -> None:
        near[AWAY][slots] = plain(train[AWAY])[0][rows]
        for name in self._carry(train.schema):
            near.put(name, slots, train[name].take(rows))

    def _train(
        self, train: Train, near: Table, was: Before, lost: Ints, won: Ints, oldest: Ints, moment: Moment
    ) -> Train:
        slots = np.concatenate([lost, won])
        sign = np.repeat(np.array([-1, 1], np.int8), [len(lost), len(won)])
        arrays = [near.get(QUERY, slots), pa.array(sign), near.get(self.id, slots)]
        past = len(lost) if self.revise else 0
        arrays += [was.column(name, slots, past) for name in self._carry(train.schema)]
        tuples = pa.RecordBatch.from_arrays(arrays, schema=_updates(train.schema))
        number = max(moment.number, int(train.number[-1]))
        return Train(tuples, oldest[slots], np.full(len(slots), number))

    def _carry(self, stream: pa.Schema) -> list[str]:
        return [name for name in stream.names if name not in (QUERY, SIGN, self.id, K, AWAY)]


def _updates(stream: pa.Schema) -> pa.Schema:
    return pa.schema([field for field in stream if field.name not in (K, AWAY)])


def _nearest(near: Table, k: Ints, there: Ints, identifier: str, slots: Ints) -> Bools:
    """Which of the candidates `slots` are among the k nearest of their query, if they are `there`."""
    query = near[_QUERY][there]
    order = np.lexsort((near[identifier][there], near[AWAY][there], query))
    sorted_ = query[order]
    rank = np.arange(len(order)) - np.searchsorted(sorted_, sorted_)
    member = np.zeros(len(near.alive), np.bool_)
    member[there[order]] = rank < k[sorted_]
    return member[slots]


def _oldest(train: Train, asking: Ints, query: Ints) -> Ints:
    """For each candidate, when the oldest tuple of the step entered that is about its query."""
    stamps = np.full(int(max(asking.max(), query.max(initial=0))) + 1, train.ts.max())
    np.minimum.at(stamps, asking, train.ts)
    return stamps[query]
