"""Folds of numbers: count, sum, avg, min, max and the variances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from australis.arrow.columns import Values, arrow, storage
from australis.boxes.folds.fold import ALL_VALID, COUNT, Accumulators, Contributions, Merging, numbers
from australis.kernels.jit import inner, kernel
from australis.model.train import Bools, Ints


@dataclass(frozen=True)
class Count(Merging):
    """How many tuples, or how many with a value."""

    type: pa.DataType = pa.int64()
    fields: tuple[pa.Field[Any], ...] = (COUNT,)

    def add(self, into: Accumulators, feed: Contributions, arguments: Sequence[pa.Array[Any]]) -> None:
        valid = ALL_VALID
        if arguments and arguments[0].null_count:
            valid = arguments[0].is_valid().to_numpy(zero_copy_only=False)
        _count(feed.slots, feed.rows, valid, into.columns["n"])

    def merge(self, panes: Accumulators, starts: Ints, slots: Ints) -> Accumulators:
        return Accumulators({"n": _totals(panes.columns["n"], starts, slots)}, {})

    def finish(self, windows: Accumulators) -> pa.Array[Any]:
        return arrow(windows.columns["n"], None, self.type)


@dataclass(frozen=True)
class Sum(Merging):
    """The sum of doubles, or with `mean` their average; null when there is none. Those of whole numbers are apart."""

    mean: bool = False
    type: pa.DataType = pa.float64()
    fields: tuple[pa.Field[Any], ...] = (COUNT, pa.field("total", pa.float64(), nullable=False))

    def add(self, into: Accumulators, feed: Contributions, arguments: Sequence[pa.Array[Any]]) -> None:
        values, valid = numbers(arguments[0])
        _sum(feed.slots, feed.rows, values, valid, into.columns["n"], into.columns["total"])

    def merge(self, panes: Accumulators, starts: Ints, slots: Ints) -> Accumulators:
        return Accumulators({name: _totals(panes.columns[name], starts, slots) for name in ("n", "total")}, {})

    def finish(self, windows: Accumulators) -> pa.Array[Any]:
        n, total = windows.columns["n"], windows.columns["total"]
        return arrow(total / np.maximum(n, 1) if self.mean else total, n > 0, self.type)


@dataclass(frozen=True)
class Extreme(Merging):
    """The least or the greatest of numbers or times; NaN counts as greater than any number."""

    type: pa.DataType
    fields: tuple[pa.Field[Any], ...]
    greatest: bool

    @classmethod
    def of(cls, argument: pa.DataType, greatest: bool) -> Extreme:
        wide = pa.float64() if pa.types.is_floating(argument) else pa.int64()
        kept = argument if argument == pa.uint64() else wide
        return cls(argument, (COUNT, pa.field("value", kept, nullable=False)), greatest)

    def add(self, into: Accumulators, feed: Contributions, arguments: Sequence[pa.Array[Any]]) -> None:
        values, valid = numbers(arguments[0])
        _extreme(feed.slots, feed.rows, values, valid, into.columns["n"], into.columns["value"], self.greatest)

    def merge(self, panes: Accumulators, starts: Ints, slots: Ints) -> Accumulators:
        n, value = _extremes(panes.columns["n"], panes.columns["value"], starts, slots, self.greatest)
        return Accumulators({"n": n, "value": value}, {})

    def finish(self, windows: Accumulators) -> pa.Array[Any]:
        value = windows.columns["value"].astype(storage(self.type), copy=False)
        return arrow(value, windows.columns["n"] > 0, self.type)


@dataclass(frozen=True)
class Variance(Merging):
    """Variance or standard deviation of doubles by Welford's method; of a sample, null for fewer than two values."""

    sample: bool
    root: bool
    type: pa.DataType = pa.float64()
    fields: tuple[pa.Field[Any], ...] = (
        COUNT,
        pa.field("mean", pa.float64(), nullable=False),
        pa.field("squares", pa.float64(), nullable=False),
    )

    def add(self, into: Accumulators, feed: Contributions, arguments: Sequence[pa.Array[Any]]) -> None:
        values, valid = numbers(arguments[0])
        own = into.columns
        _welford(feed.slots, feed.rows, values, valid, own["n"], own["mean"], own["squares"])

    def merge(self, panes: Accumulators, starts: Ints, slots: Ints) -> Accumulators:
        own = panes.columns
        n, mean, squares = _welfords(own["n"], own["mean"], own["squares"], starts, slots)
        return Accumulators({"n": n, "mean": mean, "squares": squares}, {})

    def finish(self, windows: Accumulators) -> pa.Array[Any]:
        degrees = windows.columns["n"] - self.sample
        variance = windows.columns["squares"] / np.maximum(degrees, 1)
        return arrow(np.sqrt(variance) if self.root else variance, degrees > 0, self.type)


