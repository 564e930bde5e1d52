"""Expressions built with Python's operators: `col("mph") > 60`."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa

from australis.arguments import check_arguments, shown
from australis.arrow.schema import Type, data_type, type_text
from australis.errors import ExpressionError
from australis.expressions.expression import Expr, of
from australis.expressions.node import Literal, Name, Node, apply
from australis.expressions.parse import parse


@dataclass(frozen=True, eq=False)
class Term:
    """An expression being built; operators make larger ones, `expr` makes the finished one.

    >>> str((col("mph") < 40) & (col("lane") != 4))
    'mph < 40 and lane != 4'
    """

    expr: Expr

    def __str__(self) -> str:
        return str(self.expr)

    def __bool__(self) -> NoReturn:
        raise ExpressionError(f"`{self}` has no truth of its own; combine with &, | and ~, not with and, or and not")

    def __eq__(self, other: object) -> Term:  # type: ignore[override]
        return call("=", self, other)

    def __ne__(self, other: object) -> Term:  # type: ignore[override]
        return call("!=", self, other)

    # `==` makes a term and compares nothing, so that a term cannot be a key; `expr(term)` can.
    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, other: object) -> Term:
        return call("<", self, other)

    def __le__(self, other: object) -> Term:
        return call("<=", self, other)

    def __gt__(self, other: object) -> Term:
        return call(">", self, other)

    def __ge__(self, other: object) -> Term:
        return call(">=", self, other)

    def __add__(self, other: object) -> Term:
        return call("+", self, other)

    def __radd__(self, other: object) -> Term:
        return call("+", other, self)

    def __sub__(self, other: object) -> Term:
        return call("-", self, other)

    def __rsub__(self, other: object) -> Term:
        return call("-", other, self)

    def __mul__(self, other: object) -> Term:
        return call("*", self, other)

    def __rmul__(self, other: object) -> Term:
        return call("*", other, self)

    def __truediv__(self, other: object) -> Term:
        return call("/", self, other)

    def __rtruediv__(self, other: object) -> Term:
        return call("/", other, self)

    def __floordiv__(self, other: object) -> Term:
        return call("//", self, other)

    def __rfloordiv__(self, other: object) -> Term:
        return call("//", other, self)

    def __mod__(self, other: object) -> Term:
        return call("%", self, other)

    def __rmod__(self, other: object) -> Term:
        return call("%", other, self)

    def __pow__(self, other: object) -> Term:
        return call("power", self, other)

    def __rpow__(self, other: object) -> Term:
        return call("power", other, self)

    def __neg__(self) -> Term:
        return call("neg", self)

    def __and__(self, other: object) -> Term:
        return call("and", self, other)

    def __rand__(self, other: object) -> Term:
        return call("and", other, self)

    def __or__(self, other: object) -> Term:
        return call("or", self, other)

    def __ror__(self, other: object) -> Term:
        return call("or", other, self)

    def __invert__(self) -> Term:
        return call("not", self)

    def isin(self, *values: object) -> Term:
        """Whether it equals one of the values, which may be given as a list too."""
        if len(values) == 1 and isinstance(values[0], list | tuple | set | frozenset):
            values = tuple(values[0])
        if not values:
            raise ExpressionError(f"`{self}`.isin() needs values, such as isin(1, 2)")
        return call("in", self, *values)

    def between(self, low: object, high: object) -> Term:
        return call("between", self, low, high)

    def is_null(self) -> Term:
        return call("is null", self)

    def is_not_null(self) -> Term:
        return ~self.is_null()

    def like(self, pattern: str) -> Term:
        return call("like", self, pattern)

    def ilike(self, pattern: str) -> Term:
        return call("ilike", self, pattern)

    def rlike(self, pattern: str) -> Term:
        return call("rlike", self, pattern)

    def cast(self, type: str | Type) -> Term:
        """CAST to a type, by its name."""
        return call("cast", self, type_text(data_type(type) if isinstance(type, str) else type))


@check_arguments(ExpressionError)
def col(name: str) -> Term:
    """A column; `col("left.pos")` is the column "left.pos"."""
    return Term(of(Name(name)))


def lit(value: object) -> Term:
    """A constant; a str is a text, not SQL."""
    return Term(of(_node(value)))


def call(name: str, *args: object) -> Term:
    """A function, a user function or an operator by name; arguments that are no terms are constants.

    >>> str(call("round", col("mph") * 1.6, 1))
    'round(mph * 1.6, 1)'
    """
    return Term(of(apply(name.lower(), *map(_node, args))))


def expr(value: object) -> Expr:
    """An expression: a str is SQL text, other Python values are constants.

    >>> expr("mph<40"), expr(40), expr(col("mph") < 40)
    (Expr(text='mph < 40'), Expr(text='40'), Expr(text='mph < 40'))
    """
    return of(parse(value)) if isinstance(value, str) else of(_node(value))


def _node(value: Any) -> Node:
    """A tree: of a term or an expression, or else of a constant."""
    if isinstance(value, Term):
        return value.expr.node
    if isinstance(value, Expr):
        return value.node
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, pa.Scalar):
        value = value.as_py()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _number(value)
    if value is None or isinstance(value, bool | str | dt.timedelta):
        return Literal(value)
    if isinstance(value, Decimal) and value.is_finite():
        return _typed(f"{value:f}", type_text(pa.scalar(value).type))
    if isinstance(value, dt.datetime):
        return _typed(value.isoformat(" "), "timestamp" if value.tzinfo is None else "timestamptz")
    if isinstance(value, dt.date):
        return _typed(value.isoformat(), "date")
    if isinstance(value, dt.time) and value.tzinfo is None:
        return _typed(value.isoformat(), "time")
    raise ExpressionError(
        f"{shown(value)} of type {type(value).__name__} is no constant; use a number, a str, a bool, None, or a"
        " datetime"
    )


def _number(value: int | float) -> Node:
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return _typed(repr(value), "double")
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise ExpressionError(f"the number {shown(value)} does not fit in 64 bits; use a float")
    # str(-0.0) is a sign and a zero to the parser.
    return apply("neg", Literal(0.0)) if str(value) == "-0.0" else Literal(value)


def _typed(text: str, type: str) -> Node:
    return apply("cast", Literal(text), Literal(type))
