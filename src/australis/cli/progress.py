"""The progress of a run: rows and lines for people, and objects for programs."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from australis.connectors import dead_letters
from australis.engine.losses import losses
from australis.qos.control import EXACT, NOTHING_SHED, SHED

if TYPE_CHECKING:
    from australis.engine.spark.run import Run
    from australis.engine.totals import Totals

_STATES = {NOTHING_SHED: "nothing shed", SHED: "shedding", EXACT: "and exact outputs alone are too much"}
_SPAN = 5.0  # seconds over which tuples a second are averaged


@dataclass(frozen=True)
class Row:
    """An input or an output: its tuples since the start, how many a second, how many wait, and how late they are.

    Of an output also what it is worth of late, and the part of it that was shed.
    """

    way: str
    name: str
    tuples: int
    a_second: float
    waiting: int | None = None
    delay: float | None = None
    utility: float | None = None
    loss: float | None = None

    def cells(self) -> tuple[str, ...]:
        """The row as people read it.

        >>> Row("in", "reports", 1234567, 250000.4, waiting=0).cells()
        ('in', 'reports', '1,234,567', '250,000', '0', '', '', '')
        >>> Row("out", "fast", 40, 1.0, delay=0.25, utility=0.98, loss=0.125).cells()[4:]
        ('', '0.25 s', '0.98', '12%')
        """
        waiting = "" if self.waiting is None else f"{self.waiting:,}"
        delay = "" if self.delay is None else f"{self.delay:.2f} s"
        utility = "" if self.utility is None else f"{self.utility:.2f}"
        loss = "" if self.loss is None else f"{self.loss:.0%}"
        return self.way, self.name, f"{self.tuples:,}", rate(self.a_second), waiting, delay, utility, loss


@dataclass
class Rates:
    """Tuples a second of inputs and outputs, over the last seconds, or the last batches if they are long."""

    samples: deque[tuple[float, int, dict[str, int]]] = field(default_factory=deque)

    def record(self, now: float, totals: Totals) -> None:
        """Record the totals at a time in seconds."""
        if self.samples and self.samples[-1][1] == totals.batches:
            return
        self.samples.append((now, totals.batches, {**totals.taken, **totals.given}))
        while len(self.samples) > 3 and now - self.samples[0][0] > _SPAN:
            self.samples.popleft()

    def of(self, name: str, now: float) -> float:
        if not self.samples or now <= self.samples[0][0]:
            return 0.0
        (since, _, first), (_, _, last) = self.samples[0], self.samples[-1]
        return (last.get(name, 0) - first.get(name, 0)) / (now - since)


def rows(run: Run, rates: Rates, now: float, backlog: Mapping[str, int]) -> Iterator[Row]:
    """A row for each stream input and each output of a run."""
    for input in run.network.inputs:
        if not input.static:
            name = input.name
            yield Row("in", name, run.since_start.taken[name], rates.of(name, now), waiting=backlog.get(name))
    service = run.service.outputs
    for output in run.network.outputs:
        name, qos = output.name, output.qos
        known = service.get(name) if qos.latency or qos.delivered or (name in service and service[name].loss) else None
        utility, loss = (None, None) if known is None else (known.utility, known.loss)
        delay = run.since_start.delay.get(name)
        yield Row("out", name, run.since_start.given[name], rates.of(name, now), None, delay, utility, loss)


def load(run: Run) -> str:
    """How much of the machine a run would take, and what is shed or waits; empty if nothing is steered."""
    service = run.service
    if service.used is None:
        return ""
    waits = [f"; {name} is {wait.seconds:.0f} s behind" for name, wait in service.behind.items()]
    return f"{service.used:.0%} of the headroom, {_STATES[service.state]}{''.join(waits)}"


def batches(run: Run) -> str:
    """How many batches are done, and how long the last one took."""
    if run.since_start.last is None:
        return "waiting for the first batch"
    return f"{count(run.since_start.batches, 'batch', 'batches')}, the last in {run.since_start.last:.2f} s"


def dead_letter_count(run: Run, resumable: bool) -> str:
    """How many tuples could not be read or were refused, and where they are."""
    number = count(run.letters, "dead letter", "dead letters")
    where = f" in {short(run.checkpoint.path / 'letters')}" if resumable else " (give --checkpoint to keep them)"
    return f"{number}{where}" if run.letters else "no dead letters"


def lost_tuples(run: Run, slack: str = "") -> list[str]:
    """The late and refused tuples that no arrow takes, with what to do, and those that were shed.

    `slack` says how people set slack.
    """
    shed = [f"{count:,} tuples were shed before {place}" for place, count in run.since_start.shed.items() if count]
    return [*losses(run.optimized, run.since_start.ports, slack, letters=True), *shed]


def shed_outputs(run: Run) -> list[str]:
    """What outputs were worth in the last minute of a run, those of which something was shed."""
    return [
        f"output {name}: {each.loss:.0%} shed in the last minute, utility {each.utility:.2f}"
        for name, each in run.service.outputs.items()
        if each.loss
    ]


def first_dead_letter(run: Run) -> str:
    """The end of a line, about the first tuple that could not be read; "" if there is none."""
    first = dead_letters.dead_letters(run.checkpoint.path).slice(0, 1).to_pylist() if run.letters else []
    return "".join(
        f"; the first: {row['input']}: {dead_letters.Letter(row['reason'], row['file'], row['position'], row['raw'])}"
        for row in first
    )


def summary(run: Run, seconds: float, resumable: bool, sinks: Mapping[str, str]) -> str:
    """Summarize a run in one line."""
    inputs = ", ".join(
        f"{row.name} {row.tuples:,}{skipped_count(run.since_start.skipped.get(row.name, 0))}"
        for row in rows(run, Rates(), 0, {})
        if row.way == "in"
    )
    outputs = ", ".join(
        f"{row.name} {row.tuples:,}" + (f" ({sinks[row.name]})" if sinks.get(row.name, "console") != "console" else "")
        for row in rows(run, Rates(), 0, {})
        if row.way == "out"
    )
    batch_count = f"{count(run.since_start.batches, 'batch', 'batches')} in {seconds:.1f} s"
    return f"in: {inputs}; out: {outputs}; {batch_count}; {dead_letter_count(run, resumable)}"


def skipped_count(tuples: int) -> str:
    """The end of an input's count, about tuples that were left unread; "" if there are none."""
    return f" ({tuples:,} skipped)" if tuples else ""


