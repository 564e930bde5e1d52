"""Samples: raw files of samples as signals, mapped into memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from australis.errors import RunError, listing
from australis.run.source import Offset, Part, Split
from australis.schema import samples_of
from australis.signals.column import Segments, Sizes, starts
from australis.signals.segment import Samples as Array
from australis.signals.timebase import Timebase, timebase

_BATCH = 1 << 28  # bytes of each file that a batch takes at most
_PART = 1 << 23  # bytes that are read at once


@dataclass(frozen=True)
class Samples:
    """Files of samples in the machine's byte order, all of one form, each a signal.

    The columns of segments are the channels, whose samples take turns in a file. One other column may tell signals
    apart: a number, which counts the files from 0, or a text, their names. Files go on together, a segment of `size`
    samples at a time, and are divided by that column. An offset is a number of samples.
    """

    schema: pa.Schema
    paths: tuple[str, ...]
    rate: int | str
    size: int = 1 << 16

    def __post_init__(self) -> None:
        others = [field for field in self.schema if samples_of(field.type) is None]
        channels = {field.type for field in self.schema if samples_of(field.type) is not None}
        if len(channels) != 1 or len(others) > 1:
            raise RunError(
                f"samples: the columns are segments of one type and at most one that tells files apart, not"
                f" {self.schema}"
            )
        for field in others:
            if not (pa.types.is_integer(field.type) or pa.types.is_string(field.type)):
                raise RunError(f"samples: {field.name} is {field.type}; files are told apart by a number or a text")
        if not others and len(self.paths) > 1:
            raise RunError("samples: several files need a column that tells them apart, such as `site int`")
        missing = [path for path in self.paths if not Path(path).is_file()]
        if missing or not self.paths:
            raise RunError(f"samples: there is no file {listing(missing)}; give raw files that are there")
        if self.size < 1:
            raise RunError(f"samples: a segment has at least one sample, not {self.size}")
        timebase(self.rate)

    @property
    def by(self) -> tuple[str, ...] | None:
        """The column that tells files apart."""
        return tuple(field.name for field in self.schema if samples_of(field.type) is None) or None

    def before(self, split: Split) -> int:
        begin: int = split.pieces[0][1]
        return begin // self.size * len(self.paths)

    def start(self) -> Offset:
        return {"samples": 0}

    def latest(self, offset: Offset, limit_rows: int) -> Offset:
        many = max(1, min(limit_rows // len(self.paths), _BATCH // (self.size * self._width)))
        return {"samples": min(self._length, offset["samples"] + many * self.size)}

    def splits(self, start: Offset, end: Offset, count: int) -> list[Split]:
        first, last = start["samples"], end["samples"]
        split = count if self.by is not None else 1
        files = range(len(self.paths))
        return [Split(((tuple(files[at::split]), first, last),)) for at in range(split)]

    def read(self, split: Split) -> Iterator[Part]:
        for files, first, last in split.pieces:
            step = max(1, _PART // (self.size * self._width * max(len(files), 1))) * self.size
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
        columns: list[pa.Array] = []  # type: ignore[type-arg]
        sizes = [self._sizes(len(frames)) for _, frames in there]
        file = np.concatenate([np.full(len(its), file) for (file, _), its in zip(there, sizes, strict=True)])
        turn = np.concatenate([np.arange(len(its)) for its in sizes])
        number = (begin // self.size + turn) * len(self.paths) + file + 1
        order = np.argsort(number, kind="stable")
        all_ = np.concatenate(sizes)
        channel = 0
        for field in self.schema:
            if samples_of(field.type) is None:
                names = np.array([Path(path).name for path in self.paths]) if pa.types.is_string(field.type) else None
                values = file[order] if names is None else names[file[order]]
                columns.append(pa.array(values).cast(field.type))
                continue
            parts = [frames[:, channel] for _, frames in there]
            whole = np.ascontiguousarray(parts[0]) if len(parts) == 1 else np.concatenate(parts)
            base = self._timebase
            start = begin + turn * self.size
            full = Segments(
                whole,
                starts(all_),
                all_,
                start,
                *(np.full(len(start), each) for each in (base.rate, base.per, base.phase)),
            )
            columns.append(full.take(order).arrow())
            channel += 1
        yield Part(pa.RecordBatch.from_arrays(columns, schema=self.schema), number[order])

    def _frames(self, file: int, begin: int, end: int) -> Array:
        """Samples of a file, a row each with a column for each channel."""
        frames = Path(self.paths[file]).stat().st_size // self._width
        count = max(0, min(end, frames) - begin)
        if not count:
            return np.empty((0, self._channels), self._dtype)
        mapped = np.memmap(self.paths[file], self._dtype, "r", begin * self._width, (count, self._channels))
        return np.asarray(mapped)

    def _sizes(self, count: int) -> Sizes:
        sizes = np.full(-(-count // self.size), self.size, np.int32)
        sizes[-1] = count - (len(sizes) - 1) * self.size
        return sizes

    @cached_property
    def _timebase(self) -> Timebase:
        return timebase(self.rate)

    @cached_property
    def _channels(self) -> int:
        return sum(samples_of(field.type) is not None for field in self.schema)

    @cached_property
    def _dtype(self) -> str:
        return next(name for field in self.schema if (name := samples_of(field.type)) is not None)

    @cached_property
    def _width(self) -> int:
        return self._channels * np.dtype(self._dtype).itemsize

    @cached_property
    def _length(self) -> int:
        return max(Path(path).stat().st_size // self._width for path in self.paths)
