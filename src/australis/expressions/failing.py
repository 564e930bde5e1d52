"""Failing: whether an expression may fail for some row, as an overflow or a cast of a bad text does.

What is sure not to fail may be evaluated for rows that an earlier predicate would have removed.
"""

from __future__ import annotations

from itertools import product
from operator import add, mul, sub

import pyarrow as pa

from australis.arrow.schema import textual
from australis.expressions.expression import Bound, Expr, of
from australis.expressions.node import FunctionCall, Name, Node
from australis.expressions.operand import int_range

_COMPARE = frozenset("and or not = != < <= > >= between in greatest least coalesce nullif case".split())
_COMPARE |= {"ifnull", "nvl", "is distinct from"}
_DOUBLE = frozenset("/ sqrt exp ln log10 log2 power pow degrees radians sin cos tan asin acos atan atan2 isnan".split())
_ARITHMETIC = frozenset("+ - * // % mod neg abs".split())
_TEXT = frozenset("like ilike rlike upper ucase lower lcase length char_length reverse contains".split())
_TEXT |= frozenset("trim ltrim rtrim starts_with startswith ends_with endswith".split())
_WHOLE = {"+": add, "-": sub, "*": mul}
_SMALLEST = -(2**63)


def may_fail(expression: Expr, schema: pa.Schema) -> bool:
    """Whether it may fail for some row of the schema. True where that is not known.

    Whole numbers that leave 64 bits and casts fail; divisions by zero are null. Numbers of fewer bits, and sums of a
    few of them, cannot leave 64.

    >>> from australis.arrow.schema import schema
    >>> from australis.expressions import expr
    >>> stream = schema("mph int, vid bigint, name string")
    >>> [may_fail(expr(text), stream) for text in ("mph * 2 > 60", "vid * 2 > 60", "cast(name as int) > 1")]
    [False, True, True]
    """
    return not _sure(expression.node, schema)


def _sure(node: Node, schema: pa.Schema) -> bool:
    """Whether it cannot fail."""
    if not isinstance(node, FunctionCall) or _bound(node, schema).operand.constant:  # which is computed already
        return True
    converts = node.function in ("cast", "try_cast")
    args = node.args[:1] if converts else node.args
    if not all(_sure(arg, schema) for arg in args):
        return False
    bounds = [_bound(arg, schema) for arg in args]
    if node.function in ("is null", "try_cast"):
        return True
    if node.function == "cast":
        return _widens(bounds[0].type, _bound(node, schema).type)
    if node.function in _COMPARE:
        # The conditions of a case are booleans, and its results are of a common type.
        values = [*bounds[1::2], *bounds[-1:]] if node.function == "case" else bounds
        return _alike(values)
    if node.function in _DOUBLE:
        return all(_number(bound.type) for bound in bounds)
    if node.function in _ARITHMETIC:
        return all(_number(bound.type) for bound in bounds) and (
            any(pa.types.is_floating(bound.type) for bound in bounds) or _fits(node, schema)
        )
    return node.function in _TEXT and all(textual(bound.type) for bound in bounds)


def _bound(node: Node, schema: pa.Schema) -> Bound:
    return of(node).bind(schema)


def _number(type_: pa.DataType) -> bool:
    return pa.types.is_integer(type_) or pa.types.is_float32(type_) or pa.types.is_float64(type_)


def _widens(source: pa.DataType, target: pa.DataType) -> bool:
    """Whether every number of one type is one of the other, but for digits of a double."""
    if pa.types.is_integer(source) and pa.types.is_integer(target):
        (low, high), (least, most) = int_range(source), int_range(target)
        return least <= low and high <= most
    return _number(source) and (pa.types.is_float32(target) or pa.types.is_float64(target))


def _alike(bounds: list[Bound]) -> bool:
    """Whether values become one type without fail. Constants have been converted already."""
    types = {bound.type for bound in bounds if not pa.types.is_null(bound.type)}
    columns = {bound.type for bound in bounds if not bound.operand.constant}
    if any(pa.types.is_decimal(type_) for type_ in types):
        return False
    if len(columns) == 1 and all(pa.types.is_temporal(type_) for type_ in columns):
        types -= {bound.type for bound in bounds if bound.operand.constant and textual(bound.type)}
    mixed = pa.uint64() in types and len(types) > 1
    return len(types) <= 1 or all(map(textual, types)) or (all(map(_number, types)) and not mixed)


def _fits(node: FunctionCall, schema: pa.Schema) -> bool:
    """Whether whole numbers stay whole numbers of their type, from the least to the greatest."""
    ends = [_range(arg, schema) for arg in node.args]
    if any(low < _SMALLEST or high >= -_SMALLEST for low, high in ends):
        return False
    low, high = _range(node, schema, own=False)
    least, most = int_range(_bound(node, schema).type)
    return least <= low and high <= most


def _range(node: Node, schema: pa.Schema, own: bool = True) -> tuple[int, int]:
    """The least and the greatest whole number that a part may be; with `own`, as far as its type has room."""
    bound = _bound(node, schema)
    if bound.operand.value is not None and bound.operand.value.is_valid:
        value = int(bound.operand.value.as_py())
        return value, value
    if isinstance(node, Name) or not isinstance(node, FunctionCall) or node.function not in _ARITHMETIC:
        return int_range(bound.type) if pa.types.is_integer(bound.type) else (0, 0)
    (low, high), *others = [_range(arg, schema) for arg in node.args]
    if node.function == "neg":
        ends = [-high, -low]
    elif node.function == "abs":
        ends = [0, abs(low), abs(high)]
    elif node.function in _WHOLE:
        ends = [_WHOLE[node.function](one, other) for one, other in product((low, high), others[0])]
    else:  # a quotient or a remainder is no further from zero than what is divided
        ends = [-max(abs(low), abs(high)), max(abs(low), abs(high))]
    if not own:
        return min(ends), max(ends)
    least, most = int_range(bound.type)
    return max(min(ends), least), min(max(ends), most)
