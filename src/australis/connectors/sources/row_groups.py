"""Row groups of Parquet files: those of which statistics prove that a predicate holds for none of their rows.

Statistics are those of values in the file. They say something of tuples only where these have the same values in the
same order. And a row that would become a dead letter must be read, whatever the predicate says of it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from australis.arrow.columns import Bools, flags
from australis.arrow.compute import Array, nulls
from australis.arrow.schema import textual
from australis.expressions import Expr
from australis.expressions.operand import int_range
from australis.expressions.ranges import ColumnRange, may_hold

_UNITS = {"milliseconds": "ms", "microseconds": "us", "nanoseconds": "ns"}


def matter(file: pa.parquet.ParquetFile, schema: pa.Schema, predicate: Expr, groups: Sequence[int]) -> Bools:
    """Whether each of some row groups must be read: a row may satisfy the predicate, or not fit the schema."""
    there, unfit = file.schema_arrow, np.zeros(len(groups), np.bool_)
    ranges = {}
    for field in schema:
        if there.names.count(field.name) != 1 or not _alike(there.field(field.name).type, field.type):
            return np.ones(len(groups), np.bool_)
        narrows = not _holds(field.type, there.field(field.name).type)
        if not narrows and field.nullable and field.name not in predicate.columns:
            continue
        place = _place(file.schema, field.name)
        if place is None:
            unfit |= not field.nullable
            continue
        chunks = [file.metadata.row_group(group).column(place) for group in groups]
        known = _range(chunks, there.field(field.name).type, field.type)
        unfit |= known.some_null & (not field.nullable) | known.some_valid & flags(known.least.is_null()) & narrows
        ranges[field.name] = known
    return may_hold(predicate, schema, ranges, len(groups)) | unfit


def _alike(given: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether a value of a type in a file is the same value of a column's type, or none if there is no such value."""
    whole = pa.types.is_integer(given) and pa.types.is_integer(wanted)
    return given == wanted or whole or (pa.types.is_float32(given) and pa.types.is_float64(wanted))


def _holds(type_: pa.DataType, other: pa.DataType) -> bool:
    """Whether a type has all values of another that is alike."""
    if not pa.types.is_integer(type_):
        return True
    (least, most), (low, high) = int_range(type_), int_range(other)
    return least <= low and high <= most


def _place(columns: Any, name: str) -> int | None:
    """Where a column is that is not made of others: the path of one within another has that one's name in it."""
    every = [columns.column(place) for place in range(len(columns))]
    return next((place for place, each in enumerate(every) if each.path == each.name == name), None)


def _range(chunks: Sequence[Any], given: pa.DataType, wanted: pa.DataType) -> ColumnRange:
    """What the statistics of a column say of each row group, by what the column is in the file and in tuples."""
    ends = [_ends(chunk, given, wanted) for chunk in chunks]
    least, greatest = (_array([end and end[side] for end in ends], given, wanted) for side in (0, 1))
    counts = [chunk.statistics.null_count if _counts(chunk) else None for chunk in chunks]
    some_null = np.array([count != 0 for count in counts])
    some_valid = np.array([count != chunk.num_values for count, chunk in zip(counts, chunks, strict=True)])
    return ColumnRange(least, greatest, some_null, some_valid)


def _counts(chunk: Any) -> bool:
    return chunk.statistics is not None and chunk.statistics.has_null_count


def _ends(chunk: Any, given: pa.DataType, wanted: pa.DataType) -> tuple[Any, Any] | None:
    """The least and the greatest value of a column chunk, as they are stored; None where they are not sure."""
    statistics = chunk.statistics
    if statistics is None or not statistics.has_min_max:
        return None
    if pa.types.is_integer(given):
        low, high = int_range(wanted)
        ends = statistics.min, statistics.max  # the stored number of an unsigned one may be below zero
        return ends if all(isinstance(end, int) and low <= end <= high for end in ends) else None
    ends = statistics.min_raw, statistics.max_raw
    if pa.types.is_float32(given) or pa.types.is_float64(given):
        return None if any(math.isnan(end) for end in ends) else ends
    if textual(given):
        try:
            return ends[0].decode(), ends[1].decode()
        except UnicodeDecodeError:  # cut within a character
            return None
    logical = json.loads(statistics.logical_type.to_json())
    if pa.types.is_date32(given):
        return ends if chunk.physical_type == "INT32" and logical["Type"] == "Date" else None
    if pa.types.is_timestamp(given) and chunk.physical_type == "INT64" and logical["Type"] == "Timestamp":
        zoned = logical["isAdjustedToUTC"] == (given.tz is not None)
        return ends if zoned and _UNITS.get(logical["timeUnit"]) == given.unit else None
    return None


def _array(values: Sequence[Any], given: pa.DataType, wanted: pa.DataType) -> Array:
    """Stored values of a type as those of another. A date is a number of days, a timestamp one of its unit."""
    if all(value is None for value in values):
        return nulls(len(values), wanted)  # type: ignore[no-any-return]
    if pa.types.is_temporal(given):
        return pa.array(values, pa.int32() if pa.types.is_date32(given) else pa.int64()).cast(wanted)
    return pa.array(values, given).cast(wanted)
