"""Read: add to each tuple the values that a keyed table holds for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from australis.boxes.write import carried, check_key, values
from australis.errors import SchemaError, listing, near
from australis.expressions import Expr
from australis.kernels.jit import kernel
from australis.model.ascent import Ascent
from australis.model.box import Box, Key, Moment, Tables, Trains, unchanged
from australis.model.parameters import by
from australis.model.table import Keyed, RowVersions
from australis.model.train import Ints, joined


@dataclass(frozen=True)
class Read(Box):
    """The tuple, and columns of the row under its key, all of them unless some are named; null where there is no row.

    A tuple sees what tuples that arrived no later than itself wrote, however the streams were cut into trains.

    >>> from australis.expressions import expr
    >>> from australis.arrow.schema import schema
    >>> from australis.boxes.write import Write
    >>> from australis.testing import apply, rows, train
    >>> accounts = Keyed("accounts", schema("vid int, balance bigint"), ("vid",))
    >>> written = Write(accounts, (("balance", expr("toll")),))
    >>> tables = written.tables(schema("vid int, toll int"))
    >>> _ = apply(written, train("vid int, toll int", vid=[7, 7], toll=[2, 5], number=[1, 3]), tables=tables)
    >>> rows(apply(Read(accounts, ()), train("vid int", vid=[7, 7, 8], number=[2, 4, 5]), tables=tables)[0])
    [(7, 2), (7, 5), (8, None)]
    """

    table: Keyed
    columns: tuple[str, ...]

    kind: ClassVar[str] = "read"
    immediate: ClassVar[bool] = True
    keeps_all: ClassVar[bool] = True

    @classmethod
    def make(cls, table: Keyed, *columns: str) -> Read:
        """Give each tuple with columns (all, if none is named) of the row of its key, null where there is none."""
        return cls(table, by(columns))

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        (stream,) = inputs
        check_key(stream, self.table)
        for name in self.columns:
            if name not in values(self.table):
                raise SchemaError(
                    f"`{name}` is no column to read of the table `{self.table.name}`"
                    f"{near(name, values(self.table)) or '.'} Those are {listing(values(self.table))}"
                )
        return {"out": carried(stream, self.table, self._names)}

    def keys(self, *inputs: pa.Schema) -> tuple[Key, ...] | None:
        return (self.table.key,)

    def tables(self, *inputs: pa.Schema) -> Tables:
        return {}

    def holds(self, *inputs: pa.Schema) -> str:
        return ""

    @property
    def reads(self) -> Keyed | None:
        return self.table

    def passes(self, port: str, *inputs: pa.Schema) -> Mapping[int, Mapping[str, str]]:
        return {0: unchanged(inputs[0])}

    def columns_needed(self, port: str, columns: AbstractSet[str], *inputs: pa.Schema) -> tuple[AbstractSet[str], ...]:
        return ((columns & set(inputs[0].names)) | set(self.table.key),)

    def divisible(self, *inputs: pa.Schema) -> bool:
        return True  # the state is the writer's

    def pushes(self, predicate: Expr, port: str, inputs: Sequence[Ascent]) -> Mapping[int, Expr] | None:
        """A predicate on the tuple's own columns. What a tuple sees goes by its arrival number, which it keeps."""
        return {0: predicate} if set(predicate.columns).isdisjoint(self._names) else None

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        (train,) = trains
        table, names = tables["table"], self._names
        slots = table.lookup([train[name] for name in self.table.key], len(train))
        at = _as_of(table.versions, slots, train.number)
        now = np.flatnonzero((at < 0) & (slots >= 0))
        rows = [table.rows(slots[now], names)]
        place = np.full(len(train), -1, np.int64)
        place[now] = np.arange(len(now))
        if table.versions is not None:
            rows.append(table.versions.rows.select(names))
            place[at >= 0] = len(now) + at[at >= 0]
        wanted: Any = pa.array(place, mask=place < 0)
        values = joined(rows).take(wanted)
        schema = carried(train.schema, self.table, names)
        return (train.carrying(pa.RecordBatch.from_arrays([*train.tuples.columns, *values.columns], schema=schema)),)

    @property
    def _names(self) -> list[str]:
        return list(self.columns) or values(self.table)


def _as_of(versions: RowVersions | None, slots: Ints, numbers: Ints) -> Ints:
    """The version of each row that a tuple sees, -1 where the step did not write the row."""
    if versions is None:
        return np.full(len(slots), -1, np.int64)
    return _seek(versions.slots, versions.numbers, slots, numbers)


@kernel
def _seek(slots: Ints, numbers: Ints, wanted: Ints, at: Ints) -> Ints:
    places = np.empty(len(wanted), np.int64)
    for row in range(len(wanted)):
        low, high = 0, len(slots)
        while low < high:
            middle = (low + high) // 2
            before = slots[middle] < wanted[row] or (slots[middle] == wanted[row] and numbers[middle] <= at[row])
            low, high = (middle + 1, high) if before else (low, middle)
        places[row] = low - 1 if low and slots[low - 1] == wanted[row] else -1
    return places
