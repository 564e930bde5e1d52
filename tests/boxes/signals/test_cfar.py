"""CFAR: ranges that stand out of the noise (XStream II-A)."""

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import australis as au
from australis.arrow.schema import schema
from australis.boxes.signals.cfar import Cfar
from australis.boxes.signals.column import column
from australis.boxes.signals.segments import Segment, segment
from australis.boxes.signals.timebases import timebase
from australis.errors import AustralisError
from australis.model.train import Train
from australis.testing import Cut, cuts
from australis.testing.signals import signal
from tests.oracles.running import SINGLY, in_any_order, partitioned, run
from tests.oracles.signals import BASES, plain
from tests.oracles.tuples import Out, out

SCHEMA = "k int, score double, audio segment<int16>"
BOX = Cfar("score", ("k",), threshold=2.0, weight=0.9, startup=3, refractory=2, longest=24, padding=3)
BOXES = (BOX, *(replace(BOX, lock=lock) for lock in (1, 12, 24, 40)))


class Window(NamedTuple):
    """A window of a key's signal with its score, so many samples after the end of the one before."""

    key: int | None
    score: float | None
    size: int = 4
    ts: int = 0
    gap: int = 1
    base: int = 0


WINDOWS = st.lists(
    st.builds(
        Window,
        st.sampled_from([None, 1]),
        st.none() | st.sampled_from([1.0, 1.5, 2.0, 30.0, 30.0, 1e200, -1e200, math.inf, -math.inf, math.nan]),
        st.integers(0, 5), st.integers(0, 9), st.sampled_from([1, 1, 1, 1, 0, -2, -9, 20]),
        st.sampled_from([0, 0, 0, 0, 0, 0, 1, 2]),
    ),
    max_size=40,
)  # fmt: skip


def audio_of(windows: list[Window]) -> list[Segment]:
    at: dict[int | None, int] = {}
    audio = []
    for each in windows:
        start = at[each.key] + each.gap if each.key in at else 0
        audio.append(segment(np.zeros(each.size, np.int16), BASES[each.base], start))
        at[each.key] = start + each.size
    return audio


def train_of(windows: list[Window]) -> Train:
    return signal(
        SCHEMA, k=[each.key for each in windows], score=[each.score for each in windows], audio=audio_of(windows),
        ts=[each.ts for each in windows],
    )  # fmt: skip


def oracle(windows: list[Window], box: Cfar = BOX) -> tuple[list[Out], list[Out]]:
    """A window at a time. The windows of an event are kept, and those of the events that it follows at once."""
    keys: dict[int | None, dict[str, Any]] = {}
    made, late = [], []
    for number, ((key, score, size, ts, *_), audio) in enumerate(zip(windows, audio_of(windows), strict=True), 1):
        start, stop = audio.start, audio.stop
        state = keys.setdefault(
            key, {"mean": 0.0, "var": 0.0, "seen": 0, "event": [], "locked": [], "freed": 0, "before": None}
        )
        if score is None or math.isnan(score) or not size:
            continue
        before = state["before"]
        if before is not None and audio.time <= before.time:
            late.append(out([key, score, plain(audio)], ts, number))
            continue
        if before is None or audio.timebase != before.timebase:
            if state["event"]:
                made.append(event(key, state["event"], number))
            state["event"], state["locked"], state["freed"] = [], [], start
        state["before"] = audio
        above = state["seen"] >= 3 and score > state["mean"] + 2.0 * math.sqrt(state["var"])
        if above or state["event"]:
            state["locked"].append(start)
            if len(state["locked"]) > 1 and stop - state["locked"][0] > box.lock:
                state["event"], state["locked"], state["seen"] = [], [], 0
            else:
                state["seen"] += 1
                state["event"].append((start, stop, above, ts))
                quiet = 0
                for *_, each, _ in reversed(state["event"]):
                    if each:
                        break
                    quiet += 1
                if quiet == 2 or stop - state["event"][0][0] >= 24:
                    made.append(event(key, state["event"], number))
                    state["event"], state["freed"] = [], max(state["freed"], stop)
                if quiet == 2:
                    state["locked"] = []
                continue
        state["locked"] = []
        if abs(score) < 1e150:
            state["seen"] += 1
            share = 1.0 if state["seen"] == 1 else max(1.0 - 0.9, 1.0 / state["seen"])
            away = 0.0 if state["seen"] == 1 else score - state["mean"]
            state["mean"] = score if state["seen"] == 1 else state["mean"] + share * away
            state["var"] = (1.0 - share) * (state["var"] + share * away * away)
        if start - 3 - state["freed"] >= 24:
            made.append(out([key, state["freed"], start - 4, False], ts, number))
            state["freed"] = start - 3
    for key, state in keys.items():
        if state["event"]:
            made.append(event(key, state["event"], len(windows)))
    return made, late


def event(key: int | None, windows: list[tuple[int, int, bool, int]], number: int) -> Out:
    return out([key, windows[0][0] - 3, windows[-1][1] + 2, True], min(ts for *_, ts in windows), number)


LOUD = [Window(1, 1.0)] * 4 + [Window(1, 30.0)] * 30
AGAIN = Window(1, 30.0, gap=-4)
FASTER = Window(1, 30.0, 30, gap=90, base=2)


