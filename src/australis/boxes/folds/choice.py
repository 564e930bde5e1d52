"""Folds that choose one of the values, of any type: first, last, and the least or greatest of what is not a number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.arrow.columns import Values, arrow, plain
from australis.boxes.folds.fold import Accumulators, Contributions
from australis.expressions.operand import computed
from australis.kernels.jit import kernel
from australis.model.table import Table
from australis.model.train import Ints


@dataclass(frozen=True)
class _Choice:
    type: pa.DataType
    fields: tuple[pa.Field[Any], ...]

    merges = True

    def finish(self, windows: Accumulators) -> pa.Array[Any]:
        return arrow(windows.columns["value"], windows.valid["value"], self.type)

    def seen(self) -> Table | None:
        return None

    def release(self, windows: Accumulators, slots: Ints) -> None:
        pass

    def _choose(self, into: Accumulators, slots: Ints, array: pa.Array[Any]) -> None:
        values, valid = plain(array)
        into.columns["value"][slots] = values
        into.valid["value"][slots] = True if valid is None else valid


@dataclass(frozen=True)
class End(_Choice):
    """The value, null or not, of the window's first or last tuple in its order; among equals, as they arrived."""

    last: bool

    @classmethod
    def of(cls, argument: pa.DataType, order: pa.DataType, last: bool) -> End:
        count, at = pa.field("n", pa.int64(), nullable=False), pa.field("at", order, nullable=False)
        return cls(argument, (count, at, pa.field("value", argument)), last)

    def add(self, into: Accumulators, feed: Contributions, arguments: Sequence[pa.Array[Any]]) -> None:
        chosen = _ends(feed.slots, feed.rows, feed.at, into.columns["n"], into.columns["at"], self.last)
        rows = feed.rows[chosen] if len(feed.rows) else chosen
        self._choose(into, feed.slots[chosen], arguments[0].take(rows))

    def merge(self, panes: Accumulators, starts: Ints, slots: Ints) -> Accumulators:
        return panes.at(slots[starts[1:] - 1] if self.last else slots[starts[:-1]])


@dataclass(frozen=True)
class ExtremeOf(_Choice):
    """The least or the greatest of values that have an order but are not numbers, such as strings."""

    greatest: bool

    @classmethod
    def of(cls, argument: pa.DataType, greatest: bool) -> ExtremeOf:
        type_ = computed(argument)
        return cls(type_, (pa.field("value", type_),), greatest)

    def add(self, into: Accumulators, feed: Contributions, arguments: Sequence[pa.Array[Any]]) -> None:
        rows = feed.rows if len(feed.rows) else np.arange(len(feed.slots))
        values = arguments[0].cast(self.type).take(rows)
        counted = (feed.slots >= 0) & values.is_valid().to_numpy(zero_copy_only=False)
        slots, values = feed.slots[counted], values.filter(counted)
        rank = pc.rank(values, sort_keys="descending" if self.greatest else "ascending").to_numpy()
        best = np.lexsort((rank, slots))
        best = best[np.concatenate([[True], np.diff(slots[best]) != 0])] if len(best) else best
        slots, values = slots[best], values.take(best)
        now = arrow(into.columns["value"][slots], into.valid["value"][slots], self.type)
        beats: Any = pc.greater if self.greatest else pc.less
        better = beats(values, now).fill_null(True).to_numpy(zero_copy_only=False)
        self._choose(into, slots[better], values.filter(better))

    def merge(self, panes: Accumulators, starts: Ints, slots: Ints) -> Accumulators:
        windows = len(starts) - 1
        merged = Table(pa.schema(self.fields))
        merged.insert(windows)
        out = Accumulators(merged.columns, merged.valid)
        feed = Contributions(np.repeat(np.arange(windows), np.diff(starts)), slots, slots)
        self.add(out, feed, [arrow(panes.columns["value"], panes.valid["value"], self.type)])
        return out.at(np.arange(windows))


@kernel
def _ends(slots: Ints, rows: Ints, at: Values, n: Ints, place: Values, last: bool) -> Ints:
    chosen = np.empty(len(slots), np.int64)
    count = 0
    for i in range(len(slots)):
        slot = slots[i]
        if slot < 0:
            continue
        here = at[rows[i] if len(rows) else i]
        if n[slot] == 0 or (here >= place[slot] if last else here < place[slot]):
            place[slot] = here
            chosen[count] = i
            count += 1
        n[slot] += 1
    return chosen[:count]
