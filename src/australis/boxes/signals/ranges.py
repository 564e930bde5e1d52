"""Ranges: what boxes that detect something give to `sync`, [start, end] in indices and whether to keep it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from australis.arrow.schema import numeric
from australis.errors import SchemaError, listing, near
from australis.kernels.jit import inner
from australis.model.table import Table
from australis.model.train import Bools, Ints, Train

_MADE = {"start": pa.int64(), "end": pa.int64(), "keep": pa.bool_()}


class FoundRanges(NamedTuple):
    """Ranges that kernels find: the row at which each is known, the range, whether it is kept, and its `ts`."""

    row: Ints
    start: Ints
    end: Ints
    keep: Bools
    ts: Ints

    def cut(self, count: int) -> FoundRanges:
        """The first of them."""
        return FoundRanges(self.row[:count], self.start[:count], self.end[:count], self.keep[:count], self.ts[:count])


def room(size: int) -> FoundRanges:
    """Room for so many ranges."""
    row, start, end, ts = (np.empty(size, np.int64) for _ in range(4))
    return FoundRanges(row, start, end, np.empty(size, np.bool_), ts)


def joined(parts: Sequence[FoundRanges]) -> FoundRanges:
    """All ranges of several parts."""
    if len(parts) == 1:
        return parts[0]
    return FoundRanges(*map(np.concatenate, zip(*(room(0), *parts), strict=True)))


@inner
def put_range(found: FoundRanges, count: int, row: int, start: int, end: int, keep: bool, ts: int) -> int:
    """Add a range; gives how many there are then."""
    found.row[count], found.start[count], found.end[count] = row, start, end
    found.keep[count], found.ts[count] = keep, ts
    return count + 1


def check_score(stream: pa.Schema, name: str) -> None:
    """Refuse a score that is no number."""
    if name not in stream.names or not numeric(stream.field(name).type):
        numbers = [field.name for field in stream if numeric(field.type)]
        raise SchemaError(f"the score `{name}` is no number{near(name, numbers)}; there are {listing(numbers)}")


def ranges_schema(stream: pa.Schema, by: tuple[str, ...]) -> pa.Schema:
    """The columns of ranges of keys."""
    for name in by:
        if name in _MADE:
            raise SchemaError(f"the key `{name}` has the name of a column of ranges: map it to another first")
    return pa.schema([*(stream.field(name) for name in by), *(pa.field(*each) for each in _MADE.items())])


def ranges(
    stream: pa.Schema, by: tuple[str, ...], keys: Table, slots: Ints, start: Ints, end: Ints, keep: Bools, ts: Ints,
    number: Ints,
) -> Train:  # fmt: skip
    """Ranges of the keys in some slots."""
    columns: list[Any] = [*(keys.get(name, slots) for name in by), pa.array(start), pa.array(end), pa.array(keep)]
    return Train(pa.RecordBatch.from_arrays(columns, schema=ranges_schema(stream, by)), ts, number)
