"""The screen: a run's progress in the terminal, drawn again and again in the same place."""

from __future__ import annotations

import sys
import time
from threading import Event, Thread
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from australis.cli.progress import Rates, batches, clock, dead, lost, rows

if TYPE_CHECKING:
    from australis.engine.spark.run import Run

_COLUMNS = ("", "", "tuples", "a second", "waiting", "delay")
_PAUSE = 1.0


class Screen:
    """What a terminal shows while a run goes on. It leaves nothing behind."""

    def __init__(self, run: Run, title: str, console: Console, kept: bool, slack: str = "") -> None:
        self.run, self.title, self.kept, self.slack = run, title, kept, slack
        self.backlog: dict[str, int] = {}
        self._rates, self._since = Rates(), time.monotonic()
        self._rates.look(self._since, run.totals)
        self._closed = Event()
        Thread(target=self._ask, name="backlog", daemon=True).start()
        # Tables of results that go to the same terminal come to stand above; those that go to a file stay out of it.
        self._live = Live(
            console=console, auto_refresh=False, transient=True, redirect_stdout=sys.stdout.isatty(),
            redirect_stderr=False,
        )  # fmt: skip
        self._live.start()

    def show(self, note: str = "") -> None:
        """Draw it as it is now."""
        self._live.update(self.drawn(time.monotonic(), note), refresh=True)

    def drawn(self, now: float, note: str = "") -> Group:
        self._rates.look(now, self.run.totals)
        head = Text.assemble((self.title, "bold"), f"  {clock(now - self._since)}  {batches(self.run)}")
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for name in _COLUMNS:
            table.add_column(name, justify="right" if name else "left", no_wrap=True)
        for row in rows(self.run, self._rates, now, self.backlog):
            table.add_row(*map(Text, row.cells()))
        lines: list[Text | Table] = [head, table]
        if self.run.letters:
            lines.append(Text(dead(self.run, self.kept), "red"))
        lines += [Text(each, "red") for each in lost(self.run, self.slack)]
        if note:
            lines.append(Text(note, "yellow"))
        return Group(*lines)

    def close(self) -> None:
        self._closed.set()
        self._live.stop()

    def _ask(self) -> None:
        """Counting what waits may be slow, so that a thread of its own does it."""
        while not self._closed.wait(_PAUSE):
            try:
                self.backlog = self.run.backlog()
            except Exception:  # it tells about how many, and the run itself tells what is wrong with a source
                self.backlog = {}
