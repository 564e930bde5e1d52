"""A train: tuples of one stream in arrival order, the unit of everything."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class Train:
    """The visible columns, and beside them the two that every tuple carries hidden from queries.

    `ts` is the wall-clock time, in microseconds, at which the tuple (or the oldest tuple it was made from) entered.
    `number` is the arrival number of the tuple whose arrival produced this one. It never falls within a train nor from
    one train to the next, so that merging streams by it gives one order, however the streams were cut.

    A train is never changed. One made by `where` holds on to the whole and its mask until a column is asked for: what
    nobody reads (the rest of a filter, the number of an output) costs nothing.
    """

    __slots__ = ("_mask", "_number", "_ts", "_tuples", "_whole", "length")

    def __init__(self, tuples: pa.RecordBatch, ts: Ints, number: Ints) -> None:
        self._tuples: pa.RecordBatch | None = tuples
        self._ts: Ints | None = ts
        self._number: Ints | None = number
        self._whole: Train | None = None
        self._mask: pa.BooleanArray | None = None
        self.length: int = tuples.num_rows

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, column: str) -> pa.Array[Any]:
        return self.tuples.column(column)

    def __reduce__(self) -> tuple[Any, ...]:
        return Train, (self.tuples, self.ts, self.number)

    @property
    def tuples(self) -> pa.RecordBatch:
        if self._tuples is None:
            mask: Any = self._mask
            self._tuples = self._source.tuples.filter(mask)
        return self._tuples

    @property
    def ts(self) -> Ints:
        if self._ts is None:
            self._ts = self._source.ts[self._rows]
        return self._ts

    @property
    def number(self) -> Ints:
        if self._number is None:
            self._number = self._source.number[self._rows]
        return self._number

    @property
    def schema(self) -> pa.Schema:
        return self._tuples.schema if self._tuples is not None else self._source.schema

    @property
    def nbytes(self) -> int:
        """About how many bytes its visible columns take; before anyone has read them, their share of the whole."""
        if self._tuples is not None:
            return self._tuples.nbytes
        return self._source.nbytes * self.length // len(self._source)

    @property
    def _source(self) -> Train:
        assert self._whole is not None
        return self._whole

    @property
    def _rows(self) -> Bools:
        assert self._mask is not None
        return self._mask.to_numpy(zero_copy_only=False)

    def where(self, mask: pa.BooleanArray) -> Train:
        """The tuples of a mask without nulls."""
        kept = mask.true_count
        if kept == self.length:
            return self
        part = Train.__new__(Train)
        part._tuples = part._ts = part._number = None
        part._whole, part._mask, part.length = self, mask, kept
        return part

    def take(self, rows: Ints) -> Train:
        return Train(self.tuples.take(rows), self.ts[rows], self.number[rows])

    def slice(self, start: int, stop: int) -> Train:
        return Train(self.tuples.slice(start, stop - start), self.ts[start:stop], self.number[start:stop])

    def carrying(self, tuples: pa.RecordBatch) -> Train:
        """Other columns on the same tuples."""
        train = Train.__new__(Train)
        train._tuples, train._ts, train._number = tuples, self._ts, self._number
        train._whole, train._mask, train.length = self._whole, self._mask, self.length
        return train


@lru_cache(maxsize=1024)
def empty(schema: pa.Schema) -> Train:
    """A train without tuples."""
    none = np.empty(0, np.int64)
    columns = [pa.array([], field.type) for field in schema]
    return Train(pa.RecordBatch.from_arrays(columns, schema=schema), none, none)


def joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """One batch of several."""
    (one,) = pa.Table.from_batches(batches).combine_chunks().to_batches() or batches[:1]
    return one


def concat(schema: pa.Schema, trains: Iterable[Train]) -> Train:
    """One train of several, in the order given."""
    kept = [train for train in trains if len(train)]
    if len(kept) <= 1:
        return kept[0] if kept else empty(schema)
    return Train(
        joined([train.tuples for train in kept]),
        np.concatenate([train.ts for train in kept]),
        np.concatenate([train.number for train in kept]),
    )
