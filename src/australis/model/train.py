"""A train: tuples of one stream in arrival order, the unit of everything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from australis.arrow.columns import Bools as Bools
from australis.arrow.columns import Ints as Ints
from australis.arrow.columns import arrow, marked, pick, take


class Selection:
    """The rows that a mask selects, out of the rows of the selection `above` if there is one."""

    __slots__ = ("_indices", "above", "mask")

    def __init__(self, mask: pa.BooleanArray, above: Selection | None = None) -> None:
        self.mask, self.above = mask, above
        self._indices: Ints | None = None

    @property
    def indices(self) -> Ints:
        if self._indices is None:
            selected = marked(self.mask)
            self._indices = selected if self.above is None else pick(self.above.indices, selected)
        return self._indices

    def of(self, column: pa.Array[Any]) -> pa.Array[Any]:
        return take(column, self.indices)


class Picked:
    """A column whose rows are selected when it is first read."""

    __slots__ = ("base", "rows")

    def __init__(self, base: pa.Array[Any], rows: Selection) -> None:
        self.base, self.rows = base, rows


Column: TypeAlias = "pa.Array[Any] | Picked"


class Train:
    """Tuples: the visible columns, and two hidden ones that queries do not see.

    `ts` is the wall-clock time, in microseconds, at which the tuple (or the oldest tuple it was made from) came.
    `number` is the arrival number of the tuple whose arrival produced this one. It never falls within a train nor from
    one train to the next, so that merging streams by it gives one order, however the streams were cut.

    Where tuples were left out of windows by chance (`boxes/aggregate/sampling.py`), those that go on have a third one.
    `weights` says how many tuples each stands for: itself, and others of its window that were left out. It is negative
    for a tuple that is no part of the sample, and goes on only so that windows begin and end as they would have. Boxes
    that make other tuples of these lose it.

    A train is never changed. A train made by `where` selects the rows of a column when it is first read: what nobody
    reads (the rest of a filter, the number of an output, a column that boxes only hand on) costs nothing.
    """

    __slots__ = ("_columns", "_number", "_number_rows", "_ts", "_ts_rows", "_tuples", "length", "schema", "weights")

    def __init__(self, tuples: pa.RecordBatch, ts: Ints, number: Ints, weights: Ints | None = None) -> None:
        self.schema: pa.Schema = tuples.schema
        self.length: int = tuples.num_rows
        self._tuples: pa.RecordBatch | None = tuples
        self._columns: list[Column] | None = None
        self._ts, self._number = ts, number
        self._ts_rows: Selection | None = None
        self._number_rows: Selection | None = None
        """The rows of `_ts` and `_number` that belong to the train; None once they have been selected."""
        self.weights = weights

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, column: str) -> pa.Array[Any]:
        if self._tuples is not None:
            return self._tuples.column(column)
        return self._picked(self.schema.get_field_index(column))

    def __reduce__(self) -> tuple[Any, ...]:
        return Train, (self.tuples, self.ts, self.number, self.weights)

    @property
    def tuples(self) -> pa.RecordBatch:
        if self._tuples is None:
            columns = [self._picked(at) for at in range(len(self.schema))]
            self._tuples = pa.RecordBatch.from_arrays(columns, schema=self.schema)
            self._columns = None
        return self._tuples

    @property
    def view(self) -> Any:
        """The visible columns as a batch for expressions, which read only some of them."""
        return View(self)

    @property
    def ts(self) -> Ints:
        if self._ts_rows is not None:
            self._ts, self._ts_rows = pick(self._ts, self._ts_rows.indices), None
        return self._ts

    @property
    def number(self) -> Ints:
        if self._number_rows is not None:
            self._number, self._number_rows = pick(self._number, self._number_rows.indices), None
        return self._number

    def numbers(self, rows: Ints) -> Ints:
        """The arrival numbers of some tuples."""
        return self._number[rows if self._number_rows is None else self._number_rows.indices[rows]]

    @property
    def nbytes(self) -> int:
        """About how many bytes the visible columns take; for columns not read yet, their share of the whole."""
        return sum(
            part.base.nbytes * self.length // max(len(part.base), 1) if isinstance(part, Picked) else part.nbytes
            for part in self._parts()
        )

    def part(self, name: str) -> Column:
        """A column as it is, selected or not, for a train that hands it on."""
        return self._parts()[self.schema.get_field_index(name)]

    def where(self, mask: pa.BooleanArray) -> Train:
        """The tuples that a mask without nulls selects."""
        length = mask.true_count
        if length == self.length:
            return self
        selections: dict[int, Selection] = {}

        def rows(above: Selection | None) -> Selection:
            if id(above) not in selections:
                selections[id(above)] = Selection(mask, above)
            return selections[id(above)]

        columns: list[Column] = [
            Picked(part.base, rows(part.rows)) if isinstance(part, Picked) else Picked(part, rows(None))
            for part in self._parts()
        ]
        weights = None if self.weights is None else pick(self.weights, rows(None).indices)
        return self._new(self.schema, columns, length, rows(self._ts_rows), rows(self._number_rows), weights)

    def weighted(self, weights: Ints) -> Train:
        """The tuples that have a weight other than 0, with these weights."""
        kept = weights != 0
        some: Any = arrow(kept, None, pa.bool_())
        train = self.where(some)
        return train._new(
            train.schema, list(train._parts()), train.length, train._ts_rows, train._number_rows, weights[kept]
        )

    def take(self, rows: Ints) -> Train:
        indices: dict[int, Ints] = {}

        def among(above: Selection | None) -> Ints:
            if id(above) not in indices:
                indices[id(above)] = rows if above is None else pick(above.indices, rows)
            return indices[id(above)]

        columns = [
            take(part.base, among(part.rows)) if isinstance(part, Picked) else take(part, rows)
            for part in self._parts()
        ]
        ts, number = pick(self._ts, among(self._ts_rows)), pick(self._number, among(self._number_rows))
        weights = None if self.weights is None else pick(self.weights, rows)
        return Train(pa.RecordBatch.from_arrays(columns, schema=self.schema), ts, number, weights)

    def slice(self, start: int, stop: int) -> Train:
        weights = None if self.weights is None else self.weights[start:stop]
        return Train(self.tuples.slice(start, stop - start), self.ts[start:stop], self.number[start:stop], weights)

    def carrying(self, tuples: pa.RecordBatch) -> Train:
        """Other columns on the same tuples."""
        return self.made(tuples.schema, tuples.columns)

    def made(self, schema: pa.Schema, columns: Sequence[Column]) -> Train:
        """Other columns on the same tuples, some perhaps handed on."""
        return self._new(schema, list(columns), self.length, self._ts_rows, self._number_rows, self.weights)

    def _new(
        self,
        schema: pa.Schema,
        columns: list[Column],
        length: int,
        ts_rows: Selection | None,
        number_rows: Selection | None,
        weights: Ints | None,
    ) -> Train:
        train = Train.__new__(Train)
        train.schema, train.length, train._tuples, train._columns = schema, length, None, columns
        train._ts, train._number = self._ts, self._number
        train._ts_rows, train._number_rows, train.weights = ts_rows, number_rows, weights
        return train

    def _parts(self) -> Sequence[Column]:
        if self._columns is None:
            return self.tuples.columns
        return self._columns

    def _picked(self, at: int) -> pa.Array[Any]:
        assert self._columns is not None
        part = self._columns[at]
        if isinstance(part, Picked):
            part = self._columns[at] = part.rows.of(part.base)
        return part


class View:
    """A train as expressions see it: a batch whose columns are selected when they are read."""

    __slots__ = ("_train",)

    def __init__(self, train: Train) -> None:
        self._train = train

    @property
    def num_rows(self) -> int:
        return self._train.length

    def column(self, name: str) -> pa.Array[Any]:
        return self._train[name]

    def filter(self, mask: Any) -> pa.RecordBatch:
        return self._train.tuples.filter(mask)


@lru_cache(maxsize=1024)
def empty(schema: pa.Schema) -> Train:
    """A train without tuples."""
    none = np.empty(0, np.int64)
    columns: list[Any] = [pa.nulls(0, field.type) for field in schema]
    return Train(pa.RecordBatch.from_arrays(columns, schema=schema), none, none)


def joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """One batch of several."""
    (one,) = pa.Table.from_batches(batches).combine_chunks().to_batches() or batches[:1]
    return one


def concat(schema: pa.Schema, trains: Iterable[Train]) -> Train:
    """One train of several, in the order given."""
    nonempty = [train for train in trains if len(train)]
    if len(nonempty) <= 1:
        return nonempty[0] if nonempty else empty(schema)
    weighted = any(train.weights is not None for train in nonempty)
    return Train(
        joined([train.tuples for train in nonempty]),
        np.concatenate([train.ts for train in nonempty]),
        np.concatenate([train.number for train in nonempty]),
        np.concatenate([weights_of(train) for train in nonempty]) if weighted else None,
    )


def weights_of(train: Train) -> Ints:
    """How many tuples each stands for; itself alone where nothing was left out."""
    return np.ones(len(train), np.int64) if train.weights is None else train.weights
