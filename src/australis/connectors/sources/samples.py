"""Samples: files of samples as signals that go on together, mapped into memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from australis.boxes.signals.column import Sizes
from australis.boxes.signals.segments import Samples as Array
from australis.boxes.signals.timebases import timebase
from australis.connectors.source import Offset, Part, Split
from australis.connectors.sources.files import told
from australis.connectors.sources.recording import Recording
from australis.connectors.sources.tracks import Tracks, based, named
from australis.errors import RunError, listing

_BATCH = 1 << 29  # bytes of each file that a batch takes at most
_PART = 1 << 24  # bytes that are read at once


@dataclass(frozen=True)
class Samples:
    """Files of samples, each a signal: WAV, FLAC, or raw ones in the machine's byte order at a `rate` that is given.

    The columns of segments are the channels, whose samples take turns in a file; `channels` chooses some, counted from
    1. One other column may tell signals apart: a number, which counts the files from 0, or a text, their names. Files
    go on together, a segment of `size` samples at a time, and are divided by that column. They are read `times` over,
    as one long signal each. An offset is a number of samples.
    """

    schema: pa.Schema
    paths: tuple[str, ...]
    rate: int | str = ""
    size: int = 1 << 16
    channels: tuple[int, ...] = ()
    times: int = 1

    def __post_init__(self) -> None:
        if not self._tracks.by and len(self.paths) > 1:
            raise RunError("samples: several files need a column that tells them apart, such as `site int`")
        missing = [path for path in self.paths if not Path(path).is_file()]
        if missing or not self.paths:
            raise RunError(f"samples: there is no file {listing(missing)}; give raw, WAV or FLAC files that are there")
        if self.size < 1 or self.times < 1:
            raise RunError(f"samples: a segment has at least one sample, and a file is read at least once, not"
                           f" size={self.size}, times={self.times}")  # fmt: skip
        if self.rate:
            timebase(self.rate)
        for path, file in zip(self.paths, self._files, strict=True):
            with told(path):
                file.check()

    @property
    def by(self) -> tuple[str, ...] | None:
        """The column that tells files apart."""
        return self._tracks.by or None

    @property
    def mapped(self) -> bool:
        return all(file.mapped for file in self._files)

    def before(self, split: Split) -> int:
        begin: int = split.pieces[0][1]
        return begin // self.size * len(self.paths)

    def origin(self, checkpoint: Path) -> str:
        return f"samples of {len(self.paths)} files from {Path(self.paths[0]).absolute()} on"

    @property
    def finite(self) -> bool:
        return True

    @property
    def timed(self) -> bool:
        return False

    def placed(self, spool: Path) -> Samples:
        """The same for processes with another working folder."""
        return replace(self, paths=tuple(str(Path(path).absolute()) for path in self.paths))

    def start(self) -> Offset:
        return {"samples": 0}

    def latest(self, offset: Offset, limit_rows: int) -> Offset:
        many = max(1, min(limit_rows // len(self.paths), _BATCH // (self.size * self._tracks.width)))
        return {"samples": min(self._length, offset["samples"] + many * self.size)}

    def splits(self, start: Offset, end: Offset, count: int) -> list[Split]:
        first, last = start["samples"], end["samples"]
        split = count if self.by is not None else 1
        files = range(len(self.paths))
        return [Split(((tuple(files[at::split]), first, last),)) for at in range(split)]

    def read(self, split: Split) -> Iterator[Part]:
        for files, first, last in split.pieces:
            step = max(1, _PART // (self.size * self._tracks.width * max(len(files), 1))) * self.size
            for begin in range(first, last, step):
                yield from self._parts(files, begin, min(begin + step, last))

    def finished(self, offset: Offset) -> bool:
        return int(offset["samples"]) >= self._length

    def backlog(self, offset: Offset) -> int:
        return len(self.paths) * -(-(self._length - int(offset["samples"])) // self.size)

    def _parts(self, files: tuple[int, ...], begin: int, end: int) -> Iterator[Part]:
        """What lies between two places of some files, in order of their numbers."""
        made = [(file, self._frames(file, begin, end)) for file in files]
        there = [(file, frames) for file, frames in made if len(frames)]
        if not there:
            return
        sizes = [self._sizes(len(frames)) for _, frames in there]
        file = np.concatenate([np.full(len(its), file) for (file, _), its in zip(there, sizes, strict=True)])
        turn = np.concatenate([np.arange(len(its)) for its in sizes])
        number = (begin // self.size + turn) * len(self.paths) + file + 1
        bases = [based(self._files[at].timebase, len(its)) for (at, _), its in zip(there, sizes, strict=True)]
        names = [named(self.paths[at], len(its)) for (at, _), its in zip(there, sizes, strict=True)]
        channels = [
            np.ascontiguousarray(parts[0]) if len(parts) == 1 else np.concatenate(parts)
            for parts in ([frames[:, channel] for _, frames in there] for channel in range(len(self._tracks.names)))
        ]
        start = begin + turn * self.size
        order = np.argsort(number, kind="stable")
        tuples = self._tracks.tuples(
            channels, np.concatenate(sizes), start, np.concatenate(bases), file, np.concatenate(names), order
        )
        yield Part(tuples, number[order])

    def _frames(self, file: int, begin: int, end: int) -> Array:
        """Samples of a file, a row each with a column for each channel; after its end it begins again."""
        with told(self.paths[file]):
            length = self._lengths[file]
            parts = []
            while begin < min(end, length * self.times):
                first = begin % length
                parts.append(self._files[file].read(first, min(length, first + end - begin)))
                begin += len(parts[-1])
            return parts[0] if len(parts) == 1 else np.concatenate([self._files[file].read(0, 0), *parts])

    def _sizes(self, count: int) -> Sizes:
        sizes = np.full(-(-count // self.size), self.size, np.int32)
        sizes[-1] = count - (len(sizes) - 1) * self.size
        return sizes

    @cached_property
    def _tracks(self) -> Tracks:
        return Tracks(self.schema)

    @cached_property
    def _files(self) -> list[Recording]:
        its = self._tracks
        return [Recording(path, its.dtype, len(its.names), str(self.rate), self.channels) for path in self.paths]

    @cached_property
    def _lengths(self) -> list[int]:
        return [file.frames() for file in self._files]

    @cached_property
    def _length(self) -> int:
        return max(self._lengths) * self.times
