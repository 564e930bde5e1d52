"""Segments as values: cut, appended, shared, shown (XStream III-A, III-B)."""

import pickle
import time
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import SAMPLES, data_type, schema, text
from australis.boxes.signals.segments import Segment, runs, segment
from australis.boxes.signals.timebases import timebase
from australis.errors import RunError, SchemaError

BASE = timebase(44100)


def numbers(length: int, dtype: str = "int16") -> Segment:
    return segment(np.arange(length) * 3 % 101, BASE, 7, dtype=dtype)


@given(st.lists(st.integers(0, 60), max_size=6), st.sampled_from(list(SAMPLES)), st.randoms())
def test_cutting_and_appending_give_back_the_same(cuts: list[int], dtype: str, random: Any) -> None:
    whole = numbers(60, dtype)
    edges = sorted([0, *cuts, 60])
    parts = [whole[low:high] for low, high in pairwise(edges)]
    while len(parts) > 1:
        at = random.randrange(len(parts) - 1)
        parts[at : at + 2] = [parts[at].append(parts[at + 1])]
    assert all(np.shares_memory(part, np.asarray(whole)) for part in parts[0][5:50].parts())
    assert list(parts[0]) == list(whole)
    assert parts[0].subseg(17, 20) == whole[10:30]
    assert parts[0] == whole


def test_a_long_chain_of_appends_is_walked_without_recursion() -> None:
    whole = numbers(20_000)
    chain = whole[:1]
    for at in range(1, 20_000):
        chain = chain.append(whole[at : at + 1])
    assert chain[19_999] == whole[19_999]
    assert chain == whole


def test_gaps_and_other_rates_are_no_continuation() -> None:
    whole = numbers(10)
    other = segment([1], timebase(8), 17, dtype="int16")
    with pytest.raises(RunError, match=r"up to 12.*starts at 13"):
        whole[:5].append(whole[6:])
    with pytest.raises(RunError, match="another timebase"):
        whole.append(other)
    with pytest.raises(RunError, match="int16"):
        whole.append(segment([1.0], BASE, 17))
    assert runs([whole[:2], whole[2:4], whole[5:6], whole[6:], other]) == [whole[:4], whole[5:], other]


def test_it_is_a_value() -> None:
    whole = numbers(6)
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(whole)[0] = 1
    assert pickle.loads(pickle.dumps(whole[:3].append(whole[3:]))) == whole
    assert {whole[:3], numbers(3)} == {numbers(3)}
    assert whole[-1] == 15
    assert np.mean(whole) == 7.5
    assert (whole.stop, whole.duration, whole.time) == (13, Fraction(6, 44100), Fraction(7, 44100))
    with pytest.raises(IndexError, match="no sample 6"):
        whole[6]
    with pytest.raises(RunError, match="step"):
        whole[::2]
    with pytest.raises(RunError, match="not in a segment of 7 to 13"):
        whole.subseg(6, 2)
    with pytest.raises(SchemaError, match=r"int16.*uint8"):
        segment(np.zeros(3, np.uint8), BASE)


def test_it_shows_itself() -> None:
    shown = repr(segment([0, 5, -10, 1], timebase(8000), dtype="int16"))
    assert shown == "<segment ▁▄█▁ 4 int16 from 0, 8,000 Hz, 0.0005 s>"
    assert "&lt;segment" in numbers(100)._repr_html_()
    assert repr(numbers(0)) == "<segment  0 int16 from 7, 44,100 Hz, 0 s>"


def test_the_text_of_a_schema_names_the_samples() -> None:
    wanted = "k int, a segment<int16>, b segment<complex64> not null"
    assert text(schema(wanted)) == wanted
    assert data_type("SEGMENT< float32 >") == data_type("segment<float32>")
    with pytest.raises(SchemaError, match=r"`int8`.*Samples are int16, int32"):
        schema("a segment<int8>")


def test_appending_takes_no_longer_after_many() -> None:
    """Neither at the end nor at the beginning of what was appended: a look at the tree would show."""
    parts = [segment(np.zeros(1, np.int16), timebase(8), at) for at in range(4001)]

    def took(count: int, forward: bool) -> float:
        some = parts[:count] if forward else parts[count - 1 :: -1]
        start, whole = time.process_time(), some[0]
        for each in some[1:]:
            whole = whole.append(each) if forward else each.append(whole)
        assert (whole.start, len(whole)) == (0, count)
        return (time.process_time() - start) / count

    for forward in (True, False):
        few = min(took(200, forward) for _ in range(20))
        many = min(took(4001, forward) for _ in range(3))
        assert many < 5 * few, "a walk would take twenty times as long"


@pytest.mark.parametrize("part", [slice(None), slice(2, 6), slice(None, None, 2)])
def test_editing_an_array_changes_no_segment_made_of_it(part: slice) -> None:
    values = np.arange(8, dtype=np.int16)
    made = segment(values[part], timebase(8))
    before = np.asarray(made).tolist()
    values[:] = 99
    assert np.asarray(made).tolist() == before
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(made)[0] = 1
    again = segment(np.asarray(made), timebase(8))
    assert np.shares_memory(np.asarray(again), np.asarray(made))


def test_an_array_on_memory_that_others_write_is_copied() -> None:
    memory = bytearray(8)
    values = np.frombuffer(memory, np.int16)
    values.flags.writeable = False
    made = segment(values, timebase(8))
    memory[0] = 7
    assert np.asarray(made).tolist() == [0, 0, 0, 0]
