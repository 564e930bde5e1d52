"""Tuples as the bytes of a file format: what stands before them, and each train's own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from australis.connectors.sinks.jsontext import json_lines
from australis.connectors.sources.form import Packing
from australis.errors import RunError, listing

_ROW_GROUP = 1 << 20
SUFFIXES = {"csv": ".csv", "json": ".jsonl", "parquet": ".parquet", "arrow": ".arrow"}


def check(where: str, form: str, schema: pa.Schema) -> None:
    """Refuse a schema that a format does not hold, before there are tuples of it."""
    if form not in SUFFIXES:
        raise RunError(f"{where}: there is no format {form}; there are {listing(SUFFIXES)}")
    if form != "csv":
        return
    for column in schema:
        try:
            body("csv", pa.RecordBatch.from_arrays([pa.nulls(0, column.type)], schema=pa.schema([column])))
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


def pack(data: bytes, packing: Packing | None) -> bytes:
    """Some bytes, compressed by themselves: what follows them in a file is unpacked with them.

    >>> import gzip
    >>> gzip.decompress(pack(b"one", "gzip") + pack(b", two", "gzip"))
    b'one, two'
    """
    if packing is None or not data:
        return data
    out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(out, packing) as file:
        file.write(data)
    return out.getvalue().to_pybytes()


def _parquet(file: Any, schema: pa.Schema) -> pa.parquet.ParquetWriter:
    """Whole numbers and times as differences: a third of the time and of the room that Snappy takes."""
    whole = [column.name for column in schema if _is_whole(column.type)]
    others: Any = [column.name for column in schema if not _is_whole(column.type)]
    return pa.parquet.ParquetWriter(
        file,
        schema,
        use_dictionary=others,
        column_encoding=dict.fromkeys(whole, "DELTA_BINARY_PACKED"),
        compression={name: "none" if name in whole else "snappy" for name in schema.names},
    )


def _is_whole(type_: pa.DataType) -> bool:
    return pa.types.is_integer(type_) or pa.types.is_timestamp(type_) or pa.types.is_date32(type_)


def whole(form: str, schema: pa.Schema, trains: Iterable[pa.RecordBatch], file: Any) -> int:
    """A whole file of some trains; gives how many tuples it holds."""
    count = 0
    if form in ("csv", "json"):
        file.write(head(form, schema))
        for train in trains:
            file.write(body(form, train))
            count += train.num_rows
        return count
    if form == "parquet":
        table = pa.Table.from_batches(trains, schema)
        with _parquet(file, schema) as parquet:
            parquet.write_table(table, row_group_size=_ROW_GROUP)
        return table.num_rows
    with pa.ipc.new_file(file, schema) as writer:
        for train in trains:
            if train.num_rows:
                writer.write_batch(train)
            count += train.num_rows
    return count
