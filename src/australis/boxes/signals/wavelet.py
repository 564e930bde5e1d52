"""Wavelet: the details of a segment at several scales (XStream II-A, PIPELINE)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from australis.arrow.schema import segment as segment_type
from australis.boxes.signals.column import Segments, Sizes, bounds, chosen, dtype_of, segments, starts
from australis.boxes.signals.families import Rowwise
from australis.boxes.signals.segments import Samples
from australis.boxes.signals.steps import real
from australis.errors import NetworkError, SchemaError, listing, near
from australis.kernels.jit import kernel
from australis.model.box import Moment, Tables, Trains, bound

_ROOT = float(np.sqrt(0.5))


@dataclass(frozen=True)
class Wavelet(Rowwise):
    """The tuple, and the discrete wavelet transform of its segment: details `d1` to `d<level>`, and `a<level>`.

    Each level has half the rate of the one before. The ends are mirrored, as `pywt.wavedec` does.
    """

    level: int
    wavelet: str = "haar"
    column: str = ""

    kind: ClassVar[str] = "wavelet"

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        (stream,) = inputs
        if not 1 <= self.level <= 30:
            raise NetworkError(f"a wavelet transform has 1 to 30 levels, not {self.level}")
        if self.wavelet != "haar":
            _check(self.wavelet)
        if dtype_of(stream, chosen(stream, self.column)).kind == "c":
            raise NetworkError("a wavelet transform is of real samples")
        return {"out": self._schema(stream)}

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        (train,) = trains
        rest = segments(train[chosen(train.schema, self.column)])
        columns: list[Any] = [train.part(name) for name in train.schema.names]
        for _ in range(self.level):
            rest, detail = self._halved(rest)
            columns.append(detail.arrow())
        return (train.made(self._schema(train.schema), [*columns, rest.arrow()]),)

    def _halved(self, signal: Segments) -> tuple[Segments, Segments]:
        """The smooth and the rough part, at half the rate."""
        dtype = real(signal.samples.dtype)
        if self.wavelet == "haar":
            sizes = (signal.sizes + 1) // 2
            smooth, rough = (np.empty(int(sizes.sum()), dtype) for _ in range(2))
            offsets = starts(sizes)
            _haar(signal.samples, signal.offsets, signal.sizes, offsets, dtype.type(_ROOT), smooth, rough)
        else:
            sizes, offsets, smooth, rough = self._filtered(signal, dtype)
        shift = signal.start & 1
        base = replace(signal, start=signal.start >> 1, per=signal.per * 2, phase=signal.phase + shift * signal.per)
        return base.on(smooth, offsets, sizes), base.on(rough, offsets, sizes)

    def _filtered(self, signal: Segments, dtype: Any) -> tuple[Sizes, Sizes, Samples, Samples]:
        import pywt

        sizes, offsets, at = np.zeros(len(signal), np.int32), np.zeros(len(signal), np.int32), 0
        parts: list[tuple[Samples, Samples]] = [(np.empty(0, dtype), np.empty(0, dtype))]
        for rows, block in signal.blocks():
            if not block.shape[1]:
                continue
            smooth, rough = pywt.dwt(block.astype(dtype, copy=False), self.wavelet, axis=1)
            sizes[rows] = smooth.shape[1]
            offsets[rows] = at + np.arange(len(rows)) * smooth.shape[1]
            at += smooth.size
            parts.append((smooth.reshape(-1), rough.reshape(-1)))
        smooths, roughs = zip(*parts, strict=True)
        return sizes, offsets, np.concatenate(smooths), np.concatenate(roughs)

    @bound
    def _schema(self, stream: pa.Schema) -> pa.Schema:
        type_ = segment_type(real(dtype_of(stream, chosen(stream, self.column))).name)
        names = [*(f"d{level}" for level in range(1, self.level + 1)), f"a{self.level}"]
        for name in names:
            if name in stream.names:
                raise SchemaError(f"there is a column `{name}` already: map it to another name first")
        return pa.schema([*stream, *(pa.field(name, type_) for name in names)])


def _check(wavelet: str) -> None:
    import pywt

    known = pywt.wavelist(kind="discrete")
    if wavelet not in known:
        raise NetworkError(f"there is no wavelet `{wavelet}`{near(wavelet, known)}; there are {listing(known, 12)}")


@kernel
def _haar(
    samples: Samples, offsets: Sizes, sizes: Sizes, places: Sizes, root: Any, smooth: Samples, rough: Samples
) -> None:
    for row in range(len(offsets)):
        (first, last), place = bounds(row, offsets, sizes), np.uint64(places[row])
        half = (last - first) // np.uint64(2)
        for at in range(np.uint64(0), half):
            pair = first + at + at
            left, right = samples[pair] * root, samples[pair + np.uint64(1)] * root
            smooth[place + at] = left + right
            rough[place + at] = left - right
        if sizes[row] % 2:
            end = samples[last - np.uint64(1)] * root
            smooth[place + half], rough[place + half] = end + end, end - end
