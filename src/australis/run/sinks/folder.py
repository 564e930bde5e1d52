"""A folder of files, one a batch, named by the batch's id."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from australis.errors import RunError
from australis.place import place
from australis.run.sinks.durable import again, renamed, sweep, sync_folder
from australis.run.sinks.encode import SUFFIXES, check, whole

_OWNER = ".run"


@dataclass(frozen=True)
class Folder:
    """Exactly once: a batch's file is there whole or not at all, and is not written again. An empty batch has none.

    A large batch may be in parts, each a file of what one partition made, in its order. The folder is made if need be.
    """

    path: str
    form: str = "parquet"

    def open(self, schema: pa.Schema, run: str = "", replace: bool = False) -> FolderWriter:
        """Take up the folder where a run left it. The results of another run are refused, or replaced."""
        check(self.path, self.form, schema)
        folder = place(self.path).absolute()  # tasks write there too, wherever they were started
        try:
            folder.mkdir(parents=True, exist_ok=True)
            owner = folder / _OWNER
            there = list(_batches(folder))
            if there and (owner.read_text() if owner.exists() else "") != run:
                if not replace or not owner.exists():
                    whose = "the results of another run" if owner.exists() else f"{there[0].name}, which no run wrote"
                    raise RunError(f"{folder}: holds {whose}; move that away, or choose a new folder")
                for path in there:
                    path.unlink()
            for name in (_OWNER, "batch-"):
                sweep(folder, name)
            if not owner.exists() or owner.read_text() != run:
                with renamed(owner) as file:
                    file.write(run.encode())
        except OSError as error:
            raise RunError(f"{folder}: {error}; choose a folder that can be written to") from error
        return FolderWriter(folder, self.form, schema, not replace)


@dataclass(frozen=True)
class FolderWriter:
    """An open folder."""

    folder: Path
    form: str
    schema: pa.Schema
    kept: bool = True
    """Whether the run can go on after a failure."""

    def write(self, batch_id: int, tuples: Iterable[pa.RecordBatch]) -> None:
        path = self.folder / f"batch-{batch_id:012d}{SUFFIXES[self.form]}"
        if path.exists():
            return
        trains = (train for train in tuples if train.num_rows)
        first = next(trains, None)
        if first is None:
            return
        try:
            with renamed(path) as file:
                whole(self.form, self.schema, _chained(first, trains), file)
        except OSError as error:
            raise RunError(f"{path}: {error}; the batch is not written: {again(self.kept)}") from error

    def make(self, batch_id: int, part: int, tuples: list[pa.RecordBatch]) -> str:
        """Write a part of a batch under a hidden name, in any process that sees the folder; gives that name."""
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
        """Let parts be seen, but those that are there already."""
        for name in made:
            path = self.folder / name.split(".tmp")[0].rpartition(".")[0].removeprefix(".")
            if path.exists():
                (self.folder / name).unlink(missing_ok=True)
            else:
                (self.folder / name).replace(path)
        sync_folder(self.folder)

    def close(self) -> None:
        """Nothing is held open."""


def _chained(first: pa.RecordBatch, others: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield first
    yield from others


def _batches(folder: Path) -> Iterator[Path]:
    return (path for suffix in SUFFIXES.values() for path in folder.glob(f"batch-*{suffix}"))
