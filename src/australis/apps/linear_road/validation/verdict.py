"""Verdict: how many answers were right, wrong, missing or late, and the first of each kind of fault (3.3)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from australis.apps.linear_road.record import ALERT, BALANCE, EXPENDITURE, LIMITS, TOLL, TRAVEL

NAMES = {
    TOLL: "toll notifications",
    ALERT: "accident alerts",
    BALANCE: "account balances",
    EXPENDITURE: "daily expenditures",
    TRAVEL: "travel times",
}
FAULTS = ("wrong", "missing", "doubled", "unasked", "late", "early")
BROKEN = "broken"


@dataclass(frozen=True)
class AnswerCounts:
    """The answers of one type: each that is due is right, wrong, missing or not checked, and may be late or early."""

    type: int
    due: int = 0
    right: int = 0
    wrong: int = 0
    missing: int = 0
    unchecked: int = 0
    """Answers that cannot be checked, because they are in a history that was not given."""
    shed: int | None = 0
    """Answers that the run says it has left out, which must be missing; None if it has left out some, uncounted."""
    doubled: int = 0
    """Answers to requests that an earlier line has answered."""
    unasked: int = 0
    late: int = 0
    early: int = 0
    """Answers with a time before that of their request."""
    worst: float | None = None
    median: float | None = None
    p99: float | None = None
    """Seconds from a question to its answer."""

    @property
    def unexplained(self) -> int:
        """How many more answers are missing than were shed, or fewer."""
        return 0 if self.shed is None or self.unchecked else abs(self.missing - self.shed)

    @property
    def faults(self) -> int:
        """How many faults there are; an answer may be both wrong and late. One that was shed is none."""
        counts: list[int] = [getattr(self, kind) for kind in FAULTS if kind != "missing"]
        return sum(counts) + self.unexplained

    @property
    def ok(self) -> bool:
        return not self.faults and not self.unchecked


@dataclass(frozen=True)
class Fault:
    """A fault, as it is shown. A broken line has no type."""

    type: int | None
    kind: str
    text: str


@dataclass(frozen=True)
class Verdict:
    """The result of validating a run."""

    tallies: tuple[AnswerCounts, ...]
    broken: int
    """How many lines of the output are not answers."""
    faults: tuple[Fault, ...]
    """The first faults of each kind."""

    @property
    def ok(self) -> bool:
        """Whether every answer is known to be right, and in time."""
        return not self.broken and all(tally.ok for tally in self.tallies)

    @property
    def late(self) -> int:
        """How many answers came after their limit."""
        return sum(tally.late for tally in self.tallies)

    @property
    def missing(self) -> bool:
        """Whether answers are missing that were not shed, and all that are there are right, in time or not."""
        unexplained = sum(tally.unexplained for tally in self.tallies)
        faults = sum(tally.faults - tally.late for tally in self.tallies)
        return bool(unexplained) and not self.broken and faults == unexplained

    @property
    def unchecked(self) -> int:
        """How many answers were not checked."""
        return sum(tally.unchecked for tally in self.tallies)

    @property
    def right(self) -> bool:
        """Whether every answer that was checked is right, in time or not: lateness depends on how busy a machine is."""
        return not self.broken and all(tally.faults == tally.late for tally in self.tallies)

    def text(self) -> str:
        """A table of at most 80 columns, then the faults."""
        head = ["answers", "due", "right", "faults", "median", "p99", "worst", "limit"]
        rows = [head, *(_row(tally) for tally in self.tallies)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
        lines = [
            "  ".join(
                cell.rjust(width) if column else cell.ljust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            for row in rows
        ]
        lines += ["", "Times are seconds from question to answer.", f"broken lines: {self.broken}"]
        if self.unchecked:
            left_out = [f"{tally.unchecked:,} {NAMES[tally.type]}" for tally in self.tallies if tally.unchecked]
            lines += [
                f"NOT checked: {' and '.join(left_out)}.",
                "They ask about the weeks before, of which no history was given.",
            ]
        lines += [_shed(tally) for tally in self.tallies if tally.shed != 0 and not tally.unchecked]
        lines.append(self._words())
        for title, faults in self._kinds():
            lines += ["", title, *(f"  {fault.text}" for fault in faults)]
        return "\n".join(lines)

    def _words(self) -> str:
        if self.missing:
            lost = [tally for tally in self.tallies if tally.unexplained]
            missing = " and ".join(f"{tally.missing:,} {NAMES[tally.type]}" for tally in lost)
            shed = any(tally.shed for tally in lost)
            return "verdict: none is wrong, but " + (
                "what is missing is not what was shed" if shed else f"{missing} are missing"
            )
        if not self.right:
            return "verdict: NOT right"
        checked = " in what was checked" if self.unchecked else ""
        return f"verdict: right{checked}" + (f", but {self.late:,} late" if self.late else "")

    def as_dict(self) -> dict[str, Any]:
        """The verdict for JSON."""
        return {
            "ok": self.ok,
            "right": self.right,
            "missing": self.missing,
            "unchecked": self.unchecked,
            "broken": self.broken,
            "answers": {NAMES[tally.type]: asdict(tally) | {"limit": LIMITS[tally.type]} for tally in self.tallies},
            "faults": [asdict(fault) for fault in self.faults],
        }

    def _kinds(self) -> list[tuple[str, list[Fault]]]:
        kinds: dict[str, list[Fault]] = {}
        counts = {tally.type: tally for tally in self.tallies}
        for fault in self.faults:
            if fault.type is None:
                title, count = "broken lines", self.broken
            else:
                title, count = f"{NAMES[fault.type]}, {fault.kind}", getattr(counts[fault.type], fault.kind)
            kinds.setdefault(f"{title} ({count})", []).append(fault)
        return [
            (f"{title}, the first {len(faults)}:" if not title.endswith(f"({len(faults)})") else f"{title}:", faults)
            for title, faults in kinds.items()
        ]


def _shed(tally: AnswerCounts) -> str:
    """
    >>> _shed(AnswerCounts(TRAVEL, missing=3, shed=3)), _shed(AnswerCounts(TRAVEL, missing=3, shed=2))
    ('shed: 3 travel times, and as many are missing', 'shed: 2 travel times, but 3 are missing')
    """
    if tally.shed is None:
        return f"shed: some {NAMES[tally.type]}, not counted; {tally.missing:,} are missing"
    missing = f"but {tally.missing:,} are missing" if tally.unexplained else "and as many are missing"
    return f"shed: {tally.shed:,} {NAMES[tally.type]}, {missing}"


def _row(tally: AnswerCounts) -> list[str]:
    times = map(_seconds, (tally.median, tally.p99, tally.worst))
    right = "?" if tally.unchecked else f"{tally.right:,}"
    counts = [f"{tally.due:,}", right, f"{tally.faults:,}"]
    return [NAMES[tally.type], *counts, *times, f"{LIMITS[tally.type]:g}"]


def _seconds(time: float | None) -> str:
    return "-" if time is None else f"{time:.2f}" if time < 100 else f"{time:,.0f}"
