"""Pieces: what has come of signals, by key and in order, some held since earlier."""

from typing import Any

import numpy as np
import pytest

from australis.arrow.schema import schema
from australis.boxes.signals.column import segments
from australis.boxes.signals.pieces import (
    Pieces,
    arrive,
    blobs,
    channels,
    check_by,
    check_same,
    held_table,
    hold,
    keys_table,
    laid,
    lengths,
    moved,
    samples,
    waiting,
)  # fmt: skip
from australis.boxes.signals.segments import segment
from australis.boxes.signals.timebases import timebase
from australis.errors import SchemaError
from australis.testing.signals import signal

STREAM = "k int, audio segment<int16>"
SOUND = segment(np.arange(100, dtype=np.int16), timebase(8))


class Channel:
    """One channel of signals, of which steps hold what lies from a limit on."""

    def __init__(self) -> None:
        self.keys, self.held = keys_table(schema(STREAM), ("k",), 1), held_table()

    def step(self, came: list[tuple[int, int, int]], limit: int) -> tuple[Pieces, Any, list[bool]]:
        """The pieces after segments of keys came, from one index up to before another; and who was late."""
        train = signal(STREAM, k=[k for k, _, _ in came], audio=[SOUND[low:high] for _, low, high in came])
        slots, late = self.keys.find([train["k"]], len(train)), np.zeros(len(train), bool)
        old, view = waiting(self.keys, self.held, slots), segments(train["audio"])
        pieces = arrive(self.keys, self.held, old, 0, slots, train, view, late)
        whole = samples(self.held, old, view)
        hold(self.held, pieces, whole, np.full(len(pieces), limit))
        return pieces, whole, late.tolist()


def listed(pieces: Pieces, whole: Any) -> list[tuple[int, list[int]]]:
    """Of each piece the key's slot and the samples."""
    bounds = zip(pieces.key.tolist(), pieces.offset.tolist(), pieces.size.tolist(), strict=True)
    return [(key, whole[offset : offset + size].tolist()) for key, offset, size in bounds]


def test_pieces_of_keys_go_on_where_they_stopped() -> None:
    channel = Channel()
    pieces, whole, late = channel.step([(7, 0, 3), (8, 5, 6), (7, 2, 5)], limit=1)
    assert listed(pieces, whole) == [(0, [0, 1, 2]), (0, [3, 4]), (1, [5])]  # what came twice is passed over
    assert late == [False] * 3
    pieces, whole, late = channel.step([(7, 3, 5), (7, 8, 9)], limit=5)
    assert late == [True, False]
    assert listed(pieces, whole) == [(0, [1, 2]), (0, [3, 4]), (0, [8])]
    assert pieces.fresh.tolist() == [False, False, True]  # after a gap
    assert len(channel.held) == 2  # what lies below the limit is freed: of key 8 the 5, of key 7 the 8 are held
    pieces, whole, _ = channel.step([(8, 6, 7)], limit=0)
    assert listed(pieces, whole) == [(1, [5]), (1, [6])]


def test_a_run_is_laid_out_without_a_copy_where_it_lies_so() -> None:
    whole = np.arange(9, dtype=np.int16)
    none = np.zeros(2, np.int64)

    def two(offsets: list[int]) -> Pieces:
        sizes, fresh = np.array([2, 3]), np.array([True, False])
        columns = (none, none, none, sizes, none, none, none, none, none, none, none, np.array(offsets), fresh)
        return Pieces(*columns)

    assert laid(two([1, 3]), whole)[0] is whole
    copied, offsets = laid(two([6, 1]), whole)
    assert (copied.tolist(), offsets.tolist()) == ([6, 7, 1, 2, 3], [0, 2])


@pytest.mark.parametrize("dtype", ["int16", "float32", "float64", "complex64"])
def test_stretches_are_moved_and_kept_as_bytes(dtype: str) -> None:
    whole = np.arange(6).astype(dtype)
    offsets, sizes = np.array([4, 0, 5]), np.array([2, 3, 0])
    assert moved(whole, offsets, sizes).tolist() == whole[[4, 5, 0, 1, 2]].tolist()
    parts = blobs(whole, offsets, sizes).to_pylist()
    assert parts == [whole[4:6].tobytes(), whole[:3].tobytes(), b""]
    assert lengths([*parts, None]).tolist() == [2 * whole.itemsize, 3 * whole.itemsize, 0, 0]


def test_columns_of_segments_are_counted_by_stream() -> None:
    streams = [schema("a segment<int16>, k int, b segment<int16>"), schema("c segment<int32>")]
    assert channels(streams) == [(1, "a"), (1, "b"), (2, "c")]
    with pytest.raises(SchemaError, match="signal 2 has no column of segments; it has k"):
        channels([streams[0], schema("k int")])


def test_keys_that_do_not_fit_are_refused() -> None:
    with pytest.raises(SchemaError, match="`site` is no column; there are k, audio"):
        check_by(schema(STREAM), ("site",))
    with pytest.raises(SchemaError, match=r"`audio` is .*, which is no key"):
        check_by(schema(STREAM), ("audio",))
    with pytest.raises(SchemaError, match="the key `k` is int32 and int64"):
        check_same([schema("k int"), schema("k bigint")], ("k",))
