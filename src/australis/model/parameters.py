"""The parameters of boxes as people write them, in Python or in a network file, made into what boxes hold."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

import pyarrow as pa

from australis.arguments import LARGEST, check_arguments, shown
from australis.arrow.durations import Span, duration, is_duration, spelled
from australis.arrow.schema import Spec, numeric, temporal
from australis.arrow.schema import schema as schema_of
from australis.errors import (
    ArgumentPlace,
    ExpressionError,
    ExpressionPlace,
    MadeColumn,
    NetworkError,
    listing,
    near,
    placed,
    unknown,
)
from australis.expressions import AGGREGATES, Aggregation, Expr, Term, aggregation, expr, lit
from australis.expressions.expression import of
from australis.expressions.functions import BUILTINS
from australis.expressions.node import FunctionCall
from australis.expressions.user import registered
from australis.expressions.window_function import WINDOW_FUNCTIONS
from australis.model.labels import as_written
from australis.model.order import Order
from australis.model.table import Keyed

Expression = Expr | Term | str | bool | int | float
Function = Aggregation | Expr | Term | str
Length = Span | timedelta
By = str | Sequence[str]
On = str | Order | Mapping[str, Any]
"""An order: a column, `au.order(...)`, or what that takes, as a mapping."""
Columns = Mapping[str, Expression]
Functions = Mapping[str, Function]


def expression(written: Expression) -> Expr:
    """An expression from SQL text, from `au.col(...)`, or from a constant."""
    made = expr(written if isinstance(written, str | Expr | Term) else lit(written))
    _check_functions(made)
    return made


def optional_expression(written: Expression | None) -> Expr | None:
    """An expression, or none."""
    return None if written is None else expression(written)


def conjunction(written: Sequence[Expression]) -> Expr:
    """Predicates that all hold, as one.

    >>> print(conjunction(["mph > 60", "vid = 1 or vid = 2"]))
    mph > 60 and (vid = 1 or vid = 2)
    """
    if not written:
        raise NetworkError("a filter takes at least one predicate")
    made = [expression(each) for each in written]
    return made[0] if len(made) == 1 else of(FunctionCall("and", tuple(each.node for each in made)))


def columns(written: Mapping[str, Expression]) -> tuple[tuple[str, Expr], ...]:
    """Named expressions, in the order written."""
    made = []
    for name, value in written.items():
        with placed(MadeColumn(name)):
            made.append((name, expression(value)))
    return tuple(made)


def functions(written: Mapping[str, Function]) -> tuple[tuple[str, Aggregation], ...]:
    """Named aggregations, in the order written."""
    made = []
    for name, value in written.items():
        with placed(MadeColumn(name)):
            made.append((name, _aggregation(value)))
    return tuple(made)


def _aggregation(written: Function) -> Aggregation:
    if isinstance(written, Aggregation):
        return written
    _check_functions(expr(written), WINDOW_FUNCTIONS)
    return aggregation(written, WINDOW_FUNCTIONS)


def _check_functions(made: Expr, windowed: Collection[str] = ()) -> None:
    missing = [name for name in made.functions if name not in windowed and not registered([name])[0]]
    if missing:
        known = [*BUILTINS, *AGGREGATES, *windowed]
        raise ExpressionError(
            f"there is no function `{missing[0]}`; make one with @au.function, or au.window_function for"
            f" windows, and give its module to the command line with `--functions module.py`{near(missing[0], known)}",
            ExpressionPlace(str(made)),
            unknown(missing[0], known),
        )


def optional_span(written: Length | None) -> Span | None:
    """A span, or none."""
    return None if written is None else span(written)


def span(written: Length) -> Span:
    """A span that boxes and network files can hold.

    >>> span(timedelta(minutes=10)), span("90 seconds"), span(60)
    ('600 s', '90 seconds', 60)
    """
    if isinstance(written, bool) or not isinstance(written, int | float | str | timedelta):
        raise NetworkError(f"a span is a number or a duration such as `10 minutes`, not {shown(written)}")
    given = spelled(written)
    if isinstance(given, str):
        duration(given)
    elif not -LARGEST <= given <= LARGEST:  # nor is NaN
        raise NetworkError(f"a span is a finite number, up to {LARGEST}, not {shown(given)}")
    return given


def often(written: Length | None) -> Span | None:
    """How often answers about moving objects are told: a span of their time, or `report` or `train`.

    >>> often("train"), often(timedelta(seconds=1)), often(None)
    ('train', '1 s', None)
    """
    return written if written is None or written in ("report", "train") else span(written)  # type: ignore[return-value]


def advance(written: Length | Expr | Term) -> Span | Expr:
    """How a window moves on: by a span, or at a tuple that satisfies a predicate."""
    if isinstance(written, Expr | Term) or (isinstance(written, str) and not is_duration(written)):
        return expression(written)
    return span(written)


def by(written: By) -> tuple[str, ...]:
    """Grouping columns: one by its name, or several, each once."""
    names = (written,) if isinstance(written, str) else tuple(written)
    if len(set(names)) < len(names):
        raise NetworkError(f"a column is named twice among {listing(names)}: name each once")
    return names


@check_arguments()
def order(on: On, slack: int = 0, by: By = ()) -> Order:
    """Tuples ascend on `on` in each group of `by`, but for `slack` tuples; see `australis.model.order`."""
    if isinstance(on, Order):
        return on
    if isinstance(on, Mapping):
        return order(**_order_arguments(on))
    return Order(on, slack, _by(by))


def _order_arguments(written: Mapping[str, Any]) -> Mapping[str, Any]:
    keys = ("on", "slack", "by")
    for key in written:
        if key not in keys:
            message = f"`on`: there is no key `{key}`; the keys are {listing(keys)}{near(str(key), keys)}"
            raise NetworkError(message, ArgumentPlace("on", silent=True), unknown(str(key), keys))
    if "on" not in written:
        message = f"`on`: the key `on` is missing; the keys are {listing(keys)}"
        raise NetworkError(message, ArgumentPlace("on", silent=True))
    return written


def sides(written: On | Iterable[On | None] | None) -> tuple[Order | None, Order | None]:
    """The orders of a left and a right input: one for both, or a pair."""
    if written is None or isinstance(written, str | Order | Mapping):
        both = None if written is None else order(written)
        return both, both
    pair = tuple(written)
    if len(pair) != 2:
        raise NetworkError(f"`on` is one order, or a pair for left and right; {len(pair)} are given")
    left, right = (None if side is None else order(side) for side in pair)
    return left, right


def write_sides(left: Order | None, right: Order | None) -> object:
    """Two orders as a network file holds them: one for both, or a pair."""
    return as_written(left) if left == right else [as_written(left), as_written(right)]


def no_order(stream: pa.Schema) -> NetworkError:
    """What to say of a box that goes by an order, and was given none."""
    columns = [field.name for field in stream if numeric(field.type) or temporal(field.type)]
    return NetworkError(f"it needs an order: give `on`, a column such as {listing(columns)}, or tup# for arrival")


def keyed(name: str, schema: Spec, key: By) -> Keyed:
    """A named table with a key of its own columns."""
    return Keyed(name, schema_of(schema), by(key))


_by = by
