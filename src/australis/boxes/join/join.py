"""Join: pairs of tuples within a band of each other (Aurora 5.2.2.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from australis.arrow.columns import Values
from australis.arrow.durations import Span, measure
from australis.boxes.chains import ChainColumns, chain_of, chained_queue, ends, limit, lowest, settle, sweep, taken
from australis.boxes.edges import MOST
from australis.boxes.join.pair import Match, Pair, match
from australis.boxes.join.pairing import JoinArrivals, pair_up
from australis.boxes.ordering import columns_of, never_late
from australis.boxes.queues import gather, gather_ts
from australis.errors import NetworkError, SchemaError
from australis.expressions import Expr
from australis.expressions.failing import may_fail
from australis.model.ascent import Ascent, Disorder
from australis.model.box import OUT, Box, Key, Moment, Tables, Trains, bound
from australis.model.labels import as_written
from australis.model.order import TUP, Order, place_type, sift
from australis.model.parameters import (
    Expression,
    Length,
    On,
    no_order,
    optional_expression,
    optional_span,
    sides,
    write_sides,
)
from australis.model.table import Table
from australis.model.train import Ints, Train, concat, empty

_SIDES = ("left", "right")
_MOST_PAIRS = 1 << 16


@dataclass(frozen=True)
class Join(Box):
    """t ++ u for every t of the left and u of the right with |t.A - u.B| <= size that satisfy the predicate.

    The result does not depend on how the inputs interleave. A pair leaves when the later of its tuples arrives, the
    partners of one tuple in their order. A side without an order is a static table: all of it is kept, no band applies,
    and it must be there before the stream, whose order may then be on `tup#`, where nothing is late. Null equals
    nothing. Out-of-order tuples leave by `late_left` and `late_right`. A tuple is held until the order of the other
    side says that no partner can come.

    >>> from australis.expressions import expr
    >>> from australis.testing import apply, rows, train
    >>> near = Join(Order("at"), Order("at"), 10, expr("left.pos = right.pos"))
    >>> x = train("sid int, at int, pos int", sid=[1], at=[120], pos=[3])
    >>> y = train("sid int, at int, pos int", sid=[10, 11], at=[115, 115], pos=[3, 4], first=2)
    >>> rows(apply(near, x, y)[0])
    [(1, 120, 3, 10, 115, 3)]
    """

    left: Order | None
    right: Order | None
    size: Span | None
    predicate: Expr | None

    kind: ClassVar[str] = "join"
    arity: ClassVar[int] = 2
    copies_inputs: ClassVar[bool] = True
    others: ClassVar[tuple[str, ...]] = ("other",)

    @classmethod
    def make(
        cls,
        where: Expression | None = None,
        *,
        on: On | Sequence[On | None] | None = None,
        size: Length | None = None,
    ) -> Join:
        """Pair tuples whose values of `on` differ by at most `size` and that satisfy a predicate.

        The predicate says `left.pos = right.pos`. `on` is one column or order for both sides, or a pair. A side that
        is a static table has none, and neither then has the join a `size`; the stream beside it may go without.
        """
        left, right = sides(on)
        return cls(left, right, optional_span(size), optional_expression(where))

    def written(self) -> Mapping[str, object]:
        return {"where": as_written(self.predicate), "on": write_sides(self.left, self.right), "size": self.size}

    def adapted(self, stored: Sequence[bool], streams: Sequence[pa.Schema]) -> Join:
        """A stored table has no order; the stream beside it goes by its arrival, where nothing is late."""
        left, right = (
            None if mine else order or (Order(TUP) if other else None)
            for order, mine, other in zip((self.left, self.right), stored, reversed(stored), strict=True)
        )
        for side, order, table, stream in zip(_SIDES, (left, right), stored, streams, strict=True):
            if order is None and not table:
                raise NetworkError(f"{side} side: {no_order(stream)}")
        return replace(self, left=left, right=right)

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        left, right = inputs
        pair = Pair(left, right)
        self._size(left, right)
        match(self.predicate, pair)
        return {"out": pair.schema, "late_left": left, "late_right": right}

    def keys(self, *inputs: pa.Schema) -> tuple[Key, ...] | None:
        """Columns that the predicate equates, if the orders are by them too: what is late depends on whole groups."""
        matched = self._match(*inputs)
        both = [
            (left, right)
            for left, right in zip(matched.left, matched.right, strict=True)
            if _parts(self.left, self.right, left) and _parts(self.right, self.left, right)
        ]
        return tuple(left for left, _ in both), tuple(right for _, right in both)

    def tables(self, *inputs: pa.Schema) -> Tables:
        left, right = inputs
        matched, place = self._match(left, right), self._place(left, right)
        key = [left.field(name).with_name(f"{i}") for i, name in enumerate(matched.left)]
        swept = [pa.field(f"#{side}", pa.int64(), nullable=False) for side in _SIDES]
        tables = {
            "keys": Table(pa.schema([*key, *ends("left"), *ends("right")]), [field.name for field in key]),
            "swept": Table(pa.schema(swept)),
        }
        for side, order, stream in zip(_SIDES, (self.left, self.right), inputs, strict=True):
            tables[side] = chained_queue(stream, place)
            if order is not None:
                tables[f"{side}_order"] = order.groups(stream)
        return tables

    def holds(self, *inputs: pa.Schema) -> str:
        matched = self._match(*inputs)
        return "; ".join(
            f"{side}: {self._holds(order, other, key)}"
            for side, order, other, key in (
                ("left", self.left, self.right, matched.right),
                ("right", self.right, self.left, matched.left),
            )
        )

    def _holds(self, order: Order | None, other: Order | None, key: Key) -> str:
        if order is None:
            return "all of the static table"
        if other is None:
            return "nothing"
        if not set(other.by) <= set(key):
            return f"everything, since the other side is in order only by {', '.join(other.by)}"
        late = f" and {other.slack} tuples" if other.slack else ""
        each = f", for each {', '.join(other.by)}" if other.by else ""
        return f"what lies within {self.size} of the other side's latest{late}{each}"

    def divisible(self, *inputs: pa.Schema) -> bool:
        """If nothing can be late: without the tuples that made them late, other tuples would have partners."""
        return all(order is None or order.counts for order in (self.left, self.right))

    def passes(self, port: str, *inputs: pa.Schema) -> Mapping[int, Mapping[str, str]]:
        return super().passes(port, *inputs) or self._paired(*inputs).passes

    def columns_needed(self, port: str, columns: AbstractSet[str], *inputs: pa.Schema) -> tuple[AbstractSet[str], ...]:
        pair = self._paired(*inputs)
        asked = columns | (set() if self.predicate is None else set(pair.resolve(self.predicate).columns))
        left, right = (
            {name for name, to in names.items() if to in asked} | (set() if order is None else columns_of(order))
            for names, order in zip(pair.passes.values(), (self.left, self.right), strict=True)
        )
        # What gives a column of the right its name beside the left's of the same name.
        return left | (right & set(inputs[0].names)), right

    def pushes(self, predicate: Expr, port: str, inputs: Sequence[Ascent]) -> Mapping[int, Expr] | None:
        """A predicate on the columns of one side, if it cannot fail for tuples without a partner, and none can be late.

        Lateness goes by the tuples before, and an order on `tup#` counts them, which matters beside another stream.
        """
        pair = self._paired(*(each.schema for each in inputs))
        for side, (order, other) in enumerate(((self.left, self.right), (self.right, self.left))):
            own = {to: name for name, to in pair.passes[side].items()}
            harmless = order is None or (never_late(order, inputs[side]) and not (order.counts and other is not None))
            if predicate.columns and own.keys() >= set(predicate.columns) and harmless:
                before = predicate.rename(own)
                return None if may_fail(before, inputs[side].schema) else {side: before}
        return None

    def sorts(self, port: str) -> Key | None:
        return () if port == OUT else None

    def ordered_on(self, side: int) -> str:
        order = (self.left, self.right)[side]
        return "" if order is None else order.on

    def disorder(self, column: str, by: AbstractSet[str], inputs: Sequence[Ascent]) -> Disorder | None:
        if not any(each.stored for each in inputs):
            return Disorder(f"a join of streams gives pairs as they meet, so `{column}` does not ascend")
        side = 1 if inputs[0].stored else 0
        own = {to: name for name, to in self._paired(inputs[0].schema, inputs[1].schema).passes[side].items()}
        if column not in own:
            reason = f"`{column}` is of a stored table, and has nothing to do with the order of the stream"
            return Disorder(reason, slack_helps=False)
        return inputs[side].disorder(own[column], {own[key] for key in by if key in own})

    def check_stored(self, stored: Sequence[bool], names: Sequence[str]) -> None:
        """A side without an order is a stored table: else the join would hold all of a stream."""
        for side, order, is_stored, name in zip(("left", "right"), (self.left, self.right), stored, names, strict=True):
            if order is None and not is_stored:
                raise NetworkError(
                    f"its {side} side, {name}, is a stream and needs an order"
                    " (`on`; beside a static table `tup#` will do); only a static table has none"
                )
            if order is not None and is_stored:
                raise NetworkError(
                    f"its {side} side, {name}, is a static table and has no order:"
                    " give `on` as a pair with none for that side"
                )

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        left, right = trains
        if not len(left) and not len(right):
            return concat(self._pair(left, right).schema, ()), left, right
        match_ = self._match(left.schema, right.schema)
        if self.right is None:  # the table's keys must be known before the stream looks for them
            arrived = self._arrive(tables, "right", right, match_)
            arrivals = [self._arrive(tables, "left", left, match_), arrived]
        else:
            arrivals = [self._arrive(tables, side, train, match_) for side, train in zip(_SIDES, trains, strict=True)]
        out = self._pairs(tables, trains, arrivals)
        lates = [train.where(pa.array(~there.timely)) for train, there in zip(trains, arrivals, strict=True)]
        return concat(self._pair(left, right).schema, out), *lates

    def _arrive(self, tables: Tables, side: str, train: Train, match_: Match) -> JoinArrivals:
        """Find out what is in order, and the places and keys."""
        order, other = (self.left, self.right) if side == "left" else (self.right, self.left)
        place, names = tables[side]["#place"].dtype, match_.left if side == "left" else match_.right
        places, timely = np.zeros(len(train), place), np.ones(len(train), np.bool_)
        if order is not None:
            groups = tables[f"{side}_order"]
            group = order.find(groups, train)
            values, valid = order.places(train)
            sift(group, values, valid, order.counts, groups["#heap"], groups["#seen"], timely)
            places = values.astype(place, copy=False)
        kept = other is not None or order is None
        columns = [train[name] for name in names]
        find = tables["keys"].find if kept else tables["keys"].lookup
        keys = find(columns, len(train))
        for column in columns:
            if column.null_count:
                keys[column.is_null().to_numpy(zero_copy_only=False)] = -1
        if kept:
            tables[side].reserve(len(train))
        return JoinArrivals(train.number, timely, places, keys, kept, np.full(len(train), -1, np.int64))

    def _pairs(self, tables: Tables, trains: Trains, arrivals: list[JoinArrivals]) -> list[Train]:
        left, right = trains
        size = self._size(left.schema, right.schema)
        spares = [tables[side].spare for side in _SIDES]
        tops = np.array([tables[side].top for side in _SIDES])
        chains = [chain_of(tables[side], tables["keys"], side) for side in _SIDES]
        place = tables["left"]["#place"].dtype
        reach = (place.type(size or 0), size is not None, None if place.kind == "i" else 0.0)
        room = [np.empty(_MOST_PAIRS, np.int64) for _ in range(3)]
        streams = [left.schema, right.schema]
        at, out = np.zeros(4, np.int64), []
        while at[2] or at[0] < len(left) or at[1] < len(right):
            pairs = pair_up(
                arrivals[0], arrivals[1], chains[0], chains[1], spares[0], spares[1], tops, at, reach,
                room[0], room[1], room[2],
            )  # fmt: skip
            out.append(self._matched(tables, trains, room[0][:pairs], room[1][:pairs], room[2][:pairs].copy()))
        for side, train, arrived, chain, top in zip(_SIDES, trains, arrivals, chains, tops, strict=True):
            came = taken(arrived.slots)
            settle(tables[side], train, came, int(top), self._limits(tables, side, streams, came), chain)
        for side, chain in zip(_SIDES, chains, strict=True):
            self._sweep(tables, side, streams, chain)
        return out

    def _matched(self, tables: Tables, trains: Trains, lefts: Ints, rights: Ints, numbers: Ints) -> Train:
        """Pairs by id as a train, those that satisfy what the key leaves of the predicate."""
        left, right = trains
        pair = self._pair(left, right)
        if not len(numbers):
            return empty(pair.schema)
        columns = gather(tables["left"], left, lefts, left.schema.names)
        columns += gather(tables["right"], right, rights, right.schema.names)
        tuples = pa.RecordBatch.from_arrays(columns, schema=pair.schema)
        ts = np.minimum(gather_ts(tables["left"], left, lefts), gather_ts(tables["right"], right, rights))
        pairs = Train(tuples, ts, numbers)
        rest = self._match(left.schema, right.schema).rest
        return pairs if rest is None else pairs.where(rest.bind(pair.schema).mask(tuples))

    def _sweep(self, tables: Tables, side: str, streams: list[pa.Schema], chain: ChainColumns) -> None:
        """From time to time drop the tuples that no partner can come for, and the keys without any tuple."""
        swept, keys = tables["swept"], tables["keys"]
        if not len(swept):
            swept.insert(1)
        limits = partial(self._limits, tables, side, streams)
        if sweep(tables[side], limits, chain, swept[f"#{side}"]):
            swept.touched[0] = True
            if keys.key:
                slots = keys.slots
                keys.free(slots[(keys["#head_left"][slots] == 0) & (keys["#head_right"][slots] == 0)])

    def _limits(self, tables: Tables, side: str, streams: list[pa.Schema], slots: Ints) -> Values:
        """Below which places no partner can come for held tuples, by what the order of the other side promises."""
        other, order = ("right", self.right) if side == "left" else ("left", self.left)
        own, none = self.left if side == "left" else self.right, lowest(tables[side]["#place"].dtype)
        if own is None or order is None:
            return none
        match_, groups = self._match(*streams), tables[f"{other}_order"]
        key = match_.right if side == "left" else match_.left
        if not len(groups) or not set(order.by) <= set(key):
            return none
        group = np.zeros(1, np.int64)
        if order.by:
            key_slots = tables[side]["#key"][slots]
            columns = [tables["keys"].get(str(key.index(name)), key_slots) for name in order.by]
            group = groups.lookup(columns, len(slots))
        full = (group >= 0) & (groups["#seen"][group] >= groups["#heap"].shape[1])
        promised = groups["#heap"][group, 0].astype(none.dtype)
        return np.where(full, limit(promised, none.dtype.type(self._size(*streams))), none[0])

    def _pair(self, left: Train, right: Train) -> Pair:
        return self._paired(left.schema, right.schema)

    @bound
    def _paired(self, left: pa.Schema, right: pa.Schema) -> Pair:
        return Pair(left, right)

    @bound
    def _match(self, left: pa.Schema, right: pa.Schema) -> Match:
        return match(self.predicate, Pair(left, right))

    def _place(self, left: pa.Schema, right: pa.Schema) -> pa.DataType:
        types = [order.check(stream) for order, stream in ((self.left, left), (self.right, right)) if order is not None]
        places = [place_type(type_) for type_ in types]
        return pa.float64() if pa.float64() in places else pa.int64()

    @bound
    def _size(self, left: pa.Schema, right: pa.Schema) -> Any:
        """The band in values of the attributes; none where a side is static."""
        if self.left is None or self.right is None:
            if self.size is not None:
                raise SchemaError("a join with a static table has no size: all of the table is in reach")
            for order, stream in ((self.left, left), (self.right, right)):
                if order is not None:
                    order.check(stream)
            return None
        if self.size is None:
            raise SchemaError("a join of two streams needs a size: how far apart partners may lie")
        return band(self.size, self.left, left, self.right, right)


def band(size: Span, left_order: Order, left: pa.Schema, right_order: Order, right: pa.Schema) -> int | float:
    """How far apart two orders' values may lie, once they are known to be values of one kind."""
    one, other = left_order.check(left), right_order.check(right)
    if one != other and (pa.types.is_temporal(one) or pa.types.is_temporal(other)):
        raise SchemaError(
            f"`{left_order.on}`, a {one}, and `{right_order.on}`, a {other}, have no distance:"
            " make them one type with a map"
        )
    wide = one if pa.types.is_floating(one) else other
    span = measure(size, wide, left_order.on)
    if not isfinite(span) or (isinstance(span, int) and span > MOST):
        raise SchemaError(f"a band of {size} does not fit in 64 bits: a number less than 2^63 is as good")
    if span < 0:
        raise SchemaError(f"a band of {size} is less than nothing")
    return span


def _parts(order: Order | None, other: Order | None, column: str) -> bool:
    """Whether a side may be partitioned by a column without changing which of its tuples are late."""
    return order is None or column in order.by or (order.counts and other is None)
