"""One file that grows by a batch at a time, with a journal beside it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from australis.arrow.schema import text
from australis.connectors.sinks.encode import body, check, head, pack
from australis.connectors.sinks.past import NEVER, SinkHistory, cut_off
from australis.connectors.sources.form import form, grows, packed
from australis.disk.durable import again, check_ours, journal_of, locked, sweep
from australis.disk.paths import place
from australis.errors import RunError


@dataclass(frozen=True)
class Single:
    """Exactly once, in order: CSV, JSON lines, or an Arrow stream (`.arrows`). A file that no run wrote is refused.

    The journal `.<name>.journal` holds the last batches that are in the file, and its length after each. What a process
    that was stopped wrote beyond that is cut off, and so are batches that the checkpoint does not know of.

    Text is compressed where the name says so (`out.csv.gz`): a compressed file may follow another in the same file, so
    that it grows too. A device or a pipe holds nothing, and has no journal: it is written to at least once.
    """

    path: str

    def open(self, schema: pa.Schema, run: str = "", replace: bool = False) -> SingleWriter | DeviceWriter:
        """Take up the file where a run left it. The results of another run are refused, or replaced."""
        path = place(self.path)
        if packed(path) and form(path) not in ("csv", "json"):
            raise RunError(f"{path}: only CSV and JSON lines are written compressed; write {path.with_suffix('')}")
        if not grows(path):
            raise RunError(f"{path}: such a file cannot grow; write it with `Whole`, which `sink` gives for its name")
        check(self.path, form(path), schema)
        first = pack(head(form(path), schema), packed(path))
        try:
            if path.exists() and not path.is_file():
                return DeviceWriter(path, first)
            return SingleWriter(path, first, schema, run, replace)
        except OSError as error:
            raise RunError(f"{path}: {error}; choose a file that can be written to") from error


class DeviceWriter:
    """An open device or pipe, which begins with a head."""

    def __init__(self, path: Path, head: bytes) -> None:
        self.path = path
        self.file = path.open("wb", buffering=0)
        self.file.write(head)

    def write(self, batch_id: int, tuples: Iterable[pa.RecordBatch]) -> None:
        try:
            for part in encoded(self.path, tuples):
                self.file.write(part)
        except OSError as error:
            raise RunError(f"{self.path}: {error}; the batch is not written") from error

    def close(self) -> None:
        self.file.close()


def encoded(path: Path, tuples: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
    """The trains of a batch as they stand in a file that grows."""
    return (pack(body(form(path), train), packed(path)) for train in tuples)


class SingleWriter:
    """An open file, locked against other writers, which begins with a head."""

    def __init__(self, path: Path, head: bytes, schema: pa.Schema, run: str, replace: bool) -> None:
        self.path, self.kept = path, not replace
        self.file = locked(path, path)
        try:
            sweep(path.parent, journal_of(path).name)
            self.past = SinkHistory(journal_of(path), path)
            self._take_up(head, schema, run, replace)
        except BaseException:
            self.close()
            raise

    @property
    def last(self) -> int:
        """The last batch that is in the file."""
        return self.past.last

    def _take_up(self, head: bytes, schema: pa.Schema, run: str, replace: bool) -> None:
        past, size = self.past, os.fstat(self.file.fileno()).st_size
        ours = past.run == run
        self.length = past.sizes[0] if past.marks else 0
        if not ours and size and not replace:
            raise RunError(f"{self.path}: is there already, and not of this run; move it away, or choose another file")
        if not ours:
            check_ours(self.path, None if past.run is None else self.length, size)
        elif size < self.length:
            raise RunError(
                f"{self.path}: has {size} bytes, fewer than the {self.length} that were written; put it back, or"
                f" remove it together with {past.journal.path.name} and start the run anew"
            )
        if ours and past.last > NEVER:
            past.check_columns(schema)
            self._spare = size > self.length
            return
        self.length, self._spare = 0, False
        past.begin(run, text(schema), 0)  # first, so that the file is known to be ours whenever this is stopped
        self.file.truncate(0)
        self._append(head)
        os.fsync(self.file.fileno())
        past.begin(run, text(schema), self.length)

    def agree(self, planned: int, committed: int) -> str:
        """Cut off the batches after the last one that a checkpoint has planned; what went, in words."""
        gone = self.past.back_to(planned, committed, self._spare)
        (self.length,) = self.past.sizes
        self._cut()
        return cut_off(self.path, gone)

    def _cut(self) -> None:
        """Cut off what is there of a batch that was stopped."""
        self.file.truncate(self.length)
        self._spare = False

    def write(self, batch_id: int, tuples: Iterable[pa.RecordBatch]) -> None:
        self.append(batch_id, encoded(self.path, tuples))

    def append(self, batch_id: int, parts: Iterable[bytes]) -> None:
        """Write what a batch comes to, unless it is there."""
        if batch_id <= self.last:
            return
        start = self.length
        try:
            self._cut()
            for part in parts:
                self._append(part)
            os.fsync(self.file.fileno())  # the file first, then the journal: what that says is true at any moment
            self.past.add(batch_id, self.length)
        except BaseException as error:
            self.length = start  # what is there beyond it goes before the next batch, or when the file is opened again
            if isinstance(error, OSError):
                raise RunError(f"{self.path}: {error}; the batch is not written: {again(self.kept)}") from error
            raise

    def _append(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[self.file.write(rest) :]
        self.length += len(data)

    def close(self) -> None:
        self.file.close()
        if hasattr(self, "past"):
            self.past.close()
