"""A file of rows in chunks: positions are rows, and the first rows of its chunks are places to cut."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from australis.connectors.sources.conform import conform
from australis.connectors.sources.sift import SiftedRows

BATCH = 1 << 17


class Chunks(Hashable, Protocol):
    """How a kind of file is read."""

    def lengths(self, path: str) -> list[int]:
        """The rows of each chunk."""
        ...

    def batches(self, path: str, schema: pa.Schema, first: int, last: int) -> Iterator[pa.RecordBatch]:
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
        for batch in self.chunks.batches(self.path, self.schema, first, last):
            low, high = max(begin - at, 0), min(stop - at, batch.num_rows)
            for start in range(low, high, BATCH):
                part = batch.slice(start, min(BATCH, high - start))
                columns = [part.column(name) for name in self.schema.names]
                yield conform(self.path, self.schema, columns, at + start)
            at += batch.num_rows


@lru_cache(maxsize=256)
def _firsts(chunks: Chunks, path: str, size: int, changed: int) -> tuple[int, ...]:
    """The first row of each chunk, and the number of rows, of a file that has not changed since."""
    return tuple(accumulate(chunks.lengths(path), initial=0))
