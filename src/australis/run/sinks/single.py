"""One file that grows by a batch at a time, with a journal beside it."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from australis.errors import RunError
from australis.place import place
from australis.run.sinks.durable import again, check_ours, journal_of, renamed, sweep, sync_folder
from australis.run.sinks.encode import body, check, head
from australis.run.sources.form import form, packed


@dataclass(frozen=True)
class Single:
    """Exactly once, in order: CSV, JSON lines, or an Arrow stream (`.arrows`). A file that no run wrote is refused.

    The journal `.<name>.journal` holds the last batch that is in the file, and the file's length after it. What a
    process that was stopped wrote beyond that is cut off when the file is opened again.
    """

    path: str

    def open(self, schema: pa.Schema, run: str = "", replace: bool = False) -> SingleWriter:
        """Take up the file where a run left it. The results of another run are refused, or replaced."""
        path = place(self.path)
        if packed(path):
            raise RunError(f"{path}: a compressed file cannot grow; write {path.with_suffix('')}")
        if form(path) == "parquet" or (form(path) == "arrow" and path.suffix.lower() != ".arrows"):
            raise RunError(
                f"{path}: such a file cannot grow; write a folder of them ({path.with_suffix('')}/*{path.suffix}), or"
                f" one file as CSV, JSON lines or an Arrow stream ({path.with_suffix('.arrows').name})"
            )
        check(self.path, form(path), schema)
        try:
            return SingleWriter(path, head(form(path), schema), run, replace)
        except OSError as error:
            raise RunError(f"{path}: {error}; choose a file that can be written to") from error


class SingleWriter:
    """An open file, locked against other processes, which begins with a head."""

    def __init__(self, path: Path, head: bytes, run: str, replace: bool) -> None:
        self.path, self.run, self.kept = path, run, not replace
        self.journal = journal_of(path)
        self.file = path.open("ab", buffering=0)
        try:
            self._take_up(head, replace)
        except BaseException:
            self.file.close()
            raise

    def _take_up(self, head: bytes, replace: bool) -> None:
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RunError(f"{self.path}: another process writes to it; stop that, or choose another file") from error
        sweep(self.path.parent, self.journal.name)
        size = os.fstat(self.file.fileno()).st_size
        self.last, self.length = -1, 0
        kept = json.loads(self.journal.read_text()) if self.journal.exists() else None
        ours = kept is not None and kept["run"] == self.run
        if not ours and size and not replace:
            raise RunError(f"{self.path}: is there already, and not of this run; move it away, or choose another file")
        if not ours:
            check_ours(self.path, kept, size)
        if kept is not None and ours:
            self.last, self.length = kept["batch"], kept["length"]
            if size < self.length:
                raise RunError(
                    f"{self.path}: has {size} bytes, fewer than the {self.length} that were written; put it back, or"
                    f" remove it together with {self.journal.name} and start the run anew"
                )
        else:
            self._commit()
        self.file.truncate(self.length)
        if not self.length:
            self._append(head)
            self._commit()
            sync_folder(self.path.parent)

    def write(self, batch_id: int, tuples: Iterable[pa.RecordBatch]) -> None:
        self.append(batch_id, (body(form(self.path), train) for train in tuples))

    def append(self, batch_id: int, parts: Iterable[bytes]) -> None:
        """Write what a batch comes to, unless it is there."""
        if batch_id <= self.last:
            return
        start = self.length
        try:
            for part in parts:
                self._append(part)
        except BaseException as error:
            self.length = start
            self.file.truncate(start)
            if isinstance(error, OSError):
                raise RunError(f"{self.path}: {error}; the batch is not written: {again(self.kept)}") from error
            raise
        self.last = batch_id
        self._commit()

    def _append(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[self.file.write(rest) :]
        self.length += len(data)

    def _commit(self) -> None:
        """The file first, then the journal: what the journal says is true at any moment."""
        os.fsync(self.file.fileno())
        with renamed(self.journal) as file:
            file.write(json.dumps({"run": self.run, "batch": self.last, "length": self.length}).encode())

    def close(self) -> None:
        self.file.close()
