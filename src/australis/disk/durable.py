"""Files that are written whole or not at all, whatever stops the process."""

from __future__ import annotations

import fcntl
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path
from typing import IO

from australis.errors import RunError, listing


@contextmanager
def renamed(path: Path) -> Iterator[IO[bytes]]:
    """Open a file under a temporary name; it gets its own name once it is complete and on the disk."""
    temporary = path.with_name(f".{path.name.lstrip('.')}.{uuid.uuid4().hex}.tmp")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def sweep(folder: Path, name: str) -> None:
    """Remove the temporary files that stopped processes left, of files whose names begin with `name`."""
    for path in folder.glob(f".{escape(name.lstrip('.'))}*.tmp"):
        path.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder are on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def locked(path: Path, what: Path) -> IO[bytes]:
    """Open a file that is locked until it is closed, so that `what` has one writer among all processes."""
    file = path.open("ab", buffering=0)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise RunError(
            f"{what}: another output or another run writes to it; stop that one, or choose another path"
        ) from error
    return file


def journal_of(path: Path) -> Path:
    """The journal beside a file of results, which says what a run has written to it."""
    return path.with_name(f".{path.name}.journal")


def check_ours(path: Path, length: int | None, size: int) -> None:
    """Refuse to replace a file that no run wrote, or that is shorter than its journal says."""
    if size and (length is None or size < length):
        raise RunError(
            f"{path}: is there already, and no run wrote it as it is; move it away or remove it, or choose another file"
        )


def again(kept: bool) -> str:
    """What happens to a batch that could not be written when the run is started again, for an error message."""
    if kept:
        return "start the run again: it goes on with this batch"
    return "start the run again: without a checkpoint it begins anew, and replaces its results"


def check_replaceable(folder: Path, note: str) -> None:
    """Refuse to replace a folder that has files but no `note`: it is something else."""
    if folder.exists() and not folder.is_dir():
        raise RunError(f"{folder}: is a file; give a folder to write to")
    if folder.exists() and not (folder / note).exists():
        others = sorted(path.name for path in folder.iterdir() if path.suffix != ".tmp")
        if others:
            raise RunError(
                f"{folder}: holds {listing(others, 5)} and no {note}, so it is not a simulation to be replaced; "
                "give another folder, or empty this one"
            )
