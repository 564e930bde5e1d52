"""A filler: puts tuples into the windows of an aggregate, and makes results of windows that close."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from australis.arrow.columns import Values, arrow, plain, storage
from australis.boxes.aggregate import panes as by_pane
from australis.boxes.aggregate import windows as by_window
from australis.boxes.aggregate.results import Folded
from australis.boxes.aggregate.sampling import TALLIES, tally
from australis.boxes.edges import begins
from australis.boxes.folds import Accumulators, Contributions
from australis.boxes.folds.fold import ALL
from australis.errors import RunError
from australis.expressions import Bound
from australis.model.box import Tables
from australis.model.order import Order
from australis.model.table import Table
from australis.model.train import Bools, Ints, Train, empty, weights_of

_CONTRIBUTIONS = 1 << 16


@dataclass(frozen=True)
class Filler:
    """The windows of an aggregate on a stream: as panes that windows share where there are any, else one by one."""

    order: Order
    functions: Folded
    schema: pa.Schema
    """Of the results."""
    windows: by_window.WindowShape
    panes: by_pane.PaneShape | None
    opens: Bound | None = None
    """The predicate that opens windows."""
    sampled: bool = False
    """Whether results say what part of their tuples they have seen, in the last column."""

    def tables(self, stream: pa.Schema, place: pa.DataType) -> Tables:
        """The tables of windows and of their groups, empty."""
        if self.panes is not None:
            groups = self.order.groups(stream, *by_pane.group_fields(place))
            fields = by_pane.pane_fields(place)
        else:
            groups = self.order.groups(stream, *by_window.group_fields())
            fields = by_window.window_fields(place)
        columns = [*fields, *(TALLIES if self.sampled else ()), *self.functions.fields]
        return {"by": groups, "windows": Table(pa.schema(columns)), **self.functions.tables()}

    def fill(self, tables: Tables, train: Train, late: Bools) -> list[Train]:
        """Put tuples into windows, and mark those that are late; the results of windows that they close."""
        if self.panes is not None:
            return [self._fill_panes(tables, train, late, self.panes)]
        return self._fill_windows(tables, train, late)

    def _fill_panes(self, tables: Tables, train: Train, late: Bools, shape: by_pane.PaneShape) -> Train:
        groups, windows = tables["by"], tables["windows"]
        row_groups = self.order.find(groups, train)
        places, valid = self.order.places(train)
        slots = np.empty(len(train), np.int64)
        row, closed = 0, by_pane.none_closed()
        columns = by_pane.groups_of(groups)
        while row < len(train):
            windows.reserve(1)
            panes = by_pane.panes_of(windows)
            row, top, full = by_pane.place(
                row_groups, row, places, valid, train.ts, shape, columns, panes, windows.spare, windows.top, slots,
                late, closed,
            )  # fmt: skip
            windows.taken(top)
            if full:
                closed = by_pane.close_due(row, row_groups[row], shape, columns, panes, closed)
                row += 1
        self._add(tables, train, slots, ALL, places)
        done = closed.cut()
        return self._closed_panes(tables, shape, done, train.numbers(done.rows))

    def _closed_panes(self, tables: Tables, shape: by_pane.PaneShape, closed: by_pane.Closed, numbers: Ints) -> Train:
        if not len(closed.windows):
            return empty(self.schema)
        windows = tables["windows"]
        accumulators = self.functions.accumulators(windows, tables)
        oldest = windows["#oldest"][closed.panes]
        counts = [windows[field.name][closed.panes] for field in TALLIES] if self.sampled else []
        if shape.grid.per_window == 1:
            accumulated = [each.at(closed.panes) for each in accumulators]
        else:
            accumulated = [
                one.merge(each, closed.starts, closed.panes)
                for one, each in zip(self.functions.folds, accumulators, strict=True)
            ]
            oldest = np.minimum.reduceat(oldest, closed.starts[:-1])
            counts = [np.add.reduceat(each, closed.starts[:-1]) for each in counts]
        starts = begins(closed.windows, shape.grid)
        out = self._results(tables, accumulated, starts, closed.groups, oldest, numbers, counts)
        windows.free(closed.dropped)
        return out

    def _fill_windows(self, tables: Tables, train: Train, late: Bools) -> list[Train]:
        groups, windows = tables["by"], tables["windows"]
        row_groups = self.order.find(groups, train)
        places, valid = self.order.places(train)
        opens = np.empty(0, np.bool_)
        if self.opens is not None:
            opens = self.opens.mask(train.tuples).to_numpy(zero_copy_only=False)
        out, row, need = [], 0, 1
        while row < len(train):
            windows.reserve(need)
            outcome = by_window.room(max(_CONTRIBUTIONS, 2 * need))
            row, top, need = by_window.place(
                row_groups, row, places, valid, opens, train.ts, self.windows, by_window.groups_of(groups),
                by_window.windows_of(windows), windows.spare, windows.top, late, outcome,
            )  # fmt: skip
            windows.taken(top)
            done = outcome.cut()
            windows.touched[done.slots] = True
            windows.touched[done.closed] = True
            self._add(tables, train, done.slots, done.rows, places)
            out.append(self._closed_windows(tables, done.closed, train.number[done.triggers]))
            self.functions.drop(tables, done.dropped)
        return out

    def _add(self, tables: Tables, train: Train, slots: Ints, rows: Ints, places: Values) -> None:
        """Add tuples to what takes them: all of them are counted, and those of a sample are aggregated."""
        if self.sampled:
            weights = weights_of(train) if rows is ALL else weights_of(train)[rows]
            tally(tables["windows"], slots, weights)
            slots = np.where(weights > 0, slots, -1)
        accumulators = self.functions.accumulators(tables["windows"], tables)
        self.functions.add(accumulators, Contributions(slots, rows, places), train.tuples)

    def _closed_windows(self, tables: Tables, closed: Ints, numbers: Ints) -> Train:
        if not len(closed):
            return empty(self.schema)
        windows = tables["windows"]
        accumulated = [each.at(closed) for each in self.functions.accumulators(windows, tables)]
        starts, groups, oldest = (windows[name][closed] for name in ("#start", "#group", "#oldest"))
        counts = [windows[field.name][closed] for field in TALLIES] if self.sampled else []
        return self._results(tables, accumulated, starts, groups, oldest, numbers, counts)

    def time_out(self, tables: Tables, clock: int, number: int) -> Train:
        """The results of windows that have been open for too long."""
        windows = tables["windows"]
        slots = windows.slots
        slots = slots[~windows["#done"][slots] & (windows["#opened"][slots] + self.windows.timeout < clock)]
        slots = slots[np.lexsort((windows["#ordinal"][slots], windows["#group"][slots], windows["#start"][slots]))]
        windows["#done"][slots] = True
        windows.touched[slots] = True
        return self._closed_windows(tables, slots, np.full(len(slots), number))

    def flush(self, tables: Tables, number: int) -> Train:
        """The results of all windows that are open."""
        groups, windows = tables["by"], tables["windows"]
        groups.touched[groups.slots] = True
        if not len(windows):
            return empty(self.schema)
        if self.panes is not None:
            panes = by_pane.panes_of(windows)
            closed = by_pane.close_all(groups.slots, self.panes, by_pane.groups_of(groups), panes).cut()
            out = self._closed_panes(tables, self.panes, closed, np.full(len(closed.rows), number))
            by = closed.groups
        else:
            outcome = by_window.room(len(windows))
            by_window.close_all(groups.slots, by_window.groups_of(groups), by_window.windows_of(windows), outcome)
            done = outcome.cut()
            by = windows["#group"][done.closed]
            out = self._closed_windows(tables, done.closed, np.full(len(done.closed), number))
            self.functions.drop(tables, done.dropped)
        starts = plain(out[self.order.attribute])[0]
        return out.take(np.lexsort((by, starts)))

    def _results(
        self,
        tables: Tables,
        accumulated: list[Accumulators],
        starts: Values,
        groups: Ints,
        oldest: Ints,
        numbers: Ints,
        counts: list[Ints],
    ) -> Train:
        type_: pa.DataType = self.schema.field(0).type
        kept = starts.astype(storage(type_), copy=False)
        if (kept[[starts.argmin(), starts.argmax()]] != [starts.min(), starts.max()]).any():
            raise RunError(f"a window begins at {starts.min()}, which is no {type_}: cast `{self.order.on}` to bigint")
        columns: list[pa.Array[Any]] = [
            arrow(kept, None, type_),
            *(tables["by"].get(name, groups) for name in self.order.by),
            *self.functions.finish(accumulated),
        ]
        if counts:
            came, seen = counts
            columns.append(pa.array(seen / came))
        return Train(pa.RecordBatch.from_arrays(columns, schema=self.schema), oldest, numbers)
