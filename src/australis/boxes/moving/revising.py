"""What objects carried before a step: an update that takes something back has the values that were told (SOLE 3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from australis.model.table import Table
from australis.model.train import Bools, Ints


class Before:
    """A copy of columns of some rows of a table, to compare with after the rows have been written."""

    def __init__(self, table: Table, names: Sequence[str], slots: Ints) -> None:
        self.table, self.slots = table, slots
        self.columns = {name: table.get(name, slots) for name in names}
        self._plain = {
            name: (table[name][slots], table.valid[name][slots] if name in table.valid else None) for name in names
        }

    def revised(self, there: Bools) -> Bools:
        """Which rows that were `there` have other values now."""
        changed = np.zeros(len(self.slots), np.bool_)
        for name, (values, valid) in self._plain.items():
            other = np.asarray(self.table[name][self.slots] != values, np.bool_)
            if valid is not None:
                now = self.table.valid[name][self.slots]
                other = (other & valid & now) | (valid != now)
            changed |= other
        flags = np.zeros(len(self.table.alive), np.bool_)
        flags[self.slots] = changed
        return flags & there

    def column(self, name: str, slots: Ints, past: int) -> pa.Array[Any]:
        """A column of rows, the first `past` of them as it was before."""
        now = self.table.get(name, slots)
        if name not in self.columns or not past:
            return now
        place = np.full(len(self.table.alive), -1, np.int64)
        place[self.slots] = np.arange(len(self.slots))
        rows = np.arange(len(slots)) + len(self.slots)
        known = place[slots[:past]]
        rows[:past] = np.where(known >= 0, known, rows[:past])
        return pa.concat_arrays([self.columns[name], now]).take(rows)
