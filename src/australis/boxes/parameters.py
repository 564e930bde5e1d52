"""The parameters of boxes as people write them, in Python or in a network file, made into what boxes hold."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, get_args, get_type_hints

from australis.arguments import LARGEST, Misfit, check_arguments, fit, shown, words
from australis.arrow.durations import Span, duration, is_duration, spelled
from australis.arrow.schema import Spec
from australis.arrow.schema import schema as schema_of
from australis.boxes.moving import Question
from australis.errors import (
    ExpressionError,
    ExpressionPlace,
    MadeColumn,
    NetworkError,
    Subject,
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
from australis.model.order import Order
from australis.model.table import Keyed

Expression = Expr | Term | str | bool | int | float
Function = Aggregation | Expr | Term | str
Length = Span | timedelta
By = str | Sequence[str]
On = str | Order


def expression(written: Expression) -> Expr:
    """An expression from SQL text, from `au.col(...)`, or from a constant."""
    made = expr(written if isinstance(written, str | Expr | Term) else lit(written))
    _check_functions(made)
    return made


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
    return Order(on, slack, _by(by))


def sides(written: On | Iterable[On | None] | None) -> tuple[Order | None, Order | None]:
    """The orders of a left and a right input: one for both, or a pair."""
    if written is None or isinstance(written, str | Order):
        both = None if written is None else order(written)
        return both, both
    pair = tuple(written)
    if len(pair) != 2:
        raise NetworkError(f"`on` is one order, or a pair for left and right; {len(pair)} are given")
    left, right = (None if side is None else order(side) for side in pair)
    return left, right


def questions(written: Mapping[str, Mapping[str, Any]]) -> tuple[tuple[str, Question], ...]:
    """Named queries about moving objects; their numbers may be whole."""
    made = []
    known = get_type_hints(Question)
    for name, query in written.items():
        real: dict[str, Any] = {}
        for key, value in query.items():
            if key not in known:
                raise NetworkError(
                    f"the query {name} has no `{key}`; there are {listing(known)}{near(str(key), list(known))}",
                    Subject("query", name, silent=True),
                    unknown(str(key), known),
                )
            try:
                fitting = fit(known[key], value)
            except Misfit as misfit:
                wanted = misfit.wanted or words(known[key])
                raise NetworkError(
                    f"the query {name}: `{key}` is {wanted}, not {shown(value)}", Subject("query", name, silent=True)
                ) from None
            real[key] = float(fitting) if isinstance(fitting, int) and float in get_args(known[key]) else fitting
        if "kind" not in real:
            raise NetworkError(
                f"the query {name} has no `kind`, such as `rectangle` or `knn`", Subject("query", name, silent=True)
            )
        made.append((name, Question(**real)))
    return tuple(made)


def keyed(name: str, schema: Spec, key: By) -> Keyed:
    """A named table with a key of its own columns."""
    return Keyed(name, schema_of(schema), by(key))


_by = by
