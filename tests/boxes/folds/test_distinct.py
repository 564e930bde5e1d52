"""The fold that counts distinct values, window by window."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from australis.boxes.folds.distinct import CountDistinct
from australis.boxes.folds.fold import ALL, Contributions, fresh

NAN = float("nan")


@pytest.mark.parametrize(
    ("type_", "values", "count"),
    [
        (pa.int64(), [-(2**63), 2**63 - 1, -(2**63), None], 2),
        (pa.float64(), [NAN, NAN, 0.0, -0.0, float("inf"), -float("inf")], 4),
        (pa.string(), ["", None, "a", ""], 2),
        (pa.string(), [None, None], 0),
    ],
)
def test_each_value_counts_once_and_null_never(type_: Any, values: list[Any], count: int) -> None:
    fold = CountDistinct((type_,))
    windows = fresh(fold, 1)
    for value in values:  # one by one, so that values are known from earlier
        fold.add(windows, Contributions(np.zeros(1, np.int64), ALL, ALL), [pa.array([value], type_)])
    assert fold.finish(windows.at(np.array([0]))).to_pylist() == [count]


def test_windows_count_apart_and_forget_what_is_released() -> None:
    fold = CountDistinct((pa.int64(), pa.string()))
    windows = fresh(fold, 2)
    feed = Contributions(np.array([0, 1, 0, 1, -1]), np.array([0, 0, 1, 2, 2]), ALL)
    fold.add(windows, feed, [pa.array([1, 1, 2]), pa.array(["a", "b", None])])
    assert fold.finish(windows.at(np.array([0, 1]))).to_pylist() == [2, 1]
    assert windows.seen is not None
    assert len(windows.seen) == 3
    fold.release(windows, np.array([0]))
    assert len(windows.seen) == 1
