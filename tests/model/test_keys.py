"""Keys: an index from the values of columns to slots."""

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.model.keys import Keys, buckets, hashable, hashes, words

SIZES = st.lists(
    st.sampled_from(["", "a", "b", "ab", "abcdefgh", "abcdefgi", "abcdefgh" * 3, "ä"]) | st.none(), max_size=12
)


def distinct(values: list[Any], type_: pa.DataType) -> list[list[int]]:
    """For each value, which values have the same words."""
    rows = words([pa.array(values, type_)], len(values)).tolist()
    return [[place for place, other in enumerate(rows) if other == row] for row in rows]


def same(values: list[Any]) -> list[list[int]]:
    return [[place for place, other in enumerate(values) if other == value] for value in values]


@given(SIZES)
def test_strings_have_the_same_words_exactly_if_they_are_the_same(values: list[str | None]) -> None:
    assert distinct(values, pa.string()) == same(values)
    assert distinct(values, pa.large_string()) == same(values)


@given(st.lists(st.none() | st.integers(-3, 3) | st.sampled_from([2**62, -(2**63)]), max_size=12))
def test_so_have_numbers(values: list[int | None]) -> None:
    assert distinct(values, pa.int64()) == same(values)


def test_zeros_are_one_key_and_so_are_nans_but_null_is_another() -> None:
    rows = words([pa.array([0.0, -0.0, float("nan"), -float("nan"), None, 1.0])], 6).tolist()
    assert rows[0] == rows[1]
    assert rows[2] == rows[3]
    assert len({tuple(row) for row in rows}) == 4


def test_keys_hardly_ever_have_the_same_hash() -> None:
    many = hashes([pa.array(range(200_000))], 200_000)
    assert len(np.unique(many)) == 200_000 > len(np.unique(buckets([pa.array(range(200_000))], 200_000, 1 << 40)))
    assert (many >= 0).all()
    assert hashes([], 3).tolist() == [0, 0, 0]
    assert len(set(hashes([pa.array(["a", "b", None, "a"]), pa.array([1, 1, 1, 1])], 4).tolist())) == 3


def test_nulls_tell_by_their_column() -> None:
    rows = words([pa.array([0, None, 0, None]), pa.array([0, 0, None, None])], 4).tolist()
    assert len({tuple(row) for row in rows}) == 4


def test_columns_do_not_run_into_each_other() -> None:
    rows = words([pa.array(["a", "ab"]), pa.array(["bc", "c"])], 2).tolist()
    assert rows[0] != rows[1]


def test_a_slice_has_the_words_of_its_part() -> None:
    for whole in (pa.array(["a", "bb", None, "d"]), pa.array([1, 2, None, 4]), pa.array([True, None, False, True])):
        assert words([whole.slice(1, 3)], 3).tolist() == words([whole], 4).tolist()[1:]


@pytest.mark.parametrize(
    ("type_", "values"),
    [
        (pa.bool_(), [True, False, None]), (pa.binary(), [b"a", b"", None]), (pa.date32(), [1, 2, None]),
        (pa.decimal128(6, 2), [Decimal("1.50"), Decimal("2"), None]), (pa.float32(), [0.5, 1.5, None]),
        (pa.binary(2), [b"ab", b"cd", None]), (pa.duration("s"), [1, 2, None]), (pa.uint64(), [2**64 - 1, 1, None]),
    ],
)  # fmt: skip
def test_every_hashable_type_has_words(type_: pa.DataType, values: list[Any]) -> None:
    assert hashable(type_)
    assert distinct([*values, *values], type_) == same([*values, *values])


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 3), min_size=1), st.integers(1, 9))
def test_a_number_has_its_partition_beside_a_null_as_well(values: list[int], count: int) -> None:
    alone = buckets([pa.array(values)], len(values), count).tolist()
    assert buckets([pa.array([*values, None])], len(values) + 1, count).tolist()[:-1] == alone
    assert 0 <= min(alone) <= max(alone) < count


def test_lists_are_no_keys() -> None:
    assert not hashable(pa.list_(pa.int32()))
    assert not hashable(pa.null())


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 30)), max_size=60))
def test_an_index_finds_what_a_dict_finds(steps: list[tuple[bool, int]]) -> None:
    keys, model = Keys(2), {}
    keys.grow(64, np.empty(0, np.int64))
    free = list(range(63, -1, -1))
    for insert, key in steps:
        row = words([pa.array([key])], 1)
        if insert and key not in model:
            model[key] = free.pop()
            keys.insert(row, np.array([model[key]]))
        elif not insert and key in model:
            keys.remove(np.array([model[key]]))
            free.append(model.pop(key))
        wanted = words([pa.array(range(31))], 31)
        assert keys.lookup(wanted).tolist() == [model.get(each, -1) for each in range(31)]
