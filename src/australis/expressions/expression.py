"""Expressions: values that are their canonical SQL text, to be bound to a schema and evaluated over batches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import pyarrow as pa

from australis.arrow.compute import Array, as_array, pc
from australis.arrow.schema import Type
from australis.errors import ExpressionError, ExpressionPlace, RunError
from australis.expressions.aggregates import AGGREGATES
from australis.expressions.bind import BindingScope, operand
from australis.expressions.functions import BUILTINS
from australis.expressions.node import FunctionCall, Name, Node, names, renamed, walk
from australis.expressions.operand import Operand, kind
from australis.expressions.parse import parse
from australis.expressions.render import OPERATORS, render
from australis.expressions.user import Function, registered


@dataclass(frozen=True)
class Expr:
    """An expression, compared and pickled by its canonical text; make one with `expr`.

    >>> from australis.expressions import expr
    >>> fast = expr("MPH>60  AND lane<>4")
    >>> str(fast), fast.columns
    ('MPH > 60 and lane != 4', ('MPH', 'lane'))
    """

    text: str

    def __str__(self) -> str:
        return self.text

    @property
    def node(self) -> Node:
        """The tree of the text."""
        return parse(self.text)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads, in order of appearance, each once."""
        return names(self.node)

    @property
    def copies(self) -> str | None:
        """The column's name, when it only copies one."""
        return self.node.name if isinstance(self.node, Name) else None

    @property
    def functions(self) -> tuple[str, ...]:
        """The user functions that it calls, each once."""
        called = dict.fromkeys(part.function for part in walk(self.node) if isinstance(part, FunctionCall))
        built_in = OPERATORS | BUILTINS.keys() | AGGREGATES.keys() | {"distinct"}
        return tuple(name for name in called if name not in built_in)

    @property
    def pure(self) -> bool:
        """Whether its value for a row follows from that row alone: the user functions that it calls are pure."""
        return all(function is not None and function.pure for function in registered(self.functions))

    def rename(self, names: Mapping[str, str]) -> Expr:
        """The expression with columns renamed: each that is a key of `names` becomes its value."""
        return of(renamed(self.node, names))

    def bind(self, schema: pa.Schema) -> Bound:
        """The expression over a stream's columns. Raises an ExpressionError that says what does not fit."""
        return _bound(self, schema, registered(self.functions))


@dataclass(frozen=True)
class Bound:
    """An expression over the columns of a schema."""

    expr: Expr
    type: Type
    operand: Operand

    def evaluate(self, batch: pa.RecordBatch) -> Array:
        """Its value for each row."""
        try:
            result: Array = as_array(self.operand.run(batch), batch.num_rows)
            result = result if result.type == self.type else result.cast(self.type)
        except pa.ArrowException as error:
            hint = "; the result does not fit in 64 bits, cast to double" if str(error) == "overflow" else ""
            raise RunError(f"{error}{hint}", ExpressionPlace(self.expr.text)) from error
        if len(result) != batch.num_rows:  # some kernels drop rows
            raise RunError(f"{len(result)} values for {batch.num_rows} rows", ExpressionPlace(self.expr.text))
        return result

    def mask(self, batch: pa.RecordBatch) -> pa.BooleanArray:
        """Whether each row satisfies a predicate; null is false."""
        if not pa.types.is_boolean(self.type):
            raise ExpressionError(
                f"`{self.expr}` is {kind(self.type)}, and a predicate is a boolean",
                ExpressionPlace(self.expr.text, silent=True),
            )
        result = self.evaluate(batch)
        return cast(pa.BooleanArray, pc.fill_null(result, False) if result.null_count else result)


def of(node: Node) -> Expr:
    """The expression of a tree."""
    try:
        return Expr(render(node))
    except RecursionError:
        raise ExpressionError("an expression is nested too deeply; split it over several map boxes") from None


@lru_cache(maxsize=4096)
def _bound(expr: Expr, schema: pa.Schema, functions: tuple[Function | None, ...]) -> Bound:
    scope = BindingScope(schema, {function.name: function for function in functions if function}, expr.text)
    try:
        result = operand(expr.node, scope)
    except RecursionError:
        raise ExpressionError(f"`{expr.text[:60]}...` is nested too deeply; split it over several map boxes") from None
    return Bound(expr, result.type, result)
