"""XStream's figure 8: the same search in samples as tuples, in windows with a time for each sample, and in segments.

The forms are written here for the comparison, on the same kernels and without an engine. Samples as tuples go through
plain Python, a tuple at a time, to show only the order of magnitude. The networks run in this process, with all that
the engine does. All find the same.
"""

from __future__ import annotations

import statistics
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

import australis as au
from australis.api.network import Network
from australis.bench.applications import ARRAY, SOUNDS, detectaudio, pipeline
from australis.bench.signal_kernels import Noise, scores
from australis.boxes.signals.column import column
from australis.boxes.signals.measures import _alternate
from australis.boxes.signals.segments import Samples, segment
from australis.boxes.signals.timebases import timebase
from australis.boxes.signals.wavelet import _haar

TITLE = "Figure 8: million samples a second in one process"
_SIZE, _OVERLAP, _RATIO = 8192, 500, 0.32
_STEP = _SIZE - _OVERLAP
_WINDOWS = 128
"""How many windows are computed at once."""
_CHUNK = 1 << 20
_ROOT = float(np.sqrt(0.5))
Form = Callable[[Any], int]
Pair = tuple[int, float]


def main(quick: bool = False) -> dict[str, dict[str, Any]]:
    """Rows of forms, with speed and number of results, for both applications."""
    many, few = (1 << 18, 1 << 15) if quick else (1 << 23, 1 << 18)
    pipes = SOUNDS["pipeline"].frames(0, many)[:, 0].copy()
    calls = SOUNDS["detectaudio"].frames(0, many)
    return {
        "PIPELINE": _measure(PIPELINE, pipes, few),
        "DETECTAUDIO": _measure(DETECTAUDIO, calls, few),
    }


def _measure(forms: dict[str, Form], sound: Samples, few: int) -> dict[str, Any]:
    """Medians of three turns; one turn of few samples if they are tuples."""
    rows: list[tuple[str, float, int]] = []
    for name, form in forms.items():
        some = sound[:few] if name.startswith("SAMPLES") else sound
        data = prepare(name, some)
        turns = []
        for _ in range(1 if name.startswith("SAMPLES") else 3):
            start = time.perf_counter()
            count = form(data)
            turns.append(some.size / (time.perf_counter() - start) / 1e6)
        rows.append((name, statistics.median(turns), count))
    return {"columns": ["form", "M samples/s", "found"], "rows": rows}


def prepare(name: str, sound: Samples) -> Any:
    """A sound as a form takes it."""
    if name.startswith("network"):
        return _trains(sound)
    return _pair_with_times(sound) if name.startswith("WINDOWS") else np.asfortranarray(sound)


def _pair_with_times(sound: Samples) -> Samples:
    """Each sample with its time, one beside the other; several channels as columns."""
    pairs = np.empty(sound.shape, [("time", np.int64), ("value", np.int16)])
    pairs["value"] = sound
    pairs["time"] = np.arange(len(sound)).reshape(-1, *[1] * (sound.ndim - 1))
    return np.asfortranarray(pairs)


def _trains(sound: Samples) -> list[dict[str, Any]]:
    """A sound as trains of segments, a column a channel."""
    frames, base = sound.reshape(len(sound), -1), timebase(48_000)
    names = ("audio",) if frames.shape[1] == 1 else ("one", "two", "three", "four")
    return [
        {"site": [0]}
        | {
            name: column([segment(np.ascontiguousarray(samples), base, begin)], "int16")
            for name, samples in zip(names, frames[begin : begin + _CHUNK].T, strict=True)
        }
        for begin in range(0, len(frames), _CHUNK)
    ]


def _run_network(network: Network, trains: list[dict[str, Any]]) -> int:
    """The number of results of a network."""
    run, (input_,) = au.Local(network), network.inputs
    results = [*(run.push({input_.name: train}) for train in trains), run.end()]
    return sum(table.num_rows for tables in results for table in tables.values())


