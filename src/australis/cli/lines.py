"""The progress of a run line by line: as JSON objects for programs, or as notes for a log."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

from australis.cli.progress import batch_object

if TYPE_CHECKING:
    from rich.console import Console

    from australis.engine.spark.run import Run


class ProgressView(Protocol):
    """Shows the progress of a run."""

    def show(self, note: str = "") -> None:
        """Show what is new, and a note. It is called many times a second, often with the same note."""
        ...

    def close(self) -> None: ...


class Objects:
    """Writes a JSON object for each batch to the standard output."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._last, self._dead_letters = 0, 0

    def show(self, note: str = "") -> None:
        for progress in list(self.run.progress):
            if progress["batch"] > self._last:
                write(batch_object(progress, self._dead_letters))
                self._last, self._dead_letters = progress["batch"], progress["letters"]

    def close(self) -> None:
        self.show()


class Notes:
    """Prints only notes, each once."""

    def __init__(self, console: Console, quiet: bool) -> None:
        self._console, self._quiet = console, quiet
        self._last_note = ""

    def show(self, note: str = "") -> None:
        if note and note != self._last_note and not self._quiet:
            self._console.print(note, markup=False, soft_wrap=True)
        self._last_note = note

    def close(self) -> None:
        """Nothing is left to print."""


def write(value: dict[str, Any]) -> None:
    print(json.dumps(value), flush=True)
