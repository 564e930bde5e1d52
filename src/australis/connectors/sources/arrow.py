"""Arrow files and streams, mapped into memory, whose chunks are their record batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pyarrow as pa

from australis.connectors.sources.chunked import ChunkRows
from australis.connectors.sources.conform import places


@dataclass(frozen=True)
class ArrowChunks:
    """How they are read."""

    def lengths(self, path: str) -> list[int]:
        with pa.memory_map(path) as mapped:
            # One column is enough to count: they may be packed.
            return [batch.num_rows for batch in _batches(_reader(mapped, [0]), 0, None)]

    def rows(self, path: str, schema: pa.Schema, first: int, last: int) -> Iterator[ChunkRows]:
        with pa.memory_map(path) as mapped:
            wanted = places(path, schema, _reader(mapped).schema)
        with pa.memory_map(path) as mapped:
            for batch in _batches(_reader(mapped, wanted), first, last):
                yield ChunkRows(batch, batch.num_rows)


def _reader(mapped: Any, columns: list[int] | None = None) -> Any:
    """A file's or a stream's reader, of all columns or of some."""
    options = pa.ipc.IpcReadOptions(use_threads=False, included_fields=columns)
    try:
        return pa.ipc.open_file(mapped, options=options)
    except pa.ArrowInvalid:
        mapped.seek(0)
        return pa.ipc.open_stream(mapped, options=options)


def _batches(reader: Any, first: int, last: int | None) -> Iterator[pa.RecordBatch]:
    if isinstance(reader, pa.ipc.RecordBatchStreamReader):
        yield from islice(reader, first, last)
        return
    for index in range(first, reader.num_record_batches if last is None else last):
        yield reader.get_batch(index)
