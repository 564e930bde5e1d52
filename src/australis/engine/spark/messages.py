"""What Spark's process says on its standard error, passed on line by line, but for what it says at every start."""

from __future__ import annotations

import os
from collections.abc import Callable
from threading import Thread

_NOISE = "WARNING: Using incubator modules: jdk.incubator.vector"
"""Java says so when Spark asks for vectors, and no setting makes it silent."""
_PATIENCE = 2.0


class Overheard:
    """A pipe to give to a process as its standard error: `descriptor` is the end for it.

    >>> said = []
    >>> heard = Overheard(said.append)
    >>> os.write(heard.descriptor, b"WARNING: Using incubator modules: jdk.incubator.vector\\nno space left\\n")
    69
    >>> heard.given()
    >>> heard.join()
    >>> said
    ['no space left']
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell, self._hushed = tell, False
        reading, self.descriptor = os.pipe()
        self._thread = Thread(target=self._listen, args=(reading,), name="overheard", daemon=True)
        self._thread.start()

    def given(self) -> None:
        """Let go of this process's end, now that another has its own: the pipe ends with that."""
        os.close(self.descriptor)

    def hush(self) -> None:
        """Pass on nothing more: a process that is stopped in the middle has nothing to say."""
        self._hushed = True

    def join(self) -> None:
        """Pass on the last words of a process that has ended."""
        self._thread.join(_PATIENCE)

    def _listen(self, reading: int) -> None:
        with os.fdopen(reading, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line.strip() != _NOISE and not self._hushed:
                    self._tell(line.rstrip("\n"))
