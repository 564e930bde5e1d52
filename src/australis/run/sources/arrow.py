"""An Arrow file or stream, mapped into memory: positions are rows, its record batches are places to cut."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from australis.run.sources.conform import conform, places
from australis.run.sources.sift import Rows

_BATCH = 1 << 16


@dataclass(frozen=True)
class Arrow:
    """One file."""

    path: str
    schema: pa.Schema

    growing = False
    whole = False

    @property
    def size(self) -> int:
        return Path(self.path).stat().st_size

    @property
    def _batches(self) -> tuple[int, ...]:
        found = Path(self.path).stat()
        return _firsts(self.path, found.st_size, found.st_mtime_ns)

    def end(self, begin: int, final: bool) -> int:
        return self._batches[-1]

    def rows(self, begin: int, stop: int) -> int:
        return stop - begin

    def reach(self, begin: int, stop: int, rows: int) -> int:
        return min(begin + max(rows, 1), stop)

    def snap(self, position: int, stop: int) -> int:
        firsts = self._batches
        return min(firsts[min(bisect_left(firsts, position), len(firsts) - 1)], stop)

    def read(self, begin: int, stop: int) -> Iterator[Rows]:
        firsts = self._batches
        first, last = bisect_right(firsts, begin) - 1, bisect_left(firsts, stop)
        with pa.memory_map(self.path) as mapped:
            wanted = places(self.path, self.schema, _reader(mapped).schema)
        with pa.memory_map(self.path) as mapped:
            for index, batch in _batches(_reader(mapped, wanted), first, last):
                at = firsts[index]
                low, high = max(begin - at, 0), min(stop - at, batch.num_rows)
                for start in range(low, high, _BATCH):
                    part = batch.slice(start, min(_BATCH, high - start))
                    columns = [part.column(name) for name in self.schema.names]
                    yield conform(self.path, self.schema, columns, at + start)


def _reader(mapped: Any, columns: list[int] | None = None) -> Any:
    """A file's or a stream's reader, of all columns or of some."""
    options = pa.ipc.IpcReadOptions(use_threads=False, included_fields=columns)
    try:
        return pa.ipc.open_file(mapped, options=options)
    except pa.ArrowInvalid:
        mapped.seek(0)
        return pa.ipc.open_stream(mapped, options=options)


def _batches(reader: Any, first: int, last: int | None) -> Iterator[tuple[int, pa.RecordBatch]]:
    if isinstance(reader, pa.ipc.RecordBatchStreamReader):
        yield from islice(enumerate(reader), first, last)
        return
    for index in range(first, reader.num_record_batches if last is None else last):
        yield index, reader.get_batch(index)


@lru_cache(maxsize=256)
def _firsts(path: str, size: int, changed: int) -> tuple[int, ...]:
    """The first row of each record batch, and the number of rows. One column is enough to count: it may be packed."""
    with pa.memory_map(path) as mapped:
        batches = _batches(_reader(mapped, [0]), 0, None)
        return tuple(accumulate((batch.num_rows for _, batch in batches), initial=0))
