"""The arithmetic of XStream's applications alone, on mapped files, with a thread for each file."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from australis.boxes.signals.cfar import Cfar, CfarState, ScoredWindows, detect
from australis.boxes.signals.column import Segments
from australis.boxes.signals.measures import MEASURES
from australis.boxes.signals.segments import Samples as Array
from australis.boxes.signals.sequence import Bases, SegmentRows
from australis.boxes.signals.steps import STEPS
from australis.boxes.signals.wavelet import Wavelet
from australis.connectors.sources.samples import Samples

_CHUNK = 1 << 22


def bare(name: str, source: Samples) -> float:
    """Run the kernel of an application, and return million samples a second."""
    size, kernel = KERNELS[name]
    channels = len(source.schema) - 1

    def through(path: str) -> int:
        frames = np.memmap(path, np.int16, "r").reshape(-1, channels)
        for _ in range(source.times):
            for begin in range(0, len(frames), _CHUNK):
                one = np.ascontiguousarray(frames[begin : begin + _CHUNK, 0])
                kernel(windows(one, size))
        return frames.size * source.times

    start = time.perf_counter()
    with ThreadPoolExecutor(len(source.paths)) as threads:
        count = sum(threads.map(through, source.paths))
    return count / (time.perf_counter() - start) / 1e6


def windows(samples: Array, size: int) -> Segments:
    """Samples in consecutive windows."""
    count = len(samples) // size
    one, offsets = np.ones(count, np.int64), np.arange(count, dtype=np.int32) * size
    return Segments(samples, offsets, np.full(count, size, np.int32), offsets.astype(np.int64), one, one, 0 * one)


def scores(samples: Array, size: int = 32, step: int = 128) -> Array:
    """The score of each window in DETECTAUDIO: two bins of its spectrum."""
    count = (len(samples) - size) // step + 1
    width = samples.strides[0]
    block = np.lib.stride_tricks.as_strided(samples, (count, size), (step * width, width), writeable=False)
    for name in ("hann", "fft"):
        block = STEPS[name].apply(block)
    return np.asarray(np.abs(block[:, 3:5]).sum(axis=1, dtype=np.float64))


class Noise:
    """The state of CFAR for one signal."""

    def __init__(self) -> None:
        self.box = Cfar("score")
        zeros: Any = [np.zeros(1, np.int64) for _ in range(11)]
        floats = np.zeros((2, 1))
        self.state = CfarState(zeros[0], Bases(*zeros[1:4]), *zeros[4:], *floats)

    def ranges(self, score: Array, start: Array, size: int = 32) -> list[tuple[int, int]]:
        """The ranges to keep that are complete after some windows."""
        none, sizes = np.zeros(len(score), np.int64), np.full(len(score), size, np.int32)
        use, late = np.ones(len(score), np.bool_), np.zeros(len(score), np.bool_)
        rows = SegmentRows(start, sizes, Bases(none + 1, none + 1, none))
        ranges = detect(self.box, none, ScoredWindows(score, use, rows, start + size, none), self.state, late)
        first, last = ranges.start[ranges.keep], ranges.end[ranges.keep]
        return list(zip(np.maximum(first, 0).tolist(), last.tolist(), strict=True))

    def rest(self) -> list[tuple[int, int]]:
        """The range that is open at the end."""
        left, begin, stop = (int(each[0]) for each in (self.state.left, self.state.begin, self.state.stop))
        return [(max(begin - self.box.padding, 0), stop - 1 + self.box.padding)] if left > 0 else []


def _largest(segments: Segments) -> None:
    MEASURES["max"].of(segments)


def _spread(segments: Segments) -> None:
    MEASURES["std"].of(segments)


def _events(segments: Segments) -> None:
    Noise().ranges(scores(segments.samples), segments.start)


def _leaks(segments: Segments) -> None:
    wavelet, rest = Wavelet(4), segments
    for _ in range(4):
        rest, detail = wavelet._halved(rest)
    for turn in (1, 4):
        MEASURES["extreme"].of(detail, turn)


KERNELS: dict[str, tuple[int, Callable[[Segments], None]]] = {
    "passchain": (1 << 16, _largest),
    "statfilter": (4096, _spread),
    "silencefilter": (4096, _spread),
    "detectaudio": (128, _events),
    "pipeline": (8192, _leaks),
}
"""The kernel of each application, and the size of its windows of the first channel."""
