"""Temporary folders that are removed with the processes that use them, however these end.

Such a folder has a file that its processes keep locked. A folder without a lock was left by processes that were
killed. It is removed when the next folder is made.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

PREFIX = "australis-"
_OWNER = ".owner"
_LOOK = 0.1  # seconds between looks at a lock


class TemporaryFolder:
    """A temporary folder of this process, until it is closed or this process ends.

    A process that inherits `descriptor` shares the folder until it ends.
    """

    def __init__(self) -> None:
        sweep()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        unnamed = self.path / f"{_OWNER}.tmp"
        self.descriptor = os.open(unnamed, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with suppress(OSError):  # a file system without locks: without the name nobody removes the folder
            fcntl.flock(self.descriptor, fcntl.LOCK_EX)
            unnamed.rename(self.path / _OWNER)  # the lock is held before the name appears

    def __enter__(self) -> str:
        return str(self.path)

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.path, ignore_errors=True)
        self.leave()

    def leave(self) -> None:
        """Release the folder. Other processes that share it keep it."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def sweep() -> None:
    """Remove the folders of this user whose processes are gone."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{_OWNER}"):
        if not folder.parent.is_symlink():
            removed(folder.parent)


def removed(folder: Path, patience: float = 0.0) -> bool:
    """Remove a folder once no process has it. Gives up after `patience` seconds; returns whether it was removed."""
    end = time.monotonic() + patience
    try:
        handle = os.open(folder / _OWNER, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:  # another user's, or removed meanwhile
        return False
    try:
        if os.fstat(handle).st_uid != os.getuid():
            return False
        while not _free(handle):
            if time.monotonic() >= end:
                return False
            time.sleep(_LOOK)
        shutil.rmtree(folder, ignore_errors=True)
        return True
    finally:
        os.close(handle)


def _free(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