@inner
def _count(slots: Ints, rows: Ints, valid: Bools, n: Ints) -> None:
    for i in range(len(slots)):
        slot = slots[i]
        if slot < 0 or (len(valid) and not valid[rows[i] if len(rows) else i]):
            continue
        n[slot] += 1


@inner
def _sum(slots: Ints, rows: Ints, values: Values, valid: Bools, n: Ints, total: Values) -> None:
    for i in range(len(slots)):
        slot = slots[i]
        row = rows[i] if len(rows) else i
        if slot < 0 or (len(valid) and not valid[row]):
            continue
        n[slot] += 1
        total[slot] += values[row]


@inner
def _beats(value: Any, best: Any, greatest: bool) -> bool:
    if value != value:  # NaN is above every number
        return greatest
    if best != best:
        return not greatest
    return bool(value > best if greatest else value < best)


@inner
def _extreme(slots: Ints, rows: Ints, values: Values, valid: Bools, n: Ints, best: Values, greatest: bool) -> None:
    for i in range(len(slots)):
        slot = slots[i]
        row = rows[i] if len(rows) else i
        if slot < 0 or (len(valid) and not valid[row]):
            continue
        if n[slot] == 0 or _beats(values[row], best[slot], greatest):
            best[slot] = values[row]
        n[slot] += 1


@inner
def _welford(slots: Ints, rows: Ints, values: Values, valid: Bools, n: Ints, mean: Values, squares: Values) -> None:
    for i in range(len(slots)):
        slot = slots[i]
        row = rows[i] if len(rows) else i
        if slot < 0 or (len(valid) and not valid[row]):
            continue
        n[slot] += 1
        off = values[row] - mean[slot]
        mean[slot] += off / n[slot]
        squares[slot] += off * (values[row] - mean[slot])


@kernel
def _totals(values: Values, starts: Ints, slots: Ints) -> Values:
    out = np.zeros(len(starts) - 1, values.dtype)
    for window in range(len(out)):
        for place in range(starts[window], starts[window + 1]):
            out[window] += values[slots[place]]
    return out


@kernel
def _extremes(n: Ints, best: Values, starts: Ints, slots: Ints, greatest: bool) -> tuple[Ints, Values]:
    count, out = np.zeros(len(starts) - 1, np.int64), np.zeros(len(starts) - 1, best.dtype)
    for window in range(len(out)):
        for place in range(starts[window], starts[window + 1]):
            pane = slots[place]
            if n[pane] and (count[window] == 0 or _beats(best[pane], out[window], greatest)):
                out[window] = best[pane]
            count[window] += n[pane]
    return count, out


@kernel
def _welfords(n: Ints, mean: Values, squares: Values, starts: Ints, slots: Ints) -> tuple[Ints, Values, Values]:
    windows = len(starts) - 1
    count, average, sums = np.zeros(windows, np.int64), np.zeros(windows), np.zeros(windows)
    for window in range(windows):
        for place in range(starts[window], starts[window + 1]):
            pane = slots[place]
            if n[pane] == 0:
                continue
            both = count[window] + n[pane]
            off = mean[pane] - average[window]
            sums[window] += squares[pane] + off * off * count[window] * n[pane] / both
            average[window] += off * n[pane] / both
            count[window] = both
    return count, average, sums
