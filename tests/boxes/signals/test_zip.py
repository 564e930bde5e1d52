"""Zip: signals side by side."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.boxes.signals.column import segments
from australis.boxes.signals.segments import segment
from australis.boxes.signals.timebases import timebase
from australis.boxes.signals.zip import Zip
from australis.errors import AustralisError
from australis.model.train import Train
from australis.testing import Cut, apply, cuts
from australis.testing.signals import signal
from tests.oracles.running import SINGLY, in_any_order, partitioned, run
from tests.oracles.signals import Came, Sample, joined, late, news, outs, plain, signals, train_of
from tests.oracles.tuples import Out, out

SCHEMAS = ("k int, a segment<int16>", "k int, b segment<int16>", "k int, c segment<int16>")
Streams = list[list[Came]]
STREAMS = st.lists(signals(bases=1, steps=(1,), most=8, size=12), min_size=2, max_size=3)


def trains_of(streams: Streams) -> list[Train]:
    return [
        train_of(stream).carrying(train_of(stream).tuples.rename_columns(["k", name]))
        for stream, name in zip(streams, "abc", strict=False)
    ]


def oracle(streams: Streams, size: int) -> list[Out]:
    """A join of samples on their index, grouped by the segments that they came in, or cut in windows."""
    made = []
    channels = [news(stream) for stream in streams]
    for key in channels[0]:
        sides = [{each.index: each for each in channel.get(key, [])} for channel in channels]
        both: list[list[Sample]] = [
            [side[index] for side in sides] for index in sides[0] if all(index in side for side in sides)
        ]
        ranges: list[list[list[Sample]]] = []
        for before, now in pairwise([[], *both]):
            goes_on = before and before[0].index + 1 == now[0].index
            same = goes_on and [each.number for each in before] == [each.number for each in now]
            if not (goes_on if size else same):
                ranges.append([])
            ranges[-1].append(now)
        if size:
            ranges = [each[at : at + size] for each in ranges for at in range(0, len(each) - size + 1, size)]
        for each in ranges:
            cells = [plain(joined([pair[at] for pair in each])) for at in range(len(streams))]
            oldest = min(sample.ts for pair in each for sample in pair)
            made.append(out([key, *cells], oldest, max(sample.number for sample in each[-1])))
    return made


@given(STREAMS, st.integers(0, 5), st.just(SINGLY) | cuts(), st.booleans())
def test_it_agrees_with_a_join_of_samples_however_streams_are_cut(
    streams: Streams, size: int, cut: Cut, restart: bool
) -> None:
    got, *back = run(Zip(len(streams) - 1, ("k",), size), trains_of(streams), cut, restart=restart)
    assert in_any_order(got) == in_any_order(oracle(streams, size))
    assert back == [outs(late(stream)) for stream in streams]


@given(
    st.lists(signals(bases=2, most=8), min_size=2, max_size=3),
    st.integers(0, 4),
    st.just(SINGLY) | cuts(),
    st.booleans(),
)
def test_cuts_change_nothing_where_timebases_change(streams: Streams, size: int, cut: Cut, restart: bool) -> None:
    box, trains = Zip(len(streams) - 1, ("k",), size), trains_of(streams)
    assert run(box, trains, cut, restart=restart) == run(box, trains)


@given(st.lists(signals(keys=4, most=8), min_size=2, max_size=3), st.integers(0, 4), st.integers(1, 3))
def test_partitions_by_the_key_change_nothing(streams: Streams, size: int, partitions: int) -> None:
    box, trains = Zip(len(streams) - 1, ("k",), size), trains_of(streams)
    assert partitioned(box, trains, partitions) == tuple(map(in_any_order, run(box, trains)))


def ends(values: list[int], length: int) -> list[tuple[int, int]]:
    return list(pairwise([0, *sorted(min(value, length) for value in values), length]))


@given(st.lists(st.integers(1, 60), max_size=5), st.lists(st.integers(1, 50), max_size=5), st.integers(1, 9))
def test_windows_do_not_depend_on_how_signals_are_chunked(left: list[int], right: list[int], size: int) -> None:
    one, two = segment(np.arange(60, dtype=np.int16), timebase(8)), segment(np.arange(5.0, 55), timebase(8), 5)
    found = []
    for cuts_ in (([], []), (left, right)):
        a = signal("a segment<int16>", a=[one[low:high] for low, high in ends(cuts_[0], 60)])
        b = signal("b segment<float64>", b=[two[low:high] for low, high in ends(cuts_[1], 50)])
        found.append([row for row, *_ in run(Zip(size=size), [a, b])[0]])
    assert found[0] == found[1]
    assert len(found[0]) == 50 // size
    assert all(a["samples"] == b["samples"] and a["start"] == b["start"] for a, b in found[0])


def test_segments_share_the_samples_that_they_were_cut_from() -> None:
    sound = segment(np.arange(1000, dtype=np.int16), timebase(8))
    a, b = signal("a segment<int16>", a=[sound]), signal("b segment<int16>", b=[sound[:300], sound[300:]])
    for size in (0, 100):
        out_, *_ = apply(Zip(size=size), a, b)
        for given_, name in ((a, "a"), (b, "b")):
            assert segments(out_[name]).samples.ctypes.data == segments(given_[name]).samples.ctypes.data


def test_columns_of_one_stream_are_zipped_too() -> None:
    sound = segment(np.arange(10), timebase(8), dtype="int16")
    both = signal("a segment<int16>, b segment<int16>", a=[sound[:5], sound[5:]], b=[sound[3:7], sound[7:]])
    got, *_ = run(Zip(0, size=3), [both])
    assert [(a["start"], b["start"]) for (a, b), *_ in got] == [(3, 3), (6, 6)]


@pytest.mark.parametrize(
    ("box", "streams", "message"),
    [
        (Zip(size=-1), SCHEMAS[:2], "at least 1"),
        (Zip(0), SCHEMAS[:1], "two or more"),
        (Zip(), (SCHEMAS[0], SCHEMAS[0]), "`a` of signal 2 is there already"),
        (Zip(), (SCHEMAS[0], "k int"), "signal 2 has no column of segments"),
        (Zip(by=("k",)), (SCHEMAS[0], "k bigint, b segment<int16>"), "int32 and int64"),
    ],
)
def test_what_does_not_fit_is_refused(box: Zip, streams: tuple[str, ...], message: str) -> None:
    with pytest.raises(AustralisError, match=message):
        box.outputs(*map(schema, streams))
