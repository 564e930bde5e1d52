"""Write: keep values in a keyed table, from which other boxes read."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from australis.arrow.columns import arrow, plain, storage
from australis.errors import ExpressionError, RunError, SchemaError, listing, near
from australis.expressions import Bound, Expr
from australis.expressions.codegen.recurrence import Column, Recurrence, recurrence
from australis.model import parameters
from australis.model.box import Box, Key, Moment, Tables, Trains, bound, unchanged
from australis.model.parameters import Expression
from australis.model.table import Keyed, RowVersions, Table
from australis.model.train import Bools, Ints, Train, empty, joined

OLD = "old."
_MANY = 4096  # tuples that are worth compiling for
_FEW_TURNS = 8
_BEFORE = -1
"""The arrival number of a version from before the step."""


@dataclass(frozen=True)
class Write(Box):
    """Set columns of the row under each tuple's key, in order of arrival, and pass the tuple on with the row's values.

    Expressions read the tuple, and the row as it was before as `old.x`, null where there was none. Columns that no
    expression names stay as they are, null in a new row. Null is a key like any other. With `returning`, the tuple is
    passed on with these values instead of the row's; nobody keeps them.

    >>> from australis.expressions import expr
    >>> from australis.arrow.schema import schema
    >>> from australis.testing import apply, rows, train
    >>> accounts = Keyed("accounts", schema("vid int, balance bigint"), ("vid",))
    >>> charge = Write(accounts, (("balance", expr("coalesce(old.balance, 0) + toll")),))
    >>> rows(apply(charge, train("vid int, toll int", vid=[7, 8, 7], toll=[2, 3, 5]))[0])
    [(7, 2, 2), (8, 3, 3), (7, 5, 7)]
    """

    table: Keyed
    columns: tuple[tuple[str, Expr], ...]
    returning: tuple[tuple[str, Expr], ...] = ()

    kind: ClassVar[str] = "write"
    immediate: ClassVar[bool] = True

    @classmethod
    def make(
        cls,
        table: Keyed,
        columns: Mapping[str, Expression] | None = None,
        /,
        *,
        returning: Mapping[str, Expression] | None = None,
        **more: Expression,
    ) -> Write:
        """Write the row of each tuple's key, and give the tuple with its new values; `old.x` reads the row before.

        With `returning`, the tuple is given with these values instead.
        """
        named = parameters.columns({**(columns or {}), **more})
        return cls(table, named, parameters.columns(returning or {}))

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        (stream,) = inputs
        seen = self._seen(stream)
        if not self.columns:
            raise SchemaError(f"nothing is written to the table `{self.table.name}`: name a column and its value")
        for name, value in self.columns:
            if name in self.table.key or name not in self.table.schema.names:
                others = [other for other in self.table.schema.names if other not in self.table.key]
                raise SchemaError(
                    f"`{name}` is no column to write of the table `{self.table.name}`{near(name, others) or '.'}"
                    f" Those are {listing(others)}"
                )
            wanted, type_ = self.table.schema.field(name).type, value.bind(seen).type
            if type_ != wanted and not _converts(type_, wanted):
                raise ExpressionError(
                    f"`{value}` is {type_}, and `{name}` of the table `{self.table.name}` is {wanted}"
                )
        return {"out": self._out(stream)}

    def keys(self, *inputs: pa.Schema) -> tuple[Key, ...] | None:
        return (self.table.key,)

    def tables(self, *inputs: pa.Schema) -> Tables:
        return {"table": Table(self.table.schema, self.table.key)}

    def holds(self, *inputs: pa.Schema) -> str:
        return f"a row for each {', '.join(self.table.key)}"

    @property
    def writes(self) -> Keyed | None:
        return self.table

    def passes(self, port: str, *inputs: pa.Schema) -> Mapping[int, Mapping[str, str]]:
        return {0: unchanged(inputs[0])}

    def columns_needed(self, port: str, columns: AbstractSet[str], *inputs: pa.Schema) -> tuple[AbstractSet[str], ...]:
        read = {name for _, value in (*self.columns, *self.returning) for name in value.columns}
        return (((columns | read) & set(inputs[0].names)) | set(self.table.key),)

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        (train,) = trains
        table, names = tables["table"], values(self.table)
        table.versions = None
        if not len(train):
            return (empty(self._out(train.schema)),)
        slots = table.find([train[name] for name in self.table.key], len(train))
        compiled = self._compiled(table, train.schema, names)
        if compiled is not None and not table.watched and len(train) > _MANY:
            return (self._carrying(train, *self._one_by_one(compiled, table, train, slots, names)),)
        first, turns = _turns(slots)
        before = table.rows(slots[first], names)
        if compiled is not None and turns.max() > _FEW_TURNS:
            after, returned = self._one_by_one(compiled, table, train, slots, names)
        else:
            after, returned = self._turn_by_turn(table, train, slots, turns, names)
        order = np.lexsort((np.arange(len(slots)), slots))
        versions = joined([before, after.take(order)])
        both = np.concatenate([slots[first], slots[order]])
        numbers = np.concatenate([np.full(len(first), _BEFORE), train.number[order]])
        sorted_ = np.argsort(both, kind="stable")
        table.versions = RowVersions(both[sorted_], numbers[sorted_], versions.take(sorted_))
        return (self._carrying(train, after, returned),)

    @bound
    def _out(self, stream: pa.Schema) -> pa.Schema:
        if not self.returning:
            return carried(stream, self.table, values(self.table))
        seen = self._seen(stream)
        clash = [name for name, _ in self.returning if name in stream.names]
        if clash:
            raise SchemaError(f"the stream has {listing(clash)} already: return it under another name")
        return pa.schema([*stream, *(pa.field(name, value.bind(seen).type) for name, value in self.returning)])

    def _carrying(self, train: Train, after: pa.RecordBatch, returned: pa.RecordBatch) -> Train:
        values = returned if self.returning else after
        columns = [train.part(name) for name in train.schema.names]
        return train.made(self._out(train.schema), [*columns, *values.columns])

    def _compiled(self, table: Table, stream: pa.Schema, names: list[str]) -> Recurrence | None:
        """The expressions as one loop over tuples, where they can be that."""
        written = dict(self.columns)
        if not table.valid.keys() >= set(names):
            return None
        columns = tuple((OLD + name, written.get(name)) for name in names)
        return recurrence(columns, self._seen(stream), tuple(value for _, value in self.returning))

    def _turn_by_turn(
        self, table: Table, train: Train, slots: Ints, turns: Ints, names: list[str]
    ) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        """Each tuple's row after its write, and what it returns."""
        seen = self._seen(train.schema)
        parts, returned, by_turn = [], [], np.argsort(turns, kind="stable")
        wanted = pa.schema([(name, value.bind(seen).type) for name, value in self.returning])
        # The first tuples of all keys at once, then the second ones, and so on.
        for rows in np.split(by_turn, np.cumsum(np.bincount(turns))[:-1]):
            turn_slots = slots[rows]
            tuples = train.tuples.take(rows)
            whole = pa.RecordBatch.from_arrays([*tuples.columns, *table.rows(turn_slots, names).columns], schema=seen)
            written = [(name, value.bind(seen).evaluate(whole)) for name, value in self.columns]
            results = [value.bind(seen).evaluate(whole) for _, value in self.returning]
            returned.append(pa.RecordBatch.from_struct_array(pa.StructArray.from_arrays(results, fields=list(wanted)))
                            if results else pa.RecordBatch.from_arrays([], schema=wanted))  # fmt: skip
            for name, array in written:
                table.put(name, turn_slots, self._stored(name, array))
            parts.append(table.rows(turn_slots, names))
        back = np.argsort(by_turn)
        return joined(parts).take(back), joined(returned).take(back) if self.returning else returned[0]

    def _one_by_one(
        self, compiled: Recurrence, table: Table, train: Train, slots: Ints, names: list[str]
    ) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        """The same where some keys come often, so that there are many turns."""
        failed = np.zeros(len(train), np.bool_)
        inputs = [_evaluated(part, train.tuples, failed) for part in compiled.inputs]

        def alone(row: int, after: list[Column], returned: list[Column]) -> None:
            slot = slots[row : row + 1]
            both = self._turn_by_turn(table, train.slice(row, row + 1), slot, np.zeros(1, np.int64), names)
            for columns, batch in zip((after, returned), both, strict=True):
                for (values, valid), array in zip(columns, batch.columns, strict=True):
                    (values[row],), there = plain(array)
                    valid[row] = there is None

        state = [(table[name], table.valid[name]) for name in names]
        after, returned = compiled.run(slots, state, inputs, failed, alone)
        seen = self._seen(train.schema)
        fields = [pa.field(name, value.bind(seen).type) for name, value in self.returning]
        return _batch(after, [table.schema.field(name) for name in names]), _batch(returned, fields)

    def _stored(self, name: str, array: pa.Array[Any]) -> pa.Array[Any]:
        """Values as a column of the table keeps them; whole numbers may lose digits as doubles, as everywhere."""
        wanted = self.table.schema.field(name).type
        try:
            return array.cast(wanted, safe=not (pa.types.is_integer(array.type) and pa.types.is_floating(wanted)))
        except pa.ArrowInvalid as error:
            raise RunError(
                f"a value for `{name}` of the table `{self.table.name}`, which is {wanted}, does not fit: {error}"
            ) from error

    def _seen(self, stream: pa.Schema) -> pa.Schema:
        """What expressions see: the tuple, and the old row as `old.x`."""
        check_key(stream, self.table)
        old = [self.table.schema.field(name).with_name(OLD + name) for name in values(self.table)]
        return pa.schema([*stream, *old])


