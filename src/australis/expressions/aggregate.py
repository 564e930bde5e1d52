"""Aggregations: the arguments of aggregate boxes, such as `max(mph) - min(mph)`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from australis.errors import ExpressionError, listing, near
from australis.expressions.aggregates import AGGREGATES
from australis.expressions.column import Term, expr
from australis.expressions.expression import Expr, of
from australis.expressions.functions import BUILTINS
from australis.expressions.node import FunctionCall, Name, Node, apply, names, replaced, walk
from australis.expressions.render import render
from australis.expressions.user import registered


@dataclass(frozen=True)
class AggregateCall:
    """One aggregate function over the rows of a window; count(*) has no arguments."""

    name: str
    args: tuple[Expr, ...]
    distinct: bool = False

    def __str__(self) -> str:
        return render(self._node())

    def _node(self) -> Node:
        args = [arg.node for arg in self.args]
        return apply(self.name, apply("distinct", *args)) if self.distinct else apply(self.name, *args)


@dataclass(frozen=True)
class Aggregation:
    """The calls, and the expression over their results, which are the columns "#0", "#1", ...

    >>> spread = aggregation("max(mph) - min(mph)")
    >>> [str(call) for call in spread.calls], str(spread.outer)
    (['max(mph)', 'min(mph)'], '"#0" - "#1"')
    """

    calls: tuple[AggregateCall, ...]
    outer: Expr

    def __str__(self) -> str:
        texts = {f"#{place}": call._node() for place, call in enumerate(self.calls)}
        return render(replaced(self.outer.node, lambda part: texts[part.name] if isinstance(part, Name) else None))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the calls read, each once."""
        return tuple(dict.fromkeys(name for call in self.calls for arg in call.args for name in arg.columns))


def aggregation(value: str | Expr | Term, window_functions: Collection[str] = ()) -> Aggregation:
    """Split an expression into its aggregate calls and the expression over their results."""
    whole = expr(value)
    known = {**{name.lower(): name for name in window_functions}, **AGGREGATES}
    calls: dict[AggregateCall, str] = {}

    def number(part: Node) -> Node | None:
        if not isinstance(part, FunctionCall) or part.function not in known:
            return None
        call = _call(part, known, whole)
        return Name(calls.setdefault(call, f"#{len(calls)}"))

    outer = replaced(whole.node, number)
    called = of(outer).functions
    unknown = [name for name, function in zip(called, registered(called), strict=True) if function is None]
    if unknown:
        hint = near(unknown[0], [*known, *BUILTINS]) or "."
        raise ExpressionError(
            f"`{whole}`: there is no function `{unknown[0]}`{hint} The aggregate functions are {listing(known)}"
        )
    bare = [name for name in names(outer) if name not in calls.values()]
    if bare:
        raise ExpressionError(
            f"`{whole}`: the column `{bare[0]}` stands outside an aggregate function, and a window has many rows; "
            f"write first({bare[0]}), or group by it"
        )
    if not calls:
        raise ExpressionError(f"`{whole}`: there is no aggregate function; the functions are {listing(known)}")
    return Aggregation(tuple(calls), of(outer))


def _call(part: FunctionCall, known: dict[str, str], whole: Expr) -> AggregateCall:
    args, distinct = part.args, False
    if len(args) == 1 and isinstance(args[0], FunctionCall) and args[0].function == "distinct":
        args, distinct = args[0].args, True
    for arg in args:
        for inner in walk(arg):
            if isinstance(inner, FunctionCall) and inner.function in known:
                raise ExpressionError(
                    f"`{whole}`: `{render(inner)}` is an aggregate inside another, `{render(part)}`; "
                    "aggregate in one box and its result in a next one"
                )
            if isinstance(inner, FunctionCall) and inner.function == "distinct":
                raise ExpressionError(f"`{whole}`: DISTINCT stands once, at the start: `{part.function}(distinct x)`")
    if part.function in AGGREGATES and not (len(args) == 1 or (part.function == "count" and (distinct or not args))):
        raise ExpressionError(f"`{whole}`: `{part.function}` takes one argument, not {len(args)}")
    return AggregateCall(known[part.function], tuple(of(arg) for arg in args), distinct)
