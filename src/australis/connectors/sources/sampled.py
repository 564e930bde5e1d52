"""CSV of samples: a line is a sample of each channel, and lines that follow one another make a segment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from australis.arrow.columns import plain
from australis.arrow.schema import SAMPLES
from australis.boxes.signals.timebases import timebase
from australis.connectors.sources.form import packed
from australis.connectors.sources.segmented import Cutting
from australis.connectors.sources.sift import SiftedRows
from australis.connectors.sources.text import Text
from australis.connectors.sources.tracks import Tracks, based, named
from australis.errors import RunError
from australis.model.train import Ints

_BLOCK = 1 << 20  # bytes in which lines are counted at once
_TAIL = 256
_MOST = 256  # files that are known at once
_NEWLINE = 10


@dataclass(frozen=True)
class Sampled:
    """One file, at a place in the order of files. Positions are bytes.

    The index of a sample is the number of line ends before it, that of the names of columns left out. A line that is
    empty, or does not read, is a sample that is missing: the signal has a gap there.
    """

    text: Text
    schema: pa.Schema
    cutting: Cutting
    place: int

    whole = False

    @staticmethod
    def of(text: Text, cutting: Cutting, place: int) -> Sampled:
        """The samples of a text whose columns are segments."""
        tracks = Tracks(text.schema).at(text.path, place)
        if packed(text.path):
            raise RunError(f"{text.path}: samples are not read from a compressed file; unpack it")
        if cutting.joined:
            raise RunError(f"{text.path}: files of CSV are not joined to one signal; put them together in one file")
        if not cutting.rate:
            raise RunError(f"{text.path}: CSV does not tell how many samples there are a second; say it (rate=48000)")
        lines = pa.schema([pa.field(name, SAMPLES[tracks.dtype], nullable=False) for name in tracks.names])
        return Sampled(
            Text(text.path, lines, text.form, text.header, text.delimiter, text.nulls), text.schema, cutting, place
        )

    @property
    def size(self) -> int:
        return self.text.size

    def end(self, begin: int, final: bool) -> int:
        return self.text.end(begin, final)

    def rows(self, begin: int, stop: int) -> int:
        return -(-self.text.rows(begin, stop) // self.cutting.size)

    def reach(self, begin: int, stop: int, rows: int) -> int:
        return self.text.reach(begin, stop, rows * self.cutting.size)

    def snap(self, position: int, stop: int) -> int:
        return self.text.snap(position, stop)

    def lost(self, stop: int, size: int) -> str:
        return self.text.lost(stop, size)

    def read(self, begin: int, stop: int) -> Iterator[SiftedRows]:
        for rows in self.text.read(begin, stop):
            yield self._segments(rows)

    def _segments(self, rows: SiftedRows) -> SiftedRows:
        index = self._index(rows.position)
        begins = np.flatnonzero((np.diff(index, prepend=-2) != 1) | (index % self.cutting.size == 0))
        sizes = np.diff(begins, append=len(index)).astype(np.int32)
        channels = [plain(rows.tuples.column(name))[0] for name in self._tracks.names]
        bases, names = based(timebase(self.cutting.rate), len(begins)), named(self.text.path, len(begins))
        file = np.full(len(begins), self.place, np.int64)
        tuples = self._tracks.tuples(channels, sizes, index[begins], bases, file, names)
        return SiftedRows(tuples, rows.position[begins], rows.letters)

    def _index(self, position: Ints) -> Ints:
        """The number of each line that begins at a position."""
        if not len(position):
            return position
        first, last = int(position[0]), int(position[-1])
        before = _lines(self.text.path, first)
        with Path(self.text.path).open("rb") as file:
            file.seek(first)
            octets = np.frombuffer(file.read(last - first), np.uint8)
        ends = np.flatnonzero(octets == _NEWLINE) + first
        return before - self.text.header + np.searchsorted(ends, position)

    @cached_property
    def _tracks(self) -> Tracks:
        return Tracks(self.schema)


@dataclass(frozen=True)
class _Counted:
    """What is known of a file up to a position: the line ends before it, and the bytes just before it."""

    size: int
    position: int = 0
    lines: int = 0
    tail: bytes = b""


_KNOWN: dict[str, _Counted] = {}
"""Where files were last counted to, so that reading one on counts each line once."""


def _lines(path: str, position: int) -> int:
    """The line ends before a position."""
    with Path(path).open("rb", buffering=0) as file:
        size = Path(path).stat().st_size
        known = _KNOWN.get(path, _Counted(size))
        file.seek(max(0, known.position - _TAIL))
        if known.position > position or known.size > size or file.read(len(known.tail)) != known.tail:
            known = _Counted(size)
        at, lines, tail = known.position, known.lines, known.tail
        file.seek(at)
        while at < position and (data := file.read(min(_BLOCK, position - at))):
            at, lines, tail = at + len(data), lines + data.count(b"\n"), (tail + data)[-_TAIL:]
    if len(_KNOWN) > _MOST:
        _KNOWN.clear()
    _KNOWN[path] = _Counted(size, at, lines, tail)
    return lines
