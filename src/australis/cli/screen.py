"""The screen: the progress of a run in the terminal, redrawn in place."""

from __future__ import annotations

import sys
import time
from threading import Event, Thread
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from australis.cli.progress import Rates, batches, clock, dead_letter_count, load, lost_tuples, rows
from australis.qos.control import NOTHING_SHED

if TYPE_CHECKING:
    from australis.engine.spark.run import Run

_COLUMNS = ("", "", "tuples", "a second", "waiting", "delay", "utility", "shed")
_SERVICE = 2  # the last columns, of runs whose outputs have graphs
_PAUSE = 1.0


class Screen:
    """Shows the progress of a run in a terminal. It leaves nothing behind."""

    def __init__(self, run: Run, title: str, console: Console, resumable: bool, slack: str = "") -> None:
        self.run, self.title, self.resumable, self.slack = run, title, resumable, slack
        self.backlog: dict[str, int] = {}
        self._rates, self._since = Rates(), time.monotonic()
        self._rates.record(self._since, run.since_start)
        self._closed = Event()
        Thread(target=self._count_backlog, name="backlog", daemon=True).start()
        # Results that go to the same terminal are printed above; results that go to a file are left alone.
        self._live = Live(
            console=console, auto_refresh=False, transient=True, redirect_stdout=sys.stdout.isatty(),
            redirect_stderr=False,
        )  # fmt: skip
        self._live.start()

    def show(self, note: str = "") -> None:
        """Redraw the screen."""
        self._live.update(self.draw(time.monotonic(), note), refresh=True)

    def draw(self, now: float, note: str = "") -> Group:
        self._rates.record(now, self.run.since_start)
        head = Text.assemble((self.title, "bold"), f"  {clock(now - self._since)}  {batches(self.run)}")
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        drawn = list(rows(self.run, self._rates, now, self.backlog))
        columns = len(_COLUMNS) - (0 if any(row.utility is not None for row in drawn) else _SERVICE)
        for name in _COLUMNS[:columns]:
            table.add_column(name, justify="right" if name else "left", no_wrap=True)
        for row in drawn:
            table.add_row(*map(Text, row.cells()[:columns]))
        lines: list[Text | Table] = [head, table]
        if busy := load(self.run):
            lines.append(Text(busy, "" if self.run.service.state == NOTHING_SHED else "yellow"))
        if self.run.letters:
            lines.append(Text(dead_letter_count(self.run, self.resumable), "red"))
        lines += [Text(each, "red") for each in lost_tuples(self.run, self.slack)]
        if note:
            lines.append(Text(note, "yellow"))
        return Group(*lines)

    def close(self) -> None:
        self._closed.set()
        self._live.stop()

    def _count_backlog(self) -> None:
        """Count what waits, in a thread of its own because it may be slow."""
        while not self._closed.wait(_PAUSE):
            try:
                self.backlog = self.run.backlog()
            except Exception:  # the count is only for show, and the run reports what is wrong with a source
                self.backlog = {}
