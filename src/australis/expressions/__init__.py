"""Expressions in SQL syntax, typed against a stream's schema and evaluated with Arrow's kernels."""

from australis.expressions.aggregate import AggregateCall, Aggregation, aggregation
from australis.expressions.aggregates import AGGREGATES
from australis.expressions.column import Term, call, col, expr, lit
from australis.expressions.expression import Bound, Expr
from australis.expressions.functions import FUNCTIONS
from australis.expressions.user import Function, function, function_named, register

__all__ = [
    "AGGREGATES",
    "FUNCTIONS",
    "AggregateCall",
    "Aggregation",
    "Bound",
    "Expr",
    "Function",
    "Term",
    "aggregation",
    "call",
    "col",
    "expr",
    "function",
    "function_named",
    "lit",
    "register",
]
