"""XStream's figure 6: the cost of appending to a signal, as more and more of it is held."""

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


def _append_copy(left: Segment, right: Segment) -> Segment:
    return segment(_seal(np.concatenate([left.contiguous(), right.contiguous()])), _BASE, left.start)


def _append_copies(left: Segment, right: Segment) -> Segment:
    """Append, and copy the parts too: for the box that appends and for the one that cuts."""
    return segment(_seal(_append_copy(left, _copy(right)).contiguous().copy()), _BASE, left.start)


def _copy(each: Segment) -> Segment:
    return segment(_seal(each.contiguous().copy()), _BASE, each.start)


def _seal(samples: Samples) -> Samples:
    """Make an array read-only, so that segments may share it."""
    samples.flags.writeable = False
    return samples


MANAGERS: dict[str, Append] = {
    "RefCount-Lazy": Segment.append,
    "RefCount-Copy": _append_copy,
    "CopyAlways": _append_copies,
}
"""The ways to append, by their names in the paper; the first is ours."""


def main(quick: bool = False) -> dict[str, dict[str, Any]]:
    """Million samples a second by the size of batches in KB a channel, and nanoseconds of an append by earlier ones."""
    sizes = (16, 64) if quick else (16, 64, 256, 1024, 4096)
    total = 1 << 16 if quick else 1 << 21
    rows = [
        (size, *(hold(append, 512 * size, total) for append in MANAGERS.values()), boxes(512 * size, total))
        for size in sizes
    ]
    counts = (100, 1_000) if quick else (100, 1_000, 10_000, 100_000)
    each = [(many, appending(many)) for many in counts]
    return {
        "batches": {"columns": ["KB a batch", *MANAGERS, "DETECTAUDIO in one process"], "rows": rows},
        "appends": {"columns": ["appends before", "ns an append"], "rows": each},
    }


def hold(append: Append, batch: int, total: int) -> float:
    """Hold batches of samples of each channel, cut an event out of each, and free the rest."""
    sound = SOUNDS["detectaudio"].frames(0, batch)
    channels = [_split(sound[:, channel].copy()) for channel in range(_CHANNELS)]
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
    """Run the application itself, in batches of samples of each channel."""
    net = APPLICATIONS["detectaudio"]()
    turns = max(2, total // batch)
    sound = SOUNDS["detectaudio"].frames(0, batch)
    run, spent = au.Local(net), 0.0
    for turn in range(turns):
        parts = [_split(np.ascontiguousarray(sound[:, channel]), 1 << 16, turn * batch) for channel in range(_CHANNELS)]
        columns = {
            name: column(segments, "int16")
            for name, segments in zip(net.inputs[0].schema.names[1:], parts, strict=True)
        }
        tuples = {"site": np.zeros(len(parts[0]), np.int32), **columns}
        start = time.perf_counter()
        run.push(array=tuples)
        spent += time.perf_counter() - start if turn else 0.0
    return (turns - 1) * batch * _CHANNELS / spent / 1e6


def appending(many: int) -> float:
    """Nanoseconds of one more append after `many`: the mean over a tenth more, the best of three."""
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


def _split(samples: Samples, size: int = _SEGMENT, start: int = 0) -> list[Segment]:
    shared = _seal(samples.copy())
    return [segment(shared[at : at + size], _BASE, start + at) for at in range(0, len(shared), size)]
