"""Files in and out of a local run: whole inputs as trains, outputs as they come; what does not read is told of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Protocol
from uuid import uuid4

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from australis.arrow.schema import text
from australis.connectors import sink as sinks
from australis.connectors.dead_letters import Letter
from australis.connectors.sinks.encode import check
from australis.connectors.sinks.jsontext import json_lines
from australis.connectors.sinks.past import SinkHistory
from australis.connectors.source import Source, parts
from australis.connectors.sources import uri
from australis.connectors.sources.files import Files
from australis.connectors.sources.form import FORMATS, SOUNDS, form
from australis.connectors.sources.samples import Samples
from australis.connectors.standard import standard
from australis.disk.durable import check_ours, journal_of
from australis.disk.paths import place
from australis.errors import RunError

__all__ = ["FORMATS", "JsonLinesFile", "LocalSink", "Unread", "dead", "form", "read", "sink", "tuples_of"]


_FIRST = 1000


class LocalSink(Protocol):
    """What takes the results of an output."""

    def write(self, tuples: pa.RecordBatch, /) -> None: ...

    def close(self) -> None: ...


def read(pattern: str | Path, schema: pa.Schema, unread: Unread | None = None) -> Iterator[pa.RecordBatch]:
    """The tuples of a file, or of all files of a folder or a glob in the order of their names.

    Columns are found by name, and those that the schema does not have are passed over. What does not read is added to
    the `unread`, and without those it is an error.
    """
    found = uri.source(pattern, schema)
    if not isinstance(found, Files | Samples):
        raise RunError(f"{pattern}: only files are read in this process; leave out --local, or run it on Spark")
    if unread is None and isinstance(found, Files):
        found = replace(found, strict=True)
    yield from tuples_of(found, unread)


def tuples_of(source: Source, unread: Unread | None) -> Iterator[pa.RecordBatch]:
    """The tuples of a finite source."""
    for part in parts(source):
        if part.letters and unread is None:
            raise RunError(f"{part.letters[0]}; correct it, or run without `strict` to leave it out")
        if unread is not None:
            unread.add(part.letters)
        yield part.tuples


@dataclass
class Unread:
    """What of an input is no tuple: how many lines or rows, and the first thousand."""

    input: str
    count: int = 0
    letters: list[Letter] = field(default_factory=list)

    def add(self, letters: Sequence[Letter]) -> None:
        self.count += len(letters)
        self.letters.extend(letters[: _FIRST - len(self.letters)])


def dead(unread: Iterable[Unread]) -> str:
    """How many dead letters there are, and the first, or nothing.

    >>> dead([Unread("cars"), Unread("reports", 1, [Letter("2 values for 3 columns", "a.csv", 40, b"1,2")])])
    '1 dead letter; the first: reports: a.csv: at 40: 2 values for 3 columns, in 1,2'
    """
    some = [each for each in unread if each.letters]
    if not some:
        return ""
    count = sum(each.count for each in some)
    return f"{count:,} dead letter{'s' * (count > 1)}; the first: {some[0].input}: {some[0].letters[0]}"


def sink(path: str | Path, schema: pa.Schema) -> LocalSink:
    """A file for results of the schema, new or in place of those of an earlier run, or a folder of sounds."""
    if standard(str(path)):
        return Numbered(sinks.open(str(path), schema))
    path = place(path)
    try:
        if path.suffix.lower() in SOUNDS:
            return Numbered(sinks.open(str(path), schema, uuid4().hex, replace=True))
        if form(path) == "csv":
            check(str(path), "csv", schema)
        if path.exists() and not path.is_file():  # a device or a pipe holds nothing
            return _opened(path, schema)
        return Whole(path, schema)
    except (OSError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise RunError(f"{path}: {error}") from error


def _opened(path: Path, schema: pa.Schema) -> LocalSink:
    match form(path):
        case "csv":
            return pa.csv.CSVWriter(str(path), schema)
        case "json":
            return JsonLinesFile(path.open("wb"))
        case "parquet":
            return pa.parquet.ParquetWriter(str(path), schema)
        case _:
            return pa.ipc.new_file(str(path), schema)


class Whole:
    """A file that is written from its beginning, with a journal by which later runs know that they may replace it."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self.path, self.run = path, uuid4().hex
        self.past, self.columns = SinkHistory(journal_of(path), path), text(schema)
        length = None if self.past.run is None else self.past.sizes[0]
        check_ours(path, length, path.stat().st_size if path.exists() else 0)
        self._note(0)
        self.writer = _opened(path, schema)

    def write(self, tuples: pa.RecordBatch, /) -> None:
        self.writer.write(tuples)

    def close(self) -> None:
        try:
            self.writer.close()
            self._note(self.path.stat().st_size)
        except OSError as error:
            raise RunError(f"{self.path}: {error}; its end is not written") from error

    def _note(self, length: int) -> None:
        self.past.begin(self.run, self.columns, length)
        self.past.close()


class Numbered:
    """A sink of batches, to which each part of the results is one."""

    def __init__(self, writer: sinks.Writer) -> None:
        self.writer, self.count = writer, 0

    def write(self, tuples: pa.RecordBatch, /) -> None:
        self.writer.write(self.count, [tuples])
        self.count += 1

    def close(self) -> None:
        self.writer.close()


class JsonLinesFile:
    """One JSON object a line."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file

    def write(self, tuples: pa.RecordBatch, /) -> None:
        self.file.write(json_lines(tuples))

    def close(self) -> None:
        self.file.close()
