"""Arrow's types and kernels as this package uses them."""

import math
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from australis.arrow.compute import as_array, null, nulls, scalar


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        (-(2**63), pa.int64()),
        (2**63 - 1, pa.int64()),
        (2**63, pa.uint64()),
        (2**64 - 1, pa.uint64()),
        (math.inf, pa.float64()),
        (5e-324, pa.float64()),
        (True, pa.bool_()),
        (False, pa.bool_()),
        ("", pa.string()),
        ("größer\0\U0001f600", pa.string()),
        (None, pa.null()),
        (Decimal("0.10"), pa.decimal128(2, 2)),
        (b"\0", pa.binary()),
    ],
)
def test_a_scalar_is_its_value(value: Any, type_: pa.DataType) -> None:
    assert (scalar(value).type, scalar(value).as_py()) == (type_, value)


def test_a_scalar_keeps_not_a_number_and_the_sign_of_zero() -> None:
    assert math.isnan(scalar(math.nan).as_py())
    assert math.copysign(1, scalar(-0.0).as_py()) == -1


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1])
def test_a_whole_number_that_no_type_holds_is_refused(value: int) -> None:
    with pytest.raises(OverflowError):
        scalar(value)


def test_nulls_have_a_type() -> None:
    assert (null(pa.string()).type, null(pa.string()).as_py()) == (pa.string(), None)
    assert nulls(0, pa.int8()).equals(pa.array([], pa.int8()))
    assert nulls(2, pa.bool_()).equals(pa.array([None, None], pa.bool_()))


def test_results_of_kernels_become_one_array() -> None:
    array = pa.array([1, None])
    assert as_array(array, 2) is array
    assert as_array(pa.chunked_array([[1], [], [None]], pa.int64()), 2).equals(array)
    assert as_array(scalar("a"), 3).to_pylist() == ["a", "a", "a"]
    assert as_array(scalar("a"), 0).equals(pa.array([], pa.string()))
    assert as_array(null(pa.float64()), 2).equals(pa.array([None, None], pa.float64()))
