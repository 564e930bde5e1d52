"""Arrow's types and kernels as this package uses them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute

Array: TypeAlias = "pa.Array[Any]"
Scalar: TypeAlias = "pa.Scalar[Any]"
# An Array or a Scalar. Kernels take any mix of them, which the stubs of pyarrow do not say.
Datum: TypeAlias = Any
pc: Any = pyarrow.compute


def nulls(length: int, type: pa.DataType) -> Datum:
    """An array of nulls."""
    return pa.nulls(length, type)  # type: ignore[call-overload]


def null(type: pa.DataType) -> Datum:
    """A null."""
    return nulls(1, type)[0]


def scalar(value: Any) -> Scalar:
    """A Python value as an Arrow scalar.

    Numbers and texts are made from buffers, since `pa.scalar` loads pandas to look for its types.

    >>> scalar(3).type, scalar(2**63).type, scalar(0.5).type, scalar("fast").type
    (DataType(int64), DataType(uint64), DataType(double), DataType(string))
    """
    if type(value) is int and 0 <= value + (1 << 63) < 1 << 64:
        return _from_buffers(pa.int64(), np.array([value], np.int64))
    if type(value) is int and 0 <= value < 1 << 64:
        return _from_buffers(pa.uint64(), np.array([value], np.uint64))
    if type(value) is float:
        return _from_buffers(pa.float64(), np.array([value]))
    if type(value) is bool:
        return _from_buffers(pa.bool_(), np.array([value], np.uint8))
    if type(value) is str:
        text = value.encode()
        return _from_buffers(pa.string(), np.array([0, len(text)], np.int32), text)
    result: Scalar = pa.scalar(value)
    return result


def _from_buffers(type: pa.DataType, *parts: Any) -> Scalar:
    return pa.Array.from_buffers(type, 1, [None, *map(pa.py_buffer, parts)])[0]


def as_array(datum: Datum, length: int) -> Datum:
    """The result of a kernel as one array; a scalar is repeated."""
    if isinstance(datum, pa.Scalar):
        value: Any = datum  # the stubs of `repeat` know no scalar of any type
        return pa.repeat(value, length) if value.is_valid else nulls(length, value.type)
    return datum.combine_chunks() if isinstance(datum, pa.ChunkedArray) else datum
