"""Tuples as the bytes of a file format: what stands before them, and each train's own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from australis.errors import RunError, listing
from australis.run.sinks.jsontext import json_lines

SUFFIXES = {"csv": ".csv", "json": ".jsonl", "parquet": ".parquet", "arrow": ".arrow"}


def check(where: str, form: str, schema: pa.Schema) -> None:
    """Refuse a schema that a format does not hold, before there are tuples of it."""
    if form not in SUFFIXES:
        raise RunError(f"{where}: there is no format {form}; there are {listing(SUFFIXES)}")
    if form != "csv":
        return
    for column in schema:
        try:
            body("csv", pa.RecordBatch.from_arrays([pa.array([], column.type)], schema=pa.schema([column])))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise RunError(
                f"{where}: column {column.name} is {column.type}, which CSV does not hold; write JSON lines, Parquet"
                " or Arrow, or leave the column out with a map"
            ) from error


def head(form: str, schema: pa.Schema) -> bytes:
    """What stands before the first tuple of a file that grows: CSV, JSON lines, or an Arrow stream."""
    if form == "csv":
        out: Any = pa.BufferOutputStream()
        pa.csv.CSVWriter(out, schema).close()
        return bytes(out.getvalue())
    return schema.serialize().to_pybytes() if form == "arrow" else b""


def body(form: str, tuples: pa.RecordBatch) -> bytes:
    """Some tuples, as they stand in a file that grows."""
    if form == "json":
        return json_lines(tuples)
    if form == "arrow":
        return tuples.serialize().to_pybytes() if tuples.num_rows else b""
    out = pa.BufferOutputStream()
    pa.csv.write_csv(tuples, out, pa.csv.WriteOptions(include_header=False))
    return out.getvalue().to_pybytes()


def whole(form: str, schema: pa.Schema, trains: Iterable[pa.RecordBatch], file: Any) -> int:
    """A whole file of some trains; gives how many tuples it holds."""
    count = 0
    if form in ("csv", "json"):
        file.write(head(form, schema))
        for train in trains:
            file.write(body(form, train))
            count += train.num_rows
        return count
    writer = pa.parquet.ParquetWriter(file, schema) if form == "parquet" else pa.ipc.new_file(file, schema)
    with writer:
        for train in trains:
            if train.num_rows:
                writer.write_batch(train)
            count += train.num_rows
    return count
