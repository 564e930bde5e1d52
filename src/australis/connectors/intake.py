"""Intake: tuples in any form that people have them in, checked against the schema of an input."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
from pyarrow import types

from australis.arguments import shown
from australis.errors import RunError, Subject, listing, near

Given = Any
"""A record batch, a table, a mapping of columns, a list of mappings, or a data frame that speaks Arrow."""


def batch(name: str, schema: pa.Schema, given: Given) -> pa.RecordBatch:
    """One record batch of exactly the columns of the input's schema, in its order and of its types.

    Columns are found by name, and those that the schema does not have are passed over, as in files.

    >>> batch("reports", pa.schema({"mph": pa.int32()}), [{"mph": 55}, {"mph": None}]).to_pydict()
    {'mph': [55, None]}
    """
    if isinstance(given, list | tuple):
        given = _columns(name, schema, given)
    if isinstance(given, Mapping):
        _check_names(name, schema, given)
        arrays = [_array(name, field, given[field.name]) for field in schema]
        if len({len(array) for array in arrays}) > 1:
            lengths = listing(f"{field.name} {len(array)}" for field, array in zip(schema, arrays, strict=True))
            raise RunError(f"the columns are of different lengths: {lengths}", Subject("input", name))
        return pa.RecordBatch.from_arrays(arrays, schema=schema)
    table = _table(name, schema, given)
    _check_names(name, schema, table.column_names)
    arrays = [_array(name, field, table.column(field.name)) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _columns(name: str, schema: pa.Schema, given: Iterable[Any]) -> dict[str, list[Any]]:
    rows = list(given)
    if not rows:
        return {field.name: [] for field in schema}
    if not all(isinstance(row, Mapping) for row in rows):
        raise RunError("a list of tuples is a list of mappings from column names to values", Subject("input", name))
    names = dict.fromkeys(column for row in rows for column in row)
    return {column: [row.get(column) for row in rows] for column in names}


def _table(name: str, schema: pa.Schema, given: Given) -> pa.Table:
    if isinstance(given, pa.Table):
        return given
    if isinstance(given, pa.RecordBatch):
        return pa.Table.from_batches([given])
    try:
        if hasattr(given, "iloc") and hasattr(given, "columns"):
            return _pandas(name, schema, given)
        if hasattr(given, "__arrow_c_stream__"):
            return pa.table(given)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise RunError(f"the {type(given).__name__} is no table: {error}", Subject("input", name)) from error
    raise RunError(
        f"cannot read tuples from {type(given).__name__}; give a record batch, a table, a data frame, a mapping of"
        " columns or a list of mappings",
        Subject("input", name),
    )


def _pandas(name: str, schema: pa.Schema, given: Any) -> pa.Table:
    """The columns that are wanted; an index is a column only where its name is one of them."""
    if any(level in schema.names and level not in given.columns for level in given.index.names):
        given = given.reset_index()
    _check_names(name, schema, given.columns)
    return pa.Table.from_pandas(given[schema.names], preserve_index=False)


def _check_names(name: str, schema: pa.Schema, given: Iterable[object]) -> None:
    """All columns of the schema are there. Others are passed over, as they are in files."""
    names = [column if isinstance(column, str) else shown(column) for column in given]
    missing = [column for column in schema.names if column not in names]
    if missing:
        hint = near(missing[0], [column for column in names if column not in schema.names])
        raise RunError(f"no column {listing(missing)}; given are {listing(names)}{hint}", Subject("input", name))
    twice = [column for column in schema.names if names.count(column) > 1]
    if twice:
        raise RunError(f"there are {names.count(twice[0])} columns {twice[0]}; give each once", Subject("input", name))


def _array(name: str, field: pa.Field[Any], values: Any) -> Any:
    try:
        if isinstance(values, pa.ChunkedArray):
            values = values.combine_chunks()
            values = pa.concat_arrays(values.chunks) if isinstance(values, pa.ChunkedArray) else values
        if not isinstance(values, pa.Array):
            # Told the type, Arrow cuts 3.7 down to 3 without a word; from its own type the cast refuses to.
            values = pa.array(values, field.type if types.is_nested(field.type) else None)
        if values.type == field.type:
            return values
        if not fits(values.type, field.type):
            raise pa.ArrowInvalid("there is no conversion without a loss")
        return values.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError, OverflowError) as error:
        given = f"given {values.type}: " if isinstance(values, pa.Array) else ""
        raise RunError(f"column {field.name} is {field.type}, {given}{error}", Subject("input", name)) from error


def fits(given: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether a cast keeps the meaning of values; whether it loses none of them, the cast itself finds out."""
    if types.is_null(given):
        return True
    if types.is_dictionary(given):
        return fits(given.value_type, wanted)
    kinds = (_is_number, types.is_boolean, _is_text, _is_bytes, types.is_temporal, types.is_nested)
    return any(kind(given) and kind(wanted) for kind in kinds)


def _is_number(type_: pa.DataType) -> bool:
    return types.is_integer(type_) or types.is_floating(type_) or types.is_decimal(type_)


def _is_text(type_: pa.DataType) -> bool:
    return types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_)


def _is_bytes(type_: pa.DataType) -> bool:
    return types.is_binary(type_) or types.is_large_binary(type_) or types.is_fixed_size_binary(type_)
