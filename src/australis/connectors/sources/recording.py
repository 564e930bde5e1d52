"""A recording: one file of samples, raw or of a kind that libsndfile reads, as frames of the channels wanted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from australis.boxes.signals.segments import Samples
from australis.boxes.signals.timebases import Timebase, timebase
from australis.connectors.sources import wav
from australis.connectors.sources.form import form
from australis.errors import RunError, listing

_BITS = {
    "PCM_S8": 8, "PCM_U8": 8, "PCM_16": 16, "PCM_24": 24, "PCM_32": 32, "ULAW": 16, "ALAW": 16,
    "FLOAT": 25, "DOUBLE": 53, "VORBIS": 25, "MPEG_LAYER_III": 25,
}  # fmt: skip
_WHOLE = {"PCM_S8", "PCM_U8", "PCM_16", "PCM_24", "PCM_32", "ULAW", "ALAW"}
_HOLDS = {"int16": 16, "int32": 32, "float32": 25, "float64": 53}  # bits
_ENDLESS = 1 << 62


@dataclass(frozen=True)
class Recording:
    """Frames of a file. Positions are frames, from 0 on; what is not there yet of a raw or WAV file may still come.

    `channels` are those that are wanted, counted from 1; all, if none are named. The name of a file tells its form,
    unless `form` does: `raw`, `wav`, or any other, which libsndfile decodes.
    """

    path: str
    dtype: str
    columns: int
    rate: str = ""
    channels: tuple[int, ...] = ()
    form: str = ""

    def __post_init__(self) -> None:
        if not self.form:
            object.__setattr__(self, "form", form(self.path))

    @property
    def growing(self) -> bool:
        return self.form in ("raw", "wav")

    @property
    def mapped(self) -> bool:
        """Whether samples are mapped into memory as they are."""
        return self.form == "raw" or (self._head is not None and self._head.dtype == self.dtype)

    @property
    def size(self) -> int:
        return Path(self.path).stat().st_size

    @cached_property
    def timebase(self) -> Timebase:
        if self.form == "raw" and not self.rate:
            raise RunError(f"{self.path}: a raw file does not tell its rate; say it, such as {self.path}?rate=48000")
        if self.form == "raw":
            return timebase(self.rate)
        told = self._info.samplerate if self._head is None else self._head.rate
        if self.rate and timebase(self.rate) != timebase(told):
            raise RunError(f"{self.path}: has {told} samples a second, and rate={self.rate} is asked for; leave it out")
        return timebase(told)

    def frames(self) -> int:
        """How many there are now."""
        if self.form == "raw":
            return self.size // (self._there * np.dtype(self.dtype).itemsize)
        if self.form == "wav":
            found = wav.parsed(self.path)
            if found is None:
                return 0
            if found.dtype:
                return found.frames(self.size)
        return int(self._info.frames)

    def whole(self) -> None:
        """Refuse a WAV file whose head is not there, or not all of it."""
        if self.form == "wav" and wav.parsed(self.path) is None:
            raise RunError(f"{self.path}: has no whole head; leave it out, or put a whole file in its place")

    def read(self, begin: int, end: int) -> Samples:
        """A row for each frame that is there, and a column for each channel that is wanted."""
        end = min(end, self.frames())
        if begin >= end:
            return np.empty((0, self.columns), self.dtype)
        self.check()
        if self.mapped:
            first = 0 if self._head is None else self._head.begin
            width = self._there * np.dtype(self.dtype).itemsize
            mapped = np.memmap(self.path, self.dtype, "r", first + begin * width, (end - begin, self._there))
            frames = np.asarray(mapped) if mapped.flags.aligned else np.array(mapped)
        else:
            frames = self._decoded(begin, end)
        return frames[:, [channel - 1 for channel in self.channels]] if self.channels else frames

    def _decoded(self, begin: int, end: int) -> Samples:
        import soundfile

        try:
            with soundfile.SoundFile(self.path) as file:
                file.seek(begin)
                frames: Samples = file.read(end - begin, self.dtype, always_2d=True)
        except soundfile.LibsndfileError as error:
            raise RunError(f"{self.path}: samples {begin} to {end} do not decode: {error.error_string}") from error
        if len(frames) < end - begin:
            raise RunError(f"{self.path}: samples {begin + len(frames)} to {end} do not decode")
        return frames

    def check(self) -> None:
        """Refuse a file that does not have the channels that are wanted, in a type that they fit in, at a rate."""
        _ = self.timebase
        if self.dtype not in _HOLDS and self.form != "raw":
            raise RunError(f"{self.path}: a file of samples does not hold {self.dtype}; read {listing(_HOLDS)}")
        there, wanted = self._there, len(self.channels) or self.columns
        if missing := [each for each in self.channels if not 1 <= each <= there]:
            raise RunError(f"{self.path}: has no channel {missing[0]}, but {there}, counted from 1")
        if wanted != self.columns or (not self.channels and there != self.columns):
            raise RunError(
                f"{self.path}: has {there} channels{f', {wanted} of them chosen' if self.channels else ''}, for"
                f" {self.columns} columns of segments; give as many, or choose among the channels (channels=1)"
            )
        if self.mapped:
            return
        kind = self._info.subtype
        bits = _BITS.get(kind, 16)
        if bits > _HOLDS[self.dtype] or (self.dtype.startswith("int") and kind not in _WHOLE):
            fits = [name for name, most in _HOLDS.items() if most >= bits and (kind in _WHOLE or name[0] == "f")]
            raise RunError(f"{self.path}: has samples of {kind}, which {self.dtype} does not hold; read segments of"
                           f" {' or '.join(fits)}")  # fmt: skip

    @cached_property
    def _head(self) -> wav.Head | None:
        return wav.parsed(self.path) if self.form == "wav" else None

    @cached_property
    def _there(self) -> int:
        """The channels that the file has; those of a raw one are the columns, or up to the last that is wanted."""
        if self.form == "raw":
            return max(self.columns, *self.channels, 0) if self.channels else self.columns
        return int(self._info.channels if self._head is None else self._head.channels)

    @cached_property
    def _info(self) -> Any:
        import soundfile

        try:
            found = soundfile.info(self.path)
        except soundfile.LibsndfileError as error:
            raise RunError(f"{self.path}: {error.error_string} It cannot be read; leave it out, or put a whole file in"
                           " its place") from error  # fmt: skip
        if found.frames > _ENDLESS:
            raise RunError(f"{self.path}: was not written to its end; write it under a name that ends in .tmp first")
        return found
