"""Arrow columns as plain arrays, and back."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from australis.arrow.columns import arrow, flags, marked, pick, plain, storage, take

LEAST, MOST = -(2**63), 2**63 - 1
NAN, INF = float("nan"), float("inf")
COLUMNS = [
    pa.array([LEAST, None, 0, MOST], pa.int64()),
    pa.array([0, None, 2**64 - 1], pa.uint64()),
    pa.array([-128, 127], pa.int8()),
    pa.array([-INF, -0.0, None, INF], pa.float64()),
    pa.array([0.5, None], pa.float32()),
    pa.array([True, None, False] * 5, pa.bool_()),
    pa.array([LEAST + 1, None, MOST], pa.timestamp("us", "UTC")),
    pa.array([-1, None], pa.date32()),
    pa.array([LEAST + 1, None], pa.duration("ns")),
    pa.array(["", None, "fast"], pa.string()),
    pa.array([[1], None, []], pa.list_(pa.int64())),
    pa.array([None, None], pa.int64()),
]


@pytest.mark.parametrize(
    ("type_", "dtype"),
    [
        (pa.bool_(), np.bool_),
        (pa.uint16(), np.uint16),
        (pa.float32(), np.float32),
        (pa.date32(), np.int32),
        (pa.date64(), np.int64),
        (pa.time32("s"), np.int32),
        (pa.timestamp("ns"), np.int64),
        (pa.month_day_nano_interval(), np.object_),
        (pa.decimal128(9, 2), np.object_),
        (pa.string(), np.object_),
    ],
)
def test_values_are_kept_in_their_own_width(type_: pa.DataType, dtype: type) -> None:
    assert storage(type_) == np.dtype(dtype)


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: str(column.type))
def test_columns_come_back_from_every_row_on(column: Any) -> None:
    for first in range(len(column) + 1):
        part = column[first:]
        values, valid = plain(part)
        assert arrow(values, valid, column.type).equals(part)
        assert (valid is None) == (part.null_count == 0)


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: str(column.type))
def test_rows_are_taken_in_any_order_and_more_than_once(column: Any) -> None:
    rows = np.array([1, 0, 1, 1], np.int64)
    values = column.to_pylist() if not pa.types.is_temporal(column.type) else column.cast(_integer(column)).to_pylist()
    taken = take(column, rows)
    assert taken.type == column.type
    plainly = taken if not pa.types.is_temporal(column.type) else taken.cast(_integer(column))
    assert plainly.to_pylist() == [values[row] for row in rows]
    assert take(column, rows[:0]).to_pylist() == []


def _integer(column: Any) -> pa.DataType:
    return pa.int32() if column.type.bit_width == 32 else pa.int64()


def test_not_a_number_and_the_sign_of_zero_are_copied_bit_by_bit() -> None:
    picked = pick(np.array([NAN, -0.0]), np.array([1, 0]))
    assert np.isnan(picked[1])
    assert np.signbit(picked[0])


@pytest.mark.parametrize("row", [-1, 3, LEAST, MOST])
def test_a_row_that_is_not_there_is_refused(row: int) -> None:
    with pytest.raises(IndexError, match=f"there are 3 rows, and rows from {min(row, 0)} to {max(row, 0)} "):
        pick(np.array([7, 8, 9]), np.array([0, row]))


def test_masks_of_any_length_from_any_bit_on() -> None:
    mask = [row % 3 == 0 for row in range(40)]
    for first in range(18):
        for last in (first, first + 1, first + 8, 40):
            part = pa.array(mask)[first:last]
            assert flags(part).tolist() == mask[first:last]
            assert marked(part).tolist() == [row for row, true in enumerate(mask[first:last]) if true]
