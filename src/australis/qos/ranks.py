"""Ranks: which tuples are shed first (Aurora 4.5).

Each tuple has a rank from 0 up to 1, and a place that keeps the part y of its tuples keeps those of a rank below y.
With one rank along a way, what is kept downstream was kept upstream. A rank follows from the tuple and from values in
the batch's offset alone, so that a batch that is run again sheds the same tuples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import pyarrow as pa

from australis.arrow.columns import Bools, Floats, Ints, plain
from australis.expressions import Expr
from australis.kernels.jit import kernel
from australis.model.keys import buckets
from australis.model.qos import Graph
from australis.model.train import Train

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_HASHES = 1 << 40
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
class KeyRank:
    """By the values of columns: all tuples of a group are kept, or none."""

    columns: tuple[str, ...]

    _SEED: ClassVar[np.uint64] = np.uint64(0x5EED)

    def of(self, train: Train) -> Floats:
        # Mixed once more, since tuples lie in partitions by the same hash.
        return _uniform(buckets([train[name] for name in self.columns], len(train), _HASHES), self._SEED)


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

    def of(self, train: Train) -> Floats:
        bins = self.bins(self.worth(train))
        above = np.array([*np.cumsum(self.counts[::-1])[::-1][1:], 0], np.float64)
        total = max(sum(self.counts), 1)
        chance = _uniform(train.number, np.uint64(self.seed & 0xFFFFFFFFFFFFFFFF))
        return (above[bins] + np.array(self.counts, np.float64)[bins] * chance) / total

    def worth(self, train: Train) -> Floats:
        """What each tuple is worth."""
        values, valid = plain(self.value.bind(train.schema).evaluate(train.view).cast(pa.float64()))
        worth = self.graph.utilities(values)
        known = ~np.isnan(values) if valid is None else valid & ~np.isnan(values)
        return np.where(known, worth, 1.0)

    @staticmethod
    def bins(worth: Floats) -> Ints:
        """The part of [0, 1] that each worth is in."""
        return np.minimum((worth * BINS).astype(np.int64), BINS - 1)


@dataclass(frozen=True)
class Part:
    """The part of tuples that is kept: one number, or steps along a column by which windows are made.

    With steps, `values` has where each begins, ascending; before the first all are kept.
    """

    parts: tuple[float, ...]
    on: str = ""
    values: tuple[float, ...] = ()

    def of(self, train: Train) -> Floats | float:
        """The part that is kept at each tuple. One without a value is in no window, and counts as in the last."""
        if not self.on:
            return self.parts[0]
        values, valid = plain(train[self.on])
        steps = np.searchsorted(np.array(self.values), values, side="right")
        steps = steps if valid is None else np.where(valid, steps, len(self.values))
        return np.array([1.0, *self.parts])[steps]

    def least(self, start: Floats, end: Floats) -> Floats:
        """The least part that is kept anywhere from a start up to an end, for each of some windows."""
        first = np.searchsorted(np.array(self.values), start, side="right")
        last = np.maximum(np.searchsorted(np.array(self.values), end, side="left"), first)
        parts = np.array([1.0, *self.parts])
        return np.minimum.reduceat(np.append(parts, np.inf), np.stack([first, last + 1], 1).ravel())[::2]


def kept(rank: Rank, part: Part, train: Train) -> Bools:
    """Which tuples are kept."""
    return rank.of(train) < part.of(train)


@kernel
def _uniform(words: Ints, seed: np.uint64) -> Floats:
    """A number from 0 up to 1 for each word: the outputs of splitmix64 at these places of the stream of a seed."""
    result = np.empty(len(words), np.float64)
    for row in range(len(words)):
        z = np.uint64(words[row]) * _STEP + seed
        z = (z ^ (z >> np.uint64(30))) * _FIRST
        z = (z ^ (z >> np.uint64(27))) * _SECOND
        z = z ^ (z >> np.uint64(31))
        result[row] = float(z >> np.uint64(11)) / 2.0**53
    return result
