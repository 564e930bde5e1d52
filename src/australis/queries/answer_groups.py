"""Groups of an answer: aggregates over the objects that are in it now, planned as a Tally box (SOLE 3.3)."""

from __future__ import annotations

from australis.api.stream import Stream
from australis.boxes.moving.watch import SIGN
from australis.expressions import Expr
from australis.expressions.expression import of
from australis.expressions.node import FunctionCall, Name, Node
from australis.queries.group import (
    Grouping,
    aggregate_tree,
    column_name,
    duplicate_column,
    fresh_name,
    group_piece,
    map_columns,
)
from australis.queries.query import Item, Select
from australis.queries.scope import QueryScope
from australis.queries.window import END, FUNCTIONS, START

_WINDOWLESS = "an answer is what is there now, so it has no windows; group by columns, or by nothing"


def group_answer(select: Select, scope: QueryScope, items: list[Item]) -> Stream:
    """Plan the updates of a SELECT with aggregates over an answer."""
    grouping = Grouping(select, scope, None, False, _keys(select, scope, items))
    columns: dict[str, Node] = {}
    for item in items:
        if column_name(item) in columns:
            raise duplicate_column(item, column_name(item))
        check_name(item)
        columns[column_name(item)] = aggregate_tree(item.piece, grouping, item.name)
    aliases = {item.name: item.piece for item in items if item.name is not None}
    having = None if select.having is None else aggregate_tree(select.having, grouping, None, aliases)
    stream = _tally(grouping)
    if having is not None and select.having is not None:
        with select.having.locate_errors():
            stream = stream.filter(of(having))
    expressions = {SIGN: of(Name(SIGN)), **{name: of(node) for name, node in columns.items()}}
    return map_columns(stream, expressions, select.piece)


def check_name(item: Item) -> None:
    """Raise if a column of an answer has the name of the sign."""
    if not item.star and column_name(item) == SIGN:
        raise item.piece.error(
            f"`{SIGN}` tells what enters and leaves an answer; give this column another name, with AS"
        )


def _keys(select: Select, scope: QueryScope, items: list[Item]) -> dict[Expr, str]:
    keys: dict[Expr, str] = {}
    for group in select.groups:
        piece = group_piece(group, scope, items)
        node = piece.expr.node
        windowed = isinstance(node, FunctionCall) and node.function in FUNCTIONS
        if windowed or (isinstance(node, Name) and node.name in (*START, *END) and not scope.find(node.name)):
            raise piece.error(_WINDOWLESS)
        key = scope.resolve(piece)
        used = {*scope.stream.schema.names, *keys.values()}
        keys.setdefault(key, key.copies or fresh_name(piece, items, used))
    return keys


def _tally(grouping: Grouping) -> Stream:
    scope, by = grouping.scope, list(grouping.keys.values())
    columns = {name: of(Name(name)) for name in scope.stream.schema.names if name != scope.sign}
    columns |= {name: expression for expression, name in grouping.keys.items()}
    stream = map_columns(scope.stream, {**columns, SIGN: of(Name(scope.sign or SIGN))}, grouping.select.piece)
    if not grouping.calls:
        return stream.moving.distinct(by)
    for expression, name in grouping.calls.items():
        with grouping.pieces[expression].locate_errors():  # one at a time, so that an error points at the right one
            stream.moving.tally({name: expression}, by=by)
    return stream.moving.tally({name: expression for expression, name in grouping.calls.items()}, by=by)
