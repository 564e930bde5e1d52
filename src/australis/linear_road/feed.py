"""Feed: all that vehicles send, from the files of a simulation or from flat files made elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv, ipc, parquet

from australis.errors import RunError
from australis.expr.arrow import pc
from australis.linear_road.record import INPUT

NOTE = "simulation.json"
"""The file of a folder that says how it was made, and how many vehicles, queries and expressways it numbers."""
ENDINGS = (".arrow", ".parquet", ".csv", ".dat")
_ROWS = 1 << 16


@dataclass(frozen=True)
class Feed:
    """Files of tuples, each in order of time: one an expressway, or one for all.

    With `copies`, each expressway is presented as that many: a copy's vehicles, queries and expressways are numbered
    after those of the copies before it.
    """

    files: tuple[Path, ...]
    copies: int = 1
    xways: int = 1
    vehicles: int = 0
    queries: int = 0
    since: int = 0
    """The second at which it begins: what was sent before is left out."""
    until: int | None = None
    """The second at which it breaks off."""
    note: dict[str, Any] = field(default_factory=dict, compare=False)

    def read(self, file: Path, copy: int = 0) -> Iterator[pa.RecordBatch]:
        """The tuples of a file, as one of the copies."""
        for batch in _batches(file):
            if self.since or self.until is not None:
                most = np.iinfo(np.int64).max if self.until is None else self.until
                low, high = np.searchsorted(batch["time"].to_numpy(), [self.since, most]).tolist()
                batch = batch.slice(low, high - low)
            if batch.num_rows:
                yield self.copied(batch, copy)

    def copied(self, batch: pa.RecordBatch, copy: int) -> pa.RecordBatch:
        """Tuples as those of a copy: what is numbered is numbered higher, and -1 stays."""
        if not copy:
            return batch
        higher = {"xway": self.xways, "vid": self.vehicles, "qid": self.queries}
        columns = [
            _plus(column, copy * higher[name]) if name in higher else column
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, schema=batch.schema)

    def merged(self, seconds: int = 10) -> Iterator[pa.RecordBatch]:
        """All tuples in order of time, those of the same time in order of copies and files; `seconds` at a time."""
        cursors = [_Cursor(self.read(file, copy), file) for copy in range(self.copies) for file in self.files]
        end = 0
        while any(cursor.rest is not None for cursor in cursors):
            end += seconds
            taken = [batch for cursor in cursors for batch in cursor.before(end)]
            if taken:
                table = pa.Table.from_batches(taken, INPUT)
                if len(cursors) > 1:
                    table = table.take(np.argsort(table["time"].to_numpy(), kind="stable"))
                yield from table.combine_chunks().to_batches()


def feed(path: str | Path, copies: int | None = None) -> Feed:
    """The feed of a folder that `simulate` made, or of one file; `copies` in place of those that the folder names."""
    path = Path(path)
    if copies is not None and copies < 1:
        raise RunError(f"{copies} copies: give 1 or more")
    if not path.exists():
        raise RunError(f"{path}: no such file or folder; `australis linear-road simulate --out {path}` would make one")
    files = tuple(sorted(file for file in path.iterdir() if file.suffix in ENDINGS)) if path.is_dir() else (path,)
    if not files:
        raise RunError(f"{path}: no file in it ends with {', '.join(ENDINGS)}; is it the folder of a simulation?")
    note = _note(path / NOTE) if path.is_dir() else {}
    numbers: dict[str, int] = {name: int(note[name]) for name in ("xways", "vehicles", "queries") if name in note}
    count = int(note.get("copies", 1)) if copies is None else copies
    if count > 1 and len(numbers) < 3:
        numbers = _numbers(files)
    return Feed(files, count, **numbers, note=note)


def _note(file: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(file.read_text())) if file.exists() else {}
    except (ValueError, OSError) as error:
        raise RunError(
            f"{file}: cannot be read ({error}); simulate again, or delete it to use the files alone"
        ) from None


def _numbers(files: tuple[Path, ...]) -> dict[str, int]:
    """How far the numbers of expressways, vehicles and queries go."""
    most = {"xway": -1, "vid": -1, "qid": -1}
    for file in files:
        for batch in _batches(file):
            for name in most:
                most[name] = max(most[name], pc.max(batch[name]).as_py())
    return {"xways": most["xway"] + 1, "vehicles": most["vid"] + 1, "queries": most["qid"] + 1}


def _plus(column: pa.Array, higher: int) -> pa.Array:  # type: ignore[type-arg]
    values = column.to_numpy()
    added = np.where(values < 0, values, values + np.asarray(higher, values.dtype))
    return pa.array(added)


def _batches(file: Path) -> Iterator[pa.RecordBatch]:
    """The tuples of a file, column by column as INPUT has them."""
    try:
        if file.suffix == ".arrow":
            with pa.memory_map(str(file)) as mapped, ipc.open_file(mapped) as reader:
                for number in range(reader.num_record_batches):
                    yield _formed(reader.get_batch(number))
        elif file.suffix == ".parquet":
            with parquet.ParquetFile(file) as table:
                for batch in table.iter_batches(_ROWS):
                    yield _formed(batch)
        else:
            with closing(csv.open_csv(file, *_flat(file))) as lines:
                for batch in lines:
                    yield _formed(batch)
    except (pa.ArrowException, OSError) as error:
        raise RunError(f"{file}: {str(error).strip()}; a line has 15 integers: {','.join(INPUT.names)}") from None


def _flat(file: Path) -> tuple[csv.ReadOptions, csv.ParseOptions, csv.ConvertOptions]:
    """How a flat file is read: fields as INPUT names them, with or without a line of names."""
    with file.open("rb") as opened:
        named = opened.read(2).strip(b"\"'")[:1].isalpha()
    read = csv.ReadOptions(column_names=INPUT.names, skip_rows=int(named), block_size=1 << 22)
    wide = {name: pa.int64() for name in INPUT.names}
    return read, csv.ParseOptions(), csv.ConvertOptions(column_types=wide)


def _formed(batch: pa.RecordBatch) -> pa.RecordBatch:
    if batch.schema.equals(INPUT):
        return batch
    names = [name.lower() for name in batch.schema.names]
    missing = [name for name in INPUT.names if name not in names]
    if missing:
        raise pa.ArrowInvalid(f"no column {', '.join(missing)}; there are {', '.join(names)}")
    columns = [batch.column(names.index(column.name)).cast(column.type) for column in INPUT]
    return pa.RecordBatch.from_arrays(columns, schema=INPUT)


class _Cursor:
    """A place in tuples that are ordered by time."""

    def __init__(self, batches: Iterator[pa.RecordBatch], file: Path) -> None:
        self.batches, self.file = batches, file
        self.rest = next(batches, None)
        self.last = 0

    def before(self, time: int) -> Iterator[pa.RecordBatch]:
        """The tuples up to a time."""
        while self.rest is not None:
            times = self.rest["time"].to_numpy()
            if len(times) and (times[0] < self.last or np.any(np.diff(times) < 0)):
                raise RunError(f"{self.file}: times fall near time {times[0]}; sort the file by its second field")
            cut = int(np.searchsorted(times, time))
            if cut:
                self.last = int(times[cut - 1])
                yield self.rest.slice(0, cut)
            if cut < len(times):
                self.rest = self.rest.slice(cut)
                return
            self.rest = next(self.batches, None)
