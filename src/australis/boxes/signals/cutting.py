"""Cutting: which samples of pieces lie in ranges of indices or times, by key and in order, and what is freed.

How far a key has been freed is an edge: twice a place in the unit of its ranges, for samples from there on, or one more
for samples after it. In a table it counts from BEGINNING, so that a new key has nothing freed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from australis.boxes.signals.column import Segments
from australis.boxes.signals.pieces import Pieces, moved
from australis.boxes.signals.sequence import PLACE, Bases, SignalPlaces
from australis.kernels.jit import inner, kernel, longer
from australis.model.table import Table
from australis.model.train import Bools, Ints

BEGINNING = -(1 << 62)


@dataclass(frozen=True)
class Ranges:
    """Ranges of keys, those of a key one after the other; `unit` is how many there are to a second, 0 for indices."""

    key: Ints
    start: Ints
    end: Ints
    keep: Bools
    ts: Ints
    number: Ints
    unit: int

    def where(self, mask: Bools) -> Ranges:
        return Ranges(
            self.key[mask], self.start[mask], self.end[mask], self.keep[mask], self.ts[mask], self.number[mask],
            self.unit,
        )  # fmt: skip


@dataclass(frozen=True)
class Cuts:
    """What one channel has of each range: `count` runs from `first` on, each made of stretches of pieces."""

    first: Ints
    count: Ints
    ts: Ints
    piece: Ints
    low: Ints
    high: Ints
    begins: Ints
    """The first stretch of each run, and the number of all."""

    def segments(self, runs: Ints, there: Bools, pieces: Pieces, all_: npt.NDArray[Any]) -> Segments:
        """Runs as segments, null where none is there; they share the samples where those lie in one piece."""
        begin, end = self.begins[runs], self.begins[runs + 1]
        head = self.piece[begin]
        start = self.low[begin]
        sizes = self.high[end - 1] - start
        if bool((end - begin == 1).all()):
            offsets = pieces.offset[head] + start - pieces.start[head]
        else:
            many = end - begin
            which = np.repeat(begin - (np.cumsum(many) - many), many) + np.arange(int(many.sum()))
            piece, low = self.piece[which], self.low[which]
            all_ = moved(all_, pieces.offset[piece] + low - pieces.start[piece], self.high[which] - low)
            offsets = np.cumsum(sizes) - sizes
        parts = (start, pieces.rate[head], pieces.per[head], pieces.phase[head])
        if there.all():
            return Segments(all_, offsets.astype(np.int32), sizes.astype(np.int32), *parts)
        spread: Any = [np.zeros(len(there), np.int64) for _ in range(6)]
        for target, values in zip(spread, (offsets, sizes, *parts), strict=True):
            target[there] = values
        offsets, sizes, start, rate, per, phase = spread
        return Segments(all_, offsets.astype(np.int32), sizes.astype(np.int32), start, rate, per, phase, there)


class RangeRows(NamedTuple):
    """Ranges as kernels take them."""

    key: Ints
    start: Ints
    end: Ints
    keep: Bools
    unit: int


class PieceRows(NamedTuple):
    """Pieces as kernels take them."""

    key: Ints
    start: Ints
    stop: Ints
    rate: Ints
    per: Ints
    phase: Ints
    ts: Ints
    number: Ints


def reach(ranges: Ranges, pieces: Pieces, keys: Table, channel: int, end: int, done: Bools, number: Ints) -> None:
    """Which ranges a channel has come past, and the arrival number at which it had; at the `end`, all."""
    next_, begun, *bases = (keys[name][:, channel] for name in PLACE)
    signals = SignalPlaces(next_, begun, Bases(*bases))
    _reach(_range_rows(ranges), _edge(keys), _piece_rows(pieces), signals, end, done, number)


def release(ranges: Ranges, done: Bools, number: Ints, keys: Table) -> Bools:
    """Which ranges leave: those that are done, and all before them are. Their numbers never fall."""
    leaves = np.zeros(len(done), np.bool_)
    _release(ranges.key, done, number, keys["#last"], leaves)
    return leaves


def cut(ranges: Ranges, pieces: Pieces, keys: Table) -> Cuts:
    """Cut ranges that leave out of a channel."""
    first, count, ts = (np.empty(len(ranges.key), np.int64) for _ in range(3))
    stretches = _cut(_range_rows(ranges), _edge(keys), _piece_rows(pieces), first, count, ts)
    return Cuts(first, count, ts, *stretches)


def edges(ranges: Ranges, keys: Table) -> None:
    """Move the edges of keys on to what ranges that leave have freed."""
    edge = np.where(ranges.keep, 2 * ranges.start, 2 * ranges.end + 1)
    np.maximum.at(keys["#edge"], ranges.key, edge - BEGINNING)
    keys.touched[ranges.key] = True


def limits(keys: Table, unit: int, pieces: Pieces) -> Ints:
    """The first index of each piece that is not freed."""
    limits = np.empty(len(pieces), np.int64)
    _limits(_edge(keys), unit, pieces.key, pieces.rate, pieces.per, pieces.phase, limits)
    return limits


def _range_rows(ranges: Ranges) -> RangeRows:
    return RangeRows(ranges.key, ranges.start, ranges.end, ranges.keep, ranges.unit)


def _piece_rows(pieces: Pieces) -> PieceRows:
    return PieceRows(*(getattr(pieces, name) for name in PieceRows._fields))


def _edge(keys: Table) -> Ints:
    edge: Ints = keys["#edge"] + BEGINNING
    return edge


@inner
def _first(time: int, unit: int, rate: int, per: int, phase: int) -> int:
    """The first index at or after a place; seconds and the rest are taken apart so that no product overflows."""
    if unit == 0:
        return time
    seconds, rest = time // unit, time % unit
    return -((-(seconds * rate - phase + -(-(rest * rate) // unit))) // per)


@inner
def _last(time: int, unit: int, rate: int, per: int, phase: int) -> int:
    """The last index at or before a place."""
    if unit == 0:
        return time
    seconds, rest = time // unit, time % unit
    return (seconds * rate - phase + (rest * rate) // unit) // per


@inner
def _from(edge: int, unit: int, rate: int, per: int, phase: int) -> int:
    """The first index at an edge."""
    if edge <= BEGINNING:
        return BEGINNING
    if edge % 2:
        return _last(edge // 2, unit, rate, per, phase) + 1
    return _first(edge // 2, unit, rate, per, phase)


@kernel
def _limits(edge: Ints, unit: int, key: Ints, rate: Ints, per: Ints, phase: Ints, limits: Ints) -> None:
    for at in range(len(key)):
        limits[at] = _from(edge[key[at]], unit, rate[at], per[at], phase[at])


@inner
def _last_of(pieces: PieceRows, piece: int, time: int, unit: int) -> int:
    """The last index of a piece at or before a place."""
    return _last(time, unit, pieces.rate[piece], pieces.per[piece], pieces.phase[piece])


@inner
def _last_came(signals: SignalPlaces, key: int, time: int, unit: int) -> bool:
    """Whether the signal of a key has come past a place."""
    bases = signals.bases
    if bases.rate[key] == 0:
        return False
    return bool(signals.next[key] > _last(time, unit, bases.rate[key], bases.per[key], bases.phase[key]))


@inner
def _reach(
    ranges: RangeRows, edge: Ints, pieces: PieceRows, signals: SignalPlaces, finished: int, done: Bools, number: Ints
) -> None:
    piece, unit = 0, ranges.unit
    for row in range(len(ranges.key)):
        key, end = ranges.key[row], ranges.end[row]
        if 2 * end < edge[key]:
            continue
        if row == 0 or ranges.key[row - 1] != key or end < ranges.end[row - 1]:
            piece = np.searchsorted(pieces.key, key)
        while piece < len(pieces.key) and pieces.key[piece] == key:
            if pieces.stop[piece] > _last_of(pieces, piece, end, unit):
                break
            piece += 1
        if piece < len(pieces.key) and pieces.key[piece] == key:
            number[row] = max(number[row], pieces.number[piece])
        elif not _last_came(signals, key, end, unit):
            done[row] = done[row] and finished >= 0
            number[row] = max(number[row], finished)


@kernel
def _release(key: Ints, done: Bools, number: Ints, last: Ints, leaves: Bools) -> None:
    for row in range(len(key)):
        k = key[row]
        before = row > 0 and key[row - 1] == k
        if not done[row] or (before and not leaves[row - 1]):
            continue
        leaves[row] = True
        last[k] = number[row] = max(number[row], last[k])


@kernel
def _cut(
    ranges: RangeRows, edge: Ints, pieces: PieceRows, first: Ints, count: Ints, ts: Ints
) -> tuple[Ints, Ints, Ints, Ints]:
    """Of each range its runs; of each run its stretches: a piece, and from where to where."""
    key, start, end, keep, unit = ranges
    piece_key, begin, stop, rate, per, phase, oldest, _ = pieces
    piece, low, high = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64, np.int64)
    begins = np.empty(64, np.int64)
    found, runs, freed = 0, 0, np.int64(BEGINNING)
    at = 0
    for row in range(len(key)):
        k = key[row]
        if row == 0 or key[row - 1] != k:
            freed = edge[k]
            at = np.searchsorted(piece_key, k)
        first[row], count[row], ts[row] = runs, 0, np.iinfo(np.int64).max
        lowest = max(freed, 2 * start[row])
        while (
            at < len(piece_key) and piece_key[at] == k and stop[at] <= _from(lowest, unit, rate[at], per[at], phase[at])
        ):
            at += 1
        here, before = at, -1
        while keep[row] and here < len(piece_key) and piece_key[here] == k:
            end_here = _last(end[row], unit, rate[here], per[here], phase[here]) + 1
            bottom = max(begin[here], _from(lowest, unit, rate[here], per[here], phase[here]))
            top = min(stop[here], end_here)
            if bottom < top:
                if found + 1 >= len(piece):
                    piece, low, high = longer(piece), longer(low), longer(high)
                if runs + 2 >= len(begins):
                    begins = longer(begins)
                same = before == here - 1 and before >= 0 and high[found - 1] == bottom
                if not same or rate[here] != rate[before] or per[here] != per[before] or phase[here] != phase[before]:
                    begins[runs] = found
                    runs += 1
                    count[row] += 1
                piece[found], low[found], high[found] = here, bottom, top
                ts[row] = min(ts[row], oldest[here])
                found += 1
                before = here
            if stop[here] > end_here:
                break
            here += 1
        freed = max(freed, 2 * start[row] if keep[row] else 2 * end[row] + 1)
    begins[runs] = found
    return piece[:found], low[:found], high[:found], begins[: runs + 1]
