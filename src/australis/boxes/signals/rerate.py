"""Rerate: a signal at another rate, by a polyphase filter along the whole of it (XStream III-A)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import gcd
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.arrow.schema import segment as segment_type
from australis.boxes.signals.column import Segments, chosen, dtype_of, segments
from australis.boxes.signals.families import Following
from australis.boxes.signals.pieces import (
    Pieces,
    arrive,
    check_by,
    held_table,
    hold,
    keys_table,
    laid,
    samples,
    waiting,
)
from australis.boxes.signals.segments import Samples
from australis.boxes.signals.sequence import out_of_order
from australis.boxes.signals.steps import real
from australis.errors import NetworkError
from australis.kernels.jit import inner, kernel, longer, summing
from australis.model.box import Moment, Tables, Trains, bound
from australis.model.facts import Facts
from australis.model.train import Ints, Train

Floats = npt.NDArray[np.float64]
_NEVER = np.iinfo(np.int64).max
_MOST = 10_000


@dataclass(frozen=True)
class Rerate(Following):
    """The signal of each key at `up` / `down` times its rate, as `scipy.signal.resample_poly` makes it of the whole.

    Index i of the result lies at the time of index i * down / up of the signal. A sample is known once the filter has
    seen half its length past it, so that results lag behind; the end of a run (a gap, another timebase, the end of the
    input) gives the rest, as if zeros followed. `taps` are those of a filter of one's own for the rate `up` times as
    high, as `window` is for scipy. Samples that come again are taken once; a segment out of order leaves by the port
    `late`. Columns beside the key are left behind. A sample that is NaN makes those NaN that the filter makes of it.

    >>> from australis.boxes.signals.segments import segment
    >>> from australis.testing.signals import signal
    >>> from australis.boxes.signals.timebases import timebase
    >>> from australis.testing import apply
    >>> train = signal("audio segment<int16>", audio=[segment([4, 8, 4, 0], timebase(8), dtype="int16")])
    >>> (twice,) = segments(apply(Rerate(2, 1, (0.25, 0.5, 0.25)), train, end=True)[0]["audio"].slice(0, 1)).values()
    >>> twice.timebase.frequency, np.asarray(twice).tolist()
    (Fraction(16, 1), [4.0, 6.0, 8.0, 6.0, 4.0, 2.0, 0.0])
    """

    up: int
    down: int
    taps: tuple[float, ...] = ()
    by: tuple[str, ...] = ()
    column: str = ""

    kind: ClassVar[str] = "rerate"

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        (stream,) = inputs
        if not (1 <= self.up <= _MOST and 1 <= self.down <= _MOST):
            raise NetworkError(f"`up` and `down` go from 1 to {_MOST:,}; {self.up} and {self.down} are given")
        if self.up == self.down and not self.taps:
            raise NetworkError(f"{self.up} / {self.down} of a rate is the same: leave the box out")
        if not np.isfinite(self.taps).all():
            raise NetworkError("the taps of a filter are finite")
        check_by(stream, self.by)
        if dtype_of(stream, chosen(stream, self.column)).kind == "c":
            raise NetworkError("a signal of complex samples keeps its rate: take its real part, or magnitude, first")
        return {"out": self._schema(stream), "late": stream}

    def tables(self, *inputs: pa.Schema) -> Tables:
        next_ = pa.field("#out", pa.int64(), nullable=False)
        return {"keys": keys_table(inputs[0], self.by, 1, next_), "held": held_table()}

    def holds(self, *inputs: pa.Schema) -> str:
        _, _, phases, *_ = self._filter()
        return f"about {phases.shape[1]} samples" + (f" of each {', '.join(self.by)}" if self.by else "")

    def followed(self, given: Sequence[Facts], streams: Sequence[pa.Schema]) -> Facts:
        column = chosen(streams[0], self.column)
        rate = given[0].rates.get(column)
        return Facts(rates={} if rate is None else {column: rate * self.up / self.down})

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        (train,) = trains
        keys, held = tables["keys"], tables["held"]
        signal = segments(train[chosen(train.schema, self.column)])
        slots = keys.find([train[name] for name in self.by], len(train))
        old = waiting(keys, held, keys.slots if moment.end else slots)
        late = np.zeros(len(train), np.bool_)
        pieces = arrive(keys, held, old, 0, slots, train, signal, late)
        all_, offsets = laid(pieces, samples(held, old, signal))
        up, down, phases, half, short = self._filter()
        limit = np.empty(len(pieces), np.int64)
        first, last, row, low, high, ts = _known(
            pieces.key, pieces.fresh, pieces.start, pieces.stop, pieces.ts, pieces.row, keys["#out"], up, down,
            phases.shape[1], half, len(train), moment.end, limit,
        )  # fmt: skip
        order = np.argsort(row, kind="stable")
        first, last, row, low, high, ts = (each[order] for each in (first, last, row, low, high, ts))
        sizes = high - low
        places = np.cumsum(sizes) - sizes
        results = np.empty(int(sizes.sum()), real(signal.samples.dtype))
        _filtered(
            all_, offsets, pieces.start, pieces.stop, first, last, low, high, up, down, phases, half, short, results
        )
        hold(held, replace(pieces, offset=offsets), all_, limit)
        number = np.append(train.number, moment.number)[row]
        found = self._segments(pieces, last, results, places, sizes, low).arrow()
        columns: list[Any] = [*(keys.get(name, pieces.key[last]) for name in self.by), found]
        tuples = pa.RecordBatch.from_arrays(columns, schema=self._schema(train.schema))
        return Train(tuples, ts, number), out_of_order(train, late)

    def _segments(self, pieces: Pieces, last: Ints, results: Samples, places: Ints, sizes: Ints, low: Ints) -> Segments:
        up, down, *_ = self._filter()
        rate, per, phase = pieces.rate[last] * up, pieces.per[last] * down, pieces.phase[last] * up
        common = np.gcd(np.gcd(rate, per), phase)
        return Segments(
            results,
            places.astype(np.int32),
            sizes.astype(np.int32),
            low,
            rate // common,
            per // common,
            phase // common,
        )

    def _filter(self) -> tuple[int, int, Floats, int, int]:
        common = gcd(self.up, self.down)
        return (self.up // common, self.down // common, *_polyphase(self.up // common, self.down // common, self.taps))

    @bound
    def _schema(self, stream: pa.Schema) -> pa.Schema:
        column = chosen(stream, self.column)
        field = pa.field(column, segment_type(real(dtype_of(stream, column)).name))
        return pa.schema([*(stream.field(name) for name in self.by), field])


@lru_cache(maxsize=64)
def _polyphase(up: int, down: int, taps: tuple[float, ...]) -> tuple[Floats, int, int]:
    """Row p has the taps ..., p + 2 up, p + up, p, as samples come; how many come before the middle one; and the row
    from which on the first tap is none."""
    import scipy

    most = max(up, down)
    own = np.array(taps) if taps else scipy.signal.firwin(20 * most + 1, 1 / most, window=("kaiser", 5.0))
    whole = np.zeros(-(-len(own) // up) * up)
    whole[: len(own)] = own * up
    return np.ascontiguousarray(whole.reshape(-1, up)[::-1].T), (len(own) - 1) // 2, up - (len(whole) - len(own))


@inner
def _needed(index: int, up: int, down: int, taps: int, half: int) -> int:
    """The first sample that a sample of the result is made of."""
    return (index * down + half) // up - taps + 1


@kernel
def _known(
    key: Ints, fresh: npt.NDArray[np.bool_], start: Ints, stop: Ints, ts: Ints, row: Ints, out: Ints, up: int,
    down: int, taps: int, half: int, rows: int, end: bool, limit: Ints,
) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints]:  # fmt: skip
    """Of each segment of the result the first and last piece it is made of, the row at which it is known, from which
    index to which it goes, and its oldest `ts`; and from where on pieces are held."""
    head, tail, at = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64, np.int64)
    low, high, oldest = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64, np.int64)
    found, first = 0, 0
    for piece in range(len(key)):
        k = key[piece]
        if piece == 0 or key[piece - 1] != k or fresh[piece]:
            first = piece
            if fresh[piece]:
                out[k] = -((-start[piece] * up) // down)
        goes_on = piece + 1 < len(key) and key[piece + 1] == k
        ends = fresh[piece + 1] if goes_on else end
        for turn in range(1 + ends):
            # What lies half a filter before the end of the piece is known now, the rest when the run has ended.
            reach = -((-stop[piece] * up + (0 if turn else half)) // down)
            if reach <= out[k]:
                continue
            if found == len(head):
                head, tail, at = longer(head), longer(tail), longer(at)
                low, high, oldest = longer(low), longer(high), longer(oldest)
            head[found], tail[found], low[found], high[found] = first, piece, out[k], reach
            at[found] = row[piece] if turn == 0 else row[piece + 1] if goes_on else rows
            oldest[found] = ts[piece]
            for each in range(piece - 1, first - 1, -1):
                if stop[each] <= _needed(out[k], up, down, taps, half):
                    break
                oldest[found] = min(oldest[found], ts[each])
            found += 1
            out[k] = reach
        limit[piece] = _NEVER
        if not goes_on and not end:
            # The last sample stays, to tell that the run goes on.
            bottom = min(_needed(out[k], up, down, taps, half), stop[piece] - 1)
            for each in range(first, piece + 1):
                limit[each] = bottom
    return head[:found], tail[:found], at[:found], low[:found], high[:found], oldest[:found]


@summing
def _filtered(
    samples: Samples, offset: Ints, start: Ints, stop: Ints, head: Ints, tail: Ints, low: Ints, high: Ints, up: int,
    down: int, phases: Floats, half: int, short: int, out: Samples,
) -> None:  # fmt: skip
    """Which samples a sum is of, and so its order, does not depend on how the signal was cut."""
    at, more, on = 0, down % up, down // up
    for each in range(len(low)):
        zero = offset[tail[each]] - start[tail[each]]
        bottom, top = start[head[each]], stop[tail[each]]
        latest, phase = divmod(low[each] * down + half, up)
        for _ in range(low[each], high[each]):
            first = latest - phases.shape[1] + 1
            # A tap that is none must not touch a sample: 0 times NaN is NaN.
            begin, end = max(bottom, first + (phase >= short)), min(top, latest + 1)
            taps, part = phases[phase, begin - first : end - first], samples[zero + begin : zero + end]
            total = 0.0
            for tap in range(len(taps)):
                total += taps[tap] * part[tap]
            out[at] = total
            at += 1
            latest, phase = latest + on, phase + more
            if phase >= up:
                latest, phase = latest + 1, phase - up
