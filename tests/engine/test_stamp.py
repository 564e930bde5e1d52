"""Tuples as they enter: stamped, numbered, in trains of one length."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from australis.arrow.schema import schema
from australis.connectors.source import Part
from australis.engine.batch import Batch, room
from australis.engine.stamp import cut, read_ahead, stamp
from australis.testing import train

SCHEMA = schema("a int")


def part(values: list[int], number: list[int] | None = None) -> Part:
    tuples = pa.record_batch([pa.array(values, pa.int32())], SCHEMA)
    return Part(tuples, np.array(number or range(1, len(values) + 1), np.int64))


def test_tuples_are_numbered_in_their_split_and_no_train_is_empty() -> None:
    batch = Batch(1, 77, first=1000, room=room(2))
    trains = list(stamp([part([1, 2]), part([]), part([3])], batch, 1, []))
    assert [train.tuples["a"].to_pylist() for train in trains] == [[1, 2], [3]]
    base = 1000 + (1 << 26)
    assert [train.number.tolist() for train in trains] == [[base, base + 1], [base + 2]]
    assert [train.ts.tolist() for train in trains] == [[77, 77], [77]]


def test_numbers_of_their_own_are_counted_from_those_before() -> None:
    (found,) = stamp([part([1, 2], [11, 15])], Batch(1, 0, first=100), 3, [], before=10)
    assert found.number.tolist() == [101, 105]


@pytest.mark.parametrize("length", [1, 2, 3, 7, 99])
@pytest.mark.parametrize("sizes", [[], [0], [7], [1, 0, 2, 4], [3, 4]])
def test_trains_of_one_length(sizes: list[int], length: int) -> None:
    numbers = iter(range(99))
    trains = [train(SCHEMA, a=[next(numbers) for _ in range(size)]) for size in sizes]
    found = [each.tuples["a"].to_pylist() for each in cut(SCHEMA, trains, length)]
    whole = list(range(sum(sizes)))
    assert found == [whole[at : at + length] for at in range(0, len(whole), length)]


def test_items_read_ahead_are_the_same() -> None:
    assert list(read_ahead(range(100))) == list(range(100))
    assert list(read_ahead([])) == []


def test_an_error_comes_after_the_items_before_it() -> None:
    def failing() -> Iterator[int]:
        yield from (1, 2)
        raise OSError("gone")

    items = read_ahead(failing())
    assert [next(items), next(items)] == [1, 2]
    with pytest.raises(OSError, match="gone"):
        next(items)


def test_nothing_more_is_read_once_it_is_abandoned() -> None:
    read: list[int] = []

    def endless() -> Iterator[int]:
        while True:
            read.append(1)
            yield 1

    items = read_ahead(endless())
    next(items)
    items.close()  # type: ignore[attr-defined]
    assert 1 <= len(read) < 10
