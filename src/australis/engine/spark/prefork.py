"""Prefork: a process with the engine loaded, from which Spark's Python processes are forked.

Spark starts several Python processes a run, and each would spend seconds on loading the same modules. What Spark starts
instead is a small launcher, which asks the prefork process for a fork and waits until that has ended.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import os
import runpy
import select
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path

from australis.disk.temporary import TemporaryFolder, removed

_LAUNCHER = """\
#!{python} -SEsB
import _signal, _socket, os, sys  # socket itself takes longer to load than all else here
connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
try:
    if sys.argv[1] != "-m":
        raise ValueError
    connection.connect({address!r})
    request = [os.getcwd(), str(len(sys.argv) - 1), *sys.argv[1:], *map("=".join, os.environ.items())]
    streams = b"".join(stream.to_bytes(4, sys.byteorder) for stream in (0, 1, 2))
    connection.sendmsg([os.fsencode("\\0".join(request))], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
    child = int(connection.recv(64))
except (OSError, ValueError, IndexError):
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
_signal.signal(_signal.SIGTERM, lambda *_: os.kill(child, _signal.SIGTERM))
for stream in 0, 1, 2:
    os.close(stream)
while connection.recv(64):
    pass
"""
_LOADED = (
    "encodings.idna",
    "pandas",
    "pyarrow.pandas_compat",
    "pyarrow.parquet",
    "pyarrow.vendored.version",
    "pyspark.daemon",
    "pyspark.worker",
    "pyspark.sql.streaming.python_streaming_source_runner",
    "pyspark.sql.worker.create_data_source",
    "pyspark.sql.worker.lookup_data_sources",
    "pyspark.sql.worker.plan_data_source_read",
    "australis.engine.spark.start",
    "scipy.fft",
)
MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 30)}
"""Columns come and go with every train: memory that is given back each time is cleared each time."""
_THREADS = r"This process \(pid=\d+\) is multi-threaded, use of fork\(\)"
_MOST = 1 << 20  # bytes of a message: an environment
_PATIENCE = 60.0  # seconds for Spark's process to end after the one that started it


class Prefork:
    """A prefork process; it ends with the process that started it."""

    def __init__(self) -> None:
        self.folder = TemporaryFolder()
        """Its folder. It removes the folder when no process uses that any more."""
        address = str(self.folder.path / "prefork")
        self.launcher = str(self.folder.path / "python")
        """The program that Spark starts in place of Python."""
        Path(self.launcher).write_text(_LAUNCHER.format(python=sys.executable, address=address))
        Path(self.launcher).chmod(0o700)
        command = [sys.executable, "-m", __name__, address]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, start_new_session=True, env={**MEMORY, **os.environ}
        )

    def close(self) -> None:
        """End it, and remove its folder."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.terminate()  # it may still be loading
        self._process.wait()
        self.folder.close()

    def leave(self) -> None:
        """Let it end and remove its folder by itself, after Spark's process, which this one does not wait for."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self.folder.leave()
        self._process.returncode = 0  # so that Python does not warn that nobody has waited for it


def _fits(python: str, temporary: str) -> bool:
    """Whether a script can be started in a folder, and its first line and the address of a socket have room."""
    if sys.platform != "linux" or os.statvfs(temporary).f_flag & os.ST_NOEXEC:
        return False
    return shlex.quote(python) == python and len(python) < 100 and len(temporary) < 40


@cache
def _own() -> Prefork | None:
    """The prefork process of this one, started once; none where it cannot have one."""
    if not _fits(sys.executable, tempfile.gettempdir()):
        return None
    prefork = Prefork()
    atexit.register(prefork.leave)
    return prefork


def launcher() -> str:
    """The program for Spark to start in place of Python: the launcher, or Python where there is no prefork process."""
    prefork = _own()
    return sys.executable if prefork is None else prefork.launcher


def room() -> TemporaryFolder | None:
    """A folder that is removed after this process, however that ends; none without a prefork process."""
    prefork = _own() if _own.cache_info().currsize else None
    return None if prefork is None else prefork.folder


def _orphaned() -> bool:
    """Whether the process that started this one has closed its end, or is gone."""
    return bool(select.select([0], [], [], 0)[0])


def _load() -> None:
    """Load everything that the forks need. Numba loads most of itself for a first kernel."""
    for module in _LOADED:
        if _orphaned():
            return
        importlib.import_module(module)
    kernel = importlib.import_module("australis.kernels.jit")
    kernel.longer(importlib.import_module("numpy").zeros(1, "int64"))


def _serve(address: str) -> None:
    """Fork a process for each connection, until the process that started this one ends."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(address)
        listening.listen()
        _load()
        gc.collect()
        gc.freeze()  # workers collect after every task; what is loaded here need not be looked at
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while True:
            ready, _, _ = select.select([listening.fileno(), 0], [], [])
            if 0 in ready:
                return
            connection, _ = listening.accept()
            with connection:
                if _fork() == 0:
                    listening.close()
                    os._exit(_run_module(connection))


def _fork() -> int:
    """Fork. From Python 3.12 on that warns where there are other threads, whose locks a child would find taken.

    Here these are threads of libraries. They wait for work, and the libraries start new ones in a child. The only
    thread of this process's own holds no lock.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _THREADS, DeprecationWarning)
        return os.fork()


def _paths(pythonpath: str) -> list[str]:
    """The folders of a PYTHONPATH that are new here, without Spark's archives.

    Those hold pyspark, which is loaded already, and Python would read their tables of contents with every task.
    """
    archives = str(Path(importlib.import_module("pyspark").__file__ or "").parent)
    paths = [path for path in pythonpath.split(os.pathsep) if path and path not in sys.path]
    return [path for path in paths if not (path.startswith(archives) and Path(path).is_file())]


def _print_error(*_: object, **__: object) -> None:
    """Print the error under way, unless it is a broken pipe: idle workers get one when Spark ends."""
    if not isinstance(sys.exception(), BrokenPipeError):
        traceback.print_exception(sys.exception())


def _run_module(connection: socket.socket) -> int:
    """Run the module that a launcher asks for; the connection closes when this process ends."""
    try:
        data, streams, _, _ = socket.recv_fds(connection, _MOST, 3)
        folder, count, *words = os.fsdecode(data).split("\0")
        (_, module, *arguments), settings = words[: int(count)], words[int(count) :]
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update((each.partition("=")[0], each.partition("=")[2]) for each in settings)
        sys.path[:0] = _paths(os.environ.get("PYTHONPATH", ""))
        connection.send(str(os.getpid()).encode())
        sys.argv = [module, *arguments]
        traceback.print_exc = _print_error
        # Spark's daemon forks its workers in the same way, before it has any threads of its own.
        warnings.filterwarnings("ignore", _THREADS, DeprecationWarning)
        sys.modules.pop(module, None)  # it is loaded already, and is now to be run
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
    return 0


if __name__ == "__main__":
    _serve(sys.argv[1])
    removed(Path(sys.argv[1]).parent, _PATIENCE)
