"""Joins of a query: finds a band of times and equal columns in a condition, and plans a Join box."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from australis.api.stream import Stream
from australis.arrow.durations import spelled
from australis.arrow.schema import temporal
from australis.boxes.moving.watch import SIGN
from australis.expressions import Expr
from australis.expressions.expression import of
from australis.expressions.node import FunctionCall, Literal, Name, Node, apply, names, renamed
from australis.model.order import Order
from australis.queries.order import disorder
from australis.queries.piece import Piece
from australis.queries.scope import Column, QueryScope

LEFT, RIGHT = "left.", "right."
_TIMES = ("time", "window_start", "window_end")
_FLIPPED = {"<=": ">=", ">=": "<=", "<": ">", ">": "<", "=": "="}


@dataclass(frozen=True)
class Band:
    """right - left of two columns is from `low` to `high`; the conditions in `said` say that and nothing more."""

    left: str
    right: str
    low: Any
    high: Any
    said: tuple[Node, ...]

    @property
    def size(self) -> Any:
        return max(abs(self.low), abs(self.high))


def conjuncts(condition: Expr | None) -> tuple[Node, ...]:
    """The parts of a condition that is a conjunction."""
    if condition is None:
        return ()
    node = condition.node
    return node.args if isinstance(node, FunctionCall) and node.function == "and" else (node,)


def plan_join(
    left: QueryScope, right: QueryScope, parts: Sequence[Node], using: Sequence[str], slack: int, piece: Piece
) -> QueryScope:
    """Plan a join, and return the scope of both sides. `parts` are conditions over the query's names of columns."""
    right = _apart(left.stream, right)
    meeting = left.sign is not None and right.sign is not None
    if not meeting and (left.sign or right.sign) and not (left.stream.static or right.stream.static):
        raise piece.error(
            "an answer is what is there now, and is joined with stored tables or other answers, not with a stream"
        )
    equal = [(left.column(name, piece), right.column(name, piece)) for name in using]
    conditions = [_by_side(part, left, right, piece) for part in parts]
    conditions += [apply("=", Name(LEFT + one), Name(RIGHT + other)) for one, other in equal]
    on, size = None, None
    if not meeting and not left.stream.static and not right.stream.static:
        band = _band(conditions, left, right, piece)
        for side, column in ((left, band.left), (right, band.right)):
            if not slack and (why := disorder(side.stream, column)):
                raise piece.error(why)
        conditions = [part for part in conditions if part not in band.said]
        on = Order(band.left, slack), Order(band.right, slack)
        times = temporal(left.stream.schema.field(band.left).type)
        size = "0 s" if times and not band.size else spelled(band.size)
    predicate = of(both(*conditions)) if conditions else None
    with piece.locate_errors():
        if meeting:
            stream = _with_sign(left).moving.meet(_with_sign(right), predicate)
        else:
            stream = left.stream.join(right.stream, predicate, on=on, size=size)
    left_names = set(left.stream.schema.names)
    columns = list(left.columns)
    for each in right.columns:
        twin = next((one for one, other in equal if other == each.stream_name), None)
        stream_name = each.stream_name + "_right" if each.stream_name in left_names else each.stream_name
        columns.append(Column(each.table, each.name, stream_name if twin is None else twin))
    sign = SIGN if meeting else left.sign or right.sign
    return QueryScope(
        stream, tuple(columns), f"{sign}_right" if sign and not left.sign and sign in left_names else sign
    )


def _with_sign(scope: QueryScope) -> Stream:
    """A stream of updates, with the sign under the name that boxes look for."""
    if scope.sign in (None, SIGN):
        return scope.stream
    return scope.stream.map(
        {SIGN if name == scope.sign else name: of(Name(name)) for name in scope.stream.schema.names}
    )


def both(*parts: Node) -> Node:
    """The conjunction of all parts."""
    return apply("and", *parts) if len(parts) > 1 else parts[0]


def crosses(part: Node, left: QueryScope, right: QueryScope, sides: tuple[Column, ...]) -> bool:
    """Whether a condition is about columns of both sides, and nothing else."""
    fits = [all(scope.find(name) for name in names(part)) for scope in (left, right, QueryScope(left.stream, sides))]
    return fits == [False, False, True]


def _apart(left: Stream, right: QueryScope) -> QueryScope:
    """The right side, with names that do not collide when the join adds `_right` to names that both sides have."""
    left_names = set(left.schema.names)
    fresh = dict.fromkeys(right.stream.schema.names, "")
    for name in fresh:
        to = name
        while (to in left_names and f"{to}_right" in left_names | set(fresh)) or to in [*fresh.values()]:
            to += "_"
        fresh[name] = to
    if all(name == to for name, to in fresh.items()):
        return right
    stream = right.stream.map({to: of(Name(name)) for name, to in fresh.items()})
    columns = tuple(
        Column(each.table, each.name, fresh.get(each.stream_name, each.stream_name)) for each in right.columns
    )
    return QueryScope(stream, columns, right.sign and fresh[right.sign])


