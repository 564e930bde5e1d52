"""A file of rows in chunks: positions are rows, and the first rows of its chunks are places to cut."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa

from australis.connectors.sources.conform import conform
from australis.connectors.sources.sift import SiftedRows
from australis.model.train import Ints

BATCH = 1 << 17


@dataclass(frozen=True)
class ChunkRows:
    """Rows of a file that lie one after another: how many they are, and which of them are there, if not all are."""

    batch: pa.RecordBatch
    count: int
    places: Ints | None = None

    def between(self, low: int, high: int) -> ChunkRows:
        """Those from one place to before another."""
        if self.places is None:
            return ChunkRows(self.batch.slice(low, high - low), high - low)
        first, last = np.searchsorted(self.places, (low, high)).tolist()
        return ChunkRows(self.batch.slice(first, last - first), high - low, self.places[first:last] - low)


class Chunks(Hashable, Protocol):
    """How a kind of file is read."""

    def lengths(self, path: str) -> list[int]:
        """The rows of each chunk."""
        ...

    def rows(self, path: str, schema: pa.Schema, first: int, last: int) -> Iterator[ChunkRows]:
        """The columns of a schema, among others perhaps, in chunks from one to before another."""
        ...


@dataclass(frozen=True)
class Chunked:
    """One file."""

    path: str
    schema: pa.Schema
    chunks: Chunks

    whole = False

    @property
    def size(self) -> int:
        return Path(self.path).stat().st_size

    @property
    def _firsts(self) -> tuple[int, ...]:
        found = Path(self.path).stat()
        return _firsts(self.chunks, self.path, found.st_size, found.st_mtime_ns)

    def end(self, begin: int, final: bool) -> int:
        return self._firsts[-1]

    def rows(self, begin: int, stop: int) -> int:
        return stop - begin

    def reach(self, begin: int, stop: int, rows: int) -> int:
        return min(begin + max(rows, 1), stop)

    def snap(self, position: int, stop: int) -> int:
        firsts = self._firsts
        return min(firsts[min(bisect_left(firsts, position), len(firsts) - 1)], stop)

    def lost(self, stop: int, size: int) -> str:
        return f"has {self.size} bytes and had {size}" if self.size != size else ""

    def read(self, begin: int, stop: int) -> Iterator[SiftedRows]:
        firsts = self._firsts
        first, last = bisect_right(firsts, begin) - 1, bisect_left(firsts, stop)
        at = firsts[first]
        for rows in self.chunks.rows(self.path, self.schema, first, last):
            low, high = max(begin - at, 0), min(stop - at, rows.count)
            for start in range(low, high, BATCH):
                yield self._tuples(rows.between(start, min(start + BATCH, high)), at + start)
            at += rows.count

    def _tuples(self, rows: ChunkRows, at: int) -> SiftedRows:
        """The tuples that rows are, of which the first stands at a position."""
        columns = [rows.batch.column(name) for name in self.schema.names]
        if rows.places is None:
            return conform(self.path, self.schema, columns, at)
        found = conform(self.path, self.schema, columns, at + rows.places)
        # A row that became a letter has no place among tuples.
        kept = np.searchsorted(at + rows.places, found.position)
        places = rows.places[kept] - kept + np.arange(len(kept))
        return replace(found, skipped=rows.count - rows.batch.num_rows, places=places)


@lru_cache(maxsize=256)
def _firsts(chunks: Chunks, path: str, size: int, changed: int) -> tuple[int, ...]:
    """The first row of each chunk, and the number of rows, of a file that has not changed since."""
    return tuple(accumulate(chunks.lengths(path), initial=0))
