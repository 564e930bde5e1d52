"""Folders and files that only their owner may read: what people send, and what a run stores of it."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import IO

_FOLDER, _FILE, _OTHERS = 0o700, 0o600, 0o007


def private_folder(path: Path) -> None:
    """Create a folder for its owner alone, if there is none."""
    path.mkdir(_FOLDER, parents=True, exist_ok=True)


def keep_out_others(path: Path) -> None:
    """Remove other people's access to a folder. A group keeps its access."""
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & _OTHERS:
        with suppress(PermissionError):  # the folder is somebody else's, who decides who may read it
            path.chmod(mode & ~_OTHERS)


def private(file: IO[bytes]) -> IO[bytes]:
    """Restrict a file to its owner, before anything is written to it; returns the file."""
    os.fchmod(file.fileno(), _FILE)
    return file
