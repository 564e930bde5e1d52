"""A bell: a named pipe in a folder, by which processes that put something there wake the one that waits for it."""

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
    """Wake whoever waits at a folder. Where nobody does, nothing happens."""
    try:
        handle = os.open(Path(folder) / _NAME, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    with suppress(OSError):  # a full pipe wakes as well
        os.write(handle, b"!")
    os.close(handle)


class Bells:
    """The bells of some folders. What has rung before is heard by the next `wait`.

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
        self._handles = [handle for folder in folders if (handle := _opened(Path(folder))) is not None]
        self._poll = select.poll()
        for handle in self._handles:
            self._poll.register(handle, select.POLLIN)

    def __len__(self) -> int:
        """How many folders have one: not all file systems have named pipes."""
        return len(self._handles)

    def wait(self, seconds: float) -> bool:
        """Wait for a bell, or for so many seconds; whether one rang. It is silent again then."""
        heard = self._poll.poll(max(0.0, seconds) * 1000)
        for handle, _ in heard:
            with suppress(BlockingIOError):
                while len(os.read(handle, _MOST)) == _MOST:
                    pass
        return bool(heard)

    def close(self) -> None:
        while self._handles:
            os.close(self._handles.pop())


def _opened(folder: Path) -> int | None:
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