@given(WINDOWS, st.just(SINGLY) | cuts(), st.booleans(), st.sampled_from(BOXES))
@example([Window(1, math.nan), Window(1, math.inf), *LOUD], SINGLY, True, BOX)
@example([*LOUD[:6], AGAIN, *LOUD], SINGLY, True, BOX)
@example([*LOUD[:6], FASTER], Cut((6,)), False, BOX)  # a row that tells two ranges
@example(LOUD, SINGLY, True, BOXES[1])
@example(LOUD, SINGLY, True, BOXES[4])
def test_it_agrees_with_its_oracle_however_the_stream_is_cut(
    windows: list[Window], cut: Cut, restart: bool, box: Cfar
) -> None:
    assert run(box, [train_of(windows)], cut, restart=restart) == oracle(windows, box)


@given(WINDOWS, st.integers(1, 3), st.sampled_from(BOXES))
def test_partitions_by_the_key_change_nothing(windows: list[Window], partitions: int, box: Cfar) -> None:
    whole = train_of(windows)
    assert partitioned(box, [whole], partitions) == tuple(map(in_any_order, run(box, [whole])))


def kept(scores: list[float], box: Cfar) -> list[tuple[int, int]]:
    """The events among windows of 32 samples, a hundred a second."""
    made = [segment(np.zeros(32, np.int16), timebase(12_800), 128 * at) for at in range(len(scores))]
    found, late = run(box, [signal("score double, audio segment<int16>", score=scores, audio=made)])
    assert late == []
    return [(start, end) for ((start, end, keep), *_) in found if keep]


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf, 1e200, -1e200])
@pytest.mark.parametrize("at", [0, 5, 299, 400])
def test_what_is_no_finite_score_does_not_spoil_the_estimate(odd: float, at: int) -> None:
    scores = np.random.default_rng(1).normal(10, 1, 1000)
    scores[700:705] = 100.0
    box = Cfar("score", longest=1 << 20, padding=0)
    events = kept(scores.tolist(), box)
    assert len(events) == 1
    scores[at] = odd
    found = kept(scores.tolist(), box)
    assert found[-1] == events[0]
    assert len(found) == (2 if at == 400 and odd > 0 else 1)


def test_noise_that_stays_loud_is_no_event_but_the_noise() -> None:
    """A call is found before it, and one that is louder than it after it."""
    random = np.random.default_rng(1)
    quiet, loud = (np.abs(random.normal(0, scale, 12_000)) for scale in (1, 20))
    quiet[10_000:10_100], loud[10_000:10_100] = 50.0, 1000.0
    scores = np.concatenate([quiet, loud]).tolist()
    box = Cfar("score")
    assert [start // 128 + 18 for start, _ in kept(scores, box)] == [9_999, 21_999]
    often = kept(scores, replace(box, lock=1 << 40))
    assert len(often) > 25


@pytest.mark.parametrize("chunk", [1, 7, 200])
def test_a_second_site_is_late_and_leaves_the_noise_of_the_first_alone(chunk: int) -> None:
    """Windows of two sites in turn, of which one is 50 times as loud, and no `by`."""
    scored = au.stream("scored", "site int, score double, audio segment<int16>")
    ranges = scored.signal.cfar("score", threshold=8, startup=10, refractory=2, padding=0, box="events")
    random = np.random.default_rng(1)
    scores = random.normal(1, 0.1, 100), random.normal(50, 5, 100)
    scores[0][60:62] = 9.0
    windows = [segment(np.zeros(8), timebase(8), 8 * at, dtype="int16") for at in range(100)]
    one = {"site": [0] * 100, "score": scores[0], "audio": column(windows, "int16")}
    two = {
        "site": [0, 1] * 100, "score": np.stack(scores, axis=1).ravel(),
        "audio": column([each for each in windows for _ in range(2)], "int16"),
    }  # fmt: skip
    net = au.network(events=ranges.filter("keep"), late=ranges.late)
    alone = net.run_local(scored=one)
    assert alone["events"].to_pylist() == [{"start": 480, "end": 511, "keep": True}]
    assert (alone.late, alone["late"].num_rows) == ({}, 0)
    mixed = pa.RecordBatch.from_arrays([pa.array(each) for each in two.values()], schema=scored.schema)
    found = net.run_local(scored=[mixed.slice(at, chunk) for at in range(0, len(mixed), chunk)])
    assert found["events"] == alone["events"]
    assert found.late == {"events": 100}
    assert found["late"].to_pylist() == mixed.take(pa.array(range(1, 200, 2))).to_pylist()
    (told,) = au.network(events=ranges).run_local(scored=two).losses()
    assert told.startswith("100 tuples were late at box `events`")


@pytest.mark.parametrize(
    ("box", "message"),
    [
        (Cfar("scor"), "`scor`.*did you mean `score`"),
        (Cfar("audio"), "no number"),
        (Cfar("score", weight=1.0), "between 0 and 1"),
        (Cfar("score", threshold=math.nan), "finite threshold"),
        (Cfar("score", lock=0), "lock.* at least 1"),
        (Cfar("score", ("key",)), "`key` is no column"),
    ],
)
def test_what_does_not_fit_is_refused(box: Cfar, message: str) -> None:
    with pytest.raises(AustralisError, match=message):
        box.outputs(schema(SCHEMA))
