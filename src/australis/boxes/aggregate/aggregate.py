"""Aggregate: window functions over sliding windows (Aurora 5.2.2.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, fields, replace
from math import ceil
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from australis.arrow.columns import arrow
from australis.arrow.durations import Span, measure
from australis.boxes.aggregate import panes as by_pane
from australis.boxes.aggregate import windows as by_window
from australis.boxes.aggregate.filler import Filler
from australis.boxes.aggregate.results import Folded, Functions, beginning, folded
from australis.boxes.aggregate.sampling import SEEN, thinned
from australis.boxes.aggregate.shedding import tuple_windows
from australis.boxes.bsort import BSort
from australis.boxes.edges import WindowGrid, grid, without
from australis.boxes.ordering import columns_of, never_late, takes_whole_groups
from australis.errors import ExpressionError, NetworkError, SchemaError
from australis.expressions import Expr, Term
from australis.expressions.failing import may_fail
from australis.model import parameters
from australis.model.ascent import Ascent, Disorder, computed
from australis.model.box import OUT, Box, Key, Moment, Tables, Trains, bound
from australis.model.facts import Facts, SignalGroup
from australis.model.labels import as_written, parameter
from australis.model.order import Order, place_type
from australis.model.parameters import By, Function, Length, On
from australis.model.train import Bools, Ints, Train, concat
from australis.model.windows import TupleWindows

WINDOWS, SAMPLE = "windows", "sample"
"""What is left out under load: whole windows, or tuples of all windows."""
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

    Under load whole windows are left out; with `shed` of "sample" tuples of windows are, by chance, and results have a
    column `seen`: the part of the window's tuples that its functions saw. A window of which they saw none is as one
    over nulls.

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
    shed: str = WINDOWS

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
        shed: str = WINDOWS,
        **more: Function,
    ) -> Aggregate:
        """Apply window functions to windows of `size` on the column `on`, which slide by `advance` (by their size).

        `advance` may be a predicate: the window moves on at the tuple that satisfies it. `timeout` is a time after
        which an open window is emitted as it is. At the end of the input, windows on a column are emitted as they are;
        windows of so many tuples (on `tup#`) that are short of them are not, unless `partial` is true.

        If tuples must be left out under load, whole windows are (`shed="windows"`). With `shed="sample"` windows are
        made of a sample of their tuples then, and results have a column `seen`: the part of the tuples in it.
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
            shed,
        )

    def written(self) -> Mapping[str, object]:
        order = {"on": self.order.on, "by": as_written(self.order.by), "slack": self.order.slack}
        advance = None if self.advance == self.size else as_written(self.advance)
        windows = {"size": self.size, "advance": advance, "timeout": self.timeout, "partial": self.partial}
        return {**order, **windows, "shed": self.shed, "functions": as_written(self.functions)}

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        (stream,) = inputs
        self._shape(stream)
        if type(self.partial) is not bool:
            raise SchemaError(f"`partial` is true or false, not {self.partial!r}")
        self._check_shed(stream)
        if isinstance(self.advance, Expr) and self.advance.bind(stream).type != pa.bool_():
            raise ExpressionError(f"the window advances by a predicate, which `{self.advance}` is not")
        attribute = pa.field(self.order.attribute, beginning(self.order.check(stream)))
        if attribute.name in self.order.by:
            raise SchemaError(f"`{attribute.name}` is both what windows are taken on and a group")
        results = [pa.field(name, result.type) for name, result in self._folded(stream).results]
        groups = [stream.field(name) for name in self.order.by]
        seen = [pa.field(SEEN, pa.float64())] if self._sampled else []
        return {"out": pa.schema([attribute, *groups, *results, *seen]), "late": stream}

    def keys(self, *inputs: pa.Schema) -> tuple[Key, ...] | None:
        return (self.order.by,)

    def tables(self, *inputs: pa.Schema) -> Tables:
        (stream,) = inputs
        if self._sorted_first:
            return BSort(self.order).tables(stream) | replace(self, order=replace(self.order, slack=0)).tables(stream)
        return self._filler(stream).tables(stream, place_type(self.order.check(stream)))

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
        hidden = {name for name, usual in (("partial", False), ("shed", WINDOWS)) if getattr(self, name) == usual}
        shown = [field.name for field in fields(self) if field.name not in hidden]
        return [line for name in shown for line in parameter(name, getattr(self, name))]

    def passes(self, port: str, *inputs: pa.Schema) -> Mapping[int, Mapping[str, str]]:
        return super().passes(port, *inputs) or {0: {name: name for name in self.order.by}}

    def windows(self, train: Train) -> TupleWindows | None:
        if self.size != self.advance or self.timeout is not None or self.order.counts or self._sampled:
            return None
        return tuple_windows(self.order, train, self._grid(*self._spans(train.schema)))

    @property
    def sampled_by(self) -> frozenset[str] | None:
        return columns_of(self.order) if self._sampled else None

    def thin(self, train: Train, sample: Bools, wanted: Bools) -> Ints:
        return thinned(self.order, train, self._grid(*self._spans(train.schema)), sample, wanted)

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
        filler = self._filler(train.schema)
        out = filler.fill(tables, train, late) if len(train) else []
        if moment.clock is not None and self.timeout is not None:
            out.append(filler.time_out(tables, moment.clock, moment.number))
        if moment.end and not self._short:
            out.append(filler.flush(tables, moment.number))
        passed_over: Any = arrow(late, None, pa.bool_())
        return concat(filler.schema, out), train.where(passed_over)

    @bound
    def _filler(self, stream: pa.Schema) -> Filler:
        opens = self.advance.bind(stream) if isinstance(self.advance, Expr) else None
        functions, schema = self._folded(stream), self.outputs(stream)["out"]
        return Filler(self.order, functions, schema, self._shape(stream), self._paned(stream), opens, self._sampled)

    @bound
    def _folded(self, stream: pa.Schema) -> Folded:
        reserved = (self.order.attribute, *self.order.by, *((SEEN,) if self._sampled else ()))
        return folded(self.functions, stream, place_type(self.order.check(stream)), reserved)

    def _check_shed(self, stream: pa.Schema) -> None:
        if self.shed not in (WINDOWS, SAMPLE):
            raise SchemaError(f"`shed` is {WINDOWS} or {SAMPLE}, not {self.shed!r}")
        if not self._sampled:
            return
        if SEEN in (self.order.attribute, *self.order.by):
            raise SchemaError(
                f"with `shed: sample` results have a column `{SEEN}` already: rename the one of the input"
            )
        if self.order.counts or isinstance(self.advance, Expr) or self.timeout is not None:
            what = "count tuples" if self.order.counts else "a predicate opens" if self.timeout is None else "time out"
            raise SchemaError(
                f"`shed: sample` is for windows of a size on a column: of windows that {what}, a sample would have"
                " others"
            )
        if not self._grid(*self._spans(stream)).per_window:
            raise SchemaError(
                f"`shed: sample` needs a size ({self.size}) and an advance ({self.advance}) with a common measure"
            )

    @property
    def _sampled(self) -> bool:
        return self.shed == SAMPLE

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
