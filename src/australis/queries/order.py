"""Order: whether the tuples of a planned stream come in the order that a window or a join takes for granted."""

from __future__ import annotations

from collections.abc import Iterable

from australis.api.stream import Stream
from australis.boxes import Aggregate, BSort, Filter, Join, Map, Union
from australis.boxes.join.pair import LEFT, Pair
from australis.expressions.node import Apply, Literal, Name, Node
from australis.model.network import Input

_ADVICE = "say how many tuples late they may be: SLACK in TUMBLE and HOP, or `slack` (--slack) for the whole query"


def disorder(stream: Stream, column: str, by: Iterable[str] = ()) -> str | None:
    """Why a stream may not ascend on a column in each group of `by`, or None where it does if its inputs do.

    What ascends in groups ascends in finer ones too. Other boxes than those that queries are planned with are taken
    at their users' word.
    """
    made, keys = stream.origin, set(by)
    if isinstance(made, Input):
        return None
    box, sources = made.box, made.sources
    if isinstance(box, Union):
        return f"the streams of a UNION ALL come as they come, so `{column}` does not ascend; {_ADVICE}"
    if isinstance(box, Aggregate):
        if column != box.order.attribute:
            return _computed(column)
        groups = ", ".join(box.order.by)
        late = f"windows end at different times in the groups of {groups}, so `{column}` does not ascend; {_ADVICE}"
        return None if set(box.order.by) <= keys else late
    if isinstance(box, BSort):
        return None
    if isinstance(box, Join):
        if not any(source.static for source in sources):
            return f"a join of streams gives pairs as they meet, so `{column}` does not ascend; {_ADVICE}"
        side = 1 if sources[0].static else 0
        names = Pair(sources[0].schema, sources[1].schema).names
        own = {to: name.partition(".")[2] for name, to in names.items() if name.startswith(LEFT) == (side == 0)}
        if column not in own:
            return f"`{column}` is of a stored table, and has nothing to do with the order of the stream"
        return disorder(sources[side], own[column], [own[key] for key in keys if key in own])
    if isinstance(box, Map):
        copied = {name: _ascending(made.node) for name, made in box.columns}
        before = copied.get(column)
        if before is None:
            return _computed(column)
        kept = {name: expression.copies for name, expression in box.columns}
        return disorder(sources[0], before, [held for key in keys if (held := kept.get(key))])
    if isinstance(box, Filter):
        return disorder(sources[0], column, keys)
    return None


def _ascending(node: Node) -> str | None:
    """The column that an expression ascends with: itself, or with a constant added."""
    if isinstance(node, Name):
        return node.name
    if isinstance(node, Apply) and node.function == "cast":
        return _ascending(node.args[0])
    if isinstance(node, Apply) and node.function in ("+", "-") and isinstance(node.args[1], Literal):
        return _ascending(node.args[0])
    return None


def _computed(column: str) -> str:
    return f"`{column}` is computed, so that it need not ascend; {_ADVICE}"
