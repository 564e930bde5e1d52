"""CFAR: ranges that stand out of the noise (XStream II-A)."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from australis.errors import AustralisError
from australis.schema import schema
from australis.signals.cfar import Cfar
from australis.signals.segment import segment
from australis.signals.testing import signal
from australis.signals.timebase import timebase
from australis.testing import Cut, cuts
from australis.train import Train
from tests.oracles.running import SINGLY, in_any_order, partitioned, run
from tests.oracles.tuples import Out, out

SCHEMA = "k int, score double, audio segment<int16>"
BOX = Cfar("score", ("k",), threshold=2.0, weight=0.9, startup=3, refractory=2, longest=24, padding=3)
BOXES = (BOX, *(replace(BOX, lock=lock) for lock in (1, 12, 24, 40)))
Window = tuple[int | None, float | None, int, int]
"""A key, a score, how many samples, and a `ts`."""
WINDOWS = st.lists(
    st.tuples(
        st.sampled_from([None, 1]),
        st.none() | st.sampled_from([1.0, 1.5, 2.0, 30.0, 30.0, 1e200, -1e200, math.inf, -math.inf, math.nan]),
        st.integers(0, 5), st.integers(0, 9),
    ),
    max_size=40,
)  # fmt: skip


def train_of(windows: list[Window]) -> Train:
    at: dict[int | None, int] = {}
    audio = []
    for key, _, size, _ in windows:
        audio.append(segment(np.zeros(size, np.int16), timebase(8), at.get(key, 0)))
        at[key] = at.get(key, 0) + size + 1
    return signal(
        SCHEMA, k=[key for key, *_ in windows], score=[score for _, score, *_ in windows], audio=audio,
        ts=[ts for *_, ts in windows],
    )  # fmt: skip


def oracle(windows: list[Window], box: Cfar = BOX) -> list[Out]:
    """A window at a time. The windows of an event are kept, and those of the events that it follows at once."""
    keys: dict[int | None, dict[str, Any]] = {}
    at: dict[int | None, int] = {}
    made = []
    for number, (key, score, size, ts) in enumerate(windows, 1):
        start, stop = at.get(key, 0), at.get(key, 0) + size
        at[key] = stop + 1
        if score is None or math.isnan(score) or not size:
            continue
        state = keys.setdefault(key, {"mean": 0.0, "var": 0.0, "seen": 0, "event": [], "locked": [], "freed": start})
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
                    oldest = min(each[3] for each in state["event"])
                    made.append(out([key, state["event"][0][0] - 3, stop - 1 + 3, True], oldest, number))
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
            oldest = min(each[3] for each in state["event"])
            made.append(out([key, state["event"][0][0] - 3, state["event"][-1][1] + 2, True], oldest, len(windows)))
    return made


LOUD: list[Window] = [(1, 1.0, 4, 0)] * 4 + [(1, 30.0, 4, 0)] * 30


@given(WINDOWS, st.just(SINGLY) | cuts(), st.booleans(), st.sampled_from(BOXES))
@example([(1, math.nan, 4, 0), (1, math.inf, 4, 0), *LOUD], SINGLY, True, BOX)
@example(LOUD, SINGLY, True, BOXES[1])
@example(LOUD, SINGLY, True, BOXES[4])
def test_it_agrees_with_its_oracle_however_the_stream_is_cut(
    windows: list[Window], cut: Cut, restart: bool, box: Cfar
) -> None:
    assert run(box, [train_of(windows)], cut, restart=restart) == (oracle(windows, box),)


@given(WINDOWS, st.integers(1, 3), st.sampled_from(BOXES))
def test_partitions_by_the_key_change_nothing(windows: list[Window], partitions: int, box: Cfar) -> None:
    whole = train_of(windows)
    assert partitioned(box, [whole], partitions) == (in_any_order(run(box, [whole])[0]),)


def kept(scores: list[float], box: Cfar) -> list[tuple[int, int]]:
    """The events among windows of 32 samples, a hundred a second."""
    made = [segment(np.zeros(32, np.int16), timebase(12_800), 128 * at) for at in range(len(scores))]
    (found,) = run(box, [signal("score double, audio segment<int16>", score=scores, audio=made)])
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
