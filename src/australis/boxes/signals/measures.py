"""What is measured of segments, many at once: each is a kernel over all samples of a column."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.boxes.signals.column import Segments, Sizes, bounds
from australis.boxes.signals.segments import Samples
from australis.errors import ExpressionError
from australis.kernels.jit import inner, kernel, summing
from australis.model.train import Ints

Floats = npt.NDArray[np.float64]
_EXACT = 1 << 16
_ROUNDS, _SOME = 8, 13
_TURNS = 1000
_FAR = 1 << 31
"""Segments have fewer samples."""


@dataclass(frozen=True)
class Measure:
    """A number for each segment, from so many arguments; a `whole` one is known of a segment without samples too.

    `check` refuses arguments that mean nothing. `least` is the first place whose sample it needs.
    """

    of: Callable[..., Any]
    type: pa.DataType = pa.float64()
    arguments: tuple[int, int | None] = (0, 0)
    whole: bool = False
    check: Callable[..., None] = lambda *_: None
    least: Callable[..., int] = lambda *_: 0


def _sum(segments: Segments) -> Floats:
    return _moments(segments)[0]


def _mean(segments: Segments) -> Floats:
    return _sum(segments) / np.maximum(segments.sizes, 1)


def _var(segments: Segments) -> Floats:
    return _moments(segments)[2] / np.maximum(segments.sizes, 1)


def _std(segments: Segments) -> Floats:
    return np.sqrt(_var(segments))


def _energy(segments: Segments) -> Floats:
    return _moments(segments)[1]


def _rms(segments: Segments) -> Floats:
    return np.sqrt(_energy(segments) / np.maximum(segments.sizes, 1))


def _extremes(segments: Segments) -> tuple[Floats, Floats, Floats]:
    low, high, peak = (np.empty(len(segments)) for _ in range(3))
    _extreme(segments.samples, segments.offsets, segments.sizes, low, high, peak)
    return low, high, peak


def _peak_at(segments: Segments) -> Ints:
    place = np.empty(len(segments), np.int64)
    _place(segments.samples, segments.offsets, segments.sizes, _extremes(segments)[2], place)
    return segments.start + np.minimum(place, segments.sizes - 1)


def _extreme_of(segments: Segments, turn: float) -> Floats:
    out = np.empty(len(segments))
    _alternate(segments.samples, segments.offsets, segments.sizes, int(turn), out)
    return out


def _check_turn(turn: float) -> None:
    if not 1 <= turn <= _TURNS or turn != int(turn):
        raise ExpressionError(f"extreme counts from 1 to {_TURNS}, in whole numbers, not {turn:g}")


def _trimpeak(segments: Segments, part: float = 0.01) -> Floats:
    out = np.empty(len(segments))
    _trimmed(segments.samples, segments.offsets, segments.sizes, part, out)
    return out


def _check_part(part: float = 0.01) -> None:
    if not 0 <= part < 1:
        raise ExpressionError(f"trimpeak leaves out a part from 0 to less than 1, not {part}")


def _band(segments: Segments, low: float, high: float, *weights: float) -> Floats:
    out = np.empty(len(segments))
    if weights:
        _weighted(segments.samples, segments.offsets, segments.sizes, int(low), np.array(weights), out)
    else:
        _banded(segments.samples, segments.offsets, segments.sizes, low, high, out)
    return out


def _check_band(low: float, high: float, *weights: float) -> None:
    if not 0 <= low <= high < _FAR:
        raise ExpressionError(
            f"band({low:g}, {high:g}): a band goes from a bin, 0 or more, up to one that is not below it"
        )
    if not weights:
        return
    if low != int(low) or high != int(high):
        raise ExpressionError(f"band({low:g}, {high:g}, ...): a band with weights begins and ends at whole bins")
    bins = int(high) - int(low) + 1
    if len(weights) != bins or not all(map(math.isfinite, weights)):
        raise ExpressionError(
            f"band({low:g}, {high:g}, ...) has {bins} bins and {len(weights)} weights: give a finite number for each"
            " bin, or none for any"
        )


MEASURES: Mapping[str, Measure] = {
    "mean": Measure(_mean),
    "sum": Measure(_sum),
    "std": Measure(_std),
    "var": Measure(_var),
    "rms": Measure(_rms),
    "energy": Measure(_energy),
    "min": Measure(lambda segments: _extremes(segments)[0]),
    "max": Measure(lambda segments: _extremes(segments)[1]),
    "peak": Measure(lambda segments: _extremes(segments)[2]),
    "peak_at": Measure(_peak_at, pa.int64()),
    "extreme": Measure(_extreme_of, arguments=(1, 1), check=_check_turn),
    "trimpeak": Measure(_trimpeak, arguments=(0, 1), check=_check_part),
    "band": Measure(_band, arguments=(2, None), check=_check_band, least=lambda low, *_: int(low)),
    "count": Measure(lambda segments: segments.sizes.astype(np.int64), pa.int64(), whole=True),
    "start": Measure(lambda segments: segments.start, pa.int64(), whole=True),
    "end": Measure(lambda segments: segments.stop - 1, pa.int64()),
    "seconds": Measure(
        lambda segments: (segments.phase + segments.start * segments.per) / np.maximum(segments.rate, 1), whole=True
    ),
    "rate": Measure(lambda segments: segments.rate / np.maximum(segments.per, 1), whole=True),
}


def _moments(segments: Segments) -> tuple[Floats, Floats, Floats]:
    """Sums of each, of its squares, and of its squares around the mean; of int16 they are exact."""
    total, squares, around = (np.empty(len(segments)) for _ in range(3))
    moments = _whole if segments.samples.dtype == np.int16 else _real
    moments(segments.samples, segments.offsets, segments.sizes, total, squares, around)
    return total, squares, around


@kernel
def _whole(
    samples: npt.NDArray[np.int16], offsets: Sizes, sizes: Sizes, total: Floats, squares: Floats, around: Floats
) -> None:
    for row in range(len(offsets)):
        first, last = bounds(row, offsets, sizes)
        added, squared, size = np.int64(0), np.int64(0), np.int64(sizes[row])
        for at in range(first, last):
            value = np.int64(samples[at])
            added += value
            squared += value * value
        total[row], squares[row], around[row] = added, squared, 0.0
        if 0 < size <= _EXACT:
            square = added * added
            around[row] = np.float64(squared - square // size) - np.float64(square % size) / np.float64(size)
        elif size:
            mean, spread = np.float64(added) / np.float64(size), 0.0
            for at in range(first, last):
                spread += (np.float64(samples[at]) - mean) ** 2
            around[row] = spread


@summing
def _real(samples: Samples, offsets: Sizes, sizes: Sizes, total: Floats, squares: Floats, around: Floats) -> None:
    """In any order, which is the same for segments of one length."""
    for row in range(len(offsets)):
        first, last = bounds(row, offsets, sizes)
        added, squared, spread = 0.0, 0.0, 0.0
        for at in range(first, last):
            value = np.float64(samples[at])
            added += value
            squared += value * value
        mean = added / max(sizes[row], 1)
        for at in range(first, last):
            away = np.float64(samples[at]) - mean
            spread += away * away
        total[row], squares[row], around[row] = added, squared, spread


@kernel
def _extreme(samples: Samples, offsets: Sizes, sizes: Sizes, low: Floats, high: Floats, peak: Floats) -> None:
    for row in range(len(offsets)):
        first, last = bounds(row, offsets, sizes)
        low[row], high[row], peak[row] = np.nan, np.nan, np.nan
        if first == last:
            continue
        least, most, number = samples[first], samples[first], True
        for at in range(first, last):
            least = samples[at] if samples[at] < least else least
            most = samples[at] if samples[at] > most else most
            number &= samples[at] == samples[at]
        if number:
            low[row], high[row] = least, most
            peak[row] = max(abs(np.float64(least)), abs(np.float64(most)))


@kernel
def _place(samples: Samples, offsets: Sizes, sizes: Sizes, peak: Floats, place: Ints) -> None:
    """Where the peak of each is first reached: the first NaN, if it is one."""
    for row in range(len(offsets)):
        first, last = bounds(row, offsets, sizes)
        at, most = first, peak[row]
        if most == most:
            while at < last and abs(np.float64(samples[at])) != most:
                at += np.uint64(1)
        else:
            while at < last and samples[at] == samples[at]:
                at += np.uint64(1)
        place[row] = at - first


@kernel
def _alternate(samples: Samples, offsets: Sizes, sizes: Sizes, turns: int, out: Floats) -> None:
    """The least, the largest from there on, the least from there on, and so forth; of equals the first."""
    for row in range(len(offsets)):
        first, last = bounds(row, offsets, sizes)
        number = first < last
        for place in range(first, last):
            number &= samples[place] == samples[place]
        if not number:
            out[row] = np.nan
            continue
        for turn in range(turns):
            best, at = samples[first], first
            if turn % 2:
                for place in range(first, last):
                    if samples[place] > best:
                        best, at = samples[place], np.uint64(place)
            else:
                for place in range(first, last):
                    if samples[place] < best:
                        best, at = samples[place], np.uint64(place)
            first = at
        out[row] = np.float64(samples[first])


@kernel
def _trimmed(samples: Samples, offsets: Sizes, sizes: Sizes, part: float, out: Floats) -> None:
    """The smallest of the largest magnitudes, which a heap keeps; it is shown those above a floor alone, and NaN."""
    some = np.empty(max(sizes.max(), 0) if len(sizes) else 0)
    floor = np.empty(2, samples.dtype)
    for row in range(len(offsets)):
        first, last = bounds(row, offsets, sizes)
        many = np.uint64(int(part * sizes[row]) + 1)
        low, high = -1.0, 0.0
        for at in range(first, last, np.uint64(_SOME)):
            high = max(high, abs(np.float64(samples[at])))
        for _ in range(_ROUNDS):
            middle = (max(low, 0.0) + high) / 2
            floor[0], floor[1] = middle, -middle
            above = _above(samples, first, last, floor[0], floor[1])
            if above < many:
                high = middle
                continue
            low = np.float64(floor[0])
            if above < np.uint64(2) * many:
                break
        found, top = np.uint64(0), np.full(many, -1.0)
        for at in range(first, last):
            value = abs(np.float64(samples[at]))
            some[found] = value
            found += np.uint64(not value <= low)
        number = True
        for at in range(np.uint64(0), found):
            number &= some[at] == some[at]
            if some[at] > top[0]:
                _replace(top, many, some[at])
        out[row] = top[0] if number else np.nan


@inner
def _above(samples: Samples, first: np.uint64, last: np.uint64, high: Any, low: Any) -> np.uint64:
    """How many lie above a level or below another, each of the type of the samples."""
    above = np.uint64(0)
    for at in range(first, last):
        above += np.uint64((samples[at] > high) | (samples[at] < low))
    return above


@inner
def _replace(heap: Floats, many: np.uint64, value: float) -> None:
    """Put a value in the place of the least, and keep each below the two after it."""
    at, below = np.uint64(0), np.uint64(1)
    while below < many:
        other = below + np.uint64(1)
        if other < many and heap[other] < heap[below]:
            below = other
        if heap[below] >= value:
            break
        heap[at] = heap[below]
        at = below
        below = np.uint64(2) * at + np.uint64(1)
    heap[at] = value


@kernel
def _banded(samples: Samples, offsets: Sizes, sizes: Sizes, low: float, high: float, out: Floats) -> None:
    """Those between low and high count whole, the next below and above by how near they are."""
    bottom, top = int(np.ceil(low)), int(np.floor(high)) + 1
    before, after = bottom - low, high - top + 1
    for row in range(len(offsets)):
        first, sum_ = np.uint64(offsets[row]), 0.0
        for place in range(np.uint64(bottom), np.uint64(max(bottom, min(top, sizes[row])))):
            sum_ += abs(np.float64(samples[first + place]))
        if before > 0 and bottom <= sizes[row]:
            sum_ += before * abs(np.float64(samples[first + np.uint64(bottom - 1)]))
        if after > 0 and top < sizes[row]:
            sum_ += after * abs(np.float64(samples[first + np.uint64(top)]))
        out[row] = sum_


@kernel
def _weighted(samples: Samples, offsets: Sizes, sizes: Sizes, low: int, weights: Floats, out: Floats) -> None:
    for row in range(len(offsets)):
        first, sum_ = np.int64(offsets[row]), 0.0
        for place in range(max(low, 0), min(low + len(weights), sizes[row])):
            sum_ += weights[place - low] * abs(np.float64(samples[first + place]))
        out[row] = sum_
