"""Folders and files that are not for others to read: what people send, and what a run knows of it."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import IO

_FOLDER, _FILE, _OTHERS = 0o700, 0o600, 0o007


def private_folder(path: Path) -> None:
    """Make a folder for its owner alone, if it is not there."""
    path.mkdir(_FOLDER, parents=True, exist_ok=True)


def keep_out_others(path: Path) -> None:
    """Take from others what access they have to a folder; a group keeps its own."""
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & _OTHERS:
        with suppress(PermissionError):  # it is somebody else's, who says who may read it
            path.chmod(mode & ~_OTHERS)


def private(file: IO[bytes]) -> IO[bytes]:
    """A file, before anything is written to it, for its owner alone."""
    os.fchmod(file.fileno(), _FILE)
    return file
