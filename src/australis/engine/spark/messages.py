"""Messages: the standard error of Spark's process, passed on line by line, without what it prints at every start."""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Thread

_NOISE = "WARNING: Using incubator modules: jdk.incubator.vector"
"""Java prints this when Spark asks for vectors, and no setting prevents it."""
_PATIENCE = 2.0


class MessagePipe:
    """A pipe to use as the standard error of another process; `descriptor` is the end to write to.

    >>> lines = []
    >>> pipe = MessagePipe(lines.append)
    >>> os.write(pipe.descriptor, b"WARNING: Using incubator modules: jdk.incubator.vector\\nno space left\\n")
    69
    >>> pipe.close_descriptor()
    >>> pipe.join()
    >>> lines
    ['no space left']
    """

    def __init__(self, pass_on: Callable[[str], None]) -> None:
        self._pass_on, self._hushed = pass_on, False
        reading, self.descriptor = os.pipe()
        self._thread = Thread(target=self._read, args=(reading,), name="messages", daemon=True)
        self._thread.start()

    def close_descriptor(self) -> None:
        """Close this process's copy of the descriptor, once the other process has one: the pipe ends with that."""
        os.close(self.descriptor)

    def hush(self) -> None:
        """Pass on nothing more: what a process prints when it is stopped in the middle is of no use."""
        self._hushed = True

    def join(self) -> None:
        """Wait until the last lines of a process that has ended are passed on."""
        self._thread.join(_PATIENCE)

    def _read(self, reading: int) -> None:
        with os.fdopen(reading, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line.strip() != _NOISE and not self._hushed:
                    self._pass_on(line.rstrip("\n"))
