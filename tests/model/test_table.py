"""Tables: rows in slots, found by key, and the changes that make a copy the same."""

from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.model.table import Table

SCHEMA = schema("g string, k int, x double, s string, at timestamp, b boolean")
KEY = ("g", "k")
ROWS = st.tuples(
    st.none() | st.sampled_from(["", "p", "qq"]), st.none() | st.integers(0, 2),
    st.none() | st.sampled_from([0.5, -1.0]),
    st.none() | st.sampled_from(["u", ""]), st.none() | st.just(datetime(2003, 3, 1)), st.none() | st.booleans(),
)  # fmt: skip
STEPS = st.lists(
    st.tuples(st.lists(ROWS, max_size=5), st.lists(st.integers(0, 8), unique=True, max_size=3)), max_size=6
)


def arrays(rows: list[tuple[Any, ...]]) -> list[pa.Array]:
    return [pa.array([row[i] for row in rows], field.type) for i, field in enumerate(SCHEMA)]


def content(table: Table) -> list[str]:
    return sorted(map(repr, table.rows(table.slots).to_pylist()))


def written(table: Table, rows: list[tuple[Any, ...]]) -> None:
    """One row at a time, since a row may come twice."""
    for row in rows:
        columns = arrays([row])
        slots = table.find(columns[:2], 1)
        for name, column in zip(SCHEMA.names[2:], columns[2:], strict=True):
            table.put(name, slots, column)
        table.touched[slots] = True


@given(STEPS)
def test_it_holds_what_a_dict_would(steps: list[tuple[list[tuple[Any, ...]], list[int]]]) -> None:
    table, model = Table(SCHEMA, KEY), {}
    for rows, freed in steps:
        written(table, rows)
        model.update({row[:2]: row for row in rows})
        slots = table.slots
        gone = slots[[place for place in freed if place < len(slots)]]
        for row in table.rows(gone).to_pylist():
            del model[row["g"], row["k"]]
        table.free(gone)
        assert len(table) == len(model)
        assert content(table) == sorted(repr(dict(zip(SCHEMA.names, row, strict=True))) for row in model.values())
        keys = [*model, ("nobody", 7)]
        found = table.lookup(arrays([(*key, None, None, None, None) for key in keys])[:2], len(keys)).tolist()
        assert found[-1] == -1
        assert [table.rows(np.array([slot])).to_pylist()[0]["x"] for slot in found[:-1]] == [
            row[2] for row in model.values()
        ]


@given(STEPS)
def test_changes_make_a_copy_the_same(steps: list[tuple[list[tuple[Any, ...]], list[int]]]) -> None:
    table, copy = Table(SCHEMA, KEY), Table(SCHEMA, KEY)
    for rows, freed in steps:
        written(table, rows)
        slots = table.slots
        table.free(slots[[place for place in freed if place < len(slots)]])
        copy.apply(table.changes())
        assert table.changes().num_rows == 0
        assert copy.slots.tolist() == table.slots.tolist()
        assert content(copy) == content(table)
        keys = arrays(rows)[:2]
        assert copy.lookup(keys, len(rows)).tolist() == table.lookup(keys, len(rows)).tolist()


@given(STEPS, st.booleans())
def test_a_table_gives_memory_back_and_tells_which_rows_moved(steps: Any, apart: bool) -> None:
    """Rows come in a crowd of others that go again; changes are told after each step, or after two."""
    table, copy, model = Table(SCHEMA, KEY), Table(SCHEMA, KEY), {}
    crowd = [("crowd", number, None, None, None, None) for number in range(300)]
    for place, (rows, _) in enumerate(steps):
        others = table.find(arrays(crowd)[:2], len(crowd))
        large = table.nbytes
        written(table, rows)
        model.update({row[:2]: row for row in rows})
        table.free(others)
        table.compact()
        assert len(table.alive) == 64
        assert table.nbytes < large / 3
        assert content(table) == sorted(repr(dict(zip(SCHEMA.names, row, strict=True))) for row in model.values())
        found = table.lookup(arrays(rows)[:2], len(rows))
        assert not len(rows) or found.min() >= 0
        if apart or place % 2:
            copy.apply(table.changes())
            assert copy.slots.tolist() == table.slots.tolist()
            assert content(copy) == content(table)
            if len(copy.alive) > 64:
                copy.cut(64)
            assert copy.lookup(arrays(rows)[:2], len(rows)).tolist() == found.tolist()


