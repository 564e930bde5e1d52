"""A run told line by line: as JSON objects for programs, or in a few words for a log."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

from australis.cli.progress import batch_object

if TYPE_CHECKING:
    from rich.console import Console

    from australis.engine.spark.run import Run


class Teller(Protocol):
    """Tells how a run goes on."""

    def show(self, note: str = "") -> None:
        """Tell what is new, many times a second; and a note, which stays the same for a while."""
        ...

    def close(self) -> None: ...


class Objects:
    """A JSON object a batch on the standard output."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._last, self._letters = 0, 0

    def show(self, note: str = "") -> None:
        for progress in list(self.run.progress):
            if progress["batch"] > self._last:
                write(batch_object(progress, self._letters))
                self._last, self._letters = progress["batch"], progress["letters"]

    def close(self) -> None:
        self.show()


class Notes:
    """Notes alone, each once."""

    def __init__(self, console: Console, quiet: bool) -> None:
        self._console, self._quiet = console, quiet
        self._told = ""

    def show(self, note: str = "") -> None:
        if note and note != self._told and not self._quiet:
            self._console.print(note, markup=False, soft_wrap=True)
        self._told = note

    def close(self) -> None:
        """Nothing is left to tell."""


def write(value: dict[str, Any]) -> None:
    print(json.dumps(value), flush=True)
