"""A Parquet file: positions are rows, and the first rows of its row groups are places to cut."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from australis.run.sources.conform import conform, places
from australis.run.sources.sift import Rows

_BATCH = 1 << 16


@dataclass(frozen=True)
class Parquet:
    """One file."""

    path: str
    schema: pa.Schema

    growing = False
    whole = False

    @property
    def size(self) -> int:
        return Path(self.path).stat().st_size

    @property
    def _groups(self) -> tuple[int, ...]:
        found = Path(self.path).stat()
        return _firsts(self.path, found.st_size, found.st_mtime_ns)

    def end(self, begin: int, final: bool) -> int:
        return self._groups[-1]

    def rows(self, begin: int, stop: int) -> int:
        return stop - begin

    def reach(self, begin: int, stop: int, rows: int) -> int:
        return min(begin + max(rows, 1), stop)

    def snap(self, position: int, stop: int) -> int:
        firsts = self._groups
        return min(firsts[min(bisect_left(firsts, position), len(firsts) - 1)], stop)

    def read(self, begin: int, stop: int) -> Iterator[Rows]:
        firsts = self._groups
        first, last = bisect_right(firsts, begin) - 1, bisect_left(firsts, stop)
        at = firsts[first]
        with pa.parquet.ParquetFile(self.path) as file:
            places(self.path, self.schema, file.schema_arrow)
            names = self.schema.names
            for batch in file.iter_batches(_BATCH, list(range(first, last)), names, use_threads=False):
                low, high = max(begin - at, 0), min(stop - at, batch.num_rows)
                if low < high:
                    columns = [batch.column(name)[low:high] for name in names]
                    yield conform(self.path, self.schema, columns, at + low)
                at += batch.num_rows


@lru_cache(maxsize=256)
def _firsts(path: str, size: int, changed: int) -> tuple[int, ...]:
    """The first row of each row group, and the number of rows."""
    with pa.parquet.ParquetFile(path) as file:
        meta = file.metadata
        return tuple(accumulate((meta.row_group(i).num_rows for i in range(meta.num_row_groups)), initial=0))
