"""Wake-up: a named pipe in a folder. Whoever puts something there wakes the process that waits for it."""

from __future__ import annotations

import os
import select
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_NAME = ".bell"
_MOST = 1 << 16


def ring(folder: str | Path) -> None:
    """Wake the process that waits at a folder. Does nothing if none does."""
    try:
        handle = os.open(Path(folder) / _NAME, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    with suppress(OSError):  # a full pipe wakes as well
        os.write(handle, b"!")
    os.close(handle)


class Bells:
    """The bells of some folders. A ring before `wait` is not lost.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     bells = Bells([folder])
    ...     ring(folder)
    ...     heard = bells.wait(60), bells.wait(0)
    ...     bells.close()
    >>> heard
    (True, False)
    """

    def __init__(self, folders: Iterable[str | Path]) -> None:
        self._handles = [handle for folder in folders if (handle := _open_pipe(Path(folder))) is not None]
        self._poll = select.poll()
        for handle in self._handles:
            self._poll.register(handle, select.POLLIN)

    def __len__(self) -> int:
        """How many folders have a bell: not all file systems have named pipes."""
        return len(self._handles)

    def wait(self, seconds: float) -> bool:
        """Wait for a bell, at most so many seconds. Returns whether one rang; it is silent again afterwards."""
        heard = self._poll.poll(max(0.0, seconds) * 1000)
        for handle, _ in heard:
            with suppress(BlockingIOError):
                while len(os.read(handle, _MOST)) == _MOST:
                    pass
        return bool(heard)

    def close(self) -> None:
        while self._handles:
            os.close(self._handles.pop())


def _open_pipe(folder: Path) -> int | None:
    path = folder / _NAME
    try:
        with suppress(FileExistsError):
            os.mkfifo(path, 0o600)
        handle = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if stat.S_ISFIFO(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    return None
