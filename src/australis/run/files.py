"""Files in and out of a local run: whole inputs as trains, outputs as they come. What does not read is an error."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO, Protocol

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from australis.errors import RunError
from australis.run.sinks.jsontext import json_lines
from australis.run.source import parts
from australis.run.sources.files import Files
from australis.run.sources.form import FORMATS, form

__all__ = ["FORMATS", "JsonLines", "Sink", "form", "read", "sink"]


class Sink(Protocol):
    """What takes the results of an output."""

    def write(self, tuples: pa.RecordBatch, /) -> None: ...

    def close(self) -> None: ...


def read(pattern: str | Path, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The tuples of a file, or of all files of a folder or a glob in the order of their names.

    Columns are found by name, and those that the schema does not have are passed over.
    """
    for part in parts(Files(str(pattern), schema, strict=True)):
        yield part.tuples


def sink(path: str | Path, schema: pa.Schema) -> Sink:
    """A new file for results of the schema."""
    try:
        match form(path):
            case "csv":
                return pa.csv.CSVWriter(str(path), schema)
            case "json":
                return JsonLines(Path(path).open("wb"))
            case "parquet":
                return pa.parquet.ParquetWriter(str(path), schema)
            case _:
                return pa.ipc.new_file(str(path), schema)
    except (OSError, pa.ArrowInvalid) as error:
        raise RunError(f"{path}: {error}") from error


class JsonLines:
    """One JSON object a line."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file

    def write(self, tuples: pa.RecordBatch, /) -> None:
        self.file.write(json_lines(tuples))

    def close(self) -> None:
        self.file.close()
