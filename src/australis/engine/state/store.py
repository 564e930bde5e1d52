"""The store of a partition: a folder of deltas and snapshots, each file written whole or not at all."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from secrets import token_hex
from typing import Any
from urllib.parse import quote, unquote

import pyarrow as pa
from pyarrow.fs import FileInfo, FileSelector, FileSystem, FileType, LocalFileSystem

from australis.disk.durable import sync_folder
from australis.engine.state.delta import PRELUDE, REMEDY, Delta, damaged, header, prelude, unpack
from australis.errors import RunError

DELTA, SNAPSHOT = "delta", "snapshot"
_NAME = re.compile(r"(\d{8,})\.(delta|snapshot)(\.\w+\.tmp)?")


@dataclass(frozen=True)
class File:
    """A file of a store. A temporary one is being written, or was left by a writer that was killed."""

    version: int
    kind: str
    size: int
    path: str
    temporary: bool = False


@dataclass(frozen=True)
class Store:
    """The folder of a stage's partition, on a file system that `pyarrow.fs` opens."""

    files: FileSystem
    folder: str

    def path(self, version: int, kind: str = DELTA) -> str:
        return f"{self.folder}/{version:08}.{kind}"

    def list(self) -> list[File]:
        """What is there, oldest version first."""
        infos = _listed(self.files, FileSelector(self.folder, allow_not_found=True))
        return sorted((file for info in infos if (file := _file(info))), key=lambda file: file.version)

    def read(self, version: int, kind: str = DELTA) -> Delta | None:
        """A delta or a snapshot, checked; none if it is not there."""
        return self._load(version, kind, lambda path, file: unpack(path, file.read_buffer()))

    def head(self, version: int, kind: str = DELTA) -> Delta | None:
        """As `read`, but without the rows: only the header is read."""
        return self._load(version, kind, _head)

    def _load(self, version: int, kind: str, reader: Callable[[str, pa.NativeFile], Delta]) -> Delta | None:
        path = self.path(version, kind)
        try:
            with self.files.open_input_file(path) as file:
                delta = reader(path, file)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise RunError(f"{path}: cannot be read: {error}; {REMEDY}") from error
        if delta.version != version:
            raise damaged(path, f"it holds version {delta.version}")
        return delta

    def write(self, version: int, kind: str, pieces: Iterable[Any]) -> None:
        """Write a file under another name, and rename it when it is safe on disk."""
        path = self.path(version, kind)
        temporary = f"{path}.{token_hex(4)}.tmp"
        local = isinstance(self.files, LocalFileSystem)
        try:
            if local:
                Path(self.folder).mkdir(parents=True, exist_ok=True)
                with Path(temporary).open("xb") as file:
                    file.writelines(pieces)
                    file.flush()
                    os.fsync(file.fileno())
            else:
                self.files.create_dir(self.folder, recursive=True)
                with self.files.open_output_stream(temporary) as stream:
                    for piece in pieces:
                        stream.write(piece)
            self.files.move(temporary, path)
            if local:
                sync_folder(Path(self.folder))
        except OSError as error:
            self.remove(temporary)
            raise RunError(
                f"{path}: cannot be written: {error}; nothing is lost: the run can go on from the version before"
            ) from error

    def remove(self, path: str) -> None:
        """Remove a file, if it is there."""
        with suppress(OSError):
            self.files.delete_file(path)


def bases(files: list[File], first: int, last: int) -> set[int]:
    """The versions after `first` and up to `last` that have a snapshot, and the delta that a snapshot is checked by."""
    there = {(file.version, file.kind) for file in files if not file.temporary}
    return {
        version for version, kind in there if kind == SNAPSHOT and first < version <= last and (version, DELTA) in there
    }


_from_uri = lru_cache(maxsize=64)(FileSystem.from_uri)


def _located(checkpoint: str) -> tuple[FileSystem, str]:
    """The file system and the path of a checkpoint folder, given as a path or a URI."""
    if not re.match(r"\w[\w+.-]+:", checkpoint):  # a longer word than the letter of a drive
        return LocalFileSystem(), str(Path(checkpoint).absolute())
    try:
        files, path = _from_uri(checkpoint)
    except (pa.ArrowException, OSError) as error:
        raise RunError(f"{checkpoint}: cannot be opened as a checkpoint folder: {error}") from error
    return files, path.rstrip("/")


def store(checkpoint: str | Path, stage: str, partition: int) -> Store:
    """The store of a stage's partition."""
    files, root = _located(str(checkpoint))
    return Store(files, f"{root}/state/{quote(stage, safe='')}/{partition}")


def stores(checkpoint: str | Path) -> list[tuple[str, int, Store]]:
    """All stores of a checkpoint folder with their stages and partitions."""
    files, root = _located(str(checkpoint))
    infos = _listed(files, FileSelector(f"{root}/state", allow_not_found=True, recursive=True))
    folders = {info.path.rpartition("/")[0] for info in infos if _file(info)}
    places = [(*folder.rsplit("/", 2)[1:], folder) for folder in folders]
    return sorted(
        ((unquote(stage), int(partition), Store(files, folder)) for stage, partition, folder in places),
        key=lambda each: each[:2],
    )


def _listed(files: FileSystem, selector: FileSelector) -> list[FileInfo]:
    try:
        return files.get_file_info(selector)
    except OSError as error:
        raise RunError(f"{selector.base_dir}: cannot be listed: {error}") from error


def _file(info: FileInfo) -> File | None:
    match = _NAME.fullmatch(info.base_name)
    if not match or info.type != FileType.File:
        return None
    return File(int(match[1]), match[2], info.size or 0, info.path, bool(match[3]))


def _head(path: str, file: pa.NativeFile) -> Delta:
    crc, length = prelude(path, file.read(PRELUDE.size))
    if length > file.size():
        raise damaged(path, "it is cut short")
    return header(path, file.read(length), crc)
