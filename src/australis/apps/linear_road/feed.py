"""Feed: all that vehicles send, from the files of a simulation or from other flat files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv, ipc, parquet

from australis.apps.linear_road.check import check
from australis.apps.linear_road.record import INPUT
from australis.arrow.compute import pc
from australis.errors import RunError

NOTE = "simulation.json"
"""The file of a folder that says how it was made, and how many vehicles, queries and expressways there are."""
ENDINGS = (".arrow", ".parquet", ".csv", ".dat")
_ROWS = 1 << 16


@dataclass(frozen=True)
class Feed:
    """Files of tuples, each in order of time: one for each expressway, or one for all.

    With `copies`, each expressway is presented as that many. The vehicles, queries and expressways of a copy are
    numbered after those of the copies before it.
    """

    files: tuple[Path, ...]
    copies: int = 1
    xways: int = 1
    vehicles: int = 0
    queries: int = 0
    since: int = 0
    """The second at which it begins. Earlier tuples are left out."""
    until: int | None = None
    """The second at which it ends. Tuples from it on are left out."""
    note: dict[str, Any] = field(default_factory=dict, compare=False)

    def read(self, file: Path, copy: int = 0) -> Iterator[pa.RecordBatch]:
        """The tuples of a file, as one of the copies. Only the first copy is checked."""
        for batch in _batches(file, checked=not copy):
            if self.since or self.until is not None:
                most = np.iinfo(np.int64).max if self.until is None else self.until
                low, high = np.searchsorted(batch["time"].to_numpy(), [self.since, most]).tolist()
                batch = batch.slice(low, high - low)
            if batch.num_rows:
                yield self.as_copy(batch, copy)

    def as_copy(self, batch: pa.RecordBatch, copy: int) -> pa.RecordBatch:
        """The tuples of a copy: with higher numbers, except for -1."""
        if not copy:
            return batch
        higher = {"xway": self.xways, "vid": self.vehicles, "qid": self.queries}
        columns = [
            _plus(column, copy * higher[name]) if name in higher else column
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
        ]
        return pa.RecordBatch.from_arrays(columns, schema=batch.schema)

    def merge(self, seconds: int = 10) -> Iterator[pa.RecordBatch]:
        """All tuples in order of time, those of the same time in order of copies and files; `seconds` at a time."""
        cursors = [_Cursor(self.read(file, copy)) for copy in range(self.copies) for file in self.files]
        end = 0
        while any(cursor.rest is not None for cursor in cursors):
            end += seconds
            batches = [batch for cursor in cursors for batch in cursor.before(end)]
            if batches:
                table = pa.Table.from_batches(batches, INPUT)
                if len(cursors) > 1:
                    table = table.take(np.argsort(table["time"].to_numpy(), kind="stable"))
                yield from table.combine_chunks().to_batches()


def feed(path: str | Path, copies: int | None = None) -> Feed:
    """The feed of a folder that `simulate` made, or of one file. `copies` replaces the number in the folder's note."""
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
    """How many numbers of expressways, vehicles and queries there are."""
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


def _batches(file: Path, checked: bool = True) -> Iterator[pa.RecordBatch]:
    """The tuples of a file with the columns of INPUT, checked if `checked`."""
    rows, last = 0, 0
    try:
        header, batches = _open(file)
        for batch in batches:
            wide = _wide(batch)
            if checked:
                last = check(wide, last, partial(_place, file, header + rows + 1))
            rows += batch.num_rows
            yield wide if wide.schema.equals(INPUT) else wide.cast(INPUT)
    except (pa.ArrowException, OSError) as error:
        raise RunError(f"{file}: {str(error).strip()}; a line has 15 integers: {','.join(INPUT.names)}") from None


def _place(file: Path, first: int, row: int) -> str:
    """The file and line of a row, in a batch that begins at the line `first`."""
    return f"{file}, {'row' if file.suffix in ('.arrow', '.parquet') else 'line'} {first + row}"


def _open(file: Path) -> tuple[int, Iterator[pa.RecordBatch]]:
    """The number of header lines of a file, and its batches as they are."""
    if file.suffix == ".arrow":
        return 0, _arrow(file)
    if file.suffix == ".parquet":
        return 0, _parquet(file)
    with file.open("rb") as opened:
        header = int(opened.read(2).strip(b"\"'")[:1].isalpha())
    return header, _flat(file, header)


def _arrow(file: Path) -> Iterator[pa.RecordBatch]:
    with pa.memory_map(str(file)) as mapped, ipc.open_file(mapped) as reader:
        for number in range(reader.num_record_batches):
            yield reader.get_batch(number)


def _parquet(file: Path) -> Iterator[pa.RecordBatch]:
    with parquet.ParquetFile(file) as table:
        yield from table.iter_batches(_ROWS)


def _flat(file: Path, header: int) -> Iterator[pa.RecordBatch]:
    """The lines of a flat file, with the fields of INPUT, after `header` lines of names."""
    read = csv.ReadOptions(column_names=INPUT.names, skip_rows=header, block_size=1 << 22)
    wide = csv.ConvertOptions(column_types={name: pa.int64() for name in INPUT.names})
    with closing(csv.open_csv(file, read, csv.ParseOptions(), wide)) as lines:
        yield from lines


def _wide(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The columns of INPUT, in integers that may be wider."""
    if batch.schema.equals(INPUT):
        return batch
    names = [name.lower() for name in batch.schema.names]
    missing = [name for name in INPUT.names if name not in names]
    if missing:
        raise pa.ArrowInvalid(f"no column {', '.join(missing)}; there are {', '.join(names)}")
    columns = [batch.column(names.index(name)) for name in INPUT.names]
    whole = [column if pa.types.is_integer(column.type) else column.cast(pa.int64()) for column in columns]
    return pa.RecordBatch.from_arrays(whole, names=INPUT.names)


class _Cursor:
    """A position in tuples that are ordered by time."""

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self.batches = batches
        self.rest = next(batches, None)

    def before(self, time: int) -> Iterator[pa.RecordBatch]:
        """The tuples up to a time."""
        while self.rest is not None:
            cut = int(np.searchsorted(self.rest["time"].to_numpy(), time))
            if cut:
                yield self.rest.slice(0, cut)
            if cut < self.rest.num_rows:
                self.rest = self.rest.slice(cut)
                return
            self.rest = next(self.batches, None)
