"""The fold that counts the distinct values of a window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from australis.arrow.columns import arrow, flags, take
from australis.boxes.folds.fold import Accumulators, Contributions
from australis.kernels.jit import inner, kernel
from australis.model.table import Table
from australis.model.train import Bools, Ints


@dataclass(frozen=True)
class CountDistinct:
    """Exact: every value of every open window is kept once, in a table chained from the windows."""

    values: tuple[pa.DataType, ...]
    type: pa.DataType = pa.int64()
    fields: tuple[pa.Field[Any], ...] = (
        pa.field("n", pa.int64(), nullable=False),
        pa.field("head", pa.int64(), nullable=False),
    )
    merges: bool = False

    def seen(self) -> Table:
        values = [pa.field(f"value{i}", type_) for i, type_ in enumerate(self.values)]
        window = pa.field("window", pa.int64(), nullable=False)
        chain = pa.field("next", pa.int64(), nullable=False)
        counted = pa.field("counted", pa.bool_(), nullable=False)
        return Table(pa.schema([window, *values, chain, counted]), ("window", *(field.name for field in values)))

    def add(self, into: Accumulators, feed: Contributions, arguments: Sequence[pa.Array[Any]]) -> None:
        assert into.seen is not None
        rows = feed.rows if len(feed.rows) else np.arange(len(feed.slots))
        counted = feed.slots >= 0
        for argument in arguments:
            if argument.null_count:
                counted &= flags(argument.is_valid())[rows]
        slots, index = feed.slots[counted], rows[counted]
        values = [take(argument, index) for argument in arguments]
        entries = into.seen.find([arrow(slots, None, pa.int64()), *values], len(slots))
        _count_new(slots, entries, into.columns["n"], into.columns["head"], into.seen["next"], into.seen["counted"])

    def merge(self, panes: Accumulators, starts: Ints, slots: Ints) -> Accumulators:
        raise AssertionError("sets of values are kept by window, not by pane")

    def finish(self, windows: Accumulators) -> pa.Array[Any]:
        return arrow(windows.columns["n"], None, self.type)

    def release(self, windows: Accumulators, slots: Ints) -> None:
        assert windows.seen is not None
        heads, counts = windows.columns["head"][slots], windows.columns["n"][slots]
        windows.seen.free(_chains(heads, windows.seen["next"], int(counts.sum())))


@inner
def _count_new(slots: Ints, entries: Ints, n: Ints, head: Ints, chain: Ints, counted: Bools) -> None:
    """Chains hold slot + 1, so that zero is their end."""
    for i in range(len(slots)):
        value, window = entries[i], slots[i]
        if not counted[value]:
            counted[value] = True
            n[window] += 1
            chain[value] = head[window]
            head[window] = value + 1


@kernel
def _chains(heads: Ints, chain: Ints, total: int) -> Ints:
    out = np.empty(total, np.int64)
    count = 0
    for head in heads:
        value = head
        while value:
            out[count] = value - 1
            count += 1
            value = chain[value - 1]
    return out
