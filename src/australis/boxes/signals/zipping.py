"""Zipping: which samples of several channels lie at the same times, by key, piece by piece."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from australis.boxes.signals.column import Segments
from australis.boxes.signals.pieces import Pieces
from australis.errors import RunError
from australis.kernels.jit import inner
from australis.model.train import Ints

_ALL, _NONE = -(1 << 62), np.iinfo(np.int64).max


@dataclass(frozen=True)
class Zipped:
    """Ranges that all channels have, in order of arrival: of each channel the piece that ends it, and its start."""

    key: Ints
    size: Ints
    ts: Ints
    number: Ints
    piece: Ints
    start: Ints
    limits: list[Ints]
    """For each channel, from where on its pieces are held."""

    def segments(self, channel: int, pieces: Pieces, all_: npt.NDArray[Any]) -> Segments:
        """The ranges of a channel, on the samples of its pieces."""
        piece, start = self.piece[:, channel], self.start[:, channel].copy()
        place = pieces.offset[piece] + start - pieces.start[piece]
        return Segments(
            all_, place.astype(np.int32), self.size.astype(np.int32), start, pieces.rate[piece], pieces.per[piece],
            pieces.phase[piece],
        )  # fmt: skip


class ChannelPieces(NamedTuple):
    """The pieces of all channels, one channel after the other: those of channel c lie in ends[c]:ends[c + 1]."""

    ends: Ints
    key: Ints
    start: Ints
    stop: Ints
    rate: Ints
    per: Ints
    phase: Ints
    ts: Ints
    number: Ints
    slot: Ints
    row: Ints


class PieceReading(NamedTuple):
    """How far the pieces of a key have been read, by channel."""

    piece: Ints
    """The piece that is read."""
    low: Ints
    """The first index of it that has not been read."""
    shift: Ints
    """What to add to its indices to get those of the first channel."""


class Filling(NamedTuple):
    """What has been read without a gap and is in no range yet, by channel."""

    head: Ints
    """The piece that it begins in, and the index there."""
    first: Ints
    last: Ints
    """The piece that it ends in, and the index after it."""
    top: Ints


class ZippedRanges(NamedTuple):
    """Ranges as they are found, key by key."""

    key: Ints
    size: Ints
    ts: Ints
    number: Ints
    channel: Ints
    """The channel that completed it, and the row of its train that did."""
    row: Ints
    piece: Ints
    """Of each channel the last piece, and the first index."""
    start: Ints


def zipped(pieces: Sequence[Pieces], keys: Ints, skip: Ints, size: int, names: Sequence[str]) -> Zipped:
    """What the channels of keys have in common; `skip` is how much of the first piece held is done with.

    Channels, of these names, that have another rate at the same time are refused.
    """
    ends = np.cumsum([0, *map(len, pieces)])
    columns = (np.concatenate([getattr(each, name) for each in pieces]) for name in ChannelPieces._fields[1:])
    all_ = ChannelPieces(ends, *columns)
    limit, clash = np.full(len(all_.key), _NONE), np.full(2, -1)
    ranges = _room(pieces, size)
    reading = PieceReading(*np.zeros((3, len(pieces)), np.int64))
    filling = Filling(*np.zeros((4, len(pieces)), np.int64))
    count = _zip(keys, all_, skip, size, reading, filling, limit, clash, ranges)
    if clash[0] >= 0:
        raise _clashes(all_, clash, names)
    key, sizes, ts, number, channel, row, piece, start = (column[:count] for column in ranges)
    order = np.lexsort((np.arange(count), row, channel, number))
    limits = [limit[ends[at] : ends[at + 1]] for at in range(len(pieces))]
    return Zipped(key[order], sizes[order], ts[order], number[order], piece[order] - ends[:-1], start[order], limits)


def _room(pieces: Sequence[Pieces], size: int) -> ZippedRanges:
    """Room for all ranges: each ends a piece, or has so many samples of each channel."""
    most = min(int(each.size.sum()) // size for each in pieces) if size else sum(map(len, pieces))
    key, sizes, ts, number, channel, row = (np.empty(most, np.int64) for _ in range(6))
    piece, start = (np.empty((most, len(pieces)), np.int64) for _ in range(2))
    return ZippedRanges(key, sizes, ts, number, channel, row, piece, start)


def _clashes(pieces: ChannelPieces, clash: Ints, names: Sequence[str]) -> RunError:
    """The error for two pieces of different rates at the same time."""
    one, two = (Fraction(int(pieces.rate[at]), int(pieces.per[at])) for at in clash)
    first, second = (names[int(np.searchsorted(pieces.ends, at, "right")) - 1] for at in clash)
    factor = one / two
    return RunError(
        f"`{first}` has {float(one):,.10g} samples a second and `{second}` {float(two):,.10g} at the same time:"
        f" bring them to one rate first, such as by rerate({factor.numerator}, {factor.denominator}) of `{second}`;"
        " where streams hold several signals, tell them apart with `by`"
    )


@inner
def _shift(pieces: ChannelPieces, one: int, other: int) -> int:
    """What to add to an index of another piece, of the same rate, to get the nearest of this one."""
    per, phase, other_per, other_phase = pieces.per[one], pieces.phase[one], pieces.per[other], pieces.phase[other]
    whole: int = other_phase // other_per - phase // per
    return whole + int(np.floor((other_phase % other_per) / other_per - (phase % per) / per + 0.5))


@inner
def _same_rate(pieces: ChannelPieces, one: int, other: int) -> bool:
    return bool(pieces.rate[one] * pieces.per[other] == pieces.rate[other] * pieces.per[one])


@inner
def _same_base(pieces: ChannelPieces, one: int, other: int) -> bool:
    return bool(
        pieces.rate[one] == pieces.rate[other]
        and pieces.per[one] == pieces.per[other]
        and pieces.phase[one] == pieces.phase[other]
    )


@inner
def _time(pieces: ChannelPieces, piece: int, index: int) -> float:
    """The time of an index, in seconds."""
    return float((pieces.phase[piece] + np.float64(index) * pieces.per[piece]) / pieces.rate[piece])


@inner
def _open(key: int, pieces: ChannelPieces, skip: Ints, reading: PieceReading) -> None:
    """Go to the first piece of a key in each channel."""
    ends = pieces.ends
    for channel in range(len(ends) - 1):
        piece = ends[channel] + np.searchsorted(pieces.key[ends[channel] : ends[channel + 1]], key)
        there = piece < ends[channel + 1] and pieces.key[piece] == key
        reading.piece[channel] = piece
        reading.low[channel] = pieces.start[piece] + skip[key, channel] if there else 0


@inner
def _next(channel: int, pieces: ChannelPieces, reading: PieceReading) -> None:
    """Go on to the next piece of a channel."""
    reading.piece[channel] += 1
    piece = reading.piece[channel]
    reading.low[channel] = pieces.start[piece] if piece < len(pieces.start) else 0


@inner
def _waits(key: int, pieces: ChannelPieces, reading: PieceReading) -> bool:
    """Whether a channel has no piece of the key any more."""
    for channel in range(len(reading.piece)):
        piece = reading.piece[channel]
        if piece == pieces.ends[channel + 1] or pieces.key[piece] != key:
            return True
    return False


@inner
def _align(pieces: ChannelPieces, reading: PieceReading) -> bool:
    """Find the shifts of channels; false if not all have the same rate."""
    first, same = reading.piece[0], True
    for channel in range(len(reading.piece)):
        piece = reading.piece[channel]
        same = same and _same_rate(pieces, first, piece)
        reading.shift[channel] = _shift(pieces, first, piece)
    return same


@inner
def _meet(pieces: ChannelPieces, reading: PieceReading, channel: int) -> bool:
    """Whether the pieces of the first channel and of another have samples at the same times."""
    one, other = reading.piece[0], reading.piece[channel]
    begins = max(_time(pieces, one, reading.low[0]), _time(pieces, other, reading.low[channel]))
    return bool(begins <= min(_time(pieces, one, pieces.stop[one] - 1), _time(pieces, other, pieces.stop[other] - 1)))


@inner
def _pass_earliest(pieces: ChannelPieces, reading: PieceReading, clash: Ints) -> None:
    """Pass over the piece that ends first: nothing of its rate lies beside it any more. Marks the first `clash`."""
    earliest, end = 0, np.inf
    for channel in range(len(reading.piece)):
        first, piece = reading.piece[0], reading.piece[channel]
        if clash[0] < 0 and not _same_rate(pieces, first, piece) and _meet(pieces, reading, channel):
            clash[0], clash[1] = first, piece
        over = _time(pieces, piece, pieces.stop[piece])
        if over < end:
            earliest, end = channel, over
    _next(earliest, pieces, reading)


@inner
def _common(pieces: ChannelPieces, reading: PieceReading) -> tuple[int, int]:
    """What the pieces of all channels have in common, in indices of the first channel."""
    bottom, end = reading.low[0], pieces.stop[reading.piece[0]]
    for channel in range(1, len(reading.piece)):
        shift = reading.shift[channel]
        bottom = max(bottom, reading.low[channel] + shift)
        end = min(end, pieces.stop[reading.piece[channel]] + shift)
    return bottom, end


@inner
def _pass_before(bottom: int, pieces: ChannelPieces, reading: PieceReading) -> None:
    """Pass over the pieces that end before an index of the first channel."""
    for channel in range(len(reading.piece)):
        if pieces.stop[reading.piece[channel]] + reading.shift[channel] <= bottom:
            _next(channel, pieces, reading)


@inner
def _follows(bottom: int, pieces: ChannelPieces, reading: PieceReading, filling: Filling) -> bool:
    """Whether what comes from an index of the first channel on follows what there is, without a gap."""
    for channel in range(len(reading.piece)):
        if filling.top[channel] != bottom - reading.shift[channel] or not _same_base(
            pieces, reading.piece[channel], filling.last[channel]
        ):
            return False
    return True


@inner
def _fill(bottom: int, end: int, goes_on: bool, reading: PieceReading, filling: Filling) -> None:
    """Add what lies between indices of the first channel to what there is, or begin with it."""
    for channel in range(len(reading.piece)):
        piece, shift = reading.piece[channel], reading.shift[channel]
        if not goes_on:
            filling.head[channel], filling.first[channel] = piece, bottom - shift
        filling.last[channel], filling.top[channel] = piece, end - shift


@inner
def _emit(key: int, size: int, pieces: ChannelPieces, filling: Filling, ranges: ZippedRanges, at: int) -> None:
    """Make a range of the first samples that there are."""
    ranges.key[at], ranges.size[at], ranges.ts[at], ranges.number[at] = key, size, pieces.ts[filling.last[0]], -1
    for channel in range(len(filling.last)):
        last = filling.last[channel]
        for piece in range(filling.head[channel], last + 1):
            ranges.ts[at] = min(ranges.ts[at], pieces.ts[piece])
        if pieces.number[last] > ranges.number[at]:
            ranges.number[at], ranges.channel[at], ranges.row[at] = pieces.number[last], channel, pieces.row[last]
        ranges.piece[at, channel], ranges.start[at, channel] = last, filling.first[channel]
        filling.first[channel] += size
        while filling.head[channel] < last and pieces.stop[filling.head[channel]] <= filling.first[channel]:
            filling.head[channel] += 1
    if at and ranges.key[at - 1] == key and ranges.number[at - 1] == ranges.number[at]:
        # What one arrival number completes for a key stays together.
        ranges.channel[at], ranges.row[at] = ranges.channel[at - 1], ranges.row[at - 1]


@inner
def _read_on(pieces: ChannelPieces, reading: PieceReading, filling: Filling) -> None:
    """Go on in each channel to what has not been read."""
    for channel in range(len(reading.piece)):
        reading.low[channel] = filling.top[channel]
        if pieces.stop[reading.piece[channel]] == filling.top[channel]:
            _next(channel, pieces, reading)


@inner
def _hold(key: int, channel: int, piece: int, bottom: int, pieces: ChannelPieces, skip: Ints, limit: Ints) -> None:
    """Hold the pieces of a key's channel from a piece on, and that one from an index on."""
    skip[key, channel] = 0
    for each in range(piece, pieces.ends[channel + 1]):
        if pieces.key[each] != key:
            break
        limit[each] = bottom if each == piece else _ALL
        if each == piece and pieces.slot[each] >= 0:
            skip[key, channel] = bottom - pieces.start[each]


