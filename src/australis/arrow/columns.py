"""Arrow columns as the plain arrays that kernels work on, and back, without copying where the layout allows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from australis.kernels.jit import inner

Values = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

_STORAGE = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}


def storage(type_: pa.DataType) -> np.dtype[Any]:
    """The numpy type in which values of an Arrow type are kept: their own width, or objects where there is none."""
    if pa.types.is_boolean(type_):
        return np.dtype(np.bool_)
    if pa.types.is_integer(type_) or pa.types.is_floating(type_):
        return np.dtype(type_.to_pandas_dtype())
    if pa.types.is_temporal(type_) and not pa.types.is_interval(type_):
        return np.dtype(_STORAGE[type_.bit_width // 8])
    return np.dtype(object)


def plain(array: pa.Array[Any]) -> tuple[Values, Bools | None]:
    """Values and, where there are nulls, which are valid. The value in the place of a null is arbitrary."""
    dtype = storage(array.type)
    valid = None if array.null_count == 0 else flags(pc.is_valid(array))
    if dtype == object:
        return array.to_numpy(zero_copy_only=False), valid
    if dtype == np.bool_:
        filled = array if valid is None else array.fill_null(False)
        return flags(filled), valid
    data: Any = array.buffers()[1]
    if data is None:
        return np.zeros(len(array), dtype), valid
    return np.frombuffer(data, dtype, len(array), array.offset * dtype.itemsize), valid


def arrow(values: Values, valid: Bools | None, type_: pa.DataType) -> pa.Array[Any]:
    """The Arrow array of a type from values in its storage."""
    if values.dtype == np.bool_:
        return pa.Array.from_buffers(type_, len(values), [None if valid is None else _bits(valid), _bits(values)])
    if values.dtype == object:
        return pa.array(values, type_, mask=None if valid is None else ~valid)
    bitmap = None if valid is None else _bits(valid)
    return pa.Array.from_buffers(type_, len(values), [bitmap, _buffer(np.ascontiguousarray(values))])


def take(array: pa.Array[Any], rows: Ints) -> pa.Array[Any]:
    """Rows of a column; faster than Arrow's kernel for numbers and times without nulls."""
    if storage(array.type) == object or array.null_count or pa.types.is_boolean(array.type):
        return array.take(arrow(rows, None, pa.from_numpy_dtype(rows.dtype)))
    return arrow(pick(plain(array)[0], rows), None, array.type)


def pick(values: Values, rows: Ints) -> Any:
    """Values of rows."""
    out = np.empty(len(rows), values.dtype)
    bits = np.dtype(f"u{values.dtype.itemsize}")
    if not _pick(values.view(bits), rows, out.view(bits)):
        raise IndexError(f"there are {len(values)} rows, and rows from {rows.min()} to {rows.max()} are to be taken")
    return out


def flags(mask: Any) -> Bools:
    """A mask without nulls. Arrow's own `to_numpy` loads pandas, and takes longer.

    >>> flags(pa.array([True, False, True])[1:])
    array([False,  True])
    """
    first, rows = mask.offset % 8, len(mask)
    if not rows:
        return np.zeros(0, np.bool_)
    packed = np.frombuffer(mask.buffers()[1], np.uint8, -(-(first + rows) // 8), mask.offset // 8)
    return np.unpackbits(packed, count=first + rows, bitorder="little")[first:].view(np.bool_)


def marked(mask: pa.BooleanArray) -> Ints:
    """The rows of a mask without nulls."""
    rows = np.empty(mask.true_count + 1, np.int64)
    _marked(flags(mask).view(np.uint8), rows)
    return rows[:-1]


@inner
def _pick(values: Values, rows: Ints, out: Values) -> bool:
    for row in range(len(rows)):
        at, wanted = np.uintp(row), np.uintp(rows[np.uintp(row)])
        if wanted >= np.uintp(len(values)):
            return False
        out[at] = values[wanted]
    return True


@inner
def _marked(mask: npt.NDArray[np.uint8], rows: Ints) -> None:
    """Write every row, and go on to the next place if it is in the mask; `rows` has room for one more at its end."""
    count = np.uintp(0)
    for row in range(len(mask)):
        rows[count] = row
        count += np.uintp(mask[np.uintp(row)])


def _bits(flags: Bools) -> pa.Buffer:
    return _buffer(np.packbits(flags, bitorder="little"))


def _buffer(values: Any) -> pa.Buffer:
    return pa.py_buffer(values)
