"""The contract of a fold: an aggregate function as accumulators that take tuples one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from australis.arrow.columns import Values, plain
from australis.model.table import Table
from australis.model.train import Bools, Ints

ALL: Ints = np.empty(0, np.int64)
ALL_VALID: Bools = np.empty(0, np.bool_)


@dataclass(frozen=True)
class Contributions:
    """Contributions of tuples to windows: which accumulator takes which row, in order of arrival.

    `rows` may be empty: then contribution i is row i. A slot of -1 takes nothing. `at` is each row's place in the
    order.
    """

    slots: Ints
    rows: Ints
    at: Values


@dataclass(frozen=True)
class Accumulators:
    """The state of windows: columns by slot. A fold reads and writes those of its own fields."""

    columns: dict[str, Values]
    valid: dict[str, Bools]
    seen: Table | None = None

    def at(self, slots: Ints) -> Accumulators:
        """A copy of some windows."""
        columns = {name: values[slots] for name, values in self.columns.items()}
        return Accumulators(columns, {name: valid[slots] for name, valid in self.valid.items()}, self.seen)


class Fold(Protocol):
    """An aggregate function over the non-null values of its arguments; all zeros is the accumulator of no tuple."""

    @property
    def type(self) -> pa.DataType:
        """The type of the result."""

    @property
    def fields(self) -> tuple[pa.Field[Any], ...]:
        """The columns of its accumulators."""

    @property
    def merges(self) -> bool:
        """Whether two accumulators can be merged, so that overlapping windows share their panes."""

    def add(self, into: Accumulators, feed: Contributions, arguments: Sequence[pa.Array[Any]]) -> None:
        """Add contributions to accumulators."""

    def merge(self, panes: Accumulators, starts: Ints, slots: Ints) -> Accumulators:
        """Merge panes into windows: window w has the panes slots[starts[w]:starts[w + 1]], which are in order."""

    def finish(self, windows: Accumulators) -> pa.Array[Any]:
        """The results of windows."""

    def seen(self) -> Table | None:
        """A table beside the accumulators, where one number a window is not enough."""

    def release(self, windows: Accumulators, slots: Ints) -> None:
        """Forget windows that are about to be dropped."""


COUNT = pa.field("n", pa.int64(), nullable=False)
"""How many values an accumulator has."""


class Merging:
    """The methods of folds without a table of their own."""

    merges = True

    def seen(self) -> Table | None:
        return None

    def release(self, windows: Accumulators, slots: Ints) -> None:
        pass


def numbers(array: pa.Array[Any]) -> tuple[Values, Bools]:
    """Values as 64-bit numbers, and which are valid (or `ALL_VALID`)."""
    values, valid = plain(array)
    wide = np.float64 if values.dtype.kind == "f" else np.int64
    if values.dtype != np.uint64:
        values = values.astype(wide)  # a copy even if it is wide: kernels are compiled for arrays that may be written
    return values, ALL_VALID if valid is None else valid


def fresh(fold: Fold, windows: int) -> Accumulators:
    """Empty accumulators of a fold outside any table."""
    table = Table(pa.schema(fold.fields))
    table.insert(windows)
    return Accumulators(table.columns, table.valid, fold.seen())
