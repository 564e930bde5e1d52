"""Kernels: the loops over tuples, compiled when they are first called, and cached on disk."""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache, update_wrapper
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

F = TypeVar("F", bound=Callable[..., Any])
_COMPILING = RLock()


@lru_cache(maxsize=1)
def folder() -> str:
    """Where compiled kernels are kept: a folder for this state of all sources with kernels.

    numba looks for changes only in the file of a kernel itself, not in those of the kernels that it calls.
    """
    package = Path(__file__).parents[1]
    sources = (path.read_bytes() for path in sorted(package.rglob("*.py")))
    state = hashlib.sha256(b"".join(source for source in sources if b"australis.kernels.jit import" in source))
    state.update(Path(__file__).read_bytes())
    return str(writable(f"kernels-{state.hexdigest()[:16]}"))


def writable(name: str) -> Path:
    """A folder of a name that this user can write to: in the cache, or else among the temporary files.

    Code in it is run, so that nobody else may have made it or be able to write to it.
    """
    for cache in _caches():
        folder = cache / "australis" / name
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK | os.X_OK):
                return folder
    own = Path(tempfile.gettempdir()) / f"australis-{os.getuid()}"
    with suppress(OSError):
        own.mkdir(mode=0o700, exist_ok=True)
        if _private(own):
            (own / name).mkdir(exist_ok=True)
            return own / name
    fresh = tempfile.mkdtemp(prefix="australis-")
    atexit.register(_remove, fresh, os.getpid())
    return Path(fresh)


def _caches() -> Iterator[Path]:
    if cache := os.environ.get("XDG_CACHE_HOME"):
        yield Path(cache)
        return
    with suppress(RuntimeError):  # a user id that /etc/passwd does not list has no home
        yield Path.home() / ".cache"


def _private(folder: Path) -> bool:
    """Whether a folder is this user's alone, and is no link to somewhere else."""
    status = folder.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077


def _remove(folder: str, process: int) -> None:
    if os.getpid() == process:  # and not one that was forked from it
        shutil.rmtree(folder, ignore_errors=True)


class Kernel:
    """A function that is compiled when it is first called, or when one that calls it is: numba is loaded then.

    `__call__` is a slot of each kernel, which Python reads without running anything: once the function is compiled,
    calls go straight to it (docs/decisions/0007-start.md).
    """

    __slots__ = ("__call__", "__dict__", "__weakref__")

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        update_wrapper(self, function)
        self._function, self._options = function, options
        self.__call__ = self._first

    def compiled(self) -> Any:
        """The function that numba compiles: one, however many threads call it first."""
        with _COMPILING:
            if self.__call__ == self._first:
                self.__call__ = _compiled(self._function, **self._options)
            return self.__call__

    def _first(self, *args: Any, **named: Any) -> Any:
        return self.compiled()(*args, **named)

    @property
    def _numba_type_(self) -> Any:
        """The type of the compiled function: numba reads it when other compiled code names this kernel."""
        return self.compiled()._numba_type_

    def __reduce__(self) -> str:
        """Kernels go to other processes by name, as functions do."""
        return self._function.__qualname__

    def __repr__(self) -> str:
        return f"<kernel {self._function.__module__}.{self._function.__qualname__}>"


def _compiled(function: Callable[..., Any], **options: Any) -> Any:
    import numba

    config: Any = numba.config
    previous, config.CACHE_DIR = config.CACHE_DIR, folder()
    try:
        return numba.njit(cache=True, nogil=True, **options)(function)
    finally:
        config.CACHE_DIR = previous


def kernel(function: F) -> F:
    """Compile a function of plain arrays and numbers; its types are those of the Python function."""
    return cast(F, Kernel(function))


def summing(function: F) -> F:
    """Compile a function whose sums are exact whatever their order, so that they need not wait for one another."""
    return cast(F, Kernel(function, fastmath={"reassoc", "nsz"}))


def inner(function: F) -> F:
    """Compile a function that allocates nothing into those that call it, for every tuple.

    Without an allocator in reach numba counts no references, which costs 20 times as much as the work itself where
    arrays come in named tuples (docs/decisions/0003-kernels.md).
    """
    return cast(F, Kernel(function, _nrt=False, forceinline=True))


@kernel
def longer(array: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """An array of twice the length that begins with this one, for kernels that run out of room."""
    grown = np.zeros(2 * len(array), np.int64)
    grown[: len(array)] = array
    return grown