def _by_side(part: Node, left: QueryScope, right: QueryScope, piece: Piece) -> Node:
    """A condition, with its columns renamed to `left.` and `right.` columns."""
    sides = QueryScope(
        left.stream,
        (
            *(Column(each.table, each.name, LEFT + each.stream_name) for each in left.columns),
            *(Column(each.table, each.name, RIGHT + each.stream_name) for each in right.columns),
        ),
    )
    return renamed(part, {name: sides.column(name, piece) for name in names(part)})


def _band(conditions: Iterable[Node], left: QueryScope, right: QueryScope, piece: Piece) -> Band:
    """The narrowest band that conditions set on times of both sides. Raises if there is none."""
    bounds: dict[tuple[str, str], list[tuple[str, Any, Node]]] = {}
    for part in conditions:
        for one, sign, other, far in _differences(part):
            bounds.setdefault((one, other), []).append((sign, far, part))
    bands = []
    for (one, other), found in bounds.items():
        zero: Any = dt.timedelta(0) if any(isinstance(far, dt.timedelta) for _, far, _ in found) else 0
        limits = [(sign, far or zero, part) for sign, far, part in found]
        if len({isinstance(far, dt.timedelta) for _, far, _ in limits}) > 1:
            continue
        lows = [far for sign, far, _ in limits if sign in (">", ">=", "=")]
        highs = [far for sign, far, _ in limits if sign in ("<", "<=", "=")]
        equal = any(sign == "=" for sign, _, _ in limits)
        if not lows or not highs or (equal and not (_timely(one, left) and _timely(other, right))):
            continue
        low, high = max(lows), min(highs)
        exact = low == -high <= high and len(limits) == 2 and all(sign in ("<=", ">=", "=") for sign, _, _ in limits)
        said = tuple(part for _, _, part in limits if not equal) if exact else ()
        bands.append(Band(one, other, low, high, said))
    if not bands:
        raise piece.error(
            "a join of two streams needs a band of times, or it would keep everything; say for example"
            " `AND b.time BETWEEN a.time - 10 AND a.time + 10`"
        )
    return min(bands, key=lambda band: band.size if isinstance(band.size, int | float) else band.size.total_seconds())


def _timely(column: str, scope: QueryScope) -> bool:
    """Whether equality on a column may stand for a band: it is a time, or is named like one."""
    named_like_time = any(each.name in _TIMES for each in scope.columns if each.stream_name == column)
    return named_like_time or temporal(scope.stream.schema.field(column).type)


def _differences(part: Node) -> list[tuple[str, str, str, Any]]:
    """What a condition says of right - left: the left column, a comparison, the right column and the distance."""
    if not isinstance(part, FunctionCall):
        return []
    if part.function == "between":
        value, low, high = part.args
        return [*_compare(value, ">=", low), *_compare(value, "<=", high)]
    if part.function in ("<=", "<") and _is_distance(part.args[0]) and isinstance(part.args[1], Literal):
        (inner,) = part.args[0].args  # type: ignore[union-attr]
        one, other = inner.args  # type: ignore[union-attr]
        far, sign = part.args[1], part.function
        return [*_compare(one, sign, apply("+", other, far)), *_compare(one, _FLIPPED[sign], apply("-", other, far))]
    if part.function in _FLIPPED:
        return _compare(part.args[0], part.function, part.args[1])
    return []


def _is_distance(node: Node) -> bool:
    """Whether it is abs(a - b)."""
    if not isinstance(node, FunctionCall) or node.function != "abs" or len(node.args) != 1:
        return False
    inner = node.args[0]
    return isinstance(inner, FunctionCall) and inner.function == "-" and len(inner.args) == 2


def _compare(one: Node, sign: str, other: Node) -> list[tuple[str, str, str, Any]]:
    first, second = _shift(one), _shift(other)
    if first is None or second is None:
        return []
    if first[0].startswith(RIGHT):
        first, second, sign = second, first, _FLIPPED[sign]
    if not first[0].startswith(LEFT) or not second[0].startswith(RIGHT):
        return []
    # left + a sign right + b: right - left is on the other side of a - b.
    try:
        far = first[1] - second[1] if first[1] and second[1] else first[1] or -second[1]
    except TypeError:
        return []
    return [(first[0].removeprefix(LEFT), _FLIPPED[sign], second[0].removeprefix(RIGHT), far)]


def _shift(node: Node) -> tuple[str, Any] | None:
    """A column and the constant that is added to it; None for another expression."""
    if isinstance(node, Name):
        return node.name, 0
    if isinstance(node, FunctionCall) and node.function in ("+", "-") and len(node.args) == 2:
        one, other = node.args
        if node.function == "+" and isinstance(one, Literal):
            one, other = other, one
        inner = _shift(one)
        if inner is not None and isinstance(other, Literal) and isinstance(other.value, int | float | dt.timedelta):
            far = other.value if node.function == "+" else -other.value
            if not inner[1]:
                return inner[0], far
            if isinstance(inner[1], dt.timedelta) == isinstance(far, dt.timedelta):
                return inner[0], inner[1] + far
    return None
