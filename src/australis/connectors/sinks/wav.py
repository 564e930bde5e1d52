"""One WAV file that grows by the segments of a batch at a time, with a journal beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from australis.connectors.sinks.single import SingleWriter
from australis.connectors.sinks.sound import Channels
from australis.connectors.sources import wav
from australis.disk.paths import place
from australis.errors import RunError


@dataclass(frozen=True)
class Wav:
    """Exactly once, in order: segments one after the other, however far apart they lay. Other columns are left out."""

    path: str

    def open(self, schema: pa.Schema, run: str = "", replace: bool = False) -> WavWriter:
        """Take up the file where a run left it. The results of another run are refused, or replaced."""
        path = place(self.path)
        if path.suffix.lower() != ".wav":
            raise RunError(f"{path}: such a file cannot grow; write {path.with_suffix('.wav')}, or a folder of them"
                           f" ({path.with_suffix('')}/*{path.suffix})")  # fmt: skip
        channels = Channels(self.path, schema)
        try:
            return WavWriter(SingleWriter(path, b"", schema, run, replace), channels)
        except OSError as error:
            raise RunError(f"{path}: {error}; choose a file that can be written to") from error


class WavWriter:
    """An open file. Its head tells how many samples the batches in it have."""

    def __init__(self, file: SingleWriter, channels: Channels) -> None:
        self.file, self.channels = file, channels
        self.rate = 0
        self._take_up()

    def _take_up(self) -> None:
        self.rate = 0
        if self.file.length:
            found = wav.parsed(str(self.file.path))
            self.rate = 0 if found is None else found.rate
            self._tell()

    def agree(self, planned: int, committed: int) -> str:
        """Cut off the batches after the last one that a checkpoint has planned; what went, in words."""
        told = self.file.agree(planned, committed)
        self._take_up()
        return told

    def write(self, batch_id: int, tuples: Iterable[pa.RecordBatch]) -> None:
        if batch_id > self.file.last:
            self.file.append(batch_id, self._parts(tuples))
            self._tell()

    def _parts(self, tuples: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
        for train in tuples:
            takes = self.channels.takes(train)
            rates = set(takes.rates[takes.sizes > 0].tolist())
            if not rates:
                continue
            if not self.rate:
                self.rate = min(rates)
                yield self._head(0)
            if rates != {self.rate}:
                other = min(rates - {self.rate})
                raise RunError(f"{self.file.path}: has {self.rate} samples a second, and segments of {other} have come;"
                               " write each to a file of its own, or resample them")  # fmt: skip
            yield takes.frames.tobytes()

    def _head(self, frames: int) -> bytes:
        return wav.head(self.rate, len(self.channels.names), self.channels.dtype, frames)

    def _tell(self) -> None:
        """Say in the head how many there are."""
        if not self.rate:
            return
        frames = (self.file.length - len(self._head(0))) // self.channels.width
        with self.file.path.open("r+b") as file:
            file.write(self._head(frames))

    def close(self) -> None:
        self.file.close()
