"""Totals: what a run has done, summed up batch by batch, each of them once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from australis.disk.private import private
from australis.engine.losses import summed
from australis.engine.measures import rows_of
from australis.model.box import LATE, REFUSED

_FILE = "measures/totals.json"


@dataclass
class BoxTotals:
    """The seconds that a box has taken, and the tuples that it took and gave."""

    seconds: float = 0.0
    taken: int = 0
    given: dict[str, int] = field(default_factory=dict)
    """By port."""


@dataclass
class Totals:
    """Tuples by the names of inputs and outputs, and costs by those of boxes.

    Batches are known by their version: one that is run again, after a failure or a restart, is not counted again. One
    thread adds while others read: take a copy before iterating.
    """

    version: int = 0
    """The last batch that was counted."""
    batches: int = 0
    taken: Counter[str] = field(default_factory=Counter)
    given: Counter[str] = field(default_factory=Counter)
    letters: int = 0
    boxes: dict[str, BoxTotals] = field(default_factory=dict)
    last: float | None = None
    """How many seconds the last batch took."""
    delay: dict[str, float] = field(default_factory=dict)
    """The longest delay of each output, in the last batch that gave it tuples."""
    oldest: dict[str, float] = field(default_factory=dict)
    """The greatest age of each output, likewise."""
    delays: dict[str, list[int]] = field(default_factory=dict)
    """A histogram of the delays of each output."""
    delayed: dict[str, float] = field(default_factory=dict)
    """The sum of the delays of each output, in seconds."""
    costs: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    """The seconds and tuples of each `source`, `exchange` and `sink`, by name; an exchange has that of its arrow."""
    fixed: float = 0.0
    """The seconds of batches that nothing else took."""
    shed: dict[str, int] = field(default_factory=dict)
    """How many tuples were left out before each input, box and output."""
    skipped: dict[str, int] = field(default_factory=dict)
    """How many of the tuples taken from each input were left unread, since they matter to nobody."""

    @property
    def ports(self) -> dict[str, dict[str, int]]:
        """The tuples that boxes have given, by name and by port."""
        return {name: dict(box.given) for name, box in dict(self.boxes).items()}

    @property
    def late(self) -> dict[str, int]:
        """The boxes that found tuples late, and how many."""
        return summed(self.ports, LATE)

    @property
    def refused(self) -> dict[str, int]:
        """The boxes that refused tuples, and how many."""
        return summed(self.ports, REFUSED)

    def add(self, progress: dict[str, Any], tables: Iterable[pa.RecordBatch], letters: int = 0) -> None:
        """Add a batch, if it is new: its entry in a run's progress, what was measured of it, and its dead letters."""
        if progress["batch"] <= self.version:
            return
        self.version = progress["batch"]
        self.taken.update(progress["taken"])
        self.given.update(progress["given"])
        self.delay |= {name: worst for name, worst in progress["delay"].items() if worst is not None}
        for row in rows_of(tables):
            if row["kind"] == "box":
                box = self.boxes.setdefault(row["name"], BoxTotals())
                box.seconds += row["seconds"]
                box.taken += row["taken"]
            elif row["kind"] == "arrow" and row["taken"] is not None:
                ports = self.boxes.setdefault(row["name"], BoxTotals()).given
                ports[row["port"]] = ports.get(row["port"], 0) + row["given"]
            elif row["kind"] in ("source", "exchange", "sink"):
                self._add_cost(row)
            elif row["kind"] == "output" and row["delays"] is not None:
                self._add_delays(row)
            elif row["kind"] == "batch":
                self.fixed += row["fixed"]
        for place, dropped in progress.get("shed", {}).items():
            self.shed[place] = self.shed.get(place, 0) + dropped
        for name, count in progress.get("skipped", {}).items():
            self.skipped[name] = self.skipped.get(name, 0) + count
        self.letters, self.last = self.letters + letters, progress["seconds"]
        self.batches += 1

    def _add_cost(self, row: dict[str, Any]) -> None:
        name = f"{row['name']}.{row['port']}" if row["kind"] == "exchange" else row["name"]
        cost = self.costs.setdefault(row["kind"], {}).setdefault(name, [0.0, 0])
        cost[0] += row["seconds"]
        cost[1] += row["given"] if row["kind"] == "source" else row["taken"]

    def _add_delays(self, row: dict[str, Any]) -> None:
        name, counts = row["name"], row["delays"]
        self.delays[name] = [
            one + more for one, more in zip(self.delays.get(name, [0] * len(counts)), counts, strict=True)
        ]
        self.delayed[name] = self.delayed.get(name, 0.0) + row["delay"] * row["given"]
        self.oldest[name] = row["oldest"]

    def save(self, checkpoint: str | Path) -> None:
        """Save the totals on a checkpoint, whole or not at all. They need not outlast a power cut."""
        path = Path(checkpoint) / _FILE
        path.parent.mkdir(exist_ok=True)
        temporary = path.with_name(f".{path.name}.tmp")
        values = {**vars(self), "boxes": {name: vars(box) for name, box in self.boxes.items()}}
        with temporary.open("wb") as file:
            private(file).write(json.dumps(values).encode())
        temporary.replace(path)


def read_totals(checkpoint: str | Path, planned: int) -> Totals:
    """The totals on a checkpoint whose last batch that was `planned` has a version.

    They begin anew if there are none, none that read, or those of batches that the checkpoint does not know.
    """
    try:
        saved = json.loads((Path(checkpoint) / _FILE).read_text())
        boxes = {name: BoxTotals(**box) for name, box in saved.pop("boxes").items()}
        taken, given = Counter(saved.pop("taken")), Counter(saved.pop("given"))
        totals = Totals(**saved, taken=taken, given=given, boxes=boxes)
        return totals if totals.version <= planned else Totals()
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Totals()
