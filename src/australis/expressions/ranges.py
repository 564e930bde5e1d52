"""Ranges: whether a predicate can hold for some row of a stretch, of which only the ends of its columns are known.

A stretch is for instance a row group of a Parquet file. Only comparisons of a column with constants say something of
it, and tests for null: joined by `and` and `or`, whatever else stands beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from australis.arrow.columns import Bools, arrow, flags
from australis.arrow.compute import Array
from australis.arrow.schema import textual
from australis.expressions.expression import Expr, of
from australis.expressions.failing import may_fail
from australis.expressions.node import FunctionCall, Name, Node, apply

_MIRRORED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_NAN = arrow(np.array([np.nan]), None, pa.float64())  # pa.array loads pandas


@dataclass(frozen=True)
class ColumnRange:
    """What is known of a column in each of some stretches of rows.

    The ends are null where they are not known. They say nothing of NaN, which may be anywhere among floating numbers.
    """

    least: Array
    greatest: Array
    some_null: Bools
    """Whether a value may be null."""
    some_valid: Bools
    """Whether a value may not be null."""


@dataclass(frozen=True)
class Comparison:
    """A comparison of a column with constants."""

    function: str
    column: str
    constants: tuple[Node, ...]

    def holds(self, function: str, constant: Node, values: Array) -> Bools:
        """Whether each value compares with a constant in a way, just as in a filter; null does not."""
        column = pa.schema([pa.field(self.column, values.type)])
        test = of(apply(function, Name(self.column), constant)).bind(column)
        return flags(test.mask(pa.RecordBatch.from_arrays([values], schema=column)))

    def may_hold(self, known: ColumnRange) -> Bools:
        """Whether it may hold for a row of each stretch."""
        possible = self._between(known.least, known.greatest)
        possible |= flags(known.least.is_null()) | flags(known.greatest.is_null())
        if pa.types.is_floating(known.least.type):
            nan = _NAN.cast(known.least.type)
            possible |= self._between(nan, nan)[0]
        return possible & known.some_valid

    def _between(self, least: Array, greatest: Array) -> Bools:
        """Whether it may hold for a value between two others. Where it does, so it does for one of them."""
        first, last = self.constants[0], self.constants[-1]
        match self.function:
            case "<" | "<=":
                return self.holds(self.function, first, least)
            case ">" | ">=":
                return self.holds(self.function, first, greatest)
            case "!=":
                return self.holds("!=", first, least) | self.holds("!=", first, greatest)
            case "between":
                return self.holds(">=", first, greatest) & self.holds("<=", last, least)
        equal = [self.holds("<=", each, least) & self.holds(">=", each, greatest) for each in self.constants]
        return np.any(equal, axis=0)  # type: ignore[no-any-return]


def decidable(predicate: Expr, schema: pa.Schema) -> Expr | None:
    """The part of a predicate of which ranges say something: it holds wherever the predicate does. None if none does.

    >>> from australis.arrow.schema import schema
    >>> from australis.expressions import expr
    >>> stream = schema("mph int, vid int, name string")
    >>> str(decidable(expr("mph > 30 and (vid = 1 or name is null) and mph % 2 = 0"), stream))
    'mph > 30 and (vid = 1 or name is null)'
    >>> decidable(expr("mph > 30 or mph % 2 = 0"), stream)
    """
    node = _decidable(predicate.node, schema)
    return None if node is None else of(node)


def may_hold(predicate: Expr, schema: pa.Schema, ranges: Mapping[str, ColumnRange], count: int) -> Bools:
    """Whether a predicate may hold for some row of each of `count` stretches; `ranges` are of the columns known."""
    return _may_hold(predicate.node, schema, ranges, count)


def _decidable(node: Node, schema: pa.Schema) -> Node | None:
    if not isinstance(node, FunctionCall):
        return None
    if node.function not in ("and", "or"):
        return node if _null_test(node) is not None or comparison(node, schema) is not None else None
    parts = [_decidable(arg, schema) for arg in node.args]
    known = [part for part in parts if part is not None]
    if not known or (node.function == "or" and len(known) < len(parts)):
        return None
    return apply(node.function, *known) if len(known) > 1 else known[0]


def _may_hold(node: Node, schema: pa.Schema, ranges: Mapping[str, ColumnRange], count: int) -> Bools:
    """Three truths: a row for which a part is null counts as one for which it does not hold."""
    everywhere = np.ones(count, np.bool_)
    if not isinstance(node, FunctionCall):
        return everywhere
    if node.function in ("and", "or"):
        parts = [_may_hold(arg, schema, ranges, count) for arg in node.args]
        return (np.all if node.function == "and" else np.any)(parts, axis=0)  # type: ignore[no-any-return]
    if (test := _null_test(node)) is not None:
        column, null = test
        known = ranges.get(column)
        return everywhere if known is None else known.some_null if null else known.some_valid
    compared = comparison(node, schema)
    if compared is None or compared.column not in ranges:
        return everywhere
    return compared.may_hold(ranges[compared.column])


def _null_test(node: FunctionCall) -> tuple[str, bool] | None:
    """The column that is tested for null, and whether it must be null."""
    wanted = node.function == "is null"
    inner = node.args[0] if node.function == "not" else node
    if not isinstance(inner, FunctionCall) or inner.function != "is null" or not isinstance(inner.args[0], Name):
        return None
    return inner.args[0].name, wanted


def comparison(node: FunctionCall, schema: pa.Schema) -> Comparison | None:
    """A comparison of a column with constants, which cannot fail and goes by the order of the column; None if not.

    Several constants are compared in one type: a whole number beside 0.5 becomes a double, which may round it.
    """
    function, args = node.function, node.args
    if function not in _MIRRORED and function not in ("between", "in"):
        return None
    if function in _MIRRORED and isinstance(args[1], Name):
        function, args = _MIRRORED[function], args[::-1]
    column, *constants = args
    if not isinstance(column, Name):
        return None
    bounds = [of(each).bind(schema) for each in constants]
    type_ = of(column).bind(schema).type
    if not _ordered(type_) or not all(each.operand.constant for each in bounds) or may_fail(of(node), schema):
        return None
    whole = all(pa.types.is_integer(each.type) for each in bounds)
    if len(constants) > 1 and pa.types.is_integer(type_) and not whole:
        return None
    return Comparison(function, column.name, tuple(constants))


def _ordered(type_: pa.DataType) -> bool:
    """Whether values of a type have the order by which the ends of a stretch are found."""
    floating = pa.types.is_float32(type_) or pa.types.is_float64(type_)
    return pa.types.is_integer(type_) or floating or textual(type_) or _in_time(type_)


def _in_time(type_: pa.DataType) -> bool:
    return pa.types.is_date32(type_) or pa.types.is_timestamp(type_)
