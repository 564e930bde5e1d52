"""Lines of text: a file cut in blocks of whole lines, at the same lines wherever it is read from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa

from australis.connectors.sources.form import Packing
from australis.model.train import Ints

BLOCK = 1 << 21  # larger ones fall out of the caches
_SAMPLE = 1 << 16
_NEWLINE, _RETURN = 10, 13


@dataclass(frozen=True)
class Lines:
    """Lines that lie in one block: the bytes from `starts` to `stops`, line ends left out; empty lines are passed over.

    The block is the first `size` bytes of `data`, and begins at `base` in the file.
    """

    data: bytes | bytearray
    size: int
    starts: Ints
    stops: Ints
    base: int

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def position(self) -> Ints:
        """Where each line begins in the file."""
        return self.starts + self.base

    def buffer(self, low: int, high: int) -> pa.Buffer:
        """The bytes of some lines, and of the line ends between them."""
        start, stop = int(self.starts[low]), int(self.starts[high]) if high < len(self) else self.size
        return pa.py_buffer(self.data).slice(start, stop - start)

    def line(self, index: int) -> bytes:
        return bytes(self.data[self.starts[index] : self.stops[index]])

    def array(self) -> pa.BinaryArray:
        """Every line as a value, with the line ends that follow it."""
        offsets = np.append(self.starts, self.size).astype(np.int32)
        buffers = [None, pa.py_buffer(offsets.data), pa.py_buffer(self.data)]
        return cast(pa.BinaryArray, pa.Array.from_buffers(pa.binary(), len(self), buffers))


def lines_of(data: bytes | bytearray, size: int, base: int, keep_empty: bool) -> Lines:
    """The lines of a block; the last needs no line end."""
    octets = np.frombuffer(data, np.uint8, size)
    stops = np.flatnonzero(octets == _NEWLINE)
    if len(octets) and octets[-1] != _NEWLINE:
        stops = np.append(stops, len(octets))
    starts = np.empty_like(stops)
    if len(starts):
        starts[0] = 0
        np.add(stops[:-1], 1, out=starts[1:])
    if data.find(b"\r") >= 0:
        # A line without a byte of its own has the line end before it there, which is no carriage return.
        stops = stops - (octets[np.maximum(stops - 1, 0)] == _RETURN) * (stops > starts)
    if not keep_empty and len(starts) and bool((starts == stops).any()):
        kept = starts != stops
        starts, stops = starts[kept], stops[kept]
    return Lines(data, size, starts, stops, base)


def blocks(path: str, begin: int, stop: int) -> Iterator[tuple[int, bytes | bytearray, int]]:
    """The bytes from one line start to another, in blocks of whole lines: places, bytes, and how many of those.

    Every block is read into the same bytes, which is faster than new ones: use one before asking for the next.
    """
    data = bytearray(min(BLOCK, max(stop - begin, 0)))
    with Path(path).open("rb", buffering=0) as file:
        while begin < stop:
            file.seek(begin)
            size = file.readinto(memoryview(data)[: stop - begin])
            if not size:
                return
            cut = size if begin + size >= stop else data.rfind(b"\n", 0, size) + 1
            if not cut:
                data = bytearray(2 * len(data))
                continue
            yield begin, data, cut
            begin += cut


def unpacked(path: str, packing: Packing) -> Iterator[tuple[int, bytes | bytearray, int]]:
    """The text of a compressed file in blocks of whole lines, with their places in the text, as `blocks` gives them."""
    begin, rest = 0, b""
    with pa.input_stream(path, compression=packing) as file:
        while more := file.read(BLOCK):
            data = rest + more
            cut = data.rfind(b"\n") + 1
            if cut:
                yield begin, data, cut
            begin, rest = begin + cut, data[cut:]
    if rest:
        yield begin, rest, len(rest)


def next_line(path: str, position: int, stop: int) -> int:
    """Where the first line begins that begins at the position or after it."""
    if position <= 0 or position >= stop:
        return min(max(position, 0), stop)
    with Path(path).open("rb", buffering=0) as file:
        at = position - 1
        file.seek(at)
        while at < stop and (data := file.read(_SAMPLE)):
            found = data.find(b"\n")
            if found >= 0:
                return min(at + found + 1, stop)
            at += len(data)
    return stop


def whole_lines(path: str, begin: int, size: int) -> int:
    """Where the last line ends that has its line end, no earlier than `begin`."""
    with Path(path).open("rb", buffering=0) as file:
        stop = size
        while stop > begin:
            start = max(begin, stop - _SAMPLE)
            file.seek(start)
            found = file.read(stop - start).rfind(b"\n")
            if found >= 0:
                return start + found + 1
            stop = start
    return begin


def line_bytes(path: str, begin: int) -> float:
    """About how long the lines are that follow a place."""
    with Path(path).open("rb", buffering=0) as file:
        file.seek(begin)
        data = file.read(_SAMPLE)
    return max(1.0, len(data) / max(1, data.count(b"\n")))


def line_ends(path: str, position: int) -> bool:
    """Whether a line ends before a place."""
    with Path(path).open("rb") as file:
        file.seek(position - 1)
        return file.read(1) == b"\n"
