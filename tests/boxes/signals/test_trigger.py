"""Trigger: ranges with hysteresis."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import australis as au
from australis.arrow.schema import schema
from australis.boxes.signals.column import column, segments
from australis.boxes.signals.segments import segment
from australis.boxes.signals.timebases import timebase
from australis.boxes.signals.trigger import Trigger
from australis.errors import AustralisError
from australis.model.train import Train
from australis.testing import Cut, apply, cuts, rows
from australis.testing.signals import signal
from tests.oracles.running import SINGLY, in_any_order, partitioned, run
from tests.oracles.signals import SCHEMA, Came, in_runs, late, news, outs, signals, train_of
from tests.oracles.tuples import Out, out

BOX = Trigger(20, -10, by=("k",), longest=11, padding=2)


class Looking:
    """What one key has shown so far, item by item: a sample, or a window with a score."""

    def __init__(self, key: Any, start: int) -> None:
        self.key, self.freed = key, start
        self.event: list[tuple[int, int, int]] = []
        self.made: list[Out] = []

    def end(self, number: int) -> None:
        if self.event:
            oldest = min(ts for *_, ts in self.event)
            first, last = self.event[0][0], self.event[-1][1]
            self.made.append(out([self.key, first - 2, last + 1, True], oldest, number))
            self.freed, self.event = max(self.freed, last), []

    def see(self, value: float, start: int, stop: int, ts: int, number: int) -> None:
        if self.event and value < -10:
            # The oldest tuple that the range was made of is the one that ends it too.
            self.event = [(first, last, min(old, ts)) for first, last, old in self.event]
            self.end(number)
        elif self.event or value > 20:
            self.event.append((start, stop, ts))
            if stop - self.event[0][0] >= 11:
                self.end(number)
        elif start - 2 - self.freed >= 11:
            self.made.append(out([self.key, self.freed, start - 3, False], ts, number))
            self.freed = start - 2


def oracle(stream: list[Came], end: int) -> list[Out]:
    made: list[Out] = []
    for key, samples in news(stream).items():
        looking, base = None, None
        for one in in_runs(samples):
            looking = looking or Looking(key, one[0].index)
            looking.end(one[0].number)
            if one[0].base != base:
                looking.freed, base = one[0].index, one[0].base
            for each in one:
                looking.see(each.value, each.index, each.index + 1, each.ts, each.number)
        if looking:
            looking.end(end)
            made += looking.made
    return made


def latest(stream: list[Came]) -> int:
    return max((each.number for each in stream), default=0)


@given(signals(), st.just(SINGLY) | cuts(), st.booleans())
def test_it_agrees_with_its_oracle_however_the_stream_is_cut(stream: list[Came], cut: Cut, restart: bool) -> None:
    got, back = run(BOX, [train_of(stream)], cut, restart=restart)
    assert in_any_order(got) == in_any_order(oracle(stream, latest(stream)))
    assert (got, back) == run(BOX, [train_of(stream)])
    assert back == outs(late(stream))


@given(signals(keys=4), st.integers(1, 3))
def test_partitions_by_the_key_change_nothing(stream: list[Came], partitions: int) -> None:
    whole = train_of(stream)
    assert partitioned(BOX, [whole], partitions) == tuple(map(in_any_order, run(BOX, [whole])))


@given(st.lists(st.integers(-30, 30), max_size=60), st.lists(st.integers(1, 60), max_size=5), st.floats(-25, 25))
def test_how_the_signal_is_chunked_changes_nothing(values: list[int], ends: list[int], low: float) -> None:
    sound = segment(values, timebase(8), 3, dtype="int16")
    bounds = [0, *sorted(min(end, len(values)) for end in ends), len(values)]
    parts = [sound[first:last] for first, last in pairwise(bounds)]
    found = [
        [row for row, *_ in run(Trigger(max(low, 5), low, longest=9), [signal("a segment<int16>", a=given)])[0]]
        for given in ([sound], parts)
    ]
    assert found[0] == found[1]


@given(st.lists(st.tuples(st.none() | st.integers(-30, 30), st.integers(0, 4), st.integers(0, 9)), max_size=30),
       st.just(SINGLY) | cuts(), st.booleans())  # fmt: skip
def test_windows_trigger_by_their_scores(windows: list[tuple[Any, int, int]], cut: Cut, restart: bool) -> None:
    audio, looking, at = [], None, 0
    for number, (score, size, ts) in enumerate(windows, 1):
        audio.append(segment(np.zeros(size, np.int16), timebase(8), at))
        if size and score is not None:
            looking = looking or Looking(None, at)
            looking.see(score, at, at + size, ts, number)
        at += size + 1
    if looking:
        looking.end(len(windows))
    scores = [None if score is None else float(score) for score, *_ in windows]
    whole = signal(
        "k int, score double, audio segment<int16>", k=[None] * len(windows), score=scores, audio=audio,
        ts=[ts for *_, ts in windows],
    )  # fmt: skip
    got, _ = run(Trigger(20, -10, "score", ("k",), longest=11, padding=2), [whole], cut, restart=restart)
    assert got == (looking.made if looking else [])


def test_sync_cuts_what_triggers() -> None:
    audio = au.stream("audio", "site int, audio segment<int16>")
    net = au.network(loud=audio.signal.trigger(50, 10, by="site", longest=100).signal.sync(audio, by="site"))
    values = np.zeros(1000, np.int16)
    values[[300, 301, 302, 700]] = 60, 20, 5, 90
    sound = segment(values, timebase(8))
    given = {"site": [1, 1], "audio": column([sound[:301], sound[301:]], "int16")}
    found = net.run_local(audio=given)["loud"].column("audio").combine_chunks()
    assert segments(found).values() == [sound[300:302], sound[700:701]]


@pytest.mark.parametrize(
    ("box", "stream", "message"),
    [
        (Trigger(1, 2), SCHEMA, "low is at most high"),
        (Trigger(1, float("nan")), SCHEMA, "low is at most high"),
        (Trigger(1, longest=0), SCHEMA, "at least 1"),
        (Trigger(1, on="j"), SCHEMA, "the score `j` is no number.*k"),
        (Trigger(1), "a segment<complex64>", "`abs` first"),
        (Trigger(1, by=("keep",)), "keep int, a segment<int16>", "`keep` has the name"),
        (Trigger(1, by=("kk",)), SCHEMA, "`kk` is no column"),
    ],
)
def test_what_does_not_fit_is_refused(box: Trigger, stream: str, message: str) -> None:
    with pytest.raises(AustralisError, match=message):
        box.outputs(schema(stream))


def test_a_train_of_many_ranges_keeps_them_all() -> None:
    values = np.tile(np.array([100, -100], np.int16), 500)
    whole: Train = signal("audio segment<int16>", audio=[segment(values, timebase(8))])
    got, _ = run(Trigger(50, 0), [whole])
    assert [row[:2] for row, *_ in got] == [(at, at) for at in range(0, 1000, 2)]


def test_a_train_may_tell_more_ranges_than_the_kernel_has_room_for_at_once() -> None:
    sound = segment([0, 9] * 3000, timebase(8), dtype="int16")
    audio = [sound[at : at + 4] for at in range(0, 6000, 4)]
    found, _ = apply(Trigger(6, 3), signal("audio segment<int16>", audio=audio), end=True)
    assert rows(found) == [(at, at, True) for at in range(1, 6000, 2)]