@inner
def _zip(
    keys: Ints, pieces: ChannelPieces, skip: Ints, size: int, reading: PieceReading, filling: Filling, limit: Ints,
    clash: Ints, ranges: ZippedRanges,
) -> int:  # fmt: skip
    """Find the ranges of keys and from where on pieces are held; how many ranges there are."""
    count = 0
    for key in keys:
        goes_on = False
        """Whether there are samples in no range yet, which the next ones may follow."""
        _open(key, pieces, skip, reading)
        while not _waits(key, pieces, reading):
            if not _align(pieces, reading):
                _pass_earliest(pieces, reading, clash)
                goes_on = False
                continue
            bottom, end = _common(pieces, reading)
            if bottom >= end:
                _pass_before(bottom, pieces, reading)
                goes_on = False
                continue
            goes_on = goes_on and _follows(bottom, pieces, reading, filling)
            _fill(bottom, end, goes_on, reading, filling)
            while filling.first[0] + max(size, 1) <= filling.top[0]:
                _emit(key, size if size else filling.top[0] - filling.first[0], pieces, filling, ranges, count)
                count += 1
            goes_on = filling.first[0] < filling.top[0]
            _read_on(pieces, reading, filling)
        for channel in range(len(reading.piece)):
            piece, low = reading.piece[channel], reading.low[channel]
            if goes_on:
                piece, low = filling.head[channel], filling.first[channel]
            _hold(key, channel, piece, low, pieces, skip, limit)
    return count
