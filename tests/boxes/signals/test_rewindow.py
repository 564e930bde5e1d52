"""Rewindow: windows that skip or overlap (XStream III-A)."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.boxes.signals.column import segments
from australis.boxes.signals.rewindow import Rewindow
from australis.boxes.signals.segments import segment
from australis.boxes.signals.timebases import timebase
from australis.errors import NetworkError, SchemaError
from australis.testing import Cut, apply, cuts
from australis.testing.signals import signal
from tests.oracles.running import SINGLY, in_any_order, partitioned, run
from tests.oracles.signals import SCHEMA, Came, in_runs, joined, late, news, outs, plain, signals, train_of
from tests.oracles.tuples import Out, out

SHAPES = st.integers(1, 7).flatmap(lambda size: st.tuples(st.just(size), st.integers(1 - size, 4)))


def oracle(stream: list[Came], size: int, gap: int) -> list[Out]:
    made = []
    for key, samples in news(stream).items():
        for one in in_runs(samples):
            for first in range(0, len(one) - size + 1, size + gap):
                window = one[first : first + size]
                oldest = min(each.ts for each in window)
                made.append(out([key, plain(joined(window))], oldest, window[-1].number))
    return made


@given(signals(steps=(1,)), SHAPES, cuts(), st.booleans())
def test_it_agrees_with_its_oracle_however_the_stream_is_cut(
    stream: list[Came], shape: tuple[int, int], cut: Cut, restart: bool
) -> None:
    got, back = run(Rewindow(*shape, ("k",)), [train_of(stream)], cut, restart=restart)
    assert in_any_order(got) == in_any_order(oracle(stream, *shape))
    assert back == outs(late(stream))


@given(signals(), SHAPES, st.just(SINGLY) | cuts(), st.booleans())
def test_the_order_of_windows_is_the_same_however_the_stream_is_cut(
    stream: list[Came], shape: tuple[int, int], cut: Cut, restart: bool
) -> None:
    box, whole = Rewindow(*shape, ("k",)), train_of(stream)
    assert run(box, [whole], cut, restart=restart) == run(box, [whole])


@given(signals(keys=4), SHAPES, st.integers(1, 3))
def test_partitions_by_the_key_change_nothing(stream: list[Came], shape: tuple[int, int], partitions: int) -> None:
    box, whole = Rewindow(*shape, ("k",)), train_of(stream)
    assert partitioned(box, [whole], partitions) == tuple(map(in_any_order, run(box, [whole])))


@given(signals(keys=1, gaps=False), st.integers(1, 6), SHAPES)
def test_rewindow_of_rewindow_is_rewindow(stream: list[Came], first: int, shape: tuple[int, int]) -> None:
    whole = train_of(stream)
    directly = [row for row, _, _ in run(Rewindow(*shape, ("k",)), [whole])[0]]
    for gap in (0, 1 - first):
        between, _ = apply(Rewindow(first, gap, ("k",)), whole)
        twice = [row for row, _, _ in run(Rewindow(*shape, ("k",)), [between])[0]]
        seen = segments(between["audio"]).stop.max() if len(between) else -99
        assert twice == [row for row in directly if row[1]["start"] + shape[0] <= seen]


def test_windows_share_the_samples_that_they_were_cut_from() -> None:
    sound = segment(np.arange(1000, dtype=np.int16), timebase(48000))
    train = signal("audio segment<int16>", audio=[sound[:500], sound[500:]])
    out, _ = apply(Rewindow(100, -50), train)
    before, after = segments(train["audio"]).samples, segments(out["audio"]).samples
    assert after.ctypes.data == before.ctypes.data
    assert len(out) == 19


def test_no_more_is_held_than_a_window_needs() -> None:
    box = Rewindow(10)
    train = signal("audio segment<int16>", audio=[segment(np.arange(1007, dtype=np.int16), timebase(8))])
    tables = box.tables(train.schema)
    apply(box, train, tables=tables)
    assert [len(blob) for blob in tables["held"]["#samples"][tables["held"].slots]] == [14]


@pytest.mark.parametrize("samples", ["int32", "float32", "float64", "complex64"])
def test_samples_of_any_type_go_through(samples: str) -> None:
    sound = segment(np.arange(10), timebase(8), dtype=samples)
    train = signal(f"audio segment<{samples}>", audio=[sound[:3], sound[3:5], sound[5:]])
    (whole, _), (cut, _) = (run(Rewindow(4, -1), [train], how) for how in (Cut(()), SINGLY))
    assert whole == cut
    assert [row[0]["start"] for row, _, _ in whole] == [0, 3, 6]
    assert np.array_equal(
        np.ravel(whole[1][0][0]["samples"]),
        np.asarray(sound)[3:7].view(np.float32 if samples == "complex64" else samples),
    )


@pytest.mark.parametrize(
    ("box", "stream", "error", "message"),
    [
        (Rewindow(0), SCHEMA, NetworkError, "at least 1"),
        (Rewindow(4, -4), SCHEMA, NetworkError, "move on"),
        (Rewindow(4, 0, ("kk",)), SCHEMA, SchemaError, "`kk`.*k, audio.*did you mean `k`"),
        (Rewindow(4, 0, ("audio",)), SCHEMA, SchemaError, "no key"),
        (Rewindow(4), "k int", SchemaError, "no column of segments.*k"),
        (Rewindow(4), "a segment<int16>, b segment<int16>", SchemaError, "which.*a, b"),
        (Rewindow(4, column="k"), SCHEMA, SchemaError, "`k` is no column of segments.*audio"),
    ],
)
def test_what_does_not_fit_is_refused(box: Rewindow, stream: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        box.outputs(schema(stream))


def test_a_slice_of_a_column_is_seen_as_it_is() -> None:
    sound = segment(np.arange(8, dtype=np.int16), timebase(8))
    column = signal("audio segment<int16>", audio=[sound[:2], sound[2:4], sound[4:]])["audio"]
    for part in (column.slice(1, 2), column.take(pa.array([1, 2]))):
        assert [list(each) for each in segments(part).values() if each is not None] == [[2, 3], [4, 5, 6, 7]]
