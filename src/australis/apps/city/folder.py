"""Folder: what a simulated city leaves behind, which is there whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
from pyarrow import csv, ipc, parquet

from australis.disk.durable import check_replaced, renamed, sweep
from australis.errors import RunError

NOTE = "city.json"
NODES, EDGES = "nodes.csv", "edges.csv"
FORMS = ("arrow", "csv", "parquet")
_STREAMS = ("objects", "queries")
_ROWS = 1 << 16
"""Rows that are written at a time, or more."""


class TupleWriter(Protocol):
    """What takes the tuples of a stream."""

    def __call__(self, tuples: pa.RecordBatch, /) -> None: ...


@contextmanager
def folder(out: Path, form: str, schemas: dict[str, pa.Schema]) -> Iterator[dict[str, TupleWriter]]:
    """What writes the tuples of each stream; at the end files get their names. Call `note` after it."""
    made = not out.exists()
    check_replaced(out, NOTE)
    try:
        out.mkdir(parents=True, exist_ok=True)
        sweep(out, "")
        with ExitStack() as files:
            opened = {name: files.enter_context(renamed(out / f"{name}.{form}")) for name in schemas}
            with ExitStack() as writers:
                yield {name: writers.enter_context(_writer(file, form, schemas[name])) for name, file in opened.items()}
            # A folder without a note is no simulation, so none is there while files get their names.
            for name in (NOTE, NODES, EDGES, *(f"{stream}.{each}" for stream in _STREAMS for each in FORMS)):
                (out / name).unlink(missing_ok=True)
    except OSError as error:
        raise RunError(f"{out}: cannot be written ({error}); free some room, or give another folder") from None
    finally:
        if made and out.exists() and not any(out.iterdir()):
            out.rmdir()


def note(out: Path, tables: dict[str, pa.Table], written: dict[str, Any]) -> None:
    """Write the roads, and last of all the note."""
    try:
        for name, table in tables.items():
            with renamed(out / name) as file:
                csv.write_csv(table, file)
        with renamed(out / NOTE) as file:
            file.write(json.dumps(written, indent=2).encode() + b"\n")
    except OSError as error:
        raise RunError(f"{out}: cannot be written ({error}); free some room, or give another folder") from None


def noted(out: Path) -> dict[str, Any]:
    """The note of a folder."""
    try:
        return dict(json.loads((out / NOTE).read_bytes()))
    except (OSError, ValueError) as error:
        raise RunError(f"{out}: is no simulated city ({error}); make one with `australis moving simulate`") from None


@contextmanager
def _writer(file: Any, form: str, schema: pa.Schema) -> Iterator[TupleWriter]:
    """What gathers tuples and writes them to a file in a form."""
    with ExitStack() as stack:
        written: Callable[[pa.Table], None]
        if form == "arrow":
            written = stack.enter_context(ipc.new_file(file, schema)).write_table
        elif form == "parquet":
            written = stack.enter_context(parquet.ParquetWriter(file, schema, compression="zstd")).write_table
        else:
            written = stack.enter_context(csv.CSVWriter(file, schema)).write_table
        waiting: list[pa.RecordBatch] = []

        def flush() -> None:
            if waiting:
                written(pa.Table.from_batches(waiting, schema).combine_chunks())
                waiting.clear()

        def write(tuples: pa.RecordBatch) -> None:
            waiting.append(tuples)
            if sum(part.num_rows for part in waiting) >= _ROWS:
                flush()

        yield write
        flush()
