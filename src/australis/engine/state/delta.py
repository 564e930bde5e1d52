"""A delta: what changed in the tables of a partition from one version to the next, as the bytes of one file.

    prelude   a magic word, the format, the checksum and the length of the header
    header    JSON: the version, what it follows, and for each table its form, rows, and stream's length and checksum
    streams   an Arrow IPC stream for each table that changed or is new: the rows that `Table.changes` reported

A snapshot is a delta from nothing. The checksum of a delta's header covers its streams and its parent, so that it names
a state together with all that led there.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from australis.errors import RunError
from australis.model.table import ALIVE, SLOT, Table

Owner = tuple[str, str]
"""A table's box and its name there."""
OwnedTables = dict[Owner, Table]
Measures = tuple[tuple[str, ...], int, int]
"""The key, the capacity and the number of rows of a table."""

REMEDY = "restore the checkpoint folder from a copy, or start again with an empty one"
PRELUDE = struct.Struct("<8sIIQ")
_MAGIC, _FORMAT = b"AUSTRALI", 1
_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


@dataclass(frozen=True)
class DeltaTable:
    """A table in a delta. One that has not changed has a stream of size 0."""

    owner: Owner
    key: tuple[str, ...]
    capacity: int
    rows: int
    size: int
    crc: int


@dataclass(frozen=True)
class Delta:
    """From the state called `parent` to the state called `id`; the state without tables is called 0."""

    version: int
    network: int
    parent: int
    id: int
    parts: tuple[DeltaTable, ...]
    streams: tuple[pa.Buffer, ...] = ()

    def onto(self, tables: OwnedTables) -> OwnedTables:
        """The tables of this version from those of its parent, which are changed in place."""
        after: OwnedTables = {}
        for part, stream in zip(self.parts, self.streams, strict=True):
            table = tables.get(part.owner)
            changes = _read(stream) if part.size else None
            if table is None:
                assert changes is not None
                columns = [field for field in changes.schema if field.name not in (SLOT, ALIVE)]
                table = Table(pa.schema(columns), part.key)
            table.reserve(part.capacity - len(table))
            if changes is not None:
                table.apply(changes)
            if len(table.alive) > part.capacity:
                table.cut(part.capacity)
            after[part.owner] = table
        return after


def settle(table: Table) -> None:
    """Make a table after a step the same as one that is rebuilt from its rows.

    Which slots new rows take, and so what the next delta holds, depends on the order of the spare slots. After this it
    does not depend on which process runs the next step.
    """
    vacant = np.flatnonzero(~table.alive)[::-1]
    table.top = len(vacant)
    table.spare[: table.top] = vacant
    table.versions = None


def whole(table: Table) -> pa.RecordBatch:
    """All rows of a table, as changes to an empty one. They are copies: the table may be changed afterwards."""
    slots = table.slots
    batch = table.rows(slots)
    return batch.append_column(SLOT, pa.array(slots)).append_column(ALIVE, pa.array(np.ones(len(slots), np.bool_)))


def measured(tables: OwnedTables) -> dict[Owner, Measures]:
    """What a delta says of tables beside their rows."""
    return {owner: (table.key, len(table.alive), len(table)) for owner, table in tables.items()}


def pack(
    version: int,
    network: int,
    parent: int,
    tables: Mapping[Owner, Measures],
    changes: Mapping[Owner, pa.RecordBatch],
    id: int | None = None,
) -> tuple[int, list[Any]]:
    """The id of a delta and its bytes, in pieces. A snapshot is given the id of the state that it holds."""
    forms: list[Any] = []
    streams: list[Any] = []
    for owner, measures in tables.items():
        stream = _stream(changes[owner]) if owner in changes else b""
        streams.append(stream)
        forms.append([owner, *measures, len(stream), zlib.crc32(stream)])
    header = json.dumps({"version": version, "network": network, "parent": parent, "id": id, "tables": forms}).encode()
    header += b" " * (-len(header) % 8)  # Arrow wants its streams aligned
    crc = zlib.crc32(header)
    return crc if id is None else id, [PRELUDE.pack(_MAGIC, _FORMAT, crc, len(header)), header, *streams]


def unpack(path: str, data: pa.Buffer) -> Delta:
    """The delta of a file, checked to be as it was written."""
    crc, length = prelude(path, data[: PRELUDE.size])
    end = PRELUDE.size + length
    delta = header(path, data[PRELUDE.size : end], crc)
    if data.size != end + sum(part.size for part in delta.parts):
        raise damaged(path, f"it has {data.size} bytes")
    streams = []
    for part in delta.parts:
        streams.append(data[end : end + part.size])
        if zlib.crc32(streams[-1]) != part.crc:
            raise damaged(path, f"the checksum of table {'.'.join(part.owner)} differs")
        end += part.size
    return Delta(delta.version, delta.network, delta.parent, delta.id, delta.parts, tuple(streams))


def prelude(path: str, data: Any) -> tuple[int, int]:
    """The checksum and the length of a header; the checksum of a delta's is its id."""
    if len(data) != PRELUDE.size:
        raise damaged(path, "it is cut short")
    magic, form, crc, length = PRELUDE.unpack(data)
    if magic != _MAGIC:
        raise damaged(path, "it does not begin as a file of state does")
    if form != _FORMAT:
        raise RunError(
            f"{path}: the state is in format {form}, and this Australis reads format {_FORMAT};"
            " run the Australis that wrote it, or start again with an empty checkpoint folder"
        )
    return crc, length


def header(path: str, data: Any, crc: int) -> Delta:
    """A delta without its streams."""
    if zlib.crc32(data) != crc:
        raise damaged(path, "the checksum of its header differs")
    fields = json.loads(bytes(data))
    parts = [
        DeltaTable((box, table), tuple(key), capacity, rows, size, crc)
        for (box, table), key, capacity, rows, size, crc in fields["tables"]
    ]
    id = crc if fields["id"] is None else fields["id"]
    return Delta(fields["version"], fields["network"], fields["parent"], id, tuple(parts))


def damaged(path: str, why: str) -> RunError:
    return RunError(f"{path}: the file is damaged ({why}); {REMEDY}")


def _stream(batch: pa.RecordBatch) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=_OPTIONS) as stream:
        stream.write_batch(batch)
    return sink.getvalue()


def _read(stream: pa.Buffer) -> pa.RecordBatch:
    with pa.ipc.open_stream(stream) as reader:
        return reader.read_next_batch()
