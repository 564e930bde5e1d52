"""Samples of sources: the beginning of their first file, so that the planner can measure what conditions select."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet

from australis.connectors.sources.form import form
from australis.errors import AustralisError
from australis.queries.schemas import BLOCK, first

ROWS = 10_000


def sample(text: str, schema: pa.Schema) -> pa.RecordBatch | None:
    """The first rows of a source as tuples of a schema; None if it is not a file, or cannot be read."""
    try:
        path, options = first(text)
        if path is None or options.get("header") == "false":
            return None
        batch = _beginning(path, unquote(options.get("delimiter", ",")))
        whole = pa.Table.from_batches([batch.slice(0, ROWS)]).select(schema.names).cast(schema)
        return whole.combine_chunks().to_batches()[0]
    except (OSError, pa.ArrowException, AustralisError, LookupError, StopIteration):
        return None


def _beginning(path: Path, delimiter: str) -> pa.RecordBatch:
    """The first batch of a file."""
    kind = form(path)
    file: Any
    if kind == "parquet":
        return next(pa.parquet.ParquetFile(path).iter_batches(ROWS))
    with pa.input_stream(str(path), compression="detect") as file:
        if kind == "csv":
            return pa.csv.open_csv(file, parse_options=pa.csv.ParseOptions(delimiter=delimiter)).read_next_batch()
        if kind == "json":
            block = file.read(BLOCK)
            return pa.json.read_json(BytesIO(block[: block.rfind(b"\n") + 1] or block)).to_batches()[0]
    with pa.memory_map(str(path)) as mapped:
        try:
            return pa.ipc.open_file(mapped).get_batch(0)
        except pa.ArrowInvalid:
            mapped.seek(0)
            return pa.ipc.open_stream(mapped).read_next_batch()