def _find_leaks(sound: Samples, copied: bool = False) -> int:
    """PIPELINE on a sound, or on pairs. The values of pairs are `copied` out and back, or read with a stride."""
    leaks = 0
    begins = np.arange(0, len(sound) - _SIZE + 1, _STEP)
    for at in range(0, len(begins), _WINDOWS):
        some = begins[at : at + _WINDOWS]
        rest = sound[some[0] : some[-1] + _SIZE]
        offsets = (some - some[0]).astype(np.int32)
        size = _SIZE
        for _ in range(4):
            rest, rough = _halve(rest, offsets, size, copied)
            size //= 2
            offsets = np.arange(len(offsets), dtype=np.int32) * size
        first, last = (np.empty(len(offsets)) for _ in range(2))
        for turn, out in ((1, first), (4, last)):
            _alternate(_values(rough, copied), offsets, np.full(len(offsets), size, np.int32), turn, out)
        heard = first != 0
        leaks += int(np.count_nonzero(np.abs(last[heard] / first[heard]) < _RATIO))
    return leaks


def _values(samples: Samples, copied: bool) -> Samples:
    if samples.dtype.names is None:
        return samples
    return np.ascontiguousarray(samples["value"]) if copied else samples["value"]


def _halve(rest: Samples, offsets: Any, size: int, copied: bool) -> tuple[Samples, Samples]:
    paired = rest.dtype.names is not None
    kind: Any = [("time", np.int64), ("value", np.float32)] if paired else np.float32
    smooth, rough = (np.empty(len(offsets) * size // 2, kind) for _ in range(2))
    targets = [np.empty(len(each), np.float32) if copied else _values(each, False) for each in (smooth, rough)]
    places = np.arange(len(offsets), dtype=np.int32) * (size // 2)
    sizes = np.full(len(offsets), size, np.int32)
    _haar(_values(rest, copied), offsets, sizes, places, np.float32(_ROOT), *targets)
    if paired:
        step = int(offsets[1]) if len(offsets) > 1 else size
        every = (step * rest.itemsize, 2 * rest.itemsize)
        stamps = np.lib.stride_tricks.as_strided(rest["time"], (len(offsets), size // 2), every)
        for each, target in zip((smooth, rough), targets, strict=True):
            each["time"].reshape(stamps.shape)[:] = stamps
            if copied:
                each["value"] = target
    return smooth, rough


def _ranges(channel: Samples) -> list[tuple[int, int]]:
    """The detector of DETECTAUDIO on one channel. The values of pairs are copied out for the transform."""
    noise, ranges = Noise(), []
    for begin in range(0, len(channel), _CHUNK):
        some = channel[begin : begin + _CHUNK]
        score = scores(_values(some, copied=True))
        ranges += noise.ranges(score, begin + 128 * np.arange(len(score)))
    return ranges + noise.rest()


def _cut_ranges(sound: Samples) -> int:
    """DETECTAUDIO with its ranges cut out of all channels."""
    events = 0
    for first, last in _ranges(sound[:, 0]):
        cut = [sound[first : last + 1, channel].copy() for channel in range(sound.shape[1])]
        events += bool(len(cut[0]))
    return events


def _join_ranges(pairs: Samples) -> int:
    """DETECTAUDIO with every sample of all channels joined by its time with the times of events, by Arrow's hash join.

    It runs after all ranges are known, and so needs no tables as a join of streams would.
    """
    ranges = _ranges(pairs[:, 0])
    events = set()
    event_times = np.concatenate([np.empty(0, np.int64), *(np.arange(first, last + 1) for first, last in ranges)])
    which = np.repeat(np.arange(len(ranges)), [last + 1 - first for first, last in ranges])
    for begin in range(0, len(pairs), _CHUNK):
        some = pairs[begin : begin + _CHUNK]
        in_chunk = (event_times >= begin) & (event_times < begin + len(some))
        right = pa.table({"time": event_times[in_chunk], "event": which[in_chunk]})
        for channel in range(pairs.shape[1]):
            left = pa.table({name: np.ascontiguousarray(some[name][:, channel]) for name in ("time", "value")})
            met: Any = left.join(right, "time", join_type="inner", use_threads=False)
            events |= set(np.unique(met["event"].to_numpy()).tolist())
    return len(events)


def _pairs(sound: Samples) -> Iterator[Pair]:
    yield from enumerate(sound.tolist())


def _rewindow(pairs: Iterable[Pair], size: int, step: int) -> Iterator[list[Pair]]:
    window: deque[Pair] = deque()
    skip = 0
    for pair in pairs:
        if skip:
            skip -= 1
            continue
        window.append(pair)
        if len(window) == size:
            yield list(window)
            skip = max(0, step - size)
            for _ in range(min(step, size)):
                window.popleft()


def _sample_leaks(sound: Samples) -> int:
    """PIPELINE, a tuple at a time in plain Python."""
    leaks = 0
    for window in _rewindow(_pairs(sound), _SIZE, _STEP):
        rest, rough = window, window
        for _ in range(4):
            pairs = list(zip(rest[::2], rest[1::2], strict=True))
            rest = [(at, (left + right) * _ROOT) for (at, left), (_, right) in pairs]
            rough = [(at, (left - right) * _ROOT) for (at, left), (_, right) in pairs]
        peaks = []
        for best in (min, max, min, max):
            peaks.append(best(rough, key=lambda pair: pair[1]))
            rough = rough[rough.index(peaks[-1]) :]
        (_, first), *_, (_, last) = peaks
        leaks += first != 0 and abs(last / first) < _RATIO
    return leaks


def _sample_ranges(sound: Samples) -> list[tuple[int, int]]:
    noise = Noise()
    ranges = []
    for window in _rewindow(_pairs(sound[:, 0]), 32, 128):
        score = scores(np.array([value for _, value in window], np.int16))
        ranges += noise.ranges(score, np.array([window[0][0]]))
    return ranges + noise.rest()


def _join_samples(sound: Samples) -> int:
    """DETECTAUDIO, a tuple at a time: each sample of each channel waits in a table of times until a range needs it."""
    tables: list[dict[int, int]] = [{} for _ in range(sound.shape[1])]
    for at, frame in enumerate(sound.tolist()):
        for table, value in zip(tables, frame, strict=True):
            table[at] = value
    events = 0
    for first, last in _sample_ranges(sound):
        cut = [[table.pop(at) for at in range(first, last + 1) if at in table] for table in tables]
        events += bool(cut[0])
    return events


def _before_sync() -> Network:
    """DETECTAUDIO up to the ranges that it keeps."""
    windows = au.stream("array", ARRAY).map(site="site", one="one").signal.rewindow(32, 96, by="site")
    spectra = windows.signal.transform("hann", "fft", into="spectrum").signal.stats(
        column="spectrum", score="band(3, 4)"
    )
    return au.network(ranges=spectra.signal.cfar("score", by="site", column="one").filter("keep"))


PIPELINE: dict[str, Form] = {
    "SAMPLES, plain Python": _sample_leaks,
    "WINDOWSTRIDE": lambda pairs: _find_leaks(pairs),
    "WINDOWS": lambda pairs: _find_leaks(pairs, copied=True),
    "SEGS": lambda sound: _find_leaks(sound),
    "network": lambda trains: _run_network(pipeline(), trains),
}
DETECTAUDIO: dict[str, Form] = {
    "SAMPLES before sync, plain Python": lambda sound: len(_sample_ranges(sound)),
    "SAMPLES with a join, plain Python": _join_samples,
    "WINDOWS before sync": lambda pairs: len(_ranges(pairs[:, 0])),
    "WINDOWS with sync": _cut_ranges,
    "WINDOWS with a join": _join_ranges,
    "SEGS before sync": lambda sound: len(_ranges(sound[:, 0])),
    "SEGS with sync": _cut_ranges,
    "network before sync": lambda trains: _run_network(_before_sync(), trains),
    "network with sync": lambda trains: _run_network(detectaudio(), trains),
}