NUMBERS = st.lists(st.sampled_from([None, -(2**63), -3, *range(6), 65_535, 65_536, 2**40]), max_size=8)


@given(st.lists(st.tuples(NUMBERS, st.lists(st.integers(0, 12), unique=True, max_size=4), st.booleans()), max_size=8))
def test_whole_numbers_are_found_by_themselves(steps: list[tuple[list[int | None], list[int], bool]]) -> None:
    numbers = schema("k bigint")
    table, copy = Table(numbers, ("k",)), Table(numbers, ("k",))
    for keys, freed, crowded in steps:
        column = pa.array(keys, pa.int64())
        found = table.find([column], len(keys))
        assert table.get("k", found).to_pylist() == keys
        assert len(table) == len({*table.get("k", table.slots).to_pylist()})
        table.free(table.slots[[place for place in freed if place < len(table)]])
        if crowded:
            crowd = pa.array(range(100, 400), pa.int64())
            table.free(table.find([crowd], len(crowd)))
            table.compact()
        table.find([column], len(keys))
        copy.apply(table.changes())
        assert copy.find([column], len(keys)).tolist() == table.lookup([column], len(keys)).tolist()
        assert table.get("k", table.lookup([column], len(keys))).to_pylist() == keys


def test_changes_of_nothing_change_nothing() -> None:
    heaps = pa.schema([pa.field("heap", pa.list_(pa.int64(), 3), nullable=False)])
    table, copy = Table(heaps), Table(heaps)
    copy.apply(table.changes())
    assert len(copy) == 0


def test_changes_of_lists_of_a_fixed_size() -> None:
    heaps = pa.schema([pa.field("heap", pa.list_(pa.int64(), 3), nullable=False)])
    table, copy = Table(heaps), Table(heaps)
    slots = table.insert(2)
    table["heap"][slots] = [[1, 2, 3], [4, 5, 6]]
    copy.apply(table.changes())
    assert copy["heap"][slots].tolist() == [[1, 2, 3], [4, 5, 6]]


def test_a_freed_slot_is_all_zeros_again() -> None:
    table = Table(schema("x int not null, s string"))
    slots = table.insert(1)
    table.put("x", slots, pa.array([7], pa.int32()))
    table.put("s", slots, pa.array(["u"]))
    table.free(slots)
    again = table.insert(1)
    assert again.tolist() == slots.tolist()
    assert table.rows(again).to_pylist() == [{"x": 0, "s": None}]


def test_it_grows_and_keeps_what_it_has() -> None:
    table = Table(schema("k bigint, x bigint"), ("k",))
    keys = pa.array(range(5000))
    slots = table.find([keys], 5000)
    table.put("x", slots, pa.array(range(5000, 0, -1)))
    assert len(table) == 5000
    assert len(set(slots.tolist())) == 5000
    backwards = pa.array(range(4999, -1, -1))
    assert table.get("x", table.find([backwards], 5000)).to_pylist() == list(range(1, 5001))


def test_without_a_key_all_tuples_share_one_row() -> None:
    table = Table(schema("x int"))
    assert table.lookup([], 2).tolist() == [-1, -1]
    assert table.find([], 3).tolist() == [0, 0, 0]
    assert len(table) == 1
    assert table.lookup([], 2).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("type_", "values"),
    [
        (pa.int8(), [1, None, -128]), (pa.uint64(), [2**64 - 1, 0, None]), (pa.float32(), [0.5, None, -1.0]),
        (pa.bool_(), [True, None, False]), (pa.string(), ["a", None, ""]), (pa.large_string(), ["a", None, ""]),
        (pa.binary(), [b"\0", None, b""]), (pa.timestamp("ns"), [1, None, -5]), (pa.date32(), [1, None, 3]),
        (pa.duration("ms"), [1, None, 3]), (pa.time64("us"), [1, None, 3]), (pa.list_(pa.int32()), [[1], None, []]),
    ],
)  # fmt: skip
def test_every_type_comes_back_as_it_went(type_: pa.DataType, values: list[Any]) -> None:
    given_ = pa.array(values, type_)
    table, copy = Table(pa.schema([pa.field("x", type_)])), Table(pa.schema([pa.field("x", type_)]))
    slots = table.insert(3)
    table.put("x", slots, given_)
    assert table.get("x", slots).equals(given_)
    copy.apply(table.changes())
    assert copy.get("x", slots).equals(given_)
