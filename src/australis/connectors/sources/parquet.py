"""Parquet files, whose chunks are their row groups."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet

from australis.connectors.sources.chunked import BATCH
from australis.connectors.sources.conform import places


@dataclass(frozen=True)
class Parquet:
    """How they are read."""

    def lengths(self, path: str) -> list[int]:
        with pa.parquet.ParquetFile(path) as file:
            meta = file.metadata
            return [meta.row_group(group).num_rows for group in range(meta.num_row_groups)]

    def batches(self, path: str, schema: pa.Schema, first: int, last: int) -> Iterator[pa.RecordBatch]:
        with pa.parquet.ParquetFile(path) as file:
            places(path, schema, file.schema_arrow)
            yield from file.iter_batches(BATCH, list(range(first, last)), schema.names, use_threads=False)
