"""Resample: for every tuple of one stream, a function of the tuples of another that lie near it (Aurora 5.2.2.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from australis.arrow.columns import Values
from australis.arrow.durations import Span
from australis.boxes.aggregate.results import Folded, Functions, folded
from australis.boxes.chains import chain_of, chained_queue, ends, limit, lowest, settle, sweep, taken
from australis.boxes.folds import Contributions
from australis.boxes.folds.fold import ALL, fresh
from australis.boxes.join.join import band
from australis.boxes.ordering import columns_of
from australis.boxes.queues import gather, gather_ts
from australis.boxes.resample.nearby import FoundWindows, Heaps, Reach, ResampleArrivals, near, rest, room
from australis.errors import NetworkError, SchemaError
from australis.model import parameters
from australis.model.box import EVERYWHERE, OUT, Box, Key, Moment, Tables, Trains, bound
from australis.model.labels import as_written
from australis.model.order import Order, place_type
from australis.model.parameters import Function, Length, On
from australis.model.table import Table
from australis.model.train import Ints, Train, concat, empty


@dataclass(frozen=True)
class Resample(Box):
    """For every t of the left: F of the tuples u of the right with |t.A - u.B| <= size, in each of their groups.

    The result carries the group, t.A and what the functions give; they read the columns of u by name and those of t as
    `left.x`, and take the tuples of a window as they are ordered. It leaves when its window is complete: when the
    group's order says that no tuple up to t.A + size can come, and t is there; or at the end of the input. Where
    no tuple is near t, the functions are those of no tuple: counts are 0, all else is null. Of groups only those with a
    tuple near t have a result. Out-of-order tuples leave by `late_left` and `late_right`.

    >>> from australis.expressions.aggregate import aggregation
    >>> from australis.testing import apply, rows, train
    >>> steady = Resample((("pos", aggregation("avg(pos)")),), Order("at"), Order("at", by=("sid",)), 10)
    >>> beats = train("at int", at=[120])
    >>> moves = train("sid int, at int, pos int", sid=[1, 1, 1], at=[112, 126, 131], pos=[2, 4, 9], first=2)
    >>> rows(apply(steady, beats, moves)[0])
    [(1, 120, 3.0)]
    """

    functions: Functions
    left: Order
    right: Order
    size: Span

    kind: ClassVar[str] = "resample"
    arity: ClassVar[int] = 2
    others: ClassVar[tuple[str, ...]] = ("other",)

    @classmethod
    def make(
        cls,
        functions: Mapping[str, Function] | None = None,
        /,
        *,
        on: On | Sequence[On | None],
        size: Length,
        **more: Function,
    ) -> Resample:
        """For each tuple, apply window functions to the tuples of `other` that are at most `size` away from it."""
        left, right = parameters.sides(on)
        if left is None or right is None:
            raise NetworkError("both sides need an order: give `on`")
        return cls(parameters.functions({**(functions or {}), **more}), left, right, parameters.span(size))

    def written(self) -> Mapping[str, object]:
        on = parameters.write_sides(self.left, self.right)
        return {"on": on, "size": self.size, "functions": as_written(self.functions)}

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        left, right = inputs
        band(self.size, self.left, left, self.right, right)
        if self.left.attribute in self.right.by:
            raise SchemaError(f"`{self.left.attribute}` is both the attribute of the left and a group of the right")
        return {"out": self._schema(left, right), "late_left": left, "late_right": right}

    def keys(self, *inputs: pa.Schema) -> tuple[Key, ...] | None:
        return (EVERYWHERE if self.right.by else (), self.right.by)

    def tables(self, *inputs: pa.Schema) -> Tables:
        left, right = inputs
        place = self._place(left, right)
        return {
            "left": chained_queue(left, place),
            "right": chained_queue(right, place),
            "left_order": _widened(self.left.groups(left), place),
            "right_order": _widened(self.right.groups(right, *ends("right")), place),
            "all": Table(pa.schema([*ends("left"), *(_number(name) for name in ("#left_swept", "#right_swept"))])),
        }

    def holds(self, *inputs: pa.Schema) -> str:
        lefts = f"what lies within {self.size} of the right's latest"
        if self.right.by:
            lefts = f"everything, since a new {', '.join(self.right.by)} may begin anywhere"
        rights = f"what lies within {self.size} of the left's latest and twice that of its own"
        if self.left.by:
            rights = f"everything, since a new {', '.join(self.left.by)} may begin anywhere"
        return f"left: {lefts}; right: {rights}"

    def passes(self, port: str, *inputs: pa.Schema) -> Mapping[int, Mapping[str, str]]:
        return super().passes(port, *inputs) or {1: {name: name for name in self.right.by}}

    def columns_needed(self, port: str, columns: AbstractSet[str], *inputs: pa.Schema) -> tuple[AbstractSet[str], ...]:
        theirs, ours = self._read(*inputs)
        return columns_of(self.left).union(ours), columns_of(self.right).union(theirs)

    def sorts(self, port: str) -> Key | None:
        return (self.left.attribute, *self.right.by) if port == OUT else None

    def ordered_on(self, side: int) -> str:
        return (self.left, self.right)[side].on

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        left, right = trains
        arrivals = [
            self._arrive(tables, side, order, train)
            for side, order, train in (("left", self.left, left), ("right", self.right, right))
        ]
        if not len(tables["all"]):
            tables["all"].insert(1)
        out = self._near(tables, trains, arrivals, moment)
        lates = [train.where(pa.array(arrived.late)) for train, arrived in zip(trains, arrivals, strict=True)]
        return concat(self._schema(left.schema, right.schema), out), *lates

    def _arrive(self, tables: Tables, side: str, order: Order, train: Train) -> ResampleArrivals:
        group = order.find(tables[f"{side}_order"], train)
        places, valid = order.places(train)
        tables[side].reserve(len(train))
        places = places.astype(tables[side]["#place"].dtype, copy=False)
        none = np.full(len(train), -1, np.int64)
        return ResampleArrivals(train.number, group, places, valid, order.counts, np.zeros(len(train), np.bool_), none)

    def _near(self, tables: Tables, trains: Trains, arrivals: list[ResampleArrivals], moment: Moment) -> list[Train]:
        left, right = trains
        sides, rights = ("left", "right"), tables["right_order"]
        chains = (chain_of(tables["left"], tables["all"], "left"), chain_of(tables["right"], rights, "right"))
        orders = [Heaps(groups["#heap"], groups["#seen"], len(groups)) for groups in (tables["left_order"], rights)]
        size = self._size(left.schema, right.schema)
        reach = Reach(size, None if size.dtype.kind == "i" else 0.0, not self.right.by)
        at = np.array([0, 0, tables["left"].top, tables["right"].top, 0, 0])
        windows = near(
            arrivals[0], arrivals[1], chains[0], chains[1], orders[0], orders[1],
            tables["left"].spare, tables["right"].spare, at, reach, room(len(left) + len(right)),
        )  # fmt: skip
        out = [self._results(tables, trains, windows.cut())]
        if moment.end:
            out.append(
                self._results(
                    tables, trains, rest(chains[0], chains[1], orders[1], reach, moment.number, room(0)).cut()
                )
            )
        for side, train, arrived, chain, top in zip(sides, trains, arrivals, chains, at[2:4], strict=True):
            came = taken(arrived.slots)
            settle(tables[side], train, came, int(top), self._limits(tables, side, size, came), chain)
            limits = partial(self._limits, tables, side, size)
            if sweep(tables[side], limits, chain, tables["all"][f"#{side}_swept"]):
                tables["all"].touched[0] = True
        return out

    def _results(self, tables: Tables, trains: Trains, near: FoundWindows) -> Train:
        left, right = trains
        if not len(near.lefts):
            return empty(self._schema(left.schema, right.schema))
        functions = self._folded(left.schema, right.schema)
        of_window = np.repeat(np.arange(len(near.lefts)), np.diff(near.starts))
        theirs, ours = self._read(left.schema, right.schema)
        columns = gather(tables["right"], right, near.members, theirs)
        if ours:
            columns += gather(tables["left"], left, near.lefts[of_window], ours)
        names = [*theirs, *(f"left.{name}" for name in ours)]
        members = pa.RecordBatch.from_arrays(columns, names=names) if names else _rows(len(of_window))
        windows = [fresh(one, len(near.lefts)) for one in functions.folds]
        functions.add(windows, Contributions(of_window, ALL, np.arange(len(of_window))), members)
        ts = gather_ts(tables["left"], left, near.lefts)
        filled = np.diff(near.starts) > 0
        if len(near.members):
            theirs_ts = gather_ts(tables["right"], right, near.members)
            oldest = np.minimum.reduceat(theirs_ts, near.starts[:-1][filled])
            ts[filled] = np.minimum(ts[filled], oldest)
        attribute: pa.Array[Any] = pa.array(near.places)
        if not self.left.counts:
            (attribute,) = gather(tables["left"], left, near.lefts, [self.left.on])
        groups = [tables["right_order"].get(name, near.groups) for name in self.right.by]
        count = np.arange(len(near.lefts))
        results = functions.finish([window.at(count) for window in windows])
        columns = [*groups, attribute, *results]
        schema = self._schema(left.schema, right.schema)
        return Train(pa.RecordBatch.from_arrays(columns, schema=schema), ts, near.numbers)

    def _limits(self, tables: Tables, side: str, size: Any, slots: Ints) -> Values:
        """Below which places no window to come can hold a tuple."""
        rights, none, all_ = tables["right_order"], lowest(tables[side]["#place"].dtype), np.zeros(1, np.int64)
        if side == "left":
            # A group that is yet to come may begin anywhere, and want every left tuple.
            return none if self.right.by else limit(_promised(rights, all_, none), size)
        if self.left.by:
            return none
        own = tables["right"]["#key"][slots] if self.right.by else all_
        lefts = _promised(tables["left_order"], all_, none)
        around = limit(limit(_promised(rights, own, none), size), size)
        return np.minimum(around, limit(lefts, size))

    @bound
    def _read(self, left: pa.Schema, right: pa.Schema) -> tuple[list[str], list[str]]:
        """The columns of the right and of the left that the functions read."""
        read = self._folded(left, right).columns
        return [name for name in right.names if name in read], [name for name in left.names if f"left.{name}" in read]

    @bound
    def _size(self, left: pa.Schema, right: pa.Schema) -> Any:
        """The band as a number of the type in which both sides are compared."""
        as_place = np.float64 if self._place(left, right) == pa.float64() else np.int64
        return as_place(band(self.size, self.left, left, self.right, right))

    def _place(self, left: pa.Schema, right: pa.Schema) -> pa.DataType:
        both = (place_type(self.left.check(left)), place_type(self.right.check(right)))
        return pa.float64() if pa.float64() in both else pa.int64()

    @bound
    def _folded(self, left: pa.Schema, right: pa.Schema) -> Folded:
        reserved = (*self.right.by, self.left.attribute)
        return folded(self.functions, _seen(left, right), pa.int64(), reserved)

    @bound
    def _schema(self, left: pa.Schema, right: pa.Schema) -> pa.Schema:
        attribute = pa.field(self.left.attribute, self.left.check(left))
        results = [pa.field(name, result.type) for name, result in self._folded(left, right).results]
        return pa.schema([*(right.field(name) for name in self.right.by), attribute, *results])


def _seen(left: pa.Schema, right: pa.Schema) -> pa.Schema:
    """What functions see: the columns of u, and those of t as `left.x`."""
    return pa.schema([*right, *(field.with_name(f"left.{field.name}") for field in left)])


def _rows(count: int) -> pa.RecordBatch:
    """So many rows of nothing anyone reads, for functions that only count."""
    return pa.RecordBatch.from_arrays([pa.nulls(count)], names=["#"])


def _number(name: str) -> pa.Field[Any]:
    return pa.field(name, pa.int64(), nullable=False)


def _widened(groups: Table, place: pa.DataType) -> Table:
    """A table of groups with its heaps in the type in which both sides are compared."""
    at = groups.schema.get_field_index("#heap")
    heap = pa.field("#heap", pa.list_(place, groups["#heap"].shape[1]), nullable=False)
    return Table(groups.schema.set(at, heap), groups.key)


def _promised(groups: Table, group: Ints, none: Values) -> Values:
    """Below which places groups promise that nothing can come."""
    if not len(groups):
        return none
    there = groups["#seen"][group] >= groups["#heap"].shape[1]
    return np.where(there, groups["#heap"][group, 0], none)
