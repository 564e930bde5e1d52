"""Arrow's types and kernels as this package uses them."""

from __future__ import annotations

from typing import Any, TypeAlias

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
    return pa.scalar(None, type)


def as_array(datum: Datum, length: int) -> Datum:
    """One array, whatever a kernel gave."""
    if isinstance(datum, pa.Scalar):
        value: Any = datum  # the stubs of `repeat` know no scalar of any type
        return pa.repeat(value, length) if value.is_valid else nulls(length, value.type)
    return datum.combine_chunks() if isinstance(datum, pa.ChunkedArray) else datum
