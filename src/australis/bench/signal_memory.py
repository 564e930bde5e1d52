"""XStream's figure 6: what holding a signal costs, by appending to it, as more and more of it is held."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import australis as au
from australis.bench.applications import APPLICATIONS, SOUNDS
from australis.boxes.signals.column import column
from australis.boxes.signals.segments import Samples, Segment, segment
from australis.boxes.signals.timebases import timebase

TITLE = "Figure 6: million samples a second"
_SEGMENT = 512
_CHANNELS = 4
_EVENT = 10_000
_BASE = timebase(48_000)
Append = Callable[[Segment, Segment], Segment]


def _copied(left: Segment, right: Segment) -> Segment:
    return segment(_sealed(np.concatenate([left.contiguous(), right.contiguous()])), _BASE, left.start)


def _copied_always(left: Segment, right: Segment) -> Segment:
    """The parts are passed on as copies too, to the box that appends and to the one that cuts."""
    return segment(_sealed(_copied(left, _anew(right)).contiguous().copy()), _BASE, left.start)


def _anew(each: Segment) -> Segment:
    return segment(_sealed(each.contiguous().copy()), _BASE, each.start)


def _sealed(samples: Samples) -> Samples:
    """An array that a segment may share: nobody changes it any more."""
    samples.flags.writeable = False
    return samples


MANAGERS: dict[str, Append] = {
    "RefCount-Lazy": Segment.append,
    "RefCount-Copy": _copied,
    "CopyAlways": _copied_always,
}
"""As the paper names them; the first is ours."""


def main(quick: bool = False) -> dict[str, dict[str, Any]]:
    """Million samples a second by the size of batches in KB a channel, and nanoseconds an append by those before it."""
    sizes = (16, 64) if quick else (16, 64, 256, 1024, 4096)
    total = 1 << 16 if quick else 1 << 21
    rows = [
        (size, *(held(append, 512 * size, total) for append in MANAGERS.values()), boxes(512 * size, total))
        for size in sizes
    ]
    counts = (100, 1_000) if quick else (100, 1_000, 10_000, 100_000)
    each = [(many, appending(many)) for many in counts]
    return {
        "batches": {"columns": ["KB a batch", *MANAGERS, "DETECTAUDIO in one process"], "rows": rows},
        "appends": {"columns": ["appends before", "ns an append"], "rows": each},
    }


def held(append: Append, batch: int, total: int) -> float:
    """Batches of so many samples of each channel are held, an event is cut out of each, and the rest is freed."""
    sound = SOUNDS["detectaudio"].frames(0, batch)
    channels = [_cut(sound[:, channel].copy()) for channel in range(_CHANNELS)]
    turns = max(1, total // batch)
    start = time.perf_counter()
    for _ in range(turns):
        for parts in channels:
            whole = parts[0]
            for part in parts[1:]:
                whole = append(whole, part)
            middle = len(whole) // 2
            whole.subseg(middle, min(_EVENT, len(whole) - middle)).contiguous()
    return turns * batch * _CHANNELS / (time.perf_counter() - start) / 1e6


def boxes(batch: int, total: int) -> float:
    """The application itself, in batches of so many samples of each channel."""
    net = APPLICATIONS["detectaudio"]()
    turns = max(2, total // batch)
    sound = SOUNDS["detectaudio"].frames(0, batch)
    run, spent = au.Local(net), 0.0
    for turn in range(turns):
        parts = [_cut(np.ascontiguousarray(sound[:, channel]), 1 << 16, turn * batch) for channel in range(_CHANNELS)]
        columns = {name: column(its, "int16") for name, its in zip(net.inputs[0].schema.names[1:], parts, strict=True)}
        given = {"site": np.zeros(len(parts[0]), np.int32), **columns}
        start = time.perf_counter()
        run.push(array=given)
        spent += time.perf_counter() - start if turn else 0.0
    return (turns - 1) * batch * _CHANNELS / spent / 1e6


def appending(many: int) -> float:
    """Nanoseconds that one more append takes after so many: the mean of a tenth more, the best of three."""
    more = max(100, many // 10)
    parts = [segment(np.zeros(_SEGMENT, np.int16), _BASE, at * _SEGMENT) for at in range(many + more)]
    best = float("inf")
    for _ in range(3):
        whole = parts[0]
        for part in parts[1:many]:
            whole = whole.append(part)
        start = time.perf_counter()
        for part in parts[many:]:
            whole = whole.append(part)
        best = min(best, (time.perf_counter() - start) / more * 1e9)
    return best


def _cut(samples: Samples, size: int = _SEGMENT, start: int = 0) -> list[Segment]:
    shared = _sealed(samples.copy())
    return [segment(shared[at : at + size], _BASE, start + at) for at in range(0, len(shared), size)]
