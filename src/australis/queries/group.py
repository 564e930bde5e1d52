"""Groups of a query: its windows and aggregates, planned as an Aggregate box between maps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

import pyarrow as pa

from australis.api.stream import Stream
from australis.errors import ExpressionError
from australis.expressions import AGGREGATES, Expr
from australis.expressions.expression import of
from australis.expressions.node import FunctionCall, Literal, Name, Node, names, replaced, walk
from australis.expressions.window_function import WINDOW_FUNCTIONS
from australis.queries.order import disorder
from australis.queries.piece import Piece
from australis.queries.query import Item, Select
from australis.queries.scope import QueryScope
from australis.queries.window import END, FUNCTIONS, START, WindowClause, from_group

_BOUNDS = (*START, *END, "window")
_WINDOWED = (
    "a stream has no end, so its aggregates are taken over windows: write GROUP BY window(time, '60 seconds'), or"
    " FROM TUMBLE(TABLE reports, time, SIZE 60) ... GROUP BY window_start"
)


def aggregates(node: Node) -> bool:
    """Whether a tree calls an aggregate function."""
    functions = {name.lower() for name in WINDOW_FUNCTIONS} | AGGREGATES.keys()
    return any(isinstance(part, FunctionCall) and part.function in functions for part in walk(node))


@dataclass
class Grouping:
    """What the planner knows of a grouped query so far."""

    select: Select
    scope: QueryScope
    window: WindowClause | None
    """Its windows; None if an answer is grouped."""
    shadows: bool
    """Whether `window_start` means the window although the stream has a column of that name, as in TUMBLE and HOP."""
    keys: dict[Expr, str]
    """The expressions over the stream to group by, and the columns that hold them."""
    calls: dict[Expr, str] = field(default_factory=dict)
    """The aggregates over the stream, and the columns that will hold them."""
    pieces: dict[Expr, Piece] = field(default_factory=dict)
    """The pieces of the query that the aggregates are in."""

    def used_names(self) -> set[str]:
        on = set() if self.window is None else {self.window.on}
        return {*on, *self.keys.values(), *self.calls.values()}


def plan_group(select: Select, scope: QueryScope, window: WindowClause | None, items: list[Item], slack: int) -> Stream:
    """Plan the stream of a SELECT with aggregates over windows."""
    grouping = _grouping(select, scope, window, items)
    columns: dict[str, Node] = {}
    for item in items:
        if column_name(item) in columns:
            raise duplicate_column(item, column_name(item))
        columns[column_name(item)] = aggregate_tree(item.piece, grouping, item.name)
    aliases = {item.name: item.piece for item in items if item.name is not None}
    having = None if select.having is None else aggregate_tree(select.having, grouping, None, aliases)
    assert grouping.window is not None
    stream = _aggregate(grouping, grouping.window, slack)
    on = grouping.window.on
    end = grouping.window.end(on, stream.schema.field(on).type)

    def with_bounds(node: Node) -> Expr:
        ends = replaced(node, lambda part: end if part == Name("#end") else None)
        return of(replaced(ends, lambda part: Name(on) if part == Name("#start") else None))

    if having is not None and select.having is not None:
        with select.having.locate_errors():
            stream = stream.filter(with_bounds(having))
    return map_columns(stream, {name: with_bounds(node) for name, node in columns.items()}, select.piece)


def map_columns(stream: Stream, columns: Mapping[str, Expr], piece: Piece) -> Stream:
    """Map a stream to columns, unless that would change nothing."""
    if [(name, expression.copies) for name, expression in columns.items()] == [
        (name, name) for name in stream.schema.names
    ]:
        return stream
    with piece.locate_errors():
        return stream.map(dict(columns))


def _grouping(select: Select, scope: QueryScope, window: WindowClause | None, items: list[Item]) -> Grouping:
    keys: dict[Expr, str] = {}
    shadows, by_window = window is not None, False
    for group in select.groups:
        piece = group_piece(group, scope, items)
        node = piece.expr.node
        if isinstance(node, FunctionCall) and node.function in FUNCTIONS:
            if window is not None:
                raise piece.error("there is a window already; a query takes one")
            window, by_window = _on(from_group(node, _visible(scope), piece), scope), True
        elif isinstance(node, Name) and node.name in _BOUNDS and (shadows or not scope.find(node.name)):
            if window is None and not any(_windows(each) for each in select.groups):
                raise piece.error(f"there is no window here; {_WINDOWED}")
            by_window = True
        else:
            key = scope.resolve(piece)
            name = key.copies or fresh_name(piece, items, {*scope.stream.schema.names, *keys.values()})
            keys.setdefault(key, name)
    if window is None or not by_window:
        where = select.groups[0] if select.groups else next(i.piece for i in items if aggregates(i.piece.expr.node))
        why = _WINDOWED if window is None else "add window_start to GROUP BY: what is grouped across windows never ends"
        raise where.error(why)
    return Grouping(select, scope, window, shadows, keys)


def _windows(piece: Piece) -> bool:
    node = piece.expr.node
    return isinstance(node, FunctionCall) and node.function in FUNCTIONS


def _visible(scope: QueryScope) -> pa.Schema:
    """The columns of a stream under the names that a query may use for them."""
    names = dict.fromkeys([name for each in scope.columns for name in (each.name, f"{each.table}.{each.name}")])
    columns = {name: scope.find(name) for name in names}
    return pa.schema(
        [
            scope.stream.schema.field(matches[0]).with_name(name)
            for name, matches in columns.items()
            if len(matches) == 1
        ]
    )


def _on(window: WindowClause, scope: QueryScope) -> WindowClause:
    return WindowClause(scope.column(window.on, window.piece), window.size, window.advance, window.slack, window.piece)


def group_piece(piece: Piece, scope: QueryScope, items: list[Item]) -> Piece:
    """The piece that a GROUP BY item means: it may be the number or the name of a column of the SELECT."""
    node = piece.expr.node
    if isinstance(node, Literal) and type(node.value) is int:
        if not 1 <= node.value <= len(items):
            raise piece.error(f"there is no column {node.value} in the SELECT; it has {len(items)}")
        return items[node.value - 1].piece
    if isinstance(node, Name) and not scope.find(node.name):
        return next((item.piece for item in items if item.name == node.name), piece)
    return piece


def fresh_name(piece: Piece, items: list[Item], used: set[str]) -> str:
    """A free name for a column that is grouped by."""
    name = next((i.name for i in items if i.name and not i.star and i.piece.expr == piece.expr), None) or "group"
    return _free_name(name, used)


def _free_name(base: str, used: set[str]) -> str:
    name, number = base, 1
    while name in used:
        number += 1
        name = f"{base}_{number}"
    return name


def column_name(item: Item) -> str:
    """The name of a column of a SELECT: its alias, the column that it copies, or its text."""
    if item.name is not None:
        return item.name
    copied = item.piece.expr.copies
    return copied.rpartition(".")[2] if copied else item.piece.expr.text


def duplicate_column(item: Item, name: str) -> ExpressionError:
    """The error for a second column of a name."""
    return item.piece.error(f"two columns are named `{name}`; give one another name, with AS")


def aggregate_tree(
    piece: Piece, grouping: Grouping, alias: str | None, aliases: Mapping[str, Piece] | None = None
) -> Node:
    """An expression over the results of the aggregate box. The calls that it needs are added to `grouping`."""
    functions = {name.lower() for name in WINDOW_FUNCTIONS} | AGGREGATES.keys()
    scope, whole = grouping.scope, piece.expr.node

    def change(part: Node) -> Node | None:
        if isinstance(part, Name) and grouping.window and (grouping.shadows or not scope.find(part.name)):
            if part.name in START:
                return Name("#start")
            if part.name in END:
                return Name("#end")
        if isinstance(part, Literal):
            return None
        if all(scope.find(name) for name in names(part)):
            expression = scope.resolve(piece, of(part))
            if expression in grouping.keys:
                return Name(grouping.keys[expression])
            if isinstance(part, FunctionCall) and part.function in functions:
                grouping.pieces.setdefault(expression, piece)
                base = alias if alias and part == whole else part.function
                return Name(grouping.calls.setdefault(expression, _free_name(base, grouping.used_names())))
        elif isinstance(part, FunctionCall) and part.function in functions:
            scope.resolve(piece, of(part))  # says which name is wrong
        if isinstance(part, Name):
            if aliases and part.name in aliases:
                return aggregate_tree(aliases[part.name], grouping, part.name)
            scope.column(part.name, piece)
            raise piece.error(
                f"`{part.name}` is neither grouped by nor in an aggregate, and a group has many tuples; write"
                f" first({part.name}), or add it to GROUP BY",
                part.name,
            )
        return None

    return replaced(whole, change)


def _aggregate(grouping: Grouping, window: WindowClause, slack: int) -> Stream:
    stream = grouping.scope.stream
    computed = {name: expression for expression, name in grouping.keys.items() if expression.copies is None}
    if computed:
        copied = {name: of(Name(name)) for name in stream.schema.names}
        stream = map_columns(stream, {**copied, **computed}, grouping.select.piece)
    late, by = slack if window.slack is None else window.slack, tuple(grouping.keys.values())
    if not late and (why := disorder(stream, window.on, by)):
        raise window.piece.error(why)
    aggregate = partial(
        stream.aggregate,
        on=window.on,
        size=window.size,
        advance=window.advance,
        by=by,
        slack=late,
    )
    count = _free_name("count", grouping.used_names())
    with window.piece.locate_errors():
        bare = aggregate({count: "count(*)"})
    for expression, name in grouping.calls.items():
        with grouping.pieces[expression].locate_errors():  # one at a time, so that an error points at the right one
            aggregate({name: expression})
    return aggregate({name: expression for expression, name in grouping.calls.items()}) if grouping.calls else bare
