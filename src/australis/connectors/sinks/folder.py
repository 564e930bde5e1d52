"""A folder of files, one a batch, named by the batch's id."""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from australis.arrow.schema import text
from australis.connectors.sinks.encode import SUFFIXES, check, whole
from australis.connectors.sinks.past import cut_off, other_columns
from australis.disk.durable import again, locked, renamed, sweep, sync_folder
from australis.disk.paths import place
from australis.errors import RunError

_OWNER, _LOCK = ".run", ".lock"
_NAME = re.compile(rf"batch-(\d+)(-\d+)?({'|'.join(map(re.escape, SUFFIXES.values()))})")


@dataclass(frozen=True)
class Folder:
    """Exactly once: a batch's file is there whole or not at all, and is not written again. An empty batch has none.

    A large batch may be in parts, each a file of what one partition made, in its order. The folder is made if need be,
    and has one owner: a run, and an output of it.
    """

    path: str
    form: str = "parquet"

    def open(self, schema: pa.Schema, run: str = "", replace: bool = False) -> FolderWriter:
        """Take up the folder where a run left it. The results of another run are refused, or replaced."""
        check(self.path, self.form, schema)
        folder = place(self.path).absolute()  # tasks write there too, wherever they were started
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = locked(folder / _LOCK, folder)
            try:
                there = _taken_up(folder, schema, run, replace)
            except BaseException:
                lock.close()
                raise
        except OSError as error:
            raise RunError(f"{folder}: {error}; choose a folder that can be written to") from error
        return FolderWriter(folder, self.form, schema, run, not replace, lock, there)


def _taken_up(folder: Path, schema: pa.Schema, run: str, replace: bool) -> dict[int, set[str]]:
    """Make a folder ours; the files of the batches in it."""
    owner, there = folder / _OWNER, _batches(folder)
    kept = _owner(owner)
    ours = kept is not None and kept["run"] == run
    if there and not ours:
        if not replace or kept is None:
            first = min(min(there.values()))
            whose = "the results of another run" if kept is not None else f"{first}, which no run wrote"
            raise RunError(f"{folder}: holds {whose}; move that away, or choose a new folder")
        for name in chain.from_iterable(there.values()):
            (folder / name).unlink()
        there = {}
    if there and kept is not None and kept["columns"] != text(schema):
        raise other_columns(folder, kept["columns"], schema)
    for name in (_OWNER, "batch-"):
        sweep(folder, name)
    wanted = {"run": run, "columns": text(schema)}
    if kept != wanted:
        with renamed(owner) as file:
            file.write(json.dumps(wanted).encode())
    return there


def _owner(path: Path) -> dict[str, str] | None:
    """Whose a folder is, and its columns."""
    try:
        kept = json.loads(path.read_text())
        return {"run": str(kept["run"]), "columns": str(kept["columns"])}
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise RunError(
            f"{path}: does not read, so nobody knows whose the folder is; put it back, or move the folder away"
        ) from error


class FolderWriter:
    """An open folder. It pickles: tasks write parts, and only the driver has the lock."""

    def __init__(
        self, folder: Path, form: str, schema: pa.Schema, run: str, kept: bool, lock: IO[bytes] | None = None,
        there: dict[int, set[str]] | None = None,
    ) -> None:  # fmt: skip
        self.folder, self.form, self.schema, self.run, self.kept, self.lock = folder, form, schema, run, kept, lock
        last = max(there or {}, default=None)
        # The last batch may be run again, and be cut into parts in another way then.
        self._there = {} if last is None or there is None else {last: there[last]}
        self._parts: set[str] = set()

    def __reduce__(self) -> tuple[Any, ...]:
        return FolderWriter, (self.folder, self.form, self.schema, self.run, self.kept)

    def agree(self, planned: int, committed: int) -> str:
        """Remove the batches after the last one that a checkpoint has planned; what went, in words."""
        there = _batches(self.folder)
        beyond = [batch for batch in there if batch > planned]
        for name in chain.from_iterable(there[batch] for batch in beyond):
            (self.folder / name).unlink()
        if beyond:
            sync_folder(self.folder)
        self._there = {planned: there[planned]} if planned in there else {}
        return cut_off(self.folder, len(beyond))

    def write(self, batch_id: int, tuples: Iterable[pa.RecordBatch]) -> None:
        path = self.folder / f"batch-{batch_id:012d}{SUFFIXES[self.form]}"
        old, parts, self._parts = self._there.pop(batch_id, set()), self._parts, set()
        if not old and path.exists():
            return
        trains = (train for train in tuples if train.num_rows)
        first = next(trains, None)
        try:
            if first is not None:
                with renamed(path) as file:
                    whole(self.form, self.schema, _chained(first, trains), file)
            stale = old - parts - ({path.name} if first is not None else set())
            for name in stale:
                (self.folder / name).unlink(missing_ok=True)
            if stale:
                sync_folder(self.folder)
        except OSError as error:
            raise RunError(f"{path}: {error}; the batch is not written: {again(self.kept)}") from error

    def make(self, batch_id: int, part: int, tuples: list[pa.RecordBatch]) -> str:
        """Write a part of a batch under a hidden name; gives that name, or none where the folder is not the driver's.

        Any process may do so that sees the folder.
        """
        kept = _owner(self.folder / _OWNER)
        if kept is None or kept["run"] != self.run:
            return ""
        suffix = SUFFIXES[self.form]
        path = self.folder / f".batch-{batch_id:012d}-{part:04d}{suffix}.{uuid.uuid4().hex}.tmp"
        try:
            with path.open("wb") as file:
                whole(self.form, self.schema, tuples, file)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            path.unlink(missing_ok=True)
            raise RunError(f"{path}: {error}; the batch is not written: {again(self.kept)}") from error
        return path.name

    def take(self, made: list[str]) -> None:
        """Let parts of a batch be seen, before the rest of it is written. One that is there already is replaced."""
        for name in made:
            path = self.folder / name.split(".tmp")[0].rpartition(".")[0].removeprefix(".")
            (self.folder / name).replace(path)
            self._parts.add(path.name)
        sync_folder(self.folder)

    def close(self) -> None:
        """Let others write there."""
        if self.lock is not None:
            self.lock.close()


def _chained(first: pa.RecordBatch, others: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield first
    yield from others


def _batches(folder: Path) -> dict[int, set[str]]:
    """The files of each batch."""
    found: dict[int, set[str]] = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            match = _NAME.fullmatch(entry.name)
            if match:
                found.setdefault(int(match[1]), set()).add(entry.name)
    return found
