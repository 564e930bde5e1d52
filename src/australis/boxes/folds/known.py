"""Which fold computes which aggregate function."""

from __future__ import annotations

import pyarrow as pa

from australis.arrow.columns import storage
from australis.boxes.folds.arithmetic import Count, Extreme, Sum, Variance
from australis.boxes.folds.choice import End, ExtremeOf
from australis.boxes.folds.decimals import DecimalSum, DecimalVariance
from australis.boxes.folds.distinct import CountDistinct
from australis.boxes.folds.fold import Fold
from australis.boxes.folds.whole import WholeSum, WholeVariance
from australis.errors import ExpressionError, listing, near
from australis.expressions.aggregate import AggregateCall
from australis.expressions.window_function import WINDOW_FUNCTIONS
from australis.model.keys import hashable

NAMES = (
    "count", "sum", "avg", "min", "max", "stddev", "stddev_pop", "variance", "var_pop", "first", "last",
)  # fmt: skip


def fold(call: AggregateCall, arguments: tuple[pa.DataType, ...], order: pa.DataType) -> Fold:
    """The fold of a call on arguments of these types, in windows ordered on a value of type `order`."""
    if call.distinct and call.name != "count":
        raise ExpressionError(f"`{call}`: distinct is for count alone")
    if call.name in WINDOW_FUNCTIONS:
        if not arguments or not all(_counts(type_) or pa.types.is_temporal(type_) for type_ in arguments):
            raise ExpressionError(f"`{call}`: a window function takes numbers, not {_shown(arguments)}")
        from australis.boxes.folds.compiled import compiled  # it loads numba

        return compiled(WINDOW_FUNCTIONS[call.name], arguments)
    if call.name not in NAMES:
        known = (*NAMES, *WINDOW_FUNCTIONS)
        raise ExpressionError(
            f"`{call}`: there is no aggregate function `{call.name}`{near(call.name, known) or '.'}"
            f" There are {listing(known)}; au.window_function makes others"
        )
    if call.name == "count":
        if call.distinct:
            if not arguments or not all(map(hashable, arguments)):
                raise ExpressionError(f"`{call}`: cannot tell values of type {_shown(arguments)} apart")
            return CountDistinct(arguments)
        return Count()
    if len(arguments) != 1:
        raise ExpressionError(f"`{call}`: {call.name} takes one argument, not {len(arguments)}")
    (argument,) = arguments
    if call.name in ("first", "last"):
        return End.of(argument, order, call.name == "last")
    if call.name in ("min", "max"):
        if storage(argument) != object and not pa.types.is_boolean(argument):
            return Extreme.of(argument, call.name == "max")
        if pa.types.is_string(argument) or pa.types.is_binary(argument) or pa.types.is_decimal(argument):
            return ExtremeOf.of(argument, call.name == "max")
        raise ExpressionError(f"`{call}`: values of type {argument} have no order")
    if call.name == "sum" and pa.types.is_duration(argument):
        return WholeSum.of(argument)
    if pa.types.is_decimal(argument) and not pa.types.is_decimal256(argument):
        if call.name in ("sum", "avg"):
            return DecimalSum.of(argument, mean=call.name == "avg")
        return DecimalVariance(sample=call.name in ("stddev", "variance"), root=call.name.startswith("stddev"))
    if pa.types.is_decimal256(argument):
        raise ExpressionError(f"`{call}`: {call.name} takes decimals of up to 38 digits, not {argument}; cast to fewer")
    if not _counts(argument):
        raise ExpressionError(f"`{call}`: {call.name} takes a number, not {argument}")
    whole = not pa.types.is_floating(argument)
    if call.name in ("sum", "avg"):
        mean = call.name == "avg"
        return WholeSum.of(argument, mean) if whole else Sum(mean)
    sample, root = call.name in ("stddev", "variance"), call.name.startswith("stddev")
    return WholeVariance(sample, root, argument == pa.uint64()) if whole else Variance(sample, root)


def _counts(type_: pa.DataType) -> bool:
    return pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_boolean(type_)


def _shown(types: tuple[pa.DataType, ...]) -> str:
    return ", ".join(map(str, types)) or "nothing"
