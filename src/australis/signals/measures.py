"""What is measured of segments, many at once: each is a kernel over all samples of a column."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.errors import ExpressionError
from australis.kernel import inner, kernel
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
    return _moments(given)[0]


def _mean(given: Segments) -> Floats:
    return _sum(given) / np.maximum(given.sizes, 1)


def _var(given: Segments) -> Floats:
    return _moments(given)[2] / np.maximum(given.sizes, 1)


def _std(given: Segments) -> Floats:
    return np.sqrt(_var(given))


def _energy(given: Segments) -> Floats:
    return _moments(given)[1]


def _rms(given: Segments) -> Floats:
    return np.sqrt(_energy(given) / np.maximum(given.sizes, 1))


def _extremes(given: Segments) -> tuple[Floats, Floats, Floats]:
    low, high, peak = (np.empty(len(given)) for _ in range(3))
    _extreme(given.samples, given.offsets, given.sizes, low, high, peak)
    return low, high, peak


def _peak_at(given: Segments) -> Ints:
    place = np.empty(len(given), np.int64)
    _place(given.samples, given.offsets, given.sizes, _extremes(given)[2], place)
    return given.start + np.minimum(place, given.sizes - 1)


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
    "peak_at": Measure(_peak_at, pa.int64()),
    "trimpeak": Measure(_trimpeak, arguments=(0, 1)),
    "band": Measure(_band, arguments=(2, 2)),
    "count": Measure(lambda given: given.sizes.astype(np.int64), pa.int64(), whole=True),
    "start": Measure(lambda given: given.start, pa.int64(), whole=True),
    "end": Measure(lambda given: given.stop - 1, pa.int64()),
    "seconds": Measure(lambda given: (given.phase + given.start * given.per) / np.maximum(given.rate, 1), whole=True),
    "rate": Measure(lambda given: given.rate / np.maximum(given.per, 1), whole=True),
}


def _moments(given: Segments) -> tuple[Floats, Floats, Floats]:
    """Sums of each, of its squares, and of its squares around the mean; of int16 they are exact."""
    total, squares, around = (np.empty(len(given)) for _ in range(3))
    moments = _whole if given.samples.dtype == np.int16 else _real
    moments(given.samples, given.offsets, given.sizes, total, squares, around)
    return total, squares, around


@inner
def _bounds(row: int, offsets: Sizes, sizes: Sizes) -> tuple[np.uint64, np.uint64]:
    """Where the samples of a segment lie, as numbers that cannot be negative.

    numba looks whether others count from an array's end, for every sample; without that, loops take many at once.
    """
    first = np.uint64(offsets[row])
    return first, first + np.uint64(sizes[row])


@kernel
def _whole(
    samples: npt.NDArray[np.int16], offsets: Sizes, sizes: Sizes, total: Floats, squares: Floats, around: Floats
) -> None:
    for row in range(len(offsets)):
        first, last = _bounds(row, offsets, sizes)
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


@inner
def _added(samples: Samples, first: np.uint64, last: np.uint64, level: float, squared: bool) -> float:
    """The sum above a level, or that of squares: four beside each other, so that none waits for the other."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    even = last - (last - first) % np.uint64(4)
    for at in range(first, even, np.uint64(4)):
        w, x = samples[at] - level, samples[at + np.uint64(1)] - level
        y, z = samples[at + np.uint64(2)] - level, samples[at + np.uint64(3)] - level
        a += w * w if squared else w
        b += x * x if squared else x
        c += y * y if squared else y
        d += z * z if squared else z
    for at in range(even, last):
        w = samples[at] - level
        a += w * w if squared else w
    return (a + b) + (c + d)


@kernel
def _real(samples: Samples, offsets: Sizes, sizes: Sizes, total: Floats, squares: Floats, around: Floats) -> None:
    for row in range(len(offsets)):
        first, last = _bounds(row, offsets, sizes)
        total[row] = _added(samples, first, last, 0.0, False)
        squares[row] = _added(samples, first, last, 0.0, True)
        around[row] = _added(samples, first, last, total[row] / max(sizes[row], 1), True)


@kernel
def _extreme(samples: Samples, offsets: Sizes, sizes: Sizes, low: Floats, high: Floats, peak: Floats) -> None:
    for row in range(len(offsets)):
        first, last = _bounds(row, offsets, sizes)
        low[row], high[row], peak[row] = np.inf, -np.inf, -1.0
        while first < last and samples[first] != samples[first]:
            first += np.uint64(1)  # a NaN is neither
        if first == last:
            continue
        least, most = samples[first], samples[first]
        for at in range(first, last):
            least = samples[at] if samples[at] < least else least
            most = samples[at] if samples[at] > most else most
        low[row], high[row] = least, most
        peak[row] = max(abs(np.float64(least)), abs(np.float64(most)))


@kernel
def _place(samples: Samples, offsets: Sizes, sizes: Sizes, peak: Floats, place: Ints) -> None:
    """Where the peak of each is first reached."""
    for row in range(len(offsets)):
        place[row] = 0
        while place[row] < sizes[row] and abs(np.float64(samples[offsets[row] + place[row]])) != peak[row]:
            place[row] += 1


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
