"""What is measured of segments, many at once: each is a kernel over all samples of a column."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.errors import ExpressionError
from australis.kernel import kernel, summing
from australis.signals.column import Segments, Sizes
from australis.signals.segment import Samples
from australis.train import Ints

Floats = npt.NDArray[np.float64]
_EXACT = 1 << 16


@dataclass(frozen=True)
class Measure:
    """A number for each segment, from so many arguments; a `whole` one is known of a segment without samples too."""

    of: Callable[..., Any]
    type: pa.DataType = pa.float64()
    arguments: tuple[int, int] = (0, 0)
    whole: bool = False


def _sum(given: Segments) -> Floats:
    total, _ = _moments(given)
    return total


def _mean(given: Segments) -> Floats:
    return _sum(given) / np.maximum(given.sizes, 1)


def _var(given: Segments) -> Floats:
    _, around = _moments(given)
    return around / np.maximum(given.sizes, 1)


def _std(given: Segments) -> Floats:
    return np.sqrt(_var(given))


def _energy(given: Segments) -> Floats:
    out = np.empty(len(given))
    _squares(given.samples, given.offsets, given.sizes, out)
    return out


def _rms(given: Segments) -> Floats:
    return np.sqrt(_energy(given) / np.maximum(given.sizes, 1))


def _extremes(given: Segments) -> tuple[Floats, Floats, Floats, Ints]:
    low, high, peak = (np.empty(len(given)) for _ in range(3))
    at = np.empty(len(given), np.int64)
    _extreme(given.samples, given.offsets, given.sizes, low, high, peak, at)
    return low, high, peak, at


def _trimpeak(given: Segments, part: float = 0.01) -> Floats:
    if not 0 <= part < 1:
        raise ExpressionError(f"trimpeak leaves out a part from 0 to less than 1, not {part}")
    out = np.empty(len(given))
    _trimmed(given.samples, given.offsets, given.sizes, part, out)
    return out


def _band(given: Segments, low: float, high: float) -> Floats:
    out = np.empty(len(given))
    _banded(given.samples, given.offsets, given.sizes, int(low), int(high), out)
    return out


MEASURES: Mapping[str, Measure] = {
    "mean": Measure(_mean),
    "sum": Measure(_sum),
    "std": Measure(_std),
    "var": Measure(_var),
    "rms": Measure(_rms),
    "energy": Measure(_energy),
    "min": Measure(lambda given: _extremes(given)[0]),
    "max": Measure(lambda given: _extremes(given)[1]),
    "peak": Measure(lambda given: _extremes(given)[2]),
    "peak_at": Measure(lambda given: given.start + _extremes(given)[3], pa.int64()),
    "trimpeak": Measure(_trimpeak, arguments=(0, 1)),
    "band": Measure(_band, arguments=(2, 2)),
    "count": Measure(lambda given: given.sizes.astype(np.int64), pa.int64(), whole=True),
    "start": Measure(lambda given: given.start, pa.int64(), whole=True),
    "end": Measure(lambda given: given.stop - 1, pa.int64()),
    "seconds": Measure(lambda given: (given.phase + given.start * given.per) / np.maximum(given.rate, 1), whole=True),
    "rate": Measure(lambda given: given.rate / np.maximum(given.per, 1), whole=True),
}


def _moments(given: Segments) -> tuple[Floats, Floats]:
    """The sum of each, and the sum of squares around the mean: in whole numbers where they are small."""
    total, around = np.empty(len(given)), np.empty(len(given))
    moments = _whole if given.samples.dtype == np.int16 else _real
    moments(given.samples, given.offsets, given.sizes, total, around)
    return total, around


@summing
def _whole(samples: npt.NDArray[np.int16], offsets: Sizes, sizes: Sizes, total: Floats, around: Floats) -> None:
    """In floats that are whole numbers: those of so few samples are exact."""
    for row in range(len(offsets)):
        added, squared, size = np.int64(0), np.int64(0), np.int64(sizes[row])
        for begin in range(0, size, _EXACT):
            first, second = 0.0, 0.0
            for value in samples[offsets[row] + begin : offsets[row] + min(begin + _EXACT, size)]:
                each = np.float64(value)
                first += each
                second += each * each
            added += np.int64(first)
            squared += np.int64(second)
        total[row] = added
        if size == 0:
            around[row] = 0.0
        elif size <= _EXACT:  # the square of the sum is exact
            square = added * added
            around[row] = np.float64(squared - square // size) - np.float64(square % size) / np.float64(size)
        else:
            mean, spread = np.float64(added) / np.float64(size), 0.0
            for value in samples[offsets[row] : offsets[row] + size]:
                spread += (np.float64(value) - mean) ** 2
            around[row] = spread


@kernel
def _real(samples: Samples, offsets: Sizes, sizes: Sizes, total: Floats, around: Floats) -> None:
    """In two passes, with four sums beside each other so that none waits for the other."""
    for row in range(len(offsets)):
        its = samples[offsets[row] : offsets[row] + sizes[row]]
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        four = len(its) // 4 * 4
        for at in range(0, four, 4):
            a += its[at]
            b += its[at + 1]
            c += its[at + 2]
            d += its[at + 3]
        for at in range(four, len(its)):
            a += its[at]
        added = (a + b) + (c + d)
        total[row] = added
        mean = added / max(len(its), 1)
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        for at in range(0, four, 4):
            a += (its[at] - mean) ** 2
            b += (its[at + 1] - mean) ** 2
            c += (its[at + 2] - mean) ** 2
            d += (its[at + 3] - mean) ** 2
        for at in range(four, len(its)):
            a += (its[at] - mean) ** 2
        around[row] = (a + b) + (c + d)


@kernel
def _squares(samples: Samples, offsets: Sizes, sizes: Sizes, out: Floats) -> None:
    for row in range(len(offsets)):
        sum_ = 0.0
        for value in samples[offsets[row] : offsets[row] + sizes[row]]:
            sum_ += np.float64(value) * np.float64(value)
        out[row] = sum_


@kernel
def _extreme(samples: Samples, offsets: Sizes, sizes: Sizes, low: Floats, high: Floats, peak: Floats, at: Ints) -> None:
    for row in range(len(offsets)):
        low[row], high[row], peak[row], at[row] = np.inf, -np.inf, -1.0, 0
        for place in range(sizes[row]):
            value = np.float64(samples[offsets[row] + place])
            low[row] = min(low[row], value)
            high[row] = max(high[row], value)
            if abs(value) > peak[row]:
                peak[row], at[row] = abs(value), place


@kernel
def _trimmed(samples: Samples, offsets: Sizes, sizes: Sizes, part: float, out: Floats) -> None:
    """The smallest of the largest magnitudes, which are kept in order; most samples are below them all."""
    for row in range(len(offsets)):
        many = int(part * sizes[row]) + 1
        top = np.full(many, -1.0)
        for place in range(sizes[row]):
            value = abs(np.float64(samples[offsets[row] + place]))
            if value > top[0]:
                at = 0
                while at + 1 < many and top[at + 1] < value:
                    top[at] = top[at + 1]
                    at += 1
                top[at] = value
        out[row] = top[0]


@kernel
def _banded(samples: Samples, offsets: Sizes, sizes: Sizes, low: int, high: int, out: Floats) -> None:
    for row in range(len(offsets)):
        sum_ = 0.0
        for place in range(max(low, 0), min(high + 1, sizes[row])):
            sum_ += abs(np.float64(samples[offsets[row] + place]))
        out[row] = sum_
