"""Trains on their way between processes: a blob for those to one place, and rows of blobs as Spark moves them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np
import pyarrow as pa

from australis.arrow.columns import plain
from australis.arrow.compute import pc
from australis.arrow.schema import samples_of
from australis.boxes.signals.column import compact
from australis.kernels.jit import inner
from australis.model.keys import buckets
from australis.model.train import Ints, Train, concat

TS, NUMBER = "#ts", "#number"
_COLUMNS: dict[str, pa.DataType] = {"arrow": pa.int32(), "bucket": pa.int32(), "train": pa.binary()}
ROW = pa.schema(_COLUMNS)
"""How trains travel through Spark: where to, for which partition, and the trains themselves."""
ASIDE = b"file:"
"""How a blob begins that says where the trains are; an Arrow stream never does."""
_LIGHT = 1 << 16  # bytes that are not worth a file


@dataclass(frozen=True)
class Parcel:
    """Trains on their way along an arrow to a partition, in their order."""

    arrow: int
    bucket: int
    trains: list[Train]


def pack(trains: list[Train], aside: str = "") -> bytes:
    """Trains of one schema as bytes, their hidden columns among the others.

    Where a folder `aside` is given, one that sender and receiver both see, much goes there and not through Spark.
    """
    batches = [_shown(train) for train in trains]
    if aside and sum(batch.nbytes for batch in batches) > _LIGHT:
        path = f"{aside}/{token_hex(8)}"
        Path(aside).mkdir(exist_ok=True)
        with pa.OSFile(path, "wb") as file:
            _write(file, batches)
        return ASIDE + path.encode()
    sink = pa.BufferOutputStream()
    _write(sink, batches)
    return sink.getvalue().to_pybytes()


def _shown(train: Train) -> pa.RecordBatch:
    shown = [column if samples_of(column.type) is None else compact(column) for column in train.tuples.columns]
    columns = [*shown, pa.array(train.ts), pa.array(train.number)]
    return pa.RecordBatch.from_arrays(columns, names=[*train.schema.names, TS, NUMBER])


def _write(sink: pa.NativeFile, batches: list[pa.RecordBatch]) -> None:
    with pa.ipc.new_stream(sink, batches[0].schema) as stream:
        for batch in batches:
            stream.write_batch(batch)


def unpack(blob: pa.Buffer, schema: pa.Schema) -> Iterator[Train]:
    """The trains of a blob; the schema is that of their arrow."""
    start = blob[: len(ASIDE)].to_pybytes()
    data = pa.memory_map(os.fsdecode(blob[len(ASIDE) :].to_pybytes())) if start == ASIDE else blob
    with pa.ipc.open_stream(data) as stream:
        for batch in stream:
            ts, number = (plain(batch.column(name))[0] for name in (TS, NUMBER))
            columns = batch.columns[: len(schema)]
            yield Train(pa.RecordBatch.from_arrays(columns, schema=schema), ts, number)


def divide(train: Train, key: tuple[str, ...], partitions: int) -> list[tuple[int, Train]]:
    """A train in parts by the hash of its key, those that are not empty."""
    if not len(train):
        return []
    if not key or partitions == 1:
        return [(0, train)]
    home = buckets([train[name] for name in key], len(train), partitions)
    order, ends = np.empty(len(train), np.int64), np.bincount(home, minlength=partitions).cumsum()
    _sorted(home, np.concatenate([[0], ends]), order)
    parts = ((bucket, order[start:end]) for bucket, (start, end) in enumerate(pairwise([0, *ends.tolist()])))
    return [(bucket, train.take(rows)) for bucket, rows in parts if len(rows)]


@inner
def _sorted(home: Ints, places: Ints, order: Ints) -> None:
    """Rows by their partition, and then as they are; `places` tells where each partition's next one goes."""
    for row in range(len(home)):
        its = np.uintp(home[np.uintp(row)])
        order[np.uintp(places[its])] = row
        places[its] += 1


def rows(parcels: Iterable[Parcel], aside: str = "") -> pa.RecordBatch:
    """Parcels as Spark sees them."""
    all_ = list(parcels)
    columns: list[pa.Array[Any]] = [
        pa.array([parcel.arrow for parcel in all_], pa.int32()),
        pa.array([parcel.bucket for parcel in all_], pa.int32()),
        pa.array([pack(parcel.trains, aside) for parcel in all_], pa.binary()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=ROW)


def in_order(schema: pa.Schema, trains: list[Train], order: tuple[str, ...] = ()) -> list[Train]:
    """Trains of one arrow from several partitions as a sequence: by arrival number, then by the columns of an order."""
    some = sorted((train for train in trains if len(train)), key=lambda train: int(train.number[0]))
    apart = all(one.number[-1] < other.number[0] for one, other in pairwise(some))
    return some if apart else [merged(schema, some, order)]


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