def _evaluated(part: Bound, batch: pa.RecordBatch, failed: Bools) -> Column:
    """A part's values for all rows; those for which it fails are marked."""
    try:
        values, valid = plain(part.evaluate(batch))
        return values.copy(), np.ones(len(values), np.bool_) if valid is None else valid
    except RunError:
        if batch.num_rows == 1:
            failed[0] = True
            return np.zeros(1, storage(part.type)), np.zeros(1, np.bool_)
        half = batch.num_rows // 2  # by halves: only rows that fail cost more than a call
        parts = (_evaluated(part, batch[:half], failed[:half]), _evaluated(part, batch[half:], failed[half:]))
        values, valid = (np.concatenate(both) for both in zip(*parts, strict=True))
        return values, valid


def _batch(columns: list[Column], fields: list[Any]) -> pa.RecordBatch:
    arrays = [arrow(values, valid, each.type) for (values, valid), each in zip(columns, fields, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def values(table: Keyed) -> list[str]:
    """The columns of a keyed table beside its key."""
    return [name for name in table.schema.names if name not in table.key]


def check_key(stream: pa.Schema, table: Keyed) -> None:
    """A stream must carry the key of a table, under the same names."""
    for name in table.key:
        if name not in stream.names:
            raise SchemaError(
                f"the table `{table.name}` is under `{name}`, which the stream lacks{near(name, stream.names) or '.'}"
                f" Its columns are {listing(stream.names)}"
            )
        wanted, type_ = table.schema.field(name).type, stream.field(name).type
        if wanted != type_:
            raise SchemaError(f"the key `{name}` of the table `{table.name}` is {wanted}, and the stream's is {type_}")


def carried(stream: pa.Schema, table: Keyed, names: list[str]) -> pa.Schema:
    """The stream's columns and a row's."""
    clash = [name for name in names if name in stream.names]
    if clash:
        raise SchemaError(
            f"both the stream and the table `{table.name}` have {listing(clash)}:"
            " map the stream's to another name first"
        )
    return pa.schema([*stream, *(table.schema.field(name).with_nullable(True) for name in names)])


def _converts(type_: pa.DataType, wanted: pa.DataType) -> bool:
    both = (type_, wanted)
    return pa.types.is_null(type_) or all(pa.types.is_integer(each) or pa.types.is_floating(each) for each in both)


def _turns(slots: Ints) -> tuple[Ints, Ints]:
    """The first row of each slot, and each row's turn: how many rows of its slot come before it."""
    order = np.argsort(slots, kind="stable")
    starts = np.flatnonzero(np.concatenate([[True], np.diff(slots[order]) != 0]))
    turns = np.empty(len(slots), np.int64)
    turns[order] = np.arange(len(slots)) - np.repeat(starts, np.diff(np.append(starts, len(slots))))
    return order[starts], turns
