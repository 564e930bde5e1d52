"""Folder: the files of a simulated city, written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
from pyarrow import csv, ipc, parquet

from australis.disk.durable import check_replaceable, renamed, sweep
from australis.errors import RunError

NOTE = "city.json"
NODES, EDGES = "nodes.csv", "edges.csv"
FORMS = ("arrow", "csv", "parquet")
_STREAMS = ("objects", "queries")
_ROWS = 1 << 16
"""The least number of rows that are written at a time."""


class TupleWriter(Protocol):
    """Writes the tuples of a stream."""

    def __call__(self, tuples: pa.RecordBatch, /) -> None: ...


@contextmanager
def folder(out: Path, form: str, schemas: dict[str, pa.Schema]) -> Iterator[dict[str, TupleWriter]]:
    """Open a writer for each stream. The files get their names at the end; call `write_note` afterwards."""
    created = not out.exists()
    check_replaceable(out, NOTE)
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
        if created and out.exists() and not any(out.iterdir()):
            out.rmdir()


def write_note(out: Path, tables: dict[str, pa.Table], content: dict[str, Any]) -> None:
    """Write the roads, and then the note."""
    try:
        for name, table in tables.items():
            with renamed(out / name) as file:
                csv.write_csv(table, file)
        with renamed(out / NOTE) as file:
            file.write(json.dumps(content, indent=2).encode() + b"\n")
    except OSError as error:
        raise RunError(f"{out}: cannot be written ({error}); free some room, or give another folder") from None


def read_note(out: Path) -> dict[str, Any]:
    """Read the note of a folder. Raises if there is none."""
    try:
        return dict(json.loads((out / NOTE).read_bytes()))
    except (OSError, ValueError) as error:
        raise RunError(f"{out}: is no simulated city ({error}); make one with `australis moving simulate`") from None


@contextmanager
def _writer(file: Any, form: str, schema: pa.Schema) -> Iterator[TupleWriter]:
    """Open a writer that gathers tuples and writes them to a file."""
    with ExitStack() as stack:
        write_table: Callable[[pa.Table], None]
        if form == "arrow":
            write_table = stack.enter_context(ipc.new_file(file, schema)).write_table
        elif form == "parquet":
            write_table = stack.enter_context(parquet.ParquetWriter(file, schema, compression="zstd")).write_table
        else:
            write_table = stack.enter_context(csv.CSVWriter(file, schema)).write_table
        waiting: list[pa.RecordBatch] = []

        def flush() -> None:
            if waiting:
                write_table(pa.Table.from_batches(waiting, schema).combine_chunks())
                waiting.clear()

        def write(tuples: pa.RecordBatch) -> None:
            waiting.append(tuples)
            if sum(part.num_rows for part in waiting) >= _ROWS:
                flush()

        yield write
        flush()
