"""Aggregate: window functions over sliding windows (Aurora 5.2.2.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from australis.arrow.columns import Values, arrow, plain, storage
from australis.arrow.durations import Span, measure
from australis.boxes.aggregate import panes as by_pane
from australis.boxes.aggregate import windows as by_window
from australis.boxes.aggregate.results import Folded, Functions, beginning, folded
from australis.boxes.aggregate.shedding import tuple_windows
from australis.boxes.bsort import BSort
from australis.boxes.edges import WindowGrid, begins, grid, without
from australis.boxes.folds import Accumulators, Contributions
from australis.boxes.folds.fold import ALL
from australis.boxes.ordering import columns_of, never_late, takes_whole_groups
from australis.errors import ExpressionError, NetworkError, RunError, SchemaError
from australis.expressions import Expr, Term
from australis.expressions.failing import may_fail
from australis.model import parameters
from australis.model.ascent import Ascent, Disorder, computed
from australis.model.box import OUT, Box, Key, Moment, Tables, Trains, bound
from australis.model.facts import Facts, SignalGroup
from australis.model.labels import as_written
from australis.model.order import Order, place_type
from australis.model.parameters import By, Function, Length, On
from australis.model.table import Table
from australis.model.train import Bools, Ints, Train, concat, empty
from australis.model.windows import TupleWindows

_CONTRIBUTIONS = 1 << 16
_MOST_WINDOWS = 100_000


@dataclass(frozen=True)
class Aggregate(Box):
    """A result for every window of `size` values of the order's attribute, of each group, that holds a tuple.

    Windows begin at the multiples of `advance`, or at each tuple that satisfies it (and a group's first) where it is a
    predicate; such windows, without a size, end where the next begins. On `tup#` they count tuples and begin at the
    first. A window closes when the order says that nothing more can come, at the end of the input, or at its timeout,
    after which stragglers are ignored. A window of so many tuples that the end of the input finds short of them is not
    whole, and results in nothing, unless `partial` asks for it. The result carries the window's beginning, its group,
    and its oldest `ts`. Null values are passed over by every function but `count(*)`, `first` and `last`. Tuples that
    are out of order, or that only timed-out windows wanted, leave by `late`.

    >>> from australis.expressions.aggregate import aggregation
    >>> from australis.testing import apply, rows, train
    >>> hourly = Aggregate((("price", aggregation("avg(price)")),), Order("minute", by=("sid",)), 60, 60)
    >>> quotes = train("sid string, minute int, price int", sid=["IBM"] * 3, minute=[0, 30, 60], price=[24, 20, 17])
    >>> rows(apply(hourly, quotes)[0])
    [(0, 'IBM', 22.0)]
    """

    functions: Functions
    order: Order
    size: Span | None
    advance: Span | Expr
    timeout: Span | None = None
    partial: bool = False

    kind: ClassVar[str] = "aggregate"

    @classmethod
    def make(
        cls,
        functions: Mapping[str, Function] | None = None,
        /,
        *,
        on: On,
        size: Length | None = None,
        advance: Length | Expr | Term | None = None,
        by: By = (),
        slack: int = 0,
        timeout: Length | None = None,
        partial: bool = False,
        **more: Function,
    ) -> Aggregate:
        """Apply window functions to windows of `size` on the column `on`, which slide by `advance` (by their size).

        `advance` may be a predicate: the window moves on at the tuple that satisfies it. `timeout` is a time after
        which an open window is emitted as it is. At the end of the input, windows on a column are emitted as they are;
        windows of so many tuples (on `tup#`) that are short of them are not, unless `partial` is true.
        """
        step = size if advance is None else advance
        if step is None:
            raise NetworkError("give `size`, or `advance` with a predicate, or both")
        return cls(
            parameters.functions({**(functions or {}), **more}),
            parameters.order(on, slack, by),
            parameters.optional_span(size),
            parameters.advance(step),
            parameters.optional_span(timeout),
            partial,
        )

    def written(self) -> Mapping[str, object]:
        order = {"on": self.order.on, "by": as_written(self.order.by), "slack": self.order.slack}
        advance = None if self.advance == self.size else as_written(self.advance)
        windows = {"size": self.size, "advance": advance, "timeout": self.timeout, "partial": self.partial}
        return {**order, **windows, "functions": as_written(self.functions)}

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        (stream,) = inputs
        self._shape(stream)
        if type(self.partial) is not bool:
            raise SchemaError(f"`partial` is true or false, not {self.partial!r}")
        if isinstance(self.advance, Expr) and self.advance.bind(stream).type != pa.bool_():
            raise ExpressionError(f"the window advances by a predicate, which `{self.advance}` is not")
        attribute = pa.field(self.order.attribute, beginning(self.order.check(stream)))
        if attribute.name in self.order.by:
            raise SchemaError(f"`{attribute.name}` is both what windows are taken on and a group")
        results = [pa.field(name, result.type) for name, result in self._folded(stream).results]
        groups = [stream.field(name) for name in self.order.by]
        return {"out": pa.schema([attribute, *groups, *results]), "late": stream}

    def keys(self, *inputs: pa.Schema) -> tuple[Key, ...] | None:
        return (self.order.by,)

    def tables(self, *inputs: pa.Schema) -> Tables:
        (stream,) = inputs
        place = place_type(self.order.check(stream))
        functions = self._folded(stream)
        if self._sorted_first:
            return BSort(self.order).tables(stream) | replace(self, order=replace(self.order, slack=0)).tables(stream)
        if self._paned(stream) is not None:
            groups = self.order.groups(stream, *by_pane.group_fields(place))
            fields = by_pane.pane_fields(place)
        else:
            groups = self.order.groups(stream, *by_window.group_fields())
            fields = by_window.window_fields(place)
        return {"by": groups, "windows": Table(pa.schema([*fields, *functions.fields])), **functions.tables()}

    def holds(self, *inputs: pa.Schema) -> str:
        (stream,) = inputs
        size, advance = self._spans(stream)
        each = f" for each {', '.join(self.order.by)}" if self.order.by else ""
        if size is None:
            return f"one window{each}"
        windows = ceil(size / advance) * (self.order.slack + 1) if advance else None
        distinct = ", with their distinct values" if self._folded(stream).tables() else ""
        if windows is None:
            return f"the windows that the predicate opened within {self.size}{each}{distinct}"
        return f"at most {windows} open window{'s' if windows > 1 else ''}{each}{distinct}"

    def label(self) -> list[str]:
        return super().label() if self.partial else super().label()[:-1]

    def passes(self, port: str, *inputs: pa.Schema) -> Mapping[int, Mapping[str, str]]:
        return super().passes(port, *inputs) or {0: {name: name for name in self.order.by}}

    def windows(self, train: Train) -> TupleWindows | None:
        if self.size != self.advance or self.timeout is not None or self.order.counts:
            return None
        return tuple_windows(self.order, train, self._grid(*self._spans(train.schema)))

    def columns_needed(self, port: str, columns: AbstractSet[str], *inputs: pa.Schema) -> tuple[AbstractSet[str], ...]:
        advance = self.advance.columns if isinstance(self.advance, Expr) else ()
        return (columns_of(self.order).union(advance, *(function.columns for _, function in self.functions)),)

    def pushes(self, predicate: Expr, port: str, inputs: Sequence[Ascent]) -> Mapping[int, Expr] | None:
        """A predicate on the groups, if it cannot fail for those without a result, and none of theirs can be late."""
        stream, timely = inputs[0].schema, self.timeout is None and never_late(self.order, inputs[0])
        whole = takes_whole_groups(self.order, predicate, stream)
        return {0: predicate} if whole and timely and not may_fail(predicate, stream) else None

    def sorts(self, port: str) -> Key | None:
        return (self.order.attribute, *self.order.by) if port == OUT else None

    def ordered_on(self, side: int) -> str:
        return self.order.on

    def disorder(self, column: str, by: AbstractSet[str], inputs: Sequence[Ascent]) -> Disorder | None:
        if column != self.order.attribute or self.timeout is not None:
            return computed(column)
        if set(self.order.by) <= by:
            return None
        groups = ", ".join(self.order.by)
        return Disorder(f"windows end at different times in the groups of {groups}, so `{column}` does not ascend")

    def facts(self, title: str, given: Sequence[Facts], streams: Sequence[pa.Schema]) -> Facts:
        return Facts(tuple(SignalGroup(name, title, name) for name in self.order.by))

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        (train,) = trains
        if self._sorted_first:
            # An advance by predicate goes by the tuples in order: sort them, by the identity of 5.2.2.2.
            (train,) = BSort(self.order).step(tables, trains, moment)
            return replace(self, order=replace(self.order, slack=0)).step(tables, (train,), moment)
        late = np.zeros(len(train), np.bool_)
        out = self._fill(tables, train, late) if len(train) else []
        if moment.clock is not None and self.timeout is not None:
            out.append(self._time_out(tables, train.schema, moment.clock, moment.number))
        if moment.end and not self._short:
            out.append(self._flush(tables, train.schema, moment.number))
        passed_over: Any = arrow(late, None, pa.bool_())
        return concat(self._schema(train.schema), out), train.where(passed_over)

    def _fill(self, tables: Tables, train: Train, late: Bools) -> list[Train]:
        shape = self._paned(train.schema)
        if shape is not None:
            return list(self._fill_panes(tables, train, late, shape))
        return list(self._fill_windows(tables, train, late))

    def _fill_panes(self, tables: Tables, train: Train, late: Bools, shape: by_pane.PaneShape) -> list[Train]:
        groups, windows, functions = tables["by"], tables["windows"], self._folded(train.schema)
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
        accumulators = functions.accumulators(windows, tables)
        functions.add(accumulators, Contributions(slots, ALL, places), train.tuples)
        done = closed.cut()
        return [self._closed_panes(tables, train.schema, shape, done, train.numbers(done.rows))]

    def _closed_panes(
        self, tables: Tables, stream: pa.Schema, shape: by_pane.PaneShape, closed: by_pane.Closed, numbers: Ints
    ) -> Train:
        if not len(closed.windows):
            return empty(self._schema(stream))
        windows, functions = tables["windows"], self._folded(stream)
        accumulators = functions.accumulators(windows, tables)
        oldest = windows["#oldest"][closed.panes]
        if shape.grid.per_window == 1:
            accumulated = [each.at(closed.panes) for each in accumulators]
        else:
            accumulated = [
                one.merge(each, closed.starts, closed.panes)
                for one, each in zip(functions.folds, accumulators, strict=True)
            ]
            oldest = np.minimum.reduceat(oldest, closed.starts[:-1])
        starts = begins(closed.windows, shape.grid)
        out = self._results(tables, stream, functions, accumulated, starts, closed.groups, oldest, numbers)
        windows.free(closed.dropped)
        return out

    def _fill_windows(self, tables: Tables, train: Train, late: Bools) -> list[Train]:
        groups, windows, functions = tables["by"], tables["windows"], self._folded(train.schema)
        row_groups = self.order.find(groups, train)
        places, valid = self.order.places(train)
        opens = np.empty(0, np.bool_)
        if isinstance(self.advance, Expr):
            opens = self.advance.bind(train.schema).mask(train.tuples).to_numpy(zero_copy_only=False)
        shape, out, row, need = self._shape(train.schema), [], 0, 1
        while row < len(train):
            windows.reserve(need)
            outcome = by_window.room(max(_CONTRIBUTIONS, 2 * need))
            row, top, need = by_window.place(
                row_groups, row, places, valid, opens, train.ts, shape, by_window.groups_of(groups),
                by_window.windows_of(windows), windows.spare, windows.top, late, outcome,
            )  # fmt: skip
            windows.taken(top)
            done = outcome.cut()
            windows.touched[done.slots] = True
            windows.touched[done.closed] = True
            accumulators = functions.accumulators(windows, tables)
            functions.add(accumulators, Contributions(done.slots, done.rows, places), train.tuples)
            out.append(self._closed_windows(tables, train.schema, done.closed, train.number[done.triggers]))
            functions.drop(tables, done.dropped)
        return out

    def _closed_windows(self, tables: Tables, stream: pa.Schema, closed: Ints, numbers: Ints) -> Train:
        if not len(closed):
            return empty(self._schema(stream))
        windows, functions = tables["windows"], self._folded(stream)
        accumulated = [each.at(closed) for each in functions.accumulators(windows, tables)]
        starts, groups, oldest = (windows[name][closed] for name in ("#start", "#group", "#oldest"))
        return self._results(tables, stream, functions, accumulated, starts, groups, oldest, numbers)

    def _time_out(self, tables: Tables, stream: pa.Schema, clock: int, number: int) -> Train:
        windows = tables["windows"]
        slots = windows.slots
        slots = slots[~windows["#done"][slots] & (windows["#opened"][slots] + by_window.expiry(self.timeout) < clock)]
        slots = slots[np.lexsort((windows["#ordinal"][slots], windows["#group"][slots], windows["#start"][slots]))]
        windows["#done"][slots] = True
        windows.touched[slots] = True
        return self._closed_windows(tables, stream, slots, np.full(len(slots), number))

    def _flush(self, tables: Tables, stream: pa.Schema, number: int) -> Train:
        groups, windows, functions = tables["by"], tables["windows"], self._folded(stream)
        groups.touched[groups.slots] = True
        if not len(windows):
            return empty(self._schema(stream))
        shape = self._paned(stream)
        if shape is not None:
            panes = by_pane.panes_of(windows)
            closed = by_pane.close_all(groups.slots, shape, by_pane.groups_of(groups), panes).cut()
            out = self._closed_panes(tables, stream, shape, closed, np.full(len(closed.rows), number))
            by = closed.groups
        else:
            outcome = by_window.room(len(windows))
            by_window.close_all(groups.slots, by_window.groups_of(groups), by_window.windows_of(windows), outcome)
            done = outcome.cut()
            by = windows["#group"][done.closed]
            out = self._closed_windows(tables, stream, done.closed, np.full(len(done.closed), number))
            functions.drop(tables, done.dropped)
        starts = plain(out[self.order.attribute])[0]
        return out.take(np.lexsort((by, starts)))

    def _results(
        self,
        tables: Tables,
        stream: pa.Schema,
        functions: Folded,
        accumulated: list[Accumulators],
        starts: Values,
        groups: Ints,
        oldest: Ints,
        numbers: Ints,
    ) -> Train:
        schema = self._schema(stream)
        type_: pa.DataType = schema.field(0).type
        kept = starts.astype(storage(type_), copy=False)
        if (kept[[starts.argmin(), starts.argmax()]] != [starts.min(), starts.max()]).any():
            raise RunError(f"a window begins at {starts.min()}, which is no {type_}: cast `{self.order.on}` to bigint")
        columns = [
            arrow(kept, None, type_),
            *(tables["by"].get(name, groups) for name in self.order.by),
            *functions.finish(accumulated),
        ]
        return Train(pa.RecordBatch.from_arrays(columns, schema=schema), oldest, numbers)

    @bound
    def _schema(self, stream: pa.Schema) -> pa.Schema:
        return self.outputs(stream)["out"]

    @bound
    def _folded(self, stream: pa.Schema) -> Folded:
        reserved = (self.order.attribute, *self.order.by)
        return folded(self.functions, stream, place_type(self.order.check(stream)), reserved)

    @property
    def _sorted_first(self) -> bool:
        return isinstance(self.advance, Expr) and self.order.slack > 0 and not self.order.counts

    @property
    def _short(self) -> bool:
        """Whether windows that are open at the end of the input are not whole: those that count tuples."""
        return self.order.counts and self.size is not None and not self.partial

    @bound
    def _spans(self, stream: pa.Schema) -> tuple[Any, Any]:
        """Size and advance in values of the attribute; no size without one, an advance of 0 for a predicate."""
        type_, name = self.order.check(stream), self.order.on
        if self.size is None and not isinstance(self.advance, Expr):
            raise SchemaError("a window needs a size, unless a predicate advances it")
        size = None if self.size is None else measure(self.size, type_, name)
        advance = type(size or 0)(0) if isinstance(self.advance, Expr) else measure(self.advance, type_, name)
        if (size is not None and size <= 0) or (not isinstance(self.advance, Expr) and advance <= 0):
            raise SchemaError(f"a window's size ({self.size}) and advance ({self.advance}) are more than 0")
        if size is not None and advance and size / advance > _MOST_WINDOWS:
            raise SchemaError(
                f"a tuple would lie in {size / advance:.0f} windows of size {self.size} that advance by {self.advance},"
                f" and at most {_MOST_WINDOWS:,} are served: give a larger advance"
            )
        return size, advance

    @bound
    def _paned(self, stream: pa.Schema) -> by_pane.PaneShape | None:
        """The windows as panes, where they can share them."""
        size, advance = self._spans(stream)
        if self.timeout is not None or isinstance(self.advance, Expr) or not self._folded(stream).merges:
            return None
        on = self._grid(size, advance)
        return by_pane.PaneShape(on, self.order.counts, on.parts is None) if on.per_window else None

    @bound
    def _shape(self, stream: pa.Schema) -> by_window.WindowShape:
        size, advance = self._spans(stream)
        if isinstance(self.advance, Expr):
            on = without(size or 0, place_type(self.order.check(stream)) == pa.int64())
        else:
            on = self._grid(size, advance)
        by_predicate = isinstance(self.advance, Expr)
        return by_window.WindowShape(
            on, by_predicate, size is not None, self.order.counts, by_window.expiry(self.timeout)
        )

    def _grid(self, size: Any, advance: Any) -> WindowGrid:
        return grid(size, advance, 1 if self.order.counts else 0)
