"""Conform: columns of a file as those of a schema; rows with a value that does not fit are singled out."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from australis.errors import RunError, listing, near
from australis.expr.arrow import Array
from australis.run.intake import fits
from australis.run.letters import Letter
from australis.run.sources.sift import Rows, null_reason, nulls


def places(path: str, schema: pa.Schema, there: pa.Schema) -> list[int]:
    """Where the columns of the schema are in a file's; an error says which are missing or of another kind."""
    missing = [name for name in schema.names if name not in there.names]
    if missing:
        hint = near(missing[0], there.names)
        raise RunError(f"{path}: no column {listing(missing)}; there are {listing(there.names)}{hint}")
    found = [there.names.index(name) for name in schema.names]
    for column, place in zip(schema, found, strict=True):
        given = there.field(place).type
        if given != column.type and not fits(given, column.type):
            raise RunError(
                f"{path}: column {column.name} is {given}, where {column.type} is wanted; change the type of the"
                " input, or map the column after it"
            )
    return found


def conform(path: str, schema: pa.Schema, columns: Iterable[Any], position: int) -> Rows:
    """The rows of which all values fit, the first of them at a position."""
    given = list(columns)
    count = len(given[0])
    cast = [_cast(column, wanted.type) for column, wanted in zip(given, schema, strict=True)]
    bad: dict[int, str] = {}
    for (_, faults), column in zip(cast, schema, strict=True):
        for row, reason in faults.items():
            bad.setdefault(row, f"column {column.name}: {reason}")
    tuples = pa.RecordBatch.from_arrays([array for array, _ in cast], schema=schema)
    missing = nulls(tuples)
    if missing is not None:
        for row in np.flatnonzero(missing).tolist():
            bad.setdefault(row, null_reason(tuples, row))
    place = np.arange(position, position + count, dtype=np.int64)
    if not bad:
        return Rows(tuples, place)
    letters = tuple(Letter(bad[i], path, position + i, _raw(schema, given, i)) for i in sorted(bad))
    kept = np.delete(np.arange(count), list(bad))
    return Rows(tuples.take(kept), place[kept], letters)


def _raw(schema: pa.Schema, columns: list[Array], row: int) -> bytes:
    values = {name: column[row].as_py() for name, column in zip(schema.names, columns, strict=True)}
    return json.dumps(values, default=str).encode()


def _cast(column: Array, type: pa.DataType) -> tuple[Array, dict[int, str]]:
    """The column as the type, null where a value does not fit, and the rows where none does."""
    if column.type == type:
        return column, {}
    try:
        return column.cast(type), {}
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        if len(column) == 1:
            return pa.nulls(1, type), {0: str(error)}  # type: ignore[call-overload]
    middle = len(column) // 2
    (left, low), (right, high) = _cast(column[:middle], type), _cast(column[middle:], type)
    return pa.concat_arrays([left, right]), {**low, **{row + middle: reason for row, reason in high.items()}}
