"""Trial sheet: the results of a trial, as a table for people."""

from __future__ import annotations

from rich.box import SIMPLE_HEAD
from rich.table import Table as Sheet

from australis.apps.linear_road.rate import Trial
from australis.apps.linear_road.validation.verdict import NAMES


def sheet(trial: Trial) -> Sheet:
    """A table with a row for each kind of answer: how many are due, how many are faulty, and how long they took."""
    passed = "passed" if trial.verdict.ok else "failed"
    title = (
        f"{trial.xways} expressways: {passed}; {trial.reports:,} tuples at real time,"
        f" {trial.cores:.2f} cores, {trial.memory / 2**30:.1f} GiB, batches of {trial.batch:.2f} s"
        f" (worst {trial.worst:.2f}), {trial.warm:.0f} s at full speed before"
    )
    table = Sheet("answers", "due", "faults", "median s", "p99 s", "worst s", box=SIMPLE_HEAD)
    table.title, table.title_justify, table.title_style = title, "left", "bold"
    for column in table.columns[1:]:
        column.justify = "right"
    for tally in trial.verdict.tallies:
        times = ("-" if each is None else f"{each:.2f}" for each in (tally.median, tally.p99, tally.worst))
        faults = "not checked" if tally.unchecked else f"{tally.faults:,}"
        table.add_row(NAMES[tally.type], f"{tally.due:,}", faults, *times)
    return table
