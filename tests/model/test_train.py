"""Trains: tuples with two hidden columns, cut and filtered without copies."""

import pickle

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.model.train import Train, concat, empty
from australis.testing import rows, train
from tests.oracles.tuples import Stream, emitted, passed, stream_of, streams

STREAMS = streams(a=st.none() | st.integers(0, 9), s=st.none() | st.sampled_from("xy"))
SCHEMA = "a int, s string"


def mask(bits: list[bool]) -> pa.BooleanArray:
    return pa.array(bits, pa.bool_())


@given(STREAMS, st.data())
def test_where_keeps_the_tuples_of_a_mask(stream: Stream, data: st.DataObject) -> None:
    bits = data.draw(st.lists(st.booleans(), min_size=len(stream), max_size=len(stream)))
    part = stream_of(SCHEMA, stream).where(mask(bits))
    kept = [each for each, bit in zip(stream, bits, strict=True) if bit]
    assert len(part) == len(kept)
    assert part.schema == schema(SCHEMA)
    again = [len(each.row) > 0 and each.number % 2 == 0 for each in kept]
    twice = part.where(mask(again))
    assert emitted([twice]) == passed([each for each, bit in zip(kept, again, strict=True) if bit])
    assert emitted([part]) == passed(kept)


@given(STREAMS, st.data())
def test_slices_put_together_are_the_whole(stream: Stream, data: st.DataObject) -> None:
    whole = stream_of(SCHEMA, stream)
    at = data.draw(st.integers(0, len(stream)))
    parts = [whole.slice(0, at), whole.slice(at, len(stream))]
    assert emitted(parts) == emitted([concat(whole.schema, parts)]) == passed(stream)


@given(STREAMS, st.data())
def test_take_takes_rows_in_any_order(stream: Stream, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(stream))))
    taken = stream_of(SCHEMA, stream).take(np.array(order, np.int64))
    assert emitted([taken]) == passed([stream[place] for place in order])


@given(STREAMS)
def test_pickling_keeps_all_of_a_part(stream: Stream) -> None:
    part = stream_of(SCHEMA, stream).where(mask([each.number % 2 == 0 for each in stream]))
    assert emitted([pickle.loads(pickle.dumps(part))]) == emitted([part])


def test_other_columns_on_the_tuples_of_a_part() -> None:
    part = train("a int", a=[1, 2, 3], ts=[7, 8, 9]).where(mask([True, False, True]))
    other = part.carrying(pa.RecordBatch.from_arrays([pa.array(["x", "z"])], names=["s"]))
    assert (rows(other), other.ts.tolist(), other.number.tolist()) == ([("x",), ("z",)], [7, 9], [1, 3])
    assert other.schema.names == ["s"]


def test_a_train_of_nothing() -> None:
    none = empty(schema(SCHEMA))
    assert (len(none), rows(none), none.schema) == (0, [], schema(SCHEMA))
    assert rows(concat(schema(SCHEMA), [none, none])) == []


def test_a_column_by_name() -> None:
    stream = train("a int, s string", a=[1], s=["x"])
    assert stream["s"].to_pylist() == ["x"]
    with pytest.raises(KeyError, match="b"):
        stream["b"]


def test_a_whole_mask_costs_nothing() -> None:
    stream: Train = train("a int", a=[1, 2])
    assert stream.where(mask([True, True])) is stream


@given(
    st.integers(1, 12),
    st.lists(st.tuples(st.lists(st.booleans(), min_size=12, max_size=12), st.sampled_from("whr")), max_size=5),
)
def test_columns_picked_late_are_those_picked_at_once(length: int, moves: list[tuple[list[bool], str]]) -> None:
    lazy = train("k int, s string", k=list(range(length)), s=[str(i) for i in range(length)])
    kept = list(range(length))
    for mask, move in moves:
        mine = mask[: len(kept)]
        kept = [row for row, hit in zip(kept, mine, strict=True) if hit]
        lazy = lazy.where(pa.array(mine, pa.bool_()))
        if move == "h":  # hand one column on, and make the other anew
            lazy = lazy.made(lazy.schema, [lazy.part("k"), pa.array([str(row) for row in kept], pa.string())])
        elif move == "r":  # somebody reads a column, and the hidden ones
            assert lazy["k"].to_pylist() == kept
            assert len(lazy.number) == len(kept)
        assert len(lazy) == len(kept)
        assert lazy.nbytes >= 0
    assert lazy.tuples.to_pydict() == {"k": kept, "s": [str(row) for row in kept]}
    whole = train("k int", k=list(range(length)))
    assert lazy.number.tolist() == whole.number[kept].tolist()
    assert lazy.ts.tolist() == whole.ts[kept].tolist()
