"""Conform: columns of a file as those of a schema; rows with a value that does not fit are singled out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from australis.arrow.compute import Array, pc
from australis.connectors.dead_letters import Letter
from australis.connectors.intake import fits
from australis.connectors.sources.sift import SiftedRows, null_reason, nulls
from australis.errors import RunError, listing, near
from australis.model.train import Ints

_MISFITS = pa.ArrowInvalid, pa.ArrowNotImplementedError
_encoded = json.JSONEncoder(default=str).encode


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


def conform(path: str, schema: pa.Schema, columns: Iterable[Any], position: int | Ints) -> SiftedRows:
    """The rows of which all values fit; they stand at positions in a file, or one after another from a first on."""
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
    place = np.arange(position, position + count, dtype=np.int64) if isinstance(position, int) else position
    if not bad:
        return SiftedRows(tuples, place)
    letters = tuple(Letter(bad[i], path, int(place[i]), _raw(schema, given, i)) for i in sorted(bad))
    kept = np.delete(np.arange(count), list(bad))
    return SiftedRows(tuples.take(kept), place[kept], letters)


def _raw(schema: pa.Schema, columns: list[Array], row: int) -> bytes:
    values = {name: _value(column, row) for name, column in zip(schema.names, columns, strict=True)}
    return _encoded(values).encode()


def _value(column: Array, row: int) -> Any:
    try:
        return column[row].as_py()
    except Exception:  # such as a time that Python does not reach, or a zone that it does not know
        one: Any = column[row : row + 1]
        most = 1 << 30
        return one.to_string(window=most, container_window=most, element_size_limit=most, skip_new_lines=True)


def _cast(column: Array, type: pa.DataType) -> tuple[Array, dict[int, str]]:
    """The column as the type, null where a value does not fit, and the rows where none does."""
    if column.type == type:
        return column, {}
    try:
        return column.cast(type), {}
    except _MISFITS:
        changed = _changed(column, type)
        faults = dict(_faults(column, type, [(row, row + 1) for row in changed]))
        faults.update(_faults(_without(column, changed), type, [(0, len(column))]))
    if len(faults) == len(column):
        return pa.nulls(len(column), type), faults  # type: ignore[call-overload]
    return _without(column, list(faults)).cast(type), faults


def _changed(column: Array, type: pa.DataType) -> list[int]:
    """The rows that a cast without checks and back makes another value of: most that do not fit, found at once."""
    try:
        back = column.cast(type, safe=False).cast(column.type, safe=False)
        return pc.indices_nonzero(pc.not_equal(back, column)).to_pylist()  # type: ignore[no-any-return]
    except pa.ArrowException:
        return []


def _faults(column: Array, type: pa.DataType, todo: list[tuple[int, int]]) -> Iterator[tuple[int, str]]:
    """The rows of some stretches that do not cast, found by halving."""
    while todo:
        low, high = todo.pop()
        try:
            column[low:high].cast(type)
        except _MISFITS as error:
            middle = (low + high) // 2
            if low < middle:
                todo += [(low, middle), (middle, high)]
            elif low < high:
                yield low, str(error)


def _without(column: Array, rows: list[int]) -> Array:
    """The column with nulls in some rows."""
    places = np.arange(len(column))
    kept: Any = pa.array(places, mask=np.isin(places, rows))
    return column.take(kept)
