"""Folds of whole numbers that are exact however large the numbers: sums in 128 bits, variances about a first value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from australis.arrow.columns import arrow
from australis.boxes.folds.fold import COUNT, Accumulators, Contributions, Merging, numbers
from australis.kernels.jit import inner, kernel
from australis.model.train import Bools, Ints

_LEAST = np.iinfo(np.int64).min


@dataclass(frozen=True)
class WholeSum(Merging):
    """The sum of the values, or with `mean` their average; null when there is none.

    It is `high` * 2**64 + `total`, so that only a sum that does not fit in 64 bits is an error, and no average is.
    """

    type: pa.DataType
    mean: bool = False
    unsigned: bool = False
    fields: tuple[pa.Field[Any], ...] = (
        COUNT,
        pa.field("total", pa.int64(), nullable=False),
        pa.field("high", pa.int64(), nullable=False),
    )

    @classmethod
    def of(cls, argument: pa.DataType, mean: bool = False) -> WholeSum:
        total: pa.DataType = argument if pa.types.is_duration(argument) else pa.int64()
        return cls(pa.float64() if mean else total, mean, argument == pa.uint64())

    def add(self, into: Accumulators, feed: Contributions, arguments: Sequence[pa.Array[Any]]) -> None:
        values, valid = numbers(arguments[0])
        own = into.columns
        if self.unsigned:
            _add_unsigned(feed.slots, feed.rows, values, valid, own["n"], own["total"], own["high"])
        else:
            _add(feed.slots, feed.rows, values, valid, own["n"], own["total"], own["high"])

    def merge(self, panes: Accumulators, starts: Ints, slots: Ints) -> Accumulators:
        own = panes.columns
        n, total, high = _add_panes(own["n"], own["total"], own["high"], starts, slots)
        return Accumulators({"n": n, "total": total, "high": high}, {})

    def finish(self, windows: Accumulators) -> pa.Array[Any]:
        n, total, high = (windows.columns[name] for name in ("n", "total", "high"))
        if self.mean:
            return arrow((total + high * 2.0**64) / np.maximum(n, 1), n > 0, self.type)
        if high.any():
            raise OverflowError
        return arrow(total, n > 0, self.type)


@dataclass(frozen=True)
class WholeVariance(Merging):
    """Variance or standard deviation by Welford's method; of a sample, null for fewer than two values.

    What is averaged is how far the values lie from the window's first, `origin`: doubles cannot tell large neighbours
    apart.
    """

    sample: bool
    root: bool
    unsigned: bool = False
    type: pa.DataType = pa.float64()
    fields: tuple[pa.Field[Any], ...] = (
        COUNT,
        pa.field("origin", pa.int64(), nullable=False),
        pa.field("mean", pa.float64(), nullable=False),
        pa.field("squares", pa.float64(), nullable=False),
    )

    def add(self, into: Accumulators, feed: Contributions, arguments: Sequence[pa.Array[Any]]) -> None:
        values, valid = numbers(arguments[0])
        if self.unsigned:  # differences are all that counts
            values = values.view(np.int64) ^ _LEAST
        own = into.columns
        _welford(feed.slots, feed.rows, values, valid, own["n"], own["origin"], own["mean"], own["squares"])

    def merge(self, panes: Accumulators, starts: Ints, slots: Ints) -> Accumulators:
        own = panes.columns
        n, origin, mean, squares = _welfords(own["n"], own["origin"], own["mean"], own["squares"], starts, slots)
        return Accumulators({"n": n, "origin": origin, "mean": mean, "squares": squares}, {})

    def finish(self, windows: Accumulators) -> pa.Array[Any]:
        degrees = windows.columns["n"] - self.sample
        variance = windows.columns["squares"] / np.maximum(degrees, 1)
        return arrow(np.sqrt(variance) if self.root else variance, degrees > 0, self.type)


@inner
def _add(slots: Ints, rows: Ints, values: Ints, valid: Bools, n: Ints, total: Ints, high: Ints) -> None:
    for i in range(len(slots)):
        slot = slots[i]
        row = rows[i] if len(rows) else i
        if slot < 0 or (len(valid) and not valid[row]):
            continue
        n[slot] += 1
        value, before = values[row], total[slot]
        after = np.int64(np.uint64(before) + np.uint64(value))
        total[slot] = after
        if ((before ^ after) & (value ^ after)) < 0:  # the sign is wrong: it went round
            high[slot] += 1 if value >= 0 else -1


@inner
def _add_unsigned(slots: Ints, rows: Ints, values: Any, valid: Bools, n: Ints, total: Ints, high: Ints) -> None:
    for i in range(len(slots)):
        slot = slots[i]
        row = rows[i] if len(rows) else i
        if slot < 0 or (len(valid) and not valid[row]):
            continue
        n[slot] += 1
        total[slot], carry = _plus(total[slot], np.int64(values[row]))
        high[slot] += carry + (np.int64(values[row]) < 0)


@inner
def _plus(one: Any, other: Any) -> tuple[Any, int]:
    """The low 64 bits of a sum, and what to add to the high ones."""
    low = np.int64(np.uint64(one) + np.uint64(other))
    if ((one ^ low) & (other ^ low)) < 0:
        return low, 1 if other >= 0 else -1
    return low, 0


@kernel
def _add_panes(n: Ints, total: Ints, high: Ints, starts: Ints, slots: Ints) -> tuple[Ints, Ints, Ints]:
    windows = len(starts) - 1
    count, low, up = np.zeros(windows, np.int64), np.zeros(windows, np.int64), np.zeros(windows, np.int64)
    for window in range(windows):
        for place in range(starts[window], starts[window + 1]):
            pane = slots[place]
            low[window], carry = _plus(low[window], total[pane])
            up[window] += high[pane] + carry
            count[window] += n[pane]
    return count, low, up


@inner
def _apart(one: int, other: int) -> float:
    """How far two whole numbers lie apart."""
    off = np.int64(np.uint64(one) - np.uint64(other))
    if ((one ^ other) & (one ^ off)) < 0:
        return float(one) - float(other)
    return float(off)


@inner
def _welford(
    slots: Ints, rows: Ints, values: Ints, valid: Bools, n: Ints, origin: Ints, mean: Any, squares: Any
) -> None:
    for i in range(len(slots)):
        slot = slots[i]
        row = rows[i] if len(rows) else i
        if slot < 0 or (len(valid) and not valid[row]):
            continue
        if n[slot] == 0:
            origin[slot] = values[row]
        n[slot] += 1
        value = _apart(values[row], origin[slot])
        off = value - mean[slot]
        mean[slot] += off / n[slot]
        squares[slot] += off * (value - mean[slot])


@kernel
def _welfords(n: Ints, origin: Ints, mean: Any, squares: Any, starts: Ints, slots: Ints) -> tuple[Ints, Ints, Any, Any]:
    windows = len(starts) - 1
    count, first = np.zeros(windows, np.int64), np.zeros(windows, np.int64)
    average, sums = np.zeros(windows), np.zeros(windows)
    for window in range(windows):
        for place in range(starts[window], starts[window + 1]):
            pane = slots[place]
            if n[pane] == 0:
                continue
            if count[window] == 0:
                first[window] = origin[pane]
            both = count[window] + n[pane]
            off = mean[pane] + _apart(origin[pane], first[window]) - average[window]
            sums[window] += squares[pane] + off * off * count[window] * n[pane] / both
            average[window] += off * n[pane] / both
            count[window] = both
    return count, first, average, sums
