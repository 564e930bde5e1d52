"""Groups of an answer: aggregates of what is there now, planned as a Tally box between maps (SOLE 3.3)."""

from __future__ import annotations

from australis.api.stream import Stream
from australis.boxes.moving.watch import SIGN
from australis.expressions import Expr
from australis.expressions.expression import of
from australis.expressions.node import FunctionCall, Name, Node
from australis.queries.group import Grouping, fresh, mapped, meant, named, tree, twice
from australis.queries.query import Item, Select
from australis.queries.scope import QueryScope
from australis.queries.window import END, FUNCTIONS, START

_WINDOWLESS = "an answer is what is there now, so it has no windows; group by columns, or by nothing"


def tallied(select: Select, scope: QueryScope, items: list[Item]) -> Stream:
    """The updates of a SELECT with aggregates over an answer."""
    grouping = Grouping(select, scope, None, False, _keys(select, scope, items))
    columns: dict[str, Node] = {}
    for item in items:
        if named(item) in columns:
            raise twice(item, named(item))
        check_name(item)
        columns[named(item)] = tree(item.piece, grouping, item.name)
    aliases = {item.name: item.piece for item in items if item.name is not None}
    having = None if select.having is None else tree(select.having, grouping, None, aliases)
    stream = _counted(grouping)
    if having is not None and select.having is not None:
        with select.having.telling():
            stream = stream.filter(of(having))
    made = {SIGN: of(Name(SIGN)), **{name: of(node) for name, node in columns.items()}}
    return mapped(stream, made, select.piece)


def check_name(item: Item) -> None:
    """No column of an answer has the name of the one that tells what enters and leaves."""
    if not item.star and named(item) == SIGN:
        raise item.piece.error(
            f"`{SIGN}` tells what enters and leaves an answer; give this column another name, with AS"
        )


def _keys(select: Select, scope: QueryScope, items: list[Item]) -> dict[Expr, str]:
    keys: dict[Expr, str] = {}
    for given in select.groups:
        piece = meant(given, scope, items)
        node = piece.expr.node
        windowed = isinstance(node, FunctionCall) and node.function in FUNCTIONS
        if windowed or (isinstance(node, Name) and node.name in (*START, *END) and not scope.find(node.name)):
            raise piece.error(_WINDOWLESS)
        made = scope.resolved(piece)
        taken = {*scope.stream.schema.names, *keys.values()}
        keys.setdefault(made, made.copies or fresh(piece, items, taken))
    return keys


def _counted(grouping: Grouping) -> Stream:
    scope, by = grouping.scope, list(grouping.keys.values())
    columns = {name: of(Name(name)) for name in scope.stream.schema.names if name != scope.sign}
    columns |= {name: made for made, name in grouping.keys.items()}
    stream = mapped(scope.stream, {**columns, SIGN: of(Name(scope.sign or SIGN))}, grouping.select.piece)
    if not grouping.calls:
        return stream.moving.distinct(by)
    for made, name in grouping.calls.items():
        with grouping.pieces[made].telling():  # one at a time, so that an error points at the right one
            stream.moving.tally({name: made}, by=by)
    return stream.moving.tally({name: made for made, name in grouping.calls.items()}, by=by)
