"""What all folds share: values as 64-bit numbers, and accumulators."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from australis.boxes.folds.arithmetic import Extreme, Sum
from australis.boxes.folds.fold import ALL_VALID, fresh, numbers


@pytest.mark.parametrize(
    ("type_", "wide", "values"),
    [
        (pa.int8(), np.int64, [-128, 127]),
        (pa.int64(), np.int64, [-(2**63), 2**63 - 1]),
        (pa.uint64(), np.uint64, [0, 2**64 - 1]),
        (pa.float32(), np.float64, [-float("inf"), 0.5]),
        (pa.bool_(), np.int64, [False, True]),
        (pa.timestamp("us"), np.int64, [-(2**63), 2**63 - 1]),
        (pa.int64(), np.int64, []),
    ],
)
def test_values_become_numbers_of_64_bits(type_: Any, wide: Any, values: list[Any]) -> None:
    got, valid = numbers(pa.array(values, type_))
    assert got.dtype == wide
    assert got.tolist() == values
    assert valid is ALL_VALID


def test_nulls_are_told() -> None:
    assert numbers(pa.array([None, 1, None]))[1].tolist() == [False, True, False]


def test_fresh_accumulators_are_those_of_no_tuple() -> None:
    empty = fresh(Extreme.of(pa.uint64(), True), 3)
    assert [empty.columns[name][:3].tolist() for name in ("n", "value")] == [[0, 0, 0]] * 2
    assert Sum().finish(fresh(Sum(), 2).at(np.array([1, 0]))).to_pylist() == [None, None]


def test_some_windows_are_a_copy() -> None:
    windows = fresh(Sum(), 2)
    windows.columns["total"][:2] = [1.0, 2.0]
    some = windows.at(np.array([1]))
    some.columns["total"][0] = 9.0
    assert windows.columns["total"][:2].tolist() == [1.0, 2.0]
