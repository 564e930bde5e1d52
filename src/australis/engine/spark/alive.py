"""Whether a run is under way: a file that its driver holds locked, so that the processes of its tasks see its end.

Those keep state and jobs from task to task, and outlive the run. However the driver ends, its lock ends too.
"""

from __future__ import annotations

import ctypes
import fcntl
import gc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Condition, Thread
from typing import IO

import pyarrow as pa

_NAME = "alive"
_PATIENCE = 30.0
"""Seconds after a run in which another may begin and use the same memory: to give it back and take it anew is slow."""
_calls: dict[str, list[Callable[[], None]]] = {}
_changed = Condition()


def hold(folder: str) -> IO[bytes]:
    """Mark the run with a folder as under way, until the file that is returned is closed."""
    file = (Path(folder) / _NAME).open("wb")
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def when_over(folder: str, call: Callable[[], None]) -> Thread | None:
    """Call a function when the run with a folder has ended; returns the thread that waits for it, if that is new."""
    with _changed:
        _calls.setdefault(folder, []).append(call)
        _changed.notify_all()
        if len(_calls[folder]) > 1:
            return None
    thread = Thread(target=_wait, args=(folder,), name="alive", daemon=True)
    thread.start()
    return thread


def _wait(folder: str) -> None:
    with suppress(FileNotFoundError), (Path(folder) / _NAME).open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
    with _changed:
        calls = _calls.pop(folder, [])
    for call in calls:
        call()
    with _changed:
        used = _changed.wait_for(lambda: _calls, _PATIENCE)
    if not used:
        give_back()


def give_back() -> None:
    """Give unused memory back to the system, which is kept otherwise because every train needs it again."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):  # another library than glibc
        ctypes.CDLL(None).malloc_trim(0)
