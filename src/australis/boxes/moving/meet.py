"""Meet: the join of two answers, as positive and negative updates of both come in (SOLE 3.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pyarrow as pa

from australis.arrow.columns import plain
from australis.boxes.join.pair import Match, Pair, match
from australis.boxes.moving.families import Updating
from australis.errors import SchemaError, listing, near
from australis.expressions import Expr
from australis.model.box import Key, Moment, Tables, Trains, bound
from australis.model.keys import hashable
from australis.model.labels import as_written
from australis.model.parameters import Expression, optional_expression
from australis.model.table import Table
from australis.model.train import Ints, Train, empty

_COUNT = "#count"


class Changes(NamedTuple):
    """Rows of a table by slot, how many of each come or go, and when the oldest of their updates entered."""

    slots: Ints
    counts: Ints
    ts: Ints


@dataclass(frozen=True)
class Meet(Updating):
    """t ++ u for every t of the left answer and u of the right that satisfy the predicate: with sign 1 when a pair is
    there, with -1 when one of the two has left.

    The predicate says `left.type = right.type`. What comes and goes within a train leaves no trace.
    Null equals nothing.

    >>> from australis.expressions import expr
    >>> from australis.testing import apply, rows, train
    >>> tugs = train("sign int, id int, pier int", sign=[1, 1], id=[1, 2], pier=[5, 6])
    >>> ferries = train("sign int, id int, pier int", sign=[1], id=[7], pier=[5], first=3)
    >>> rows(apply(Meet(expr("left.pier = right.pier")), tugs, ferries)[0])
    [(1, 1, 5, 7, 5)]
    """

    predicate: Expr | None = None
    sign: str = "sign"

    kind: ClassVar[str] = "meet"
    arity: ClassVar[int] = 2
    others: ClassVar[tuple[str, ...]] = ("other",)

    @classmethod
    def make(cls, where: Expression | None = None, sign: str = "sign") -> Meet:
        """Tell which pairs of what is there now, here and in `other`, come (`sign` 1) and go (-1), by their updates."""
        return cls(optional_expression(where), sign)

    def written(self) -> Mapping[str, object]:
        return {"where": as_written(self.predicate), "sign": self.sign}

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        for side in inputs:
            if self.sign not in side.names or not pa.types.is_integer(side.field(self.sign).type):
                raise SchemaError(
                    f"`{self.sign}` is no column of whole numbers; there are {listing(side.names)}"
                    f"{near(self.sign, side.names)}"
                )
            for field in side:
                if not hashable(field.type):
                    raise SchemaError(f"values of `{field.name}`, a {field.type}, cannot be told apart")
        self._match(*inputs)
        return {"out": self._schema(*inputs)}

    def keys(self, *inputs: pa.Schema) -> tuple[Key, ...] | None:
        matched = self._match(*inputs)
        return matched.left, matched.right

    def tables(self, *inputs: pa.Schema) -> Tables:
        count = pa.field(_COUNT, pa.int64(), nullable=False)
        return {
            name: Table(pa.schema([*self._rows(side), count]), self._rows(side).names)
            for name, side in zip(("left", "right"), inputs, strict=True)
        }

    def holds(self, *inputs: pa.Schema) -> str:
        return "both answers"

    def passes(self, port: str, *inputs: pa.Schema) -> Mapping[int, Mapping[str, str]]:
        return super().passes(port, *inputs) or self._pair(*inputs).passes

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        schemas = trains[0].schema, trains[1].schema
        schema = self._schema(*schemas)
        if not any(map(len, trains)):
            return (empty(schema),)
        left, right = tables["left"], tables["right"]
        first = self._delta(left, trains[0])
        pairs = [self._pairs(schemas, left, right, first, _all(right))]
        _add(left, first)
        second = self._delta(right, trains[1])
        pairs.append(self._pairs(schemas, left, right, _all(left), second))
        _add(right, second)
        number = max(moment.number, *(int(train.number[-1]) for train in trains if len(train)))
        batches, stamps = [batch for batch, _ in pairs], np.concatenate([ts for _, ts in pairs])
        whole = pa.Table.from_batches(batches, schema=schema).combine_chunks().to_batches()
        for table, delta in ((left, first), (right, second)):
            table.free(delta.slots[table[_COUNT][delta.slots] == 0])
        if not whole:
            return (empty(schema),)
        return (Train(whole[0], stamps, np.full(len(stamps), number)),)

    def _delta(self, table: Table, train: Train) -> Changes:
        """The rows of a train, each once, with its updates summed up."""
        slots = table.find([train[name] for name in table.key], len(train))
        changed, place = np.unique(slots, return_inverse=True)
        signs, valid = plain(train[self.sign].cast(pa.int64()))
        counts = np.zeros(len(changed), np.int64)
        np.add.at(counts, place, signs if valid is None else np.where(valid, signs, 0))
        stamps = np.full(len(changed), train.ts.max(initial=0))
        np.minimum.at(stamps, place, train.ts)
        return Changes(changed, counts, stamps)

    def _pairs(
        self, schemas: tuple[pa.Schema, pa.Schema], left: Table, right: Table, ours: Changes, theirs: Changes
    ) -> tuple[pa.RecordBatch, Ints]:
        """The pairs of some rows of the left and some of the right, as many as there are of them."""
        matched, schema = self._match(*schemas), self._schema(*schemas)
        one, other = _matching(left, right, matched, ours.slots, theirs.slots)
        columns = [left.get(name, ours.slots[one]) for name in left.key]
        columns += [right.get(name, theirs.slots[other]) for name in right.key]
        whole = pa.RecordBatch.from_arrays(columns, schema=self._pair(*schemas).schema)
        times = ours.counts[one] * theirs.counts[other]
        if matched.rest is not None:
            fits = matched.rest.bind(whole.schema).mask(whole).to_numpy(zero_copy_only=False)
            times = np.where(fits, times, 0)
        rows = np.repeat(np.arange(len(times)), np.abs(times))
        repeated = whole.take(rows)
        sign = pa.array(np.sign(times[rows]).astype(np.int8))
        arrays = [sign if field.name == self.sign else repeated.column(field.name) for field in schema]
        return pa.RecordBatch.from_arrays(arrays, schema=schema), np.minimum(ours.ts[one], theirs.ts[other])[rows]

    def _rows(self, side: pa.Schema) -> pa.Schema:
        return pa.schema([field for field in side if field.name != self.sign])

    @bound
    def _pair(self, left: pa.Schema, right: pa.Schema) -> Pair:
        return Pair(self._rows(left), self._rows(right))

    @bound
    def _match(self, left: pa.Schema, right: pa.Schema) -> Match:
        return match(self.predicate, self._pair(left, right))

    @bound
    def _schema(self, left: pa.Schema, right: pa.Schema) -> pa.Schema:
        fields = [pa.field(self.sign, pa.int8()), *self._pair(left, right).schema]
        return pa.schema(fields)


def _all(table: Table) -> Changes:
    slots = table.slots[table[_COUNT][table.slots] != 0]
    return Changes(slots, table[_COUNT][slots], np.full(len(slots), np.iinfo(np.int64).max))


def _add(table: Table, delta: Changes) -> None:
    table[_COUNT][delta.slots] += delta.counts


def _matching(left: Table, right: Table, matched: Match, ours: Ints, theirs: Ints) -> tuple[Ints, Ints]:
    """The places among both that have equal keys."""
    types = [
        (left.schema.field(one).type, right.schema.field(other).type)
        for one, other in zip(matched.left, matched.right, strict=True)
    ]
    # Whole numbers of different width are equal in the widest.
    fields = [pa.field(f"{n}", one if one == other else pa.int64()) for n, (one, other) in enumerate(types)]
    known = Table(pa.schema(fields), [field.name for field in fields])
    keys = []
    for table, names, slots in ((left, matched.left, ours), (right, matched.right, theirs)):
        columns = [table.get(name, slots) for name in names]
        codes = known.find([c.cast(f.type) for c, f in zip(columns, known.schema, strict=True)], len(slots))
        for column in columns:
            if column.null_count:
                codes[column.is_null().to_numpy(zero_copy_only=False)] = -1 if table is left else -2
        keys.append(codes)
    order = np.argsort(keys[1], kind="stable")
    sorted_ = keys[1][order]
    first, last = np.searchsorted(sorted_, keys[0]), np.searchsorted(sorted_, keys[0], "right")
    counts = last - first
    one = np.repeat(np.arange(len(ours)), counts)
    within = np.arange(len(one)) - np.repeat(np.cumsum(counts) - counts, counts)
    return one, order[np.repeat(first, counts) + within]
