"""Parcels: trains on their way between processes, as bytes, and as the rows in which Spark moves those bytes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

import pyarrow as pa

from australis.arrow.columns import plain
from australis.arrow.schema import samples_of, schema
from australis.boxes.signals.column import compact
from australis.model.train import Train, weights_of

TS, NUMBER, WEIGHTS = "#ts", "#number", "#weights"
COLUMNS = "address int, bucket int, train binary"
"""How parcels travel through Spark: the address, the partition there, and the trains as bytes."""
_ROWS = schema(COLUMNS)
_FILE = b"file:"  # how bytes begin that name a file with the trains; an Arrow stream never begins so
_LIGHT = 1 << 16  # bytes that are not worth a file


@dataclass(frozen=True)
class Parcel:
    """Trains on their way to a partition of an address, in their order; the address by its place in the job's list."""

    address: int
    bucket: int
    trains: list[Train]
    seconds: float = 0.0
    """What unpacking it has taken."""


def encode(parcels: Iterable[Parcel], folder: str = "") -> pa.RecordBatch:
    """Parcels as rows for Spark; `folder` is as in `pack`. Each is packed before the next is asked for."""
    rows = [(parcel.address, parcel.bucket, pack(parcel.trains, folder)) for parcel in parcels]
    columns = zip(*rows, strict=True) if rows else [()] * len(_ROWS)
    arrays: list[pa.Array[Any]] = [pa.array(values, field.type) for values, field in zip(columns, _ROWS, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_ROWS)


def decode(rows: pa.RecordBatch, schema_of: Callable[[int], pa.Schema]) -> Iterator[Parcel]:
    """The parcels of rows, of which there are as many as partitions and addresses; `schema_of` takes an address."""
    addresses, buckets = (plain(rows.column(name))[0].tolist() for name in ("address", "bucket"))
    for address, bucket, blob in zip(addresses, buckets, rows.column("train"), strict=True):
        start = time.thread_time()
        trains = list(unpack(blob.as_buffer(), schema_of(address)))
        yield Parcel(address, bucket, trains, time.thread_time() - start)


def pack(trains: list[Train], folder: str = "") -> bytes:
    """Trains of one schema as bytes, with `ts`, `number` and, if there are any, `weights` as columns.

    Where a `folder` is given, which sender and receiver must both see, large trains are written to a file there, and
    the bytes name the file: they need not go through Spark.
    """
    weighted = any(train.weights is not None for train in trains)
    batches = [_with_hidden_columns(train, weighted) for train in trains]
    if folder and sum(batch.nbytes for batch in batches) > _LIGHT:
        path = f"{folder}/{token_hex(8)}"
        Path(folder).mkdir(exist_ok=True)
        with pa.OSFile(path, "wb") as file:
            _write(file, batches)
        return _FILE + path.encode()
    sink = pa.BufferOutputStream()
    _write(sink, batches)
    return sink.getvalue().to_pybytes()


def unpack(blob: pa.Buffer, schema: pa.Schema) -> Iterator[Train]:
    """The trains that `pack` made bytes of; the schema is that of their tuples."""
    start = blob[: len(_FILE)].to_pybytes()
    data = pa.memory_map(os.fsdecode(blob[len(_FILE) :].to_pybytes())) if start == _FILE else blob
    with pa.ipc.open_stream(data) as stream:
        for batch in stream:
            ts, number = (plain(batch.column(name))[0] for name in (TS, NUMBER))
            weights = plain(batch.column(WEIGHTS))[0] if WEIGHTS in batch.schema.names[len(schema) :] else None
            columns = batch.columns[: len(schema)]
            yield Train(pa.RecordBatch.from_arrays(columns, schema=schema), ts, number, weights)


def _with_hidden_columns(train: Train, weighted: bool) -> pa.RecordBatch:
    tuples = [column if samples_of(column.type) is None else compact(column) for column in train.tuples.columns]
    hidden = {TS: train.ts, NUMBER: train.number} | ({WEIGHTS: weights_of(train)} if weighted else {})
    columns = [*tuples, *map(pa.array, hidden.values())]
    return pa.RecordBatch.from_arrays(columns, names=[*train.schema.names, *hidden])


def _write(sink: pa.NativeFile, batches: list[pa.RecordBatch]) -> None:
    with pa.ipc.new_stream(sink, batches[0].schema) as stream:
        for batch in batches:
            stream.write_batch(batch)
