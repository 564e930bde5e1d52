"""Signals as the oracles see them: one sample at a time."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from australis.boxes.signals.segments import Segment, segment
from australis.boxes.signals.timebases import timebase
from australis.model.train import Train
from australis.testing.signals import signal
from tests.oracles.tuples import Out, out

BASES = (timebase(8), timebase(8, "1/3"), timebase("30/7"))
SCHEMA = "k int, audio segment<int16>"


class Came(NamedTuple):
    """One segment of a key's signal."""

    key: int | None
    audio: Segment | None
    ts: int
    number: int


class Sample(NamedTuple):
    """One sample that is new, with what it came with; `run` tells runs without a gap apart."""

    index: int
    value: Any
    base: Any
    run: int
    ts: int
    number: int


def plain(given: Segment | None) -> dict[str, Any] | None:
    """A segment as Arrow shows it."""
    if given is None:
        return None
    base = given.timebase
    return {"start": given.start, "rate": base.rate, "per": base.per, "phase": base.phase,
            "samples": np.asarray(given).tolist()}  # fmt: skip


def joined(samples: list[Sample], dtype: str = "int16") -> Segment:
    """Samples of one run as a segment."""
    return segment([each.value for each in samples], samples[0].base, samples[0].index, dtype=dtype)


def news(stream: Iterable[Came]) -> dict[int | None, list[Sample]]:
    """For each key its samples as they come: those before the next index again are none, a gap begins another run."""
    return _told_apart(stream)[0]


def late(stream: Iterable[Came]) -> list[Came]:
    """Those that are out of order: no later than the one before, with nothing new, or back in time at another rate."""
    return _told_apart(stream)[1]


def _told_apart(stream: Iterable[Came]) -> tuple[dict[int | None, list[Sample]], list[Came]]:
    found: dict[int | None, list[Sample]] = {}
    begun: dict[int | None, int] = {}
    back = []
    for came in stream:
        key, audio, ts, number = came
        mine = found.setdefault(key, [])
        if audio is None or not len(audio):
            continue
        last = mine[-1] if mine else None
        same = last is not None and last.base == audio.timebase
        if last is not None and (
            (audio.start <= begun[key] or audio.stop <= last.index + 1) if same else audio.time <= times(last)
        ):
            back.append(came)
            continue
        begun[key] = audio.start
        going = last is not None and same and audio.start <= last.index + 1
        run = 0 if last is None else last.run if going else last.run + 1
        for place, value in enumerate(np.asarray(audio).tolist()):
            index = audio.start + place
            if not going or last is None or index > last.index:
                mine.append(Sample(index, value, audio.timebase, run, ts, number))
    return found, back


def outs(stream: Iterable[Came]) -> list[Out]:
    """Tuples as they came."""
    return [out([each.key, plain(each.audio)], each.ts, each.number) for each in stream]


def in_runs(samples: list[Sample]) -> list[list[Sample]]:
    runs: dict[int, list[Sample]] = {}
    for each in samples:
        runs.setdefault(each.run, []).append(each)
    return list(runs.values())


def times(each: Sample) -> Fraction:
    return each.base.time(each.index)


def train_of(stream: list[Came], schema: str = SCHEMA) -> Train:
    return signal(
        schema, k=[each.key for each in stream], audio=[each.audio for each in stream],
        ts=[each.ts for each in stream], number=[each.number for each in stream],
    )  # fmt: skip


@st.composite
def signals(
    draw: st.DrawFn, *, most: int = 12, keys: int = 2, gaps: bool = True, bases: int = 2, size: int = 9,
    nulls: bool = True, steps: tuple[int, ...] = (0, 1, 1, 2),
) -> list[Came]:  # fmt: skip
    """Streams of segments of a few keys: most go on; some overlap, leave a gap, are empty or null, or change base."""
    next_: dict[int | None, int] = {}
    base: dict[int | None, int] = {}
    made, number, value = [], 1, draw(st.integers(0, 50))
    for _ in range(draw(st.integers(0, most))):
        key = draw(st.sampled_from([None, *range(1, keys)])) if keys > 1 else None
        jump = draw(st.sampled_from([0, 0, 0, 0, 2, -2, -9])) if gaps else 0
        start = next_.get(key, draw(st.integers(-3, 3))) + jump
        length = draw(st.integers(0, size))
        base.setdefault(key, 0)
        if gaps and draw(st.integers(0, 9)) == 0:
            base[key] = draw(st.integers(0, bases - 1))
        number += draw(st.sampled_from(steps))
        samples = [(value * 7 + index * 13) % 101 - 50 for index in range(start, start + length)]
        audio = segment(samples, BASES[base[key]], start, dtype="int16")
        absent = nulls and draw(st.integers(0, 9)) == 0
        made.append(Came(key, None if absent else audio, draw(st.integers(0, 12)), number))
        if not absent:
            next_[key] = start + length
        value += 1
    return made


def extremes(samples: list[float], turns: int) -> list[float]:
    """The least sample, the largest from there on, the least from there on, and so forth; NaN where one is."""
    if any(each != each for each in samples):
        return [float("nan")] * turns
    rest, found = samples, []
    for turn in range(turns):
        best = (max if turn % 2 else min)(rest)
        rest = rest[rest.index(best) :]
        found.append(best)
    return found


def leaks(samples: list[int], size: int = 8192, overlap: int = 500, ratio: float = 0.32) -> list[tuple[int, float]]:
    """What XStream's authors call a leak, window by window: where it starts, and the last extreme beside the first.

    The details of the fourth level are half the differences of what three levels of averages leave, times four, which
    is the root of two to the fourth: the same as steps that divide by the root of two. Of these the least, the largest
    after it, the least after that and the largest after that are found; the oscillation has died down in that time if
    there is a leak.
    """
    found = []
    for start in range(0, len(samples) - size + 1, size - overlap):
        rest: list[float] = [float(each) for each in samples[start : start + size]]
        for _ in range(3):
            rest = [(left + right) / 2 for left, right in zip(rest[::2], rest[1::2], strict=True)]
        details = [4 * (left - right) / 2 for left, right in zip(rest[::2], rest[1::2], strict=True)]
        first, _, _, last = extremes(details, 4)
        if first and abs(last / first) < ratio:
            found.append((start, last / first))
    return found
