"""Writer: writes the folder of a simulation, whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv, ipc, parquet

from australis.apps.linear_road.feed import NOTE
from australis.apps.linear_road.record import INPUT
from australis.disk.durable import check_replaceable, renamed, sweep
from australis.errors import RunError

Write = Callable[[pa.RecordBatch], None]
FORMS = ("arrow", "csv", "parquet")
_OURS = ("xway-*.arrow", "xway-*.parquet", "input.csv", NOTE)


def names(form: str, xways: int) -> list[str]:
    """The files of a simulation: one for each expressway, or a flat one for all."""
    return ["input.csv"] if form == "csv" else [f"xway-{xway:03d}.{form}" for xway in range(xways)]


@contextmanager
def folder(
    out: Path, form: str, xways: int, note: Callable[[], dict[str, Any]], replace: bool = False
) -> Iterator[list[Write]]:
    """Open a writer for each of the files. At the end the files get their names, and `note` is written last.

    An earlier simulation in the folder is refused unless `replace` is set. It stays until the new one is complete.
    """
    created = not out.exists()
    check_replaceable(out, NOTE)
    if (out / NOTE).exists() and not replace:
        raise RunError(f"{out}: holds a simulation; say --replace to put another in its place, or give a new folder")
    try:
        out.mkdir(parents=True, exist_ok=True)
        for pattern in _OURS:
            sweep(out, pattern.split("*")[0])
        with ExitStack() as files:
            opened = [files.enter_context(renamed(out / name)) for name in names(form, xways)]
            with ExitStack() as writers:
                writes = [writers.enter_context(_writer(file, form)) for file in opened]
                yield writes
            # A folder without a note is no simulation, so none is there while files get their names.
            for path in [out / NOTE, *_old_files(out)]:
                path.unlink(missing_ok=True)
        with renamed(out / NOTE) as file:
            file.write(json.dumps(note(), indent=2).encode() + b"\n")
    except OSError as error:
        raise RunError(f"{out}: cannot be written ({error}); free some room, or give another folder") from None
    finally:
        if created and out.exists() and not any(out.iterdir()):
            out.rmdir()


def _old_files(out: Path) -> list[Path]:
    return [path for pattern in _OURS for path in out.glob(pattern)]


@contextmanager
def _writer(file: Any, form: str) -> Iterator[Write]:
    """Open a writer of tuples for a file."""
    if form == "arrow":
        with ipc.new_file(file, INPUT) as arrow:
            yield arrow.write_batch
    elif form == "parquet":
        with parquet.ParquetWriter(file, INPUT) as columns:
            yield columns.write_batch
    else:
        with csv.CSVWriter(file, INPUT, write_options=csv.WriteOptions(include_header=False)) as lines:
            yield lines.write_batch
