"""Columns of segments: the same values whatever is done to them."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import SAMPLES, data_type
from australis.boxes.signals.column import column, compact, segments
from australis.errors import SchemaError
from tests.boxes.signals.test_segments import numbers


@given(
    st.lists(st.none() | st.tuples(st.integers(0, 30), st.integers(0, 9)), max_size=8), st.sampled_from(list(SAMPLES))
)
def test_a_column_gives_back_its_values_whatever_is_done_to_it(
    given_: list[tuple[int, int] | None], dtype: str
) -> None:
    whole = numbers(40, dtype)
    values = [None if each is None else whole[each[0] : sum(each)] for each in given_]
    there = column(values, dtype)
    assert there.type == data_type(f"segment<{dtype}>")
    there.validate(full=True)
    assert segments(there).values() == values
    assert segments(there).arrow().equals(there)
    assert segments(pa.concat_arrays([there, there])).values() == values + values
    some = there.slice(1, 4)
    assert segments(compact(some)).values() == values[1:5]
    odd = there.take(pa.array(range(len(values) - 1, -1, -2), pa.int64()))
    less = compact(odd)
    assert segments(less).values() == values[::-1][::2]
    assert len(segments(less).samples) == sum(len(each) for each in values[::-1][::2] if each is not None)


def test_overlaps_stay_shared_on_a_journey() -> None:
    whole = segments(column([numbers(100)], "int16"))
    rows = np.zeros(3, np.int64)
    windows = whole.take(rows).on(whole.samples, np.array([10, 30, 20], np.int32), np.full(3, 20, np.int32))
    less = segments(compact(windows.arrow()))
    assert len(less.samples) == 40
    assert [list(each) for each in less.values()] == [list(each) for each in windows.values()]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, pa.schema({"a": less.arrow().type})) as writer:
        writer.write_batch(pa.RecordBatch.from_arrays([less.arrow()], names=["a"]))
    back = pa.ipc.open_stream(sink.getvalue()).read_next_batch()
    assert segments(back.column(0)).values() == less.values()
    assert back.to_pandas()["a"][0]["samples"].tolist() == list(windows.values()[0] or [])


def test_a_column_of_something_else_is_refused() -> None:
    with pytest.raises(SchemaError, match="int64 holds no segments"):
        segments(pa.array([1]))
    with pytest.raises(SchemaError, match="int16 is given for a column of segment<int32>"):
        column([numbers(3)], "int32")
