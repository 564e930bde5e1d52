"""Sound: the segments of tuples as frames, a column of segments a channel, and as the bytes of a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO

import numpy as np
import pyarrow as pa

from australis.arrow.schema import samples_of
from australis.boxes.signals.column import Segments, gathered, segments, starts
from australis.boxes.signals.segments import Samples
from australis.connectors.sources import wav
from australis.errors import RunError, listing
from australis.model.train import Ints

_FLAC = ("int16",)


@dataclass(frozen=True)
class Channels:
    """The columns of segments of a schema, which are of one type."""

    where: str
    schema: pa.Schema
    form: str = "wav"

    def __post_init__(self) -> None:
        held = _FLAC if self.form == "flac" else tuple(wav.TAGS.values())
        types = {samples_of(field.type) for field in self.schema} - {None}
        if len(types) != 1:
            raise RunError(f"{self.where}: sound is of columns of segments of one type, not {self.schema.names};"
                           " leave the others out with a map")  # fmt: skip
        if self.dtype not in held:
            raise RunError(f"{self.where}: {self.form.upper()} holds {listing(held)}, not {self.dtype}; transform the"
                           " segments to one of those")  # fmt: skip

    @property
    def names(self) -> list[str]:
        return [field.name for field in self.schema if samples_of(field.type) is not None]

    @property
    def dtype(self) -> str:
        return next(name for field in self.schema if (name := samples_of(field.type)) is not None)

    @property
    def width(self) -> int:
        """Bytes of a frame."""
        return len(self.names) * np.dtype(self.dtype).itemsize

    def takes(self, tuples: pa.RecordBatch) -> Takes:
        """The sound of each tuple. A channel that has no samples, or fewer than another, is silent there."""
        channels = [segments(tuples.column(name)) for name in self.names]
        sizes = np.max([each.sizes for each in channels], axis=0).astype(np.int64)
        begins = np.cumsum(sizes) - sizes
        if all(bool((each.sizes == sizes).all()) for each in channels):
            frames = np.stack([gathered(each) for each in channels], axis=1)
        else:
            frames = np.zeros((int(sizes.sum()), len(channels)), self.dtype)
            for at, each in enumerate(channels):
                within = np.arange(int(each.sizes.sum())) - np.repeat(starts(each.sizes), each.sizes)
                frames[np.repeat(begins, each.sizes) + within, at] = gathered(each)
        return Takes(frames, begins, sizes, self._rates(channels, sizes))

    def _rates(self, channels: list[Segments], sizes: Ints) -> Ints:
        """The rate of each tuple: that of its first channel with samples."""
        found = np.zeros(len(sizes), np.int64)
        for each in reversed(channels):
            some = each.sizes > 0
            if bool((each.rate[some] % each.per[some] != 0).any()):
                raise RunError(f"{self.where}: a file of sound has a whole number of samples a second; resample the"
                               " segments first")  # fmt: skip
            found[some] = each.rate[some] // each.per[some]
        return found


@dataclass(frozen=True)
class Takes:
    """Frames of tuples one after the other: where each begins, how long it is, and its rate."""

    frames: Samples
    begins: Ints
    sizes: Ints
    rates: Ints

    def __iter__(self) -> Iterator[tuple[Samples, int]]:
        for begin, size, rate in zip(self.begins.tolist(), self.sizes.tolist(), self.rates.tolist(), strict=True):
            yield self.frames[begin : begin + size], rate


def encoded(frames: Samples, rate: int, form: str) -> bytes:
    """A whole file."""
    rate = rate or 1  # of no samples at all
    if form == "wav":
        return wav.head(rate, frames.shape[1], frames.dtype.name, len(frames)) + frames.tobytes()
    import soundfile

    out = BytesIO()
    soundfile.write(out, frames, rate, "PCM_16", format="FLAC")
    return out.getvalue()
