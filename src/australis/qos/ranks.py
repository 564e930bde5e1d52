"""Ranks: which tuples are shed first (Aurora 4.5).

Each tuple has a rank from 0 up to 1, and a place that keeps the part y of its tuples keeps those of a rank below y.
With one rank along a way, what is kept downstream was kept upstream. Windows have ranks too, and are left out whole. A
rank follows from the tuple, or the window, and from values in the batch's offset alone, so that a batch that is run
again sheds the same.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from australis.arrow.columns import Bools, Floats, Ints, plain
from australis.expressions import Expr
from australis.kernels.jit import kernel
from australis.kernels.random import STEP, uniform_at
from australis.model.qos import Graph
from australis.model.train import Train
from australis.model.windows import TupleWindows

_LEAST, _MOST = -(2**63), 2**63 - 1
_WINDOWS = np.uint64(0x57A1)
BINS = 32
"""Into how many parts of equal width the worth of tuples is divided."""


class Rank(Protocol):
    """A way to rank tuples."""

    def of(self, train: Train) -> Floats:
        """The rank of each tuple."""
        ...


@dataclass(frozen=True)
class NumberRank:
    """By chance: a hash of the arrival number. Another seed sheds other tuples."""

    seed: int = 0

    def of(self, train: Train) -> Floats:
        return _uniform(train.number, np.uint64(self.seed & 0xFFFFFFFFFFFFFFFF))


@dataclass(frozen=True)
class ValueRank:
    """By what a value is worth, the least first; by chance among those that are worth about the same.

    A tuple without a value counts as worth all: nobody has said that it is worth less.
    """

    value: Expr
    graph: Graph
    counts: tuple[int, ...]
    """How many tuples had a worth in each of BINS parts of [0, 1], the least first."""
    seed: int = 0
    output: str = ""
    """The output that values them so."""

    def of(self, train: Train) -> Floats:
        bins = self.bins(self.worth(train))
        above = np.array([*np.cumsum(self.counts[::-1])[::-1][1:], 0], np.float64)
        total = max(sum(self.counts), 1)
        chance = _uniform(train.number, np.uint64(self.seed & 0xFFFFFFFFFFFFFFFF))
        return (above[bins] + np.array(self.counts, np.float64)[bins] * chance) / total

    def worth(self, train: Train) -> Floats:
        """What each tuple is worth."""
        values, valid = plain(self.value.bind(train.schema).evaluate(train.view).cast(pa.float64(), safe=False))
        worth = self.graph.utilities(values)
        known = ~np.isnan(values) if valid is None else valid & ~np.isnan(values)
        return np.where(known, worth, 1.0)

    @staticmethod
    def bins(worth: Floats) -> Ints:
        """The part of [0, 1] that each worth is in."""
        return np.minimum((worth * BINS).astype(np.int64), BINS - 1)


@dataclass(frozen=True)
class WindowPart:
    """The part of windows that is kept, by their numbers: steps, before the first of which all are kept.

    A window is kept whole or not at all. Of one that is not, the first tuples of each train go on, one more than the
    slack: so tuples of windows before it are late, and windows before it end, as if all of it had come. What comes out
    of it is left out again.
    """

    numbers: tuple[int, ...] = ()
    """Where each step begins, ascending."""
    parts: tuple[float, ...] = ()

    def changed(self, part: float, seen: int) -> WindowPart:
        """The steps from now on, if so much is kept, and the greatest window that tuples have been seen of is known.

        Less can be kept at once: a window that has begun is given up, and what came out of others is out. More can be
        kept only of windows that have not begun, for others lack tuples.

        >>> WindowPart().changed(0.5, 7).changed(0.2, 8).changed(1.0, 9)
        WindowPart(numbers=(-9223372036854775808, 10), parts=(0.2, 1.0))
        """
        last = self.parts[-1] if self.parts else 1.0
        if part > last:
            numbers, parts = (*self.numbers, seen + 1), (*self.parts, part)
        elif part < last:
            numbers = self.numbers if self.numbers[:1] == (_LEAST,) else (_LEAST, *self.numbers)
            parts = tuple(min(part, each) for each in (self.parts if numbers == self.numbers else (1.0, *self.parts)))
        else:
            return self
        same = [place for place in range(1, len(parts)) if parts[place] == parts[place - 1]]
        kept = [place for place in range(len(parts)) if place not in same]
        return WindowPart(tuple(numbers[place] for place in kept), tuple(parts[place] for place in kept))

    def followed_by(self, other: WindowPart, seen: int | None) -> WindowPart:
        """The steps from now on, if another plan has these others: windows that have begun keep the lesser part.

        Where it is not known which have begun (`seen` is none), all keep the lesser part.

        >>> WindowPart((0,), (0.5,)).followed_by(WindowPart((4,), (0.2,)), 7)
        WindowPart(numbers=(0, 4), parts=(0.5, 0.2))
        >>> WindowPart((0,), (0.5,)).followed_by(WindowPart(), 7)
        WindowPart(numbers=(0, 8), parts=(0.5, 1.0))
        """
        begun = _MOST if seen is None else seen
        numbers = sorted({*self.numbers, *other.numbers, min(begun, _MOST - 1) + 1})
        parts = [other.at(n) if n > begun else min(self.at(n), other.at(n)) for n in numbers]
        steps = [place for place, part in enumerate(parts) if part != (parts[place - 1] if place else 1.0)]
        return WindowPart(tuple(numbers[place] for place in steps), tuple(parts[place] for place in steps))

    def at(self, number: int) -> float:
        """The part of windows of a number that is kept."""
        step = bisect_right(self.numbers, number)
        return self.parts[step - 1] if step else 1.0

    def kept(self, windows: TupleWindows) -> Bools:
        """Which windows are kept; what is in none is."""
        words = windows.groups * np.int64(0x632BE59BD9B4E019) + windows.numbers  # which may wrap around
        steps = np.searchsorted(np.array(self.numbers, np.int64), windows.numbers, side="right")
        return (_uniform(words, _WINDOWS) < np.array([1.0, *self.parts])[steps]) | ~windows.placed

    def passing(self, windows: TupleWindows) -> Bools:
        """Which tuples of a train go on: those of windows that are kept, and the first of others."""
        mask = self.kept(windows)
        _let_first(windows.groups, windows.numbers, mask, windows.slack + 1)
        return mask


@kernel
def _uniform(words: Ints, seed: np.uint64) -> Floats:
    """A number from 0 up to 1 for each word: the outputs of splitmix64 at these places of the stream of a seed."""
    result = np.empty(len(words), np.float64)
    for row in range(len(words)):
        result[row] = uniform_at(np.uint64(words[row]) * STEP + seed)
    return result


@kernel
def _let_first(groups: Ints, numbers: Ints, mask: Bools, most: int) -> None:
    """Let the first tuples of each window through that is not, in an open-addressed table of windows and counts."""
    left = len(mask) - mask.sum()
    size = 16
    while size < 2 * left:
        size *= 2
    owner, count = np.full(size, -1, np.int64), np.zeros(size, np.int64)
    for row in range(len(mask)):
        if mask[row]:
            continue
        z = (np.uint64(groups[row]) + np.uint64(numbers[row]) * STEP) * STEP
        slot = np.int64((z ^ (z >> np.uint64(32))) & np.uint64(size - 1))
        while owner[slot] >= 0 and (groups[owner[slot]] != groups[row] or numbers[owner[slot]] != numbers[row]):
            slot = (slot + 1) & (size - 1)
        if owner[slot] < 0:
            owner[slot] = row
        count[slot] += 1
        mask[row] = count[slot] <= most
