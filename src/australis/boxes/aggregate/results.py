"""The functions of a box that aggregates: which folds they need, and how results are made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa

from australis.boxes.folds import Accumulators, Contributions, Fold, fold
from australis.errors import ExpressionPlace, RunError, SchemaError, placed
from australis.expressions import Bound
from australis.expressions.aggregate import AggregateCall, Aggregation
from australis.model.table import Table
from australis.model.train import Ints

Functions = tuple[tuple[str, Aggregation], ...]


@dataclass(frozen=True)
class Folded:
    """Functions bound to the schema of the tuples that they aggregate: one fold for each call, however often made."""

    calls: tuple[AggregateCall, ...]
    folds: tuple[Fold, ...]
    arguments: tuple[tuple[Bound, ...], ...]
    results: tuple[tuple[str, Bound], ...]

    @property
    def merges(self) -> bool:
        return all(one.merges for one in self.folds)

    @property
    def columns(self) -> set[str]:
        """The columns that the functions read."""
        return {name for each in self.arguments for argument in each for name in argument.expr.columns}

    @property
    def fields(self) -> list[pa.Field[Any]]:
        """The columns of the accumulators, as a table of windows holds them."""
        return [field.with_name(f"{i}.{field.name}") for i, one in enumerate(self.folds) for field in one.fields]

    def tables(self) -> dict[str, Table]:
        """The tables that folds need beside their accumulators."""
        beside = ((f"seen{i}", one.seen()) for i, one in enumerate(self.folds))
        return {name: table for name, table in beside if table is not None}

    def accumulators(self, windows: Table, tables: dict[str, Table]) -> list[Accumulators]:
        """The columns of each fold in a table of windows."""
        return [
            Accumulators(
                {field.name: windows[f"{i}.{field.name}"] for field in one.fields},
                {field.name: windows.valid[f"{i}.{field.name}"] for field in one.fields if field.nullable},
                tables.get(f"seen{i}"),
            )
            for i, one in enumerate(self.folds)
        ]

    def add(self, into: Sequence[Accumulators], feed: Contributions, tuples: pa.RecordBatch) -> None:
        """Fold tuples in."""
        for one, accumulators, arguments in zip(self.folds, into, self.arguments, strict=True):
            one.add(accumulators, feed, [argument.evaluate(tuples) for argument in arguments])

    def release(self, windows: Sequence[Accumulators], slots: Ints) -> None:
        for one, accumulators in zip(self.folds, windows, strict=True):
            one.release(accumulators, slots)

    def drop(self, tables: dict[str, Table], slots: Ints) -> None:
        """Free windows, and what their accumulators hold elsewhere."""
        self.release(self.accumulators(tables["windows"], tables), slots)
        tables["windows"].free(slots)

    def finish(self, windows: Sequence[Accumulators]) -> list[pa.Array[Any]]:
        """The columns of the results, a row for each window."""
        columns = []
        for call, one, accumulators in zip(self.calls, self.folds, windows, strict=True):
            try:
                columns.append(one.finish(accumulators))
            except OverflowError:
                hint = "sum their seconds with epoch" if pa.types.is_duration(one.type) else "cast to double"
                raise RunError(f"`{call}`: overflow; the result does not fit in 64 bits, {hint}") from None
        values = pa.RecordBatch.from_arrays(columns, names=[f"#{i}" for i in range(len(columns))])
        return [result.evaluate(values) for _, result in self.results]


@lru_cache(maxsize=256)
def folded(functions: Functions, stream: pa.Schema, order: pa.DataType, reserved: tuple[str, ...]) -> Folded:
    """Bind functions to a stream; `reserved` are the other columns of the output, whose names they may not have."""
    if not functions:
        raise SchemaError("no function is given: say for example cars='count(*)'")
    calls: dict[AggregateCall, int] = {}
    for name, function in functions:
        if name in reserved:
            raise SchemaError(f"`{name}` is a column of the output already: give `{function}` another name")
        for call in function.calls:
            calls.setdefault(call, len(calls))
    arguments = tuple(tuple(argument.bind(stream) for argument in call.args) for call in calls)
    folds = tuple(
        fold(call, tuple(argument.type for argument in bound), order)
        for call, bound in zip(calls, arguments, strict=True)
    )
    schema = pa.schema([pa.field(f"#{i}", one.type) for i, one in enumerate(folds)])
    results = []
    for name, function in functions:
        numbered = {f"#{i}": f"#{calls[call]}" for i, call in enumerate(function.calls)}
        with placed(ExpressionPlace(str(function))):
            results.append((name, function.outer.rename(numbered).bind(schema)))
    return Folded(tuple(calls), folds, arguments, tuple(results))


def beginning(attribute: pa.DataType) -> pa.DataType:
    """The type of a window's beginning, which may lie below every value that it holds."""
    if pa.types.is_floating(attribute):
        return pa.float64()
    narrow = (pa.int8(), pa.int16())
    return pa.int64() if pa.types.is_unsigned_integer(attribute) or attribute in narrow else attribute
