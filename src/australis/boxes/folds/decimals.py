"""Folds of decimals: their exact sum, and their average and variance as doubles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from australis.arrow.columns import arrow
from australis.boxes.folds.arithmetic import Variance
from australis.boxes.folds.fold import ALL_VALID, Accumulators, Contributions
from australis.errors import RunError
from australis.expressions.decimals import MOST
from australis.kernels.jit import inner, kernel
from australis.model.table import Table
from australis.model.train import Bools, Ints

Words = npt.NDArray[np.uint64]

_MORE = 10
"""How many digits more a sum has than its values."""
_LIMBS = ("low", "middle", "high")
"""A total is kept in 192 bits, of which no number of decimals that a stream may have runs out."""


@dataclass(frozen=True)
class DecimalSum:
    """The sum of decimals, exact, or with `mean` their average as a double; null when there is none.

    A sum has ten digits more than its values, up to 38; one that does not fit is an error.
    """

    argument: pa.Decimal128Type
    type: pa.DataType
    mean: bool = False
    fields: tuple[pa.Field[Any], ...] = tuple(pa.field(name, pa.int64(), nullable=False) for name in ("n", *_LIMBS))
    merges: bool = True

    @classmethod
    def of(cls, argument: Any, mean: bool = False) -> DecimalSum:
        total = pa.decimal128(min(argument.precision + _MORE, MOST), argument.scale)
        own = pa.decimal128(argument.precision, argument.scale)
        return cls(own, pa.float64() if mean else total, mean)

    def add(self, into: Accumulators, feed: Contributions, arguments: Sequence[pa.Array[Any]]) -> None:
        array = arguments[0].cast(self.argument)
        valid = ALL_VALID if not array.null_count else array.is_valid().to_numpy(zero_copy_only=False)
        data: Any = array.buffers()[1]
        words = np.frombuffer(data, np.uint64, 2 * len(array), 16 * array.offset) if len(array) else np.empty(0, "u8")
        _add(feed.slots, feed.rows, words.copy(), valid, into.columns["n"], *_limbs(into))

    def merge(self, panes: Accumulators, starts: Ints, slots: Ints) -> Accumulators:
        windows = len(starts) - 1
        columns = {name: np.zeros(windows, np.int64) for name in ("n", *_LIMBS)}
        merged = Accumulators(columns, {})
        _merge(starts, slots, panes.columns["n"], *_limbs(panes), columns["n"], *_limbs(merged))
        return merged

    def finish(self, windows: Accumulators) -> pa.Array[Any]:
        n, (low, middle, high) = windows.columns["n"], _limbs(windows)
        sign = (high.view(np.int64) >> 63).view(np.uint64)
        words: Any = np.ascontiguousarray(np.stack([low, middle, high, sign], axis=1))
        total = pa.Array.from_buffers(pa.decimal256(76, self.argument.scale), len(n), [None, pa.py_buffer(words)])
        if self.mean:
            return arrow(total.cast(pa.float64()).to_numpy() / np.maximum(n, 1), n > 0, self.type)
        try:
            result: pa.Array[Any] = pc.if_else(pa.array(n > 0), total.cast(self.type), pa.scalar(None, self.type))
        except pa.ArrowInvalid:
            before = MOST - self.argument.scale
            raise RunError(
                f"a sum of {self.argument} overflows: it has more than {before} digits before the point; "
                "cast to double or to fewer digits"
            ) from None
        return result

    def seen(self) -> Table | None:
        return None

    def release(self, windows: Accumulators, slots: Ints) -> None:
        pass


@dataclass(frozen=True)
class DecimalVariance(Variance):
    """The variance of decimals as doubles."""

    def add(self, into: Accumulators, feed: Contributions, arguments: Sequence[pa.Array[Any]]) -> None:
        super().add(into, feed, [arguments[0].cast(pa.float64())])


def _limbs(of: Accumulators) -> tuple[Words, Words, Words]:
    low, middle, high = (of.columns[name].view(np.uint64) for name in _LIMBS)
    return low, middle, high


@inner
def _carry(at: int, one: Any, two: Any, three: Any, low: Words, middle: Words, high: Words) -> None:
    """Add to the total at a place, limb by limb; a limb that falls has overflowed."""
    low[at] += one
    carry = np.uint64(low[at] < one)
    middle[at] += two
    more = np.uint64(middle[at] < two)
    middle[at] += carry
    high[at] += three + more + np.uint64(middle[at] < carry)


@inner
def _add(slots: Ints, rows: Ints, words: Words, valid: Bools, n: Ints, low: Words, middle: Words, high: Words) -> None:
    for i in range(len(slots)):
        slot = slots[i]
        row = rows[i] if len(rows) else i
        if slot < 0 or (len(valid) and not valid[row]):
            continue
        top = words[2 * row + 1]
        sign = np.uint64(0) - (top >> np.uint64(63))  # all ones below zero
        n[slot] += 1
        _carry(slot, words[2 * row], top, sign, low, middle, high)


@kernel
def _merge(
    starts: Ints, slots: Ints, n: Ints, low: Words, middle: Words, high: Words,
    into_n: Ints, into_low: Words, into_middle: Words, into_high: Words,
) -> None:  # fmt: skip
    for window in range(len(starts) - 1):
        for place in range(starts[window], starts[window + 1]):
            pane = slots[place]
            into_n[window] += n[pane]
            _carry(window, low[pane], middle[pane], high[pane], into_low, into_middle, into_high)
