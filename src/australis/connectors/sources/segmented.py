"""A recording as a reader of segments: positions are frames, and multiples of the segments' size are places to cut."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from australis.boxes.signals.segments import Samples
from australis.connectors.dead_letters import Letter
from australis.connectors.sources.recording import Recording
from australis.connectors.sources.sift import SiftedRows
from australis.connectors.sources.tracks import Tracks, based, named
from australis.errors import RunError
from australis.model.train import Ints

_PART = 1 << 23  # bytes that are read at once


@dataclass(frozen=True)
class Cutting:
    """How samples become segments: of `size` samples, at a `rate` where a file does not tell it, of some channels.

    Files that are `joined` are one signal: each goes on where the one before it ends.
    """

    size: int = 1 << 16
    rate: str = ""
    channels: tuple[int, ...] = ()
    joined: bool = False

    def __post_init__(self) -> None:
        if self.size < 1:
            raise RunError(f"a segment has at least one sample, not size={self.size}")


@dataclass(frozen=True)
class Segmented:
    """One file, at a place in the order of files, with so many frames before it of the same signal."""

    path: str
    schema: pa.Schema
    cutting: Cutting
    place: int
    before: int

    whole = False

    @cached_property
    def tracks(self) -> Tracks:
        return Tracks(self.schema).at(self.path, 0 if self.cutting.joined else self.place)

    @cached_property
    def recording(self) -> Recording:
        its = self.tracks
        return Recording(self.path, its.dtype, len(its.names), self.cutting.rate, self.cutting.channels)

    @property
    def size(self) -> int:
        return self.recording.size

    def end(self, begin: int, final: bool) -> int:
        if final:
            self.recording.whole()  # nobody writes the rest of it any more
        return self.recording.frames()

    def rows(self, begin: int, stop: int) -> int:
        return -(-(stop - begin) // self.cutting.size)

    def reach(self, begin: int, stop: int, rows: int) -> int:
        return min((begin // self.cutting.size + max(rows, 1)) * self.cutting.size, stop)

    def snap(self, position: int, stop: int) -> int:
        return min(-(-position // self.cutting.size) * self.cutting.size, stop)

    def lost(self, stop: int, size: int) -> str:
        if not self.recording.growing and self.size != size:
            return f"has {self.size} bytes and had {size}"
        there = self.recording.frames()
        return f"has {there} frames, fewer than the {stop} that it had" if there < stop else ""

    def read(self, begin: int, stop: int) -> Iterator[SiftedRows]:
        step = max(1, _PART // (self.cutting.size * self.tracks.width)) * self.cutting.size
        self.recording.check()
        for first in range(begin // step * step, stop, step):
            low, high = max(first, begin), min(first + step, stop)
            try:
                yield self._rows(low, self.recording.read(low, high), ())
            except RunError:
                yield from self._singled(low, high)

    def _singled(self, begin: int, stop: int) -> Iterator[SiftedRows]:
        """The segments of a stretch that does not read, one at a time: those that still do not are letters."""
        for first in range(begin // self.cutting.size * self.cutting.size, stop, self.cutting.size):
            low, high = max(first, begin), min(first + self.cutting.size, stop)
            try:
                yield self._rows(low, self.recording.read(low, high), ())
            except RunError as error:
                none = np.empty((0, len(self.tracks.names)), self.tracks.dtype)
                yield self._rows(low, none, (Letter(str(error), self.path, low, b""),))

    def _rows(self, begin: int, frames: Samples, letters: tuple[Letter, ...]) -> SiftedRows:
        cuts = cut(begin, begin + len(frames), self.cutting.size)
        start, sizes = cuts[:-1], np.diff(cuts).astype(np.int32)
        channels = [np.ascontiguousarray(frames[:, at]) for at in range(frames.shape[1])]
        bases, names = based(self.recording.timebase, len(start)), named(self.path, len(start))
        file = np.full(len(start), self.place, np.int64)
        return SiftedRows(
            self.tracks.tuples(channels, sizes, start + self.before, bases, file, names), start.copy(), letters
        )


def cut(begin: int, stop: int, size: int) -> Ints:
    """Where segments begin and end between two places: at multiples of their size.

    >>> cut(5, 23, 10).tolist()
    [5, 10, 20, 23]
    """
    inner = np.arange((begin // size + 1) * size, stop, size, dtype=np.int64)
    return np.array([begin, *inner, stop] if stop > begin else [begin], np.int64)
