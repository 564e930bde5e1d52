"""A batch, and how its tuples are numbered."""

import numpy as np
import pytest

from australis.engine.batch import Batch, batch, room
from australis.errors import RunError

ROWS = 1 << 26


def test_splits_have_numbers_one_after_the_other() -> None:
    made = Batch(2, 0, first=100, room=room(2))
    assert made.numbers(0, 0, 3).tolist() == [100, 101, 102]
    assert made.numbers(0, 3, 0).tolist() == []
    assert made.numbers(1, 0, 1).tolist() == [100 + ROWS]
    assert made.numbers(1, ROWS - 1, 1).tolist() == [made.moment.number]


@pytest.mark.parametrize(("split", "row", "count"), [(0, 0, ROWS + 1), (1, ROWS, 1), (2, 0, 1)])
def test_numbers_that_a_batch_has_not(split: int, row: int, count: int) -> None:
    with pytest.raises(RunError, match="let batches be smaller"):
        Batch(1, 0, room=room(2)).numbers(split, row, count)


def test_numbers_of_a_source_come_after_the_first() -> None:
    made = Batch(1, 0, first=10, room=8)
    assert made.merging(np.array([1, 1, 7])).tolist() == [11, 11, 17]
    assert made.merging(np.array([], np.int64)).tolist() == []
    for numbers in ([0, 1], [1, 8], [-1]):
        with pytest.raises(RunError, match="more than 8 numbers"):
            made.merging(np.array(numbers))


def test_room_for_every_split_or_for_wide_numbers() -> None:
    assert (room(0), room(1), room(3)) == (1, ROWS, 3 * ROWS)
    assert (room(0, wide=True), room(1 << 20, wide=True)) == (1 << 36, 1 << 46)


def test_a_batch_is_read_from_its_offset() -> None:
    offset = {"version": 3, "clock": 5, "end": True, "network": 2, "began": 3, "first": 7, "room": 9, "inputs": {}}
    made = batch(offset | {"ended": ["reports"]})
    assert made == Batch(3, 5, True, 2, 3, frozenset({"reports"}), 7, 9)
    assert made.changed
    assert not Batch(4, 5, began=3).changed
    assert (made.moment.number, made.moment.clock, made.moment.end) == (15, 5, True)
    assert batch(offset).ended == frozenset()
