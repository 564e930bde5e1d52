"""CFAR: ranges that stand out of the noise (XStream II-A)."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
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
Window = tuple[int | None, float | None, int, int]
"""A key, a score, how many samples, and a `ts`."""
WINDOWS = st.lists(
    st.tuples(
        st.sampled_from([None, 1]), st.none() | st.sampled_from([1.0, 1.5, 2.0, 30.0]), st.integers(0, 5),
        st.integers(0, 9),
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


def oracle(windows: list[Window]) -> list[Out]:
    keys: dict[int | None, dict[str, Any]] = {}
    at: dict[int | None, int] = {}
    made = []
    for number, (key, score, size, ts) in enumerate(windows, 1):
        start, stop = at.get(key, 0), at.get(key, 0) + size
        at[key] = stop + 1
        if score is None or not size:
            continue
        state = keys.setdefault(key, {"scores": [], "mean": 0.0, "var": 0.0, "seen": 0, "event": [], "freed": start})
        above = state["seen"] >= 3 and score > state["mean"] + 2.0 * math.sqrt(state["var"])
        state["seen"] += 1
        if above or state["event"]:
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
            continue
        share = 1.0 if state["seen"] == 1 else max(1.0 - 0.9, 1.0 / state["seen"])
        away = score - state["mean"]
        state["mean"] += share * away
        state["var"] = 0.0 if state["seen"] == 1 else (1.0 - share) * (state["var"] + share * away * away)
        if start - 3 - state["freed"] >= 24:
            made.append(out([key, state["freed"], start - 4, False], ts, number))
            state["freed"] = start - 3
    for key, state in keys.items():
        if state["event"]:
            oldest = min(each[3] for each in state["event"])
            made.append(out([key, state["event"][0][0] - 3, state["event"][-1][1] + 2, True], oldest, len(windows)))
    return made


@given(WINDOWS, st.just(SINGLY) | cuts(), st.booleans())
def test_it_agrees_with_its_oracle_however_the_stream_is_cut(windows: list[Window], cut: Cut, restart: bool) -> None:
    assert run(BOX, [train_of(windows)], cut, restart=restart) == (oracle(windows),)


@given(WINDOWS, st.integers(1, 3))
def test_partitions_by_the_key_change_nothing(windows: list[Window], partitions: int) -> None:
    whole = train_of(windows)
    assert partitioned(BOX, [whole], partitions) == (in_any_order(run(BOX, [whole])[0]),)


@pytest.mark.parametrize(
    ("box", "message"),
    [
        (Cfar("scor"), "`scor`.*did you mean `score`"),
        (Cfar("audio"), "no number"),
        (Cfar("score", weight=1.0), "between 0 and 1"),
        (Cfar("score", ("key",)), "`key` is no column"),
    ],
)
def test_what_does_not_fit_is_refused(box: Cfar, message: str) -> None:
    with pytest.raises(AustralisError, match=message):
        box.outputs(schema(SCHEMA))
