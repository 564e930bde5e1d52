"""Apply: functions of one's own over the samples of many segments at once (XStream I)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from australis.arrow.schema import samples_of
from australis.boxes.signals.column import Segments, segments
from australis.boxes.signals.families import Rowwise
from australis.errors import ExpressionError, NetworkError, RunError, SchemaError, listing, near
from australis.expressions import Expr, Function, function_named
from australis.expressions.node import FunctionCall as Call
from australis.expressions.node import Literal, Name
from australis.model.box import Moment, Tables, Trains, bound
from australis.model.facts import Facts, without
from australis.model.train import Bools, Ints, Train


@dataclass(frozen=True)
class Apply(Rowwise):
    """The tuple, and columns that functions under `@au.function` make of its segments: `loud="loudness(audio, gain)"`.

    A function is called for all segments of a length at once. It gets their samples as the rows of an array, other
    columns as an array with a value for each row, and constants as they are. It gives an array with a value for each
    row, or, where it `returns` a segment, with the samples of each in a row; those lie where the first segment does. A
    column of segments of that name is replaced. Rows are apart: which come together does not matter. Null where an
    argument is null, or a segment without samples.

    >>> from australis.expressions import expr, function
    >>> from australis.boxes.signals.segments import segment
    >>> from australis.testing.signals import signal
    >>> from australis.boxes.signals.timebases import timebase
    >>> from australis.testing import apply, rows
    >>> @function("double")
    ... def loudness(audio, gain):
    ...     return gain * np.abs(audio).max(axis=1)
    >>> train = signal("audio segment<int16>", audio=[segment([1, -3], timebase(8), dtype="int16"), None])
    >>> apply(Apply((("loud", expr("loudness(audio, 2)")),)), train)[0]["loud"].to_pylist()
    [6.0, None]
    """

    columns: tuple[tuple[str, Expr], ...]

    kind: ClassVar[str] = "apply"

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        (stream,) = inputs
        if not self.columns:
            raise NetworkError("give at least one column and its function, such as loud=`loudness(audio)`")
        return {"out": self._schema(stream)}

    def facts(self, title: str, given: Sequence[Facts], streams: Sequence[pa.Schema]) -> Facts:
        changed = {name for name, _ in self.columns}
        known = given[0]
        return replace(known, rates=without(known.rates, changed), sizes=without(known.sizes, changed))

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        (train,) = trains
        schema = self._schema(train.schema)
        parts: dict[str, Any] = {name: train.part(name) for name in train.schema.names}
        for name, call in self.columns:
            parts[name] = _made(call, train)
        return (train.made(schema, [parts[name] for name in schema.names]),)

    @bound
    def _schema(self, stream: pa.Schema) -> pa.Schema:
        schema = stream
        for name, each in self.columns:
            field: pa.Field[Any] = pa.field(name, _checked(each, stream).returns)
            if name in stream.names:
                if samples_of(stream.field(name).type) is None:
                    raise SchemaError(f"there is a column `{name}` already: give the result another name")
                schema = schema.set(schema.get_field_index(name), field)
            else:
                schema = schema.append(field)
        return schema


def _checked(call: Expr, stream: pa.Schema) -> Function:
    """The function that an expression calls, if it is a call that fits the columns."""
    node = call.node
    plain = isinstance(node, Call) and all(isinstance(arg, Name | Literal) for arg in node.args)
    if not isinstance(node, Call) or not plain or call.functions != (node.function,):
        raise ExpressionError(
            f"`{call}`: give a call of a function under @au.function, of columns and constants, such as `f(audio, 2)`"
        )
    for name in call.columns:
        if name not in stream.names:
            raise ExpressionError(f"`{call}`: there is no column `{name}`{near(name, stream.names)}; there are"
                                  f" {listing(stream.names)}")  # fmt: skip
    if not any(samples_of(stream.field(name).type) for name in call.columns):
        raise ExpressionError(f"`{call}`: no argument is a column of segments; a map calls it for others")
    return function_named(node.function)


def _made(call: Expr, train: Train) -> pa.Array[Any]:
    function = _checked(call, train.schema)
    node: Any = call.node
    inputs = [train[arg.name] if isinstance(arg, Name) else arg.value for arg in node.args]
    arguments = [segments(each) if isinstance(arg, Name) and samples_of(each.type) else each
                 for arg, each in zip(node.args, inputs, strict=True)]  # fmt: skip
    lots = [each for each in arguments if isinstance(each, Segments)]
    columns = [each for each in arguments if isinstance(each, pa.Array)]
    use: Bools = reduce(np.logical_and, [lot.sizes > 0 for lot in lots])
    for column in columns:
        if column.null_count:
            use = use & column.is_valid().to_numpy(zero_copy_only=False)
    sizes, which = np.unique(np.stack([lot.sizes for lot in lots]), axis=1, return_inverse=True)
    order: list[Ints] = [np.empty(0, np.int64)]
    results: list[Any] = []
    for turn in range(sizes.shape[1]):
        rows = np.flatnonzero(use & (which.reshape(-1) == turn))
        if len(rows):
            results.append(_called(call, function, [_part(each, rows) for each in arguments], len(rows)))
            order.append(rows)
    together = np.concatenate(order)
    if samples_of(function.returns):
        return _segments(lots[0], use, together, results, function).arrow()
    places = np.zeros(len(train), np.int64)
    places[together] = np.arange(len(together))
    values = pa.concat_arrays(results) if results else pa.array([], function.returns)
    indices: Any = pa.array(places, mask=~use)
    return values.take(indices)


def _part(argument: Any, rows: Ints) -> Any:
    """The argument of a function for rows whose segments have one length."""
    if isinstance(argument, Segments):
        return argument.block(rows, int(argument.sizes[rows[0]]))
    return argument.take(rows).to_numpy(zero_copy_only=False) if isinstance(argument, pa.Array) else argument


def _called(call: Expr, function: Function, arguments: list[Any], rows: int) -> Any:
    """The result of a function for some rows: an array of samples, or a column."""
    samples = samples_of(function.returns)
    try:
        result = function.call(*arguments)
        shape = np.shape(result)
        if len(shape) != (2 if samples else 1) or shape[0] != rows:
            wanted = f"{rows} rows of samples" if samples else f"{rows} values, one for each row"
            raise ValueError(f"it returned an array of {' x '.join(map(str, shape)) or 'no dimension'}, not {wanted}")
        if samples:
            return np.asarray(result).astype(samples, copy=False)
        return (result if isinstance(result, pa.Array) else pa.array(np.asarray(result))).cast(function.returns)
    except Exception as error:
        reason = str(error) or type(error).__name__
        raise RunError(f"`{call}`: the function `{function.name}` failed: {reason}") from error


def _segments(first: Segments, use: Bools, rows: Ints, results: list[Any], function: Function) -> Segments:
    """Results as segments where the first ones lie."""
    sizes, offsets = np.zeros(len(first), np.int32), np.zeros(len(first), np.int32)
    widths = np.repeat([each.shape[1] for each in results], [len(each) for each in results]).astype(np.int64)
    sizes[rows] = widths
    offsets[rows] = np.cumsum(widths) - widths
    samples = [np.empty(0, samples_of(function.returns)), *(each.reshape(-1) for each in results)]
    return replace(first.on(np.concatenate(samples), offsets, sizes), valid=None if use.all() else use)
