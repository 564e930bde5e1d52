"""Totals: what a run has done since it was started, summed up batch by batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from australis.engine.losses import summed
from australis.engine.measures import rows_of
from australis.model.box import LATE, REFUSED


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

    One thread adds while others read: take a copy before iterating.
    """

    batches: int = 0
    taken: Counter[str] = field(default_factory=Counter)
    given: Counter[str] = field(default_factory=Counter)
    letters: int = 0
    boxes: dict[str, BoxTotals] = field(default_factory=dict)
    last: float | None = None
    """How many seconds the last batch took."""
    delay: dict[str, float] = field(default_factory=dict)
    """The longest delay of each output, in the last batch that gave it tuples."""

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

    def add(self, progress: dict[str, Any], tables: Iterable[pa.RecordBatch]) -> None:
        """Add a batch: its entry in a run's progress, and what was measured of it."""
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
        self.letters, self.last = progress["letters"], progress["seconds"]
        self.batches += 1
