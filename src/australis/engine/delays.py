"""Delays: how long results took since the tuple came that completed them.

A result has the arrival number of the tuple that completed it, but not when that tuple came. So tasks that read send
sketches of when the tuples of their splits came, parts of outputs have sketches of their numbers, and the driver maps
one through the other. Neither grows with the tuples.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from australis.arrow.columns import Floats
from australis.model.network import OUT, Arrow, Network
from australis.model.train import Ints, Train

POINTS = 256
"""How many points a sketch has at most."""
EDGES = 10 ** (np.arange(49) / 8 - 3)
"""The upper ends of the buckets of a histogram, in seconds: 8 a factor of 10, from 1 ms to 1,000 s."""


@dataclass
class ArrivalSketch:
    """When the tuples of a split came: points of arrival number and `ts`, evenly spaced by tuples, exact at both ends.

    There are 128 points at least, unless there are fewer tuples. Points on a level line need not be kept.
    """

    numbers: list[Ints] = field(default_factory=list)
    times: list[Ints] = field(default_factory=list)
    tuples: int = 0
    stride: int = 1
    """How many tuples lie between two points."""
    last: tuple[int, int] | None = None

    def add(self, train: Train) -> None:
        """Add the tuples that follow."""
        if not len(train):
            return
        before, self.tuples = self.tuples, self.tuples + len(train)
        while self.tuples > (POINTS - 1) * self.stride:
            self.stride *= 2
            self.numbers, self.times = (
                [np.concatenate(each)[::2]] if each else [] for each in (self.numbers, self.times)
            )
        rows = slice(-before % self.stride, None, self.stride)
        # Copies: a view would keep all numbers of the train in memory, and that of the next ones would be slow to get.
        self.numbers.append(train.number[rows].copy())
        self.times.append(train.ts[rows].copy())
        self.last = int(train.number[-1]), int(train.ts[-1])

    def points(self) -> tuple[Ints, Ints]:
        """The numbers and times of the points."""
        if self.last is None:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        numbers, times = np.concatenate(self.numbers), np.concatenate(self.times)
        if numbers[-1] != self.last[0]:
            numbers, times = np.append(numbers, self.last[0]), np.append(times, self.last[1])
        kept = np.ones(len(times), np.bool_)
        kept[1:-1] = (times[1:-1] != times[:-2]) | (times[1:-1] != times[2:])
        return numbers[kept], times[kept]


def number_sketch(trains: Iterable[Train]) -> tuple[Ints, Ints]:
    """The arrival numbers of trains, and how many tuples each stands for: all of them, or 256 that others lie around.

    The first and the last number are exact. No other number is selected from the trains.
    """
    trains = [train for train in trains if len(train)]
    starts = np.cumsum([0, *map(len, trains)])
    bounds = np.arange(starts[-1] + 1)
    if starts[-1] > POINTS:
        bounds = np.concatenate([[0], np.linspace(1, starts[-1] - 1, POINTS - 1).astype(np.int64), starts[-1:]])
    places = (bounds[:-1] + bounds[1:]) // 2
    numbers = [
        train.numbers(places[(places >= start) & (places < end)] - start)
        for train, (start, end) in zip(trains, pairwise(starts), strict=True)
    ]
    return np.concatenate([np.empty(0, np.int64), *numbers]), np.diff(bounds)


@dataclass(frozen=True)
class ArrivalTimes:
    """When the tuples of a batch came, by their arrival numbers."""

    clock: int
    """The time for numbers that no split has, as of windows that timed out: that of the batch."""
    sketches: Sequence[tuple[str, Ints, Ints]] = ()
    """The points of each split, and its input."""

    def times(self, numbers: Ints, inputs: Collection[str]) -> Floats:
        """When the tuples of numbers came, of one of some inputs; in microseconds after the clock, mostly below zero.

        Between points it is linear. Tuples of several inputs may have the same number; the earlier counts.
        """
        found = np.full(len(numbers), np.inf)
        for input, known, times in self.sketches:
            if input in inputs and len(known):
                inside = (numbers >= known[0]) & (numbers <= known[-1])
                # Differences, since a double does not hold all numbers.
                at = np.interp(numbers[inside] - known[0], known - known[0], times - self.clock)
                found[inside] = np.minimum(found[inside], at)
        return np.where(np.isinf(found), 0.0, found)


def inputs_of(network: Network, arrow: Arrow) -> frozenset[str]:
    """The inputs whose tuples may complete what flows along an arrow."""
    found, open_ = set[str](), [arrow.source]
    while open_:
        name = open_.pop()
        if name in found:
            continue
        found.add(name)
        if name in network.named:
            open_ += [source.source for source in network.named[name].sources]
    return frozenset(found.difference(network.named))


def histogram(delays: Floats, weights: Ints) -> Ints:
    """How many delays in seconds lie in each bucket; the first is up to 1 ms, the last above 1,000 s.

    Histograms are merged by adding them.
    """
    buckets = np.searchsorted(EDGES, delays)
    return np.bincount(buckets, weights, len(EDGES) + 1).astype(np.int64)


def quantile(counts: Sequence[int] | Ints, part: float) -> float:
    """The delay in seconds that a part of the results of a histogram do not exceed; infinite above 1,000 s.

    It is the upper end of a bucket, so at most a third (10^(1/8) = 1.33 times) above a delay of that bucket, for those
    above 1 ms. Before that, the sketches may be off: a part of more than 256 tuples by 1/128 of its tuples in rank, and
    a split of more than 255 tuples by the time in which 1/127 of its tuples came, if they came in order.
    """
    total = np.cumsum(counts)
    if not len(total) or not total[-1]:
        return float("nan")
    return float(np.append(EDGES, np.inf)[np.searchsorted(total, part * total[-1])])


def arrivals_of(clock: int, rows: Iterable[Mapping[str, object]], label: str = OUT) -> ArrivalTimes:
    """The arrivals of a reading of a batch, from the rows of sources that its tasks sent."""
    sketches = [
        (str(row["name"]), np.array(row["numbers"], np.int64), np.array(row["times"], np.int64))
        for row in rows
        if row["numbers"] is not None and row["port"] == label
    ]
    return ArrivalTimes(clock, sketches)
