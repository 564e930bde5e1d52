"""Zipping: which samples of several channels lie at the same times, by key, piece by piece."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from australis.boxes.signals.column import Segments
from australis.boxes.signals.pieces import Pieces
from australis.errors import RunError
from australis.kernels.jit import inner, kernel, longer
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
        its, start = self.piece[:, channel], self.start[:, channel].copy()
        place = pieces.offset[its] + start - pieces.start[its]
        return Segments(
            all_, place.astype(np.int32), self.size.astype(np.int32), start, pieces.rate[its], pieces.per[its],
            pieces.phase[its],
        )  # fmt: skip


def zipped(pieces: Sequence[Pieces], keys: Ints, skip: Ints, size: int, names: Sequence[str]) -> Zipped:
    """What the channels of keys have in common; `skip` is how much of the first piece held is done with.

    Channels, of these names, that have another rate at the same time are refused.
    """
    ends = np.cumsum([0, *map(len, pieces)])
    parts = ("key", "start", "stop", "rate", "per", "phase", "ts", "number", "slot", "row")
    columns = (np.concatenate([getattr(each, name) for each in pieces]) for name in parts)
    key, start, stop, rate, per, phase, ts, number, slot, row = columns
    limit = np.full(len(key), _NONE)
    clash = np.full(2, -1)
    found = _zip(ends, keys, key, start, stop, rate, per, phase, ts, number, row, slot, skip, size, limit, clash)
    if clash[0] >= 0:
        one, two = (Fraction(int(rate[at]), int(per[at])) for at in clash)
        first, second = (names[int(np.searchsorted(ends, at, "right")) - 1] for at in clash)
        factor = one / two
        raise RunError(
            f"`{first}` has {float(one):,.10g} samples a second and `{second}` {float(two):,.10g} at the same time:"
            f" bring them to one rate first, such as by rerate({factor.numerator}, {factor.denominator}) of `{second}`;"
            " where streams hold several signals, tell them apart with `by`"
        )
    mine, length, oldest, latest, channel, arrived, piece, begin = found
    order = np.lexsort((np.arange(len(mine)), arrived, channel, latest))
    piece, begin = (each.reshape(-1, len(pieces))[order] for each in (piece, begin))
    limits = [limit[ends[at] : ends[at + 1]] for at in range(len(pieces))]
    return Zipped(mine[order], length[order], oldest[order], latest[order], piece - ends[:-1], begin, limits)


@inner
def _shift(per: int, phase: int, its_per: int, its_phase: int) -> int:
    """What to add to an index of another timebase of the same rate to get the nearest of this one."""
    whole = its_phase // its_per - phase // per
    return whole + int(np.floor((its_phase % its_per) / its_per - (phase % per) / per + 0.5))


@kernel
def _zip(
    ends: Ints, keys: Ints, key: Ints, start: Ints, stop: Ints, rate: Ints, per: Ints, phase: Ints, ts: Ints,
    number: Ints, row: Ints, slot: Ints, skip: Ints, size: int, limit: Ints, clash: Ints,
) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints, Ints, Ints]:  # fmt: skip
    """Of each range its key, size, oldest `ts`, arrival number, the channel and row that completed it; of each of its
    channels the last piece and the first index."""
    many = len(ends) - 1
    mine, length, oldest, latest = (np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64, np.int64),
                                    np.empty(64, np.int64))  # fmt: skip
    channel, arrived = np.empty(64, np.int64), np.empty(64, np.int64)
    piece, begin = np.empty(64 * many, np.int64), np.empty(64 * many, np.int64)
    at, low, shift = np.empty(many, np.int64), np.empty(many, np.int64), np.empty(many, np.int64)
    last, top = np.empty(many, np.int64), np.empty(many, np.int64)
    head, first = np.empty(many, np.int64), np.empty(many, np.int64)
    found = 0
    for k in keys:
        pending = False
        """Whether `head` and `first` tell where a window begins whose samples up to `top` are there."""
        for c in range(many):
            at[c] = ends[c] + np.searchsorted(key[ends[c] : ends[c + 1]], k)
            low[c] = start[at[c]] + skip[k, c] if at[c] < ends[c + 1] and key[at[c]] == k else 0
        while True:
            waits = False
            for c in range(many):
                waits = waits or at[c] == ends[c + 1] or key[at[c]] != k
            if waits:
                break
            a, same = at[0], True
            for c in range(many):
                b = at[c]
                same = same and rate[a] * per[b] == rate[b] * per[a]
                shift[c] = _shift(per[a], phase[a], per[b], phase[b])
            if not same:
                # By time, what ends first has nothing at its rate beside it any more.
                gone, when = 0, np.inf
                for c in range(many):
                    b = at[c]
                    over = (phase[b] + np.float64(stop[b]) * per[b]) / rate[b]
                    if rate[a] * per[b] != rate[b] * per[a] and clash[0] < 0:
                        begins = (phase[a] + np.float64(low[0]) * per[a]) / rate[a]
                        its = (phase[b] + np.float64(low[c]) * per[b]) / rate[b]
                        ends_ = (phase[a] + np.float64(stop[a] - 1) * per[a]) / rate[a]
                        its_end = (phase[b] + np.float64(stop[b] - 1) * per[b]) / rate[b]
                        if max(begins, its) <= min(ends_, its_end):
                            clash[0], clash[1] = a, b
                    if over < when:
                        gone, when = c, over
                at[gone] += 1
                low[gone] = start[at[gone]] if at[gone] < len(start) else 0
                pending = False
                continue
            bottom, end = low[0], stop[a]
            for c in range(1, many):
                bottom, end = max(bottom, low[c] + shift[c]), min(end, stop[at[c]] + shift[c])
            if bottom >= end:
                for c in range(many):
                    if stop[at[c]] + shift[c] <= bottom:
                        at[c] += 1
                        low[c] = start[at[c]] if at[c] < len(start) else 0
                pending = False
                continue
            for c in range(many):
                b, before = at[c], last[c]
                if pending and (
                    top[c] != bottom - shift[c] or rate[b] != rate[before] or per[b] != per[before]
                    or phase[b] != phase[before]
                ):  # fmt: skip
                    pending = False
            for c in range(many):
                if not pending:
                    head[c], first[c] = at[c], bottom - shift[c]
                last[c], top[c] = at[c], end - shift[c]
            pending = True
            while first[0] + max(size, 1) <= top[0]:
                width = size if size else top[0] - first[0]
                if found == len(mine):
                    mine, length, oldest = longer(mine), longer(length), longer(oldest)
                    latest, channel, arrived = longer(latest), longer(channel), longer(arrived)
                    piece, begin = longer(piece), longer(begin)
                mine[found], length[found], oldest[found], latest[found] = k, width, ts[at[0]], -1
                for c in range(many):
                    for each in range(head[c], at[c] + 1):
                        oldest[found] = min(oldest[found], ts[each])
                    if number[at[c]] > latest[found]:
                        latest[found], channel[found], arrived[found] = number[at[c]], c, row[at[c]]
                    piece[found * many + c], begin[found * many + c] = at[c], first[c]
                    first[c] += width
                    while head[c] < at[c] and stop[head[c]] <= first[c]:
                        head[c] += 1
                if found and mine[found - 1] == k and latest[found - 1] == latest[found]:
                    # What one arrival number completes for a key stays together.
                    channel[found], arrived[found] = channel[found - 1], arrived[found - 1]
                found += 1
            pending = first[0] < top[0]
            for c in range(many):
                low[c] = top[c]
                if stop[at[c]] == top[c]:
                    at[c] += 1
                    low[c] = start[at[c]] if at[c] < len(start) else 0
        for c in range(many):
            hold, bottom = (head[c], first[c]) if pending else (at[c], low[c])
            skip[k, c] = 0
            for each in range(hold, ends[c + 1]):
                if key[each] != k:
                    break
                limit[each] = bottom if each == hold else _ALL
                if each == hold and slot[each] >= 0:
                    skip[k, c] = bottom - start[each]
    return (
        mine[:found], length[:found], oldest[:found], latest[:found], channel[:found], arrived[:found],
        piece[: found * many], begin[: found * many],
    )  # fmt: skip
