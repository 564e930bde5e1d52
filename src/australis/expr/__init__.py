"""Expressions in SQL syntax, typed against a stream's schema and evaluated with Arrow's kernels."""

from australis.expr.aggregate import Aggregation, Call, aggregation
from australis.expr.aggregates import AGGREGATES
from australis.expr.column import Term, call, col, expr, lit
from australis.expr.expression import Bound, Expr
from australis.expr.functions import FUNCTIONS
from australis.expr.user import Function, function, function_named, register

__all__ = [
    "AGGREGATES",
    "FUNCTIONS",
    "Aggregation",
    "Bound",
    "Call",
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
