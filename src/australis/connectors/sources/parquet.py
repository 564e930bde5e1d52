"""Parquet files, whose chunks are their row groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from australis.connectors.sources.chunked import BATCH, ChunkRows
from australis.connectors.sources.conform import places
from australis.connectors.sources.row_groups import matter
from australis.expressions import Expr
from australis.model.train import Ints, empty, joined


@dataclass(frozen=True)
class Parquet:
    """How they are read: without row groups in which a predicate holds for no row."""

    predicate: Expr | None = None

    def lengths(self, path: str) -> list[int]:
        with pa.parquet.ParquetFile(path) as file:
            return _lengths(file)

    def rows(self, path: str, schema: pa.Schema, first: int, last: int) -> Iterator[ChunkRows]:
        with pa.parquet.ParquetFile(path) as file:
            places(path, schema, file.schema_arrow)
            groups = range(first, last)
            kept = np.ones(len(groups), np.bool_)
            if self.predicate is not None:
                kept = matter(file, schema, self.predicate, groups)
            read = [group for group, needed in zip(groups, kept, strict=True) if needed]
            batches = file.iter_batches(BATCH, read, schema.names, use_threads=False)
            if kept.all():
                yield from (ChunkRows(batch, batch.num_rows) for batch in batches)
            else:
                every = np.repeat(kept, _lengths(file)[first:last])
                yield from _spaced(batches, np.flatnonzero(every), len(every), schema)


def _lengths(file: pa.parquet.ParquetFile) -> list[int]:
    return [file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups)]


def _spaced(batches: Iterator[pa.RecordBatch], there: Ints, count: int, schema: pa.Schema) -> Iterator[ChunkRows]:
    """Rows of which only those are there that batches have, cut just as they would be if all were there."""
    held: list[pa.RecordBatch] = []
    for begin in range(0, count, BATCH):
        stop = min(begin + BATCH, count)
        first, last = np.searchsorted(there, (begin, stop)).tolist()
        while sum(batch.num_rows for batch in held) < last - first:
            held.append(next(batches))
        whole = joined(held) if held else empty(schema).tuples
        yield ChunkRows(whole.slice(0, last - first), stop - begin, there[first:last] - begin)
        held = [whole.slice(last - first)] if whole.num_rows > last - first else []
