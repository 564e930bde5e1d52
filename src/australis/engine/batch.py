"""A batch: what all its tasks know, and how its tuples are numbered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from australis.errors import RunError
from australis.model.box import Moment
from australis.model.train import Ints
from australis.qos.shedding import ShedPlan

_ROW_BITS = 26
_WIDE = 1 << 36


def room(splits: int, wide: bool = False) -> int:
    """How many arrival numbers a batch of so many splits has; many more if a source gives `wide` numbers of its own.

    At 60 ms a batch there are enough for 16 years with 16 splits, and for 93 days if they are wide.
    """
    return max(splits << _ROW_BITS, _WIDE if wide else 1)


@dataclass(frozen=True)
class Apart:
    """Branches that read by themselves in a batch, since they wait or have waited."""

    branches: tuple[str, ...]
    until: int
    """As for a batch."""


@dataclass(frozen=True)
class Batch:
    """What all tasks of a batch know of it."""

    version: int
    """The version of state and sinks that it makes."""
    clock: int
    """The local time in microseconds."""
    end: bool = False
    """Whether all inputs end with it."""
    network: int = 1
    """The number of the network that it runs."""
    began: int = 1
    """The first version of that network."""
    ended: frozenset[str] = frozenset()
    """The inputs that end with it, or ended before."""
    first: int = 0
    """The least arrival number of its tuples."""
    room: int = _WIDE
    """How many arrival numbers it has."""
    until: int | None = None
    """The time before which all that came is in this batch or before it, if that is not the clock: more waits."""

    shed: ShedPlan | None = None
    """What is left out of it, if anything."""
    apart: tuple[Apart, ...] = ()
    """The branches that are not at the front; see `engine/positions.py`."""

    @property
    def changed(self) -> bool:
        """Whether it is the first of its network."""
        return self.version == self.began

    @property
    def moment(self) -> Moment:
        """The moment of the last step of the batch.

        Windows time out by how far the inputs have come, not by the clock: a window must not end before the tuples that
        came in time for it, and only wait for the next batch. So it holds the same however a backlog is cut.
        """
        return self.moment_at(self.clock if self.until is None else self.until)

    def moment_at(self, until: int) -> Moment:
        """The same for branches that have come as far as a time."""
        return Moment(self.first + self.room - 1, until, self.end, self.ended)

    def numbers(self, split: int, row: int, count: int) -> Ints:
        """Arrival numbers of rows of a split: they go by splits, then by rows."""
        if row + count > 1 << _ROW_BITS or (split + 1) << _ROW_BITS > self.room:
            raise RunError(f"a batch with more than {1 << _ROW_BITS} tuples in a split: let batches be smaller")
        return self.first + (split << _ROW_BITS) + row + np.arange(count)

    def merging(self, numbers: Ints) -> Ints:
        """Arrival numbers of tuples that a source numbers itself, from 1 within the batch and over all splits."""
        if len(numbers) and not 0 < numbers[0] <= numbers[-1] < self.room:
            raise RunError(f"a batch with more than {self.room} numbers: let batches be smaller")
        return self.first + numbers


def batch(offset: dict[str, Any]) -> Batch:
    """The batch that ends at an offset of a run."""
    names = ("version", "clock", "end", "network", "began", "first", "room")
    return Batch(
        **{name: offset[name] for name in names},
        ended=frozenset(offset.get("ended", ())),
        until=offset.get("until"),
        shed=ShedPlan.parse(offset["shed"]) if offset.get("shed") else None,
        apart=tuple(Apart(tuple(each["branches"]), each["until"]) for each in offset.get("apart", ())),
    )