def batch_object(progress: Mapping[str, Any], dead_letters_before: int) -> dict[str, Any]:
    """A batch for programs, with only its own dead letters."""
    return {
        "batch": progress["batch"],
        "seconds": round(progress["seconds"], 6),
        "taken": progress["taken"],
        "given": progress["given"],
        "delay": progress["delay"],
        "late": progress["late"],
        "refused": progress["refused"],
        "letters": progress["letters"] - dead_letters_before,
        "shed": progress["shed"],
        "skipped": progress["skipped"],
        "utility": rounded(progress["utility"]),
        "loss": rounded(progress["loss"]),
        "used": None if progress["used"] is None else round(progress["used"], 4),
        "state": progress["state"],
    }


def rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in values.items()}


def total_object(run: Run, seconds: float, resumable: bool, ended: str) -> dict[str, Any]:
    """A run for programs. `ended` is `end`, `interrupt` or `failure`."""
    totals = {row.name: row.tuples for row in rows(run, Rates(), 0, {})}
    return {
        "batches": run.since_start.batches,
        "seconds": round(seconds, 6),
        "taken": {input.name: totals[input.name] for input in run.network.inputs if input.name in totals},
        "given": {output.name: totals[output.name] for output in run.network.outputs},
        "late": run.since_start.late,
        "refused": run.since_start.refused,
        "shed": {place: count for place, count in run.since_start.shed.items() if count},
        "skipped": dict(run.since_start.skipped),
        "letters": run.letters,
        "letters_in": str(run.checkpoint.path / "letters") if resumable and run.letters else None,
        "ended": ended,
    }


def count(number: int, one: str, more: str) -> str:
    """
    >>> count(1, "batch", "batches"), count(1200, "batch", "batches")
    ('1 batch', '1,200 batches')
    """
    return f"{number:,} {one if number == 1 else more}"


def rate(a_second: float) -> str:
    """
    >>> rate(0.0), rate(0.26), rate(12345.6)
    ('0', '0.3', '12,346')
    """
    return f"{a_second:.1f}" if 0 < a_second < 10 else f"{a_second:,.0f}"


def clock(seconds: float) -> str:
    """
    >>> clock(7), clock(83.4), clock(3723)
    ('0:07', '1:23', '1:02:03')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def short(path: Path) -> str:
    """A path as people would write it, relative if it is below this folder."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative
