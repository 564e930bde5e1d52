"""Files that are there whole or not at all, whatever stops the process."""

from __future__ import annotations

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
    """A file under a temporary name, which gets its own when all is written and on the disk."""
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
    """Remove what processes that were stopped left under temporary names, of files whose names begin like this."""
    for path in folder.glob(f".{escape(name.lstrip('.'))}*.tmp"):
        path.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """See to it that the names in a folder are on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def check_replaced(folder: Path, note: str) -> None:
    """Refuse a folder that holds other things than what is to be replaced, which has a note."""
    if folder.exists() and not folder.is_dir():
        raise RunError(f"{folder}: is a file; give a folder to write to")
    if folder.exists() and not (folder / note).exists():
        others = sorted(path.name for path in folder.iterdir() if path.suffix != ".tmp")
        if others:
            raise RunError(
                f"{folder}: holds {listing(others, 5)} and no {note}, so it is not a simulation to be replaced; "
                "give another folder, or empty this one"
            )
