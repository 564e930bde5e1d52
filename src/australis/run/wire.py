"""Trains on their way between processes: one blob a train, and rows of blobs as Spark moves them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from australis.columns import plain
from australis.expr.arrow import pc
from australis.keys import buckets
from australis.train import Train, concat

TS, NUMBER = "#ts", "#number"
_COLUMNS: dict[str, pa.DataType] = {"arrow": pa.int32(), "bucket": pa.int32(), "train": pa.binary()}
ROW = pa.schema(_COLUMNS)
"""How trains travel through Spark: where to, for which partition, and the train itself."""


@dataclass(frozen=True)
class Parcel:
    """A train on its way along an arrow to a partition."""

    arrow: int
    bucket: int
    train: Train


def pack(train: Train) -> bytes:
    """A train as bytes, its hidden columns among the others."""
    hidden = [pa.array(train.ts), pa.array(train.number)]
    names = [*train.schema.names, TS, NUMBER]
    batch = pa.RecordBatch.from_arrays([*train.tuples.columns, *hidden], names=names)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return sink.getvalue().to_pybytes()


def unpack(blob: Any, schema: pa.Schema) -> Train:
    """The train of a blob; the schema is that of its arrow."""
    with pa.ipc.open_stream(blob) as stream:
        batch = stream.read_next_batch()
    ts, number = (plain(batch.column(name))[0] for name in (TS, NUMBER))
    columns = batch.columns[: len(schema)]
    return Train(pa.RecordBatch.from_arrays(columns, schema=schema), ts, number)


def divide(train: Train, key: tuple[str, ...], partitions: int) -> list[tuple[int, Train]]:
    """A train in parts by the hash of its key, those that are not empty."""
    if not len(train):
        return []
    if not key or partitions == 1:
        return [(0, train)]
    home = buckets([train[name] for name in key], len(train), partitions)
    order = np.argsort(home, kind="stable")
    ends = np.searchsorted(home[order], np.arange(partitions + 1))
    parts = ((bucket, order[ends[bucket] : ends[bucket + 1]]) for bucket in range(partitions))
    return [(bucket, train.take(rows)) for bucket, rows in parts if len(rows)]


def rows(parcels: Iterable[Parcel]) -> pa.RecordBatch:
    """Parcels as Spark sees them."""
    all_ = list(parcels)
    columns: list[pa.Array[Any]] = [
        pa.array([parcel.arrow for parcel in all_], pa.int32()),
        pa.array([parcel.bucket for parcel in all_], pa.int32()),
        pa.array([pack(parcel.train) for parcel in all_], pa.binary()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=ROW)


def merged(schema: pa.Schema, trains: list[Train], order: tuple[str, ...] = ()) -> Train:
    """Trains of one arrow from several partitions as one: by arrival number, then by the columns of an order."""
    whole = concat(schema, trains)
    if len(trains) <= 1:
        return whole
    if not order:
        return whole if (np.diff(whole.number) >= 0).all() else whole.take(np.argsort(whole.number, kind="stable"))
    columns = {NUMBER: pa.array(whole.number)} | {name: whole[name] for name in order}
    keys = [(name, "ascending", "at_start") for name in columns]
    rows_ = pc.sort_indices(pa.table(columns), sort_keys=keys)
    return whole.take(plain(rows_)[0].astype(np.int64))
