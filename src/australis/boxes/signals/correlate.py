"""Correlate: how much a segment is like another, or like a template, at every lag (XStream I, II)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.arrow.schema import segment as segment_type
from australis.boxes.signals.column import Segments, chosen, dtype_of, segments
from australis.boxes.signals.families import Rowwise
from australis.boxes.signals.segments import Samples
from australis.boxes.signals.steps import real
from australis.errors import NetworkError, SchemaError
from australis.model.box import Moment, Tables, Trains, bound

Floats = npt.NDArray[np.float64]
_EQUAL = 1e-9


@dataclass(frozen=True)
class Correlate(Rowwise):
    """The tuple, and the cross-correlation of its segment with the one in the column `other`, or with a `template`.

    At a lag it is the sum of the products of samples with those of the other, moved so many samples later; where the
    first samples of both meet, the lag is 0. `scipy.signal.correlate(segment, other)` gives it for all lags. The
    columns `peak` and `lag` tell where its magnitude is largest; of equals, the first. `into` names a column for all
    of it, a segment whose index is the lag. With `normalize` it is divided by the root of the product of energies, so
    that 1 is the most. Null where one of both is null, empty, or at another rate. One sample that is NaN makes the
    whole of it NaN, and the lag null.

    >>> from australis.boxes.signals.segments import segment
    >>> from australis.testing.signals import signal
    >>> from australis.boxes.signals.timebases import timebase
    >>> from australis.testing import apply, rows
    >>> train = signal("audio segment<int16>", audio=[segment([0, 0, 3, 1, 0], timebase(8), dtype="int16")])
    >>> rows(apply(Correlate(template=(3.0, 1.0)), train)[0])[0][1:]
    (10.0, 2)
    """

    other: str = ""
    template: tuple[float, ...] = ()
    column: str = ""
    into: str = ""
    normalize: bool = False
    peak: str = "peak"
    lag: str = "lag"

    kind: ClassVar[str] = "correlate"

    @classmethod
    def make(
        cls,
        other: str | Sequence[float],
        column: str = "",
        *,
        into: str = "",
        normalize: bool = False,
        peak: str = "peak",
        lag: str = "lag",
    ) -> Correlate:
        """Add the `peak` of a segment's correlation with another column's, or a template's, and its `lag`."""
        name, template = (other, ()) if isinstance(other, str) else ("", tuple(map(float, other)))
        return cls(name, template, column, into, normalize, peak, lag)

    def written(self) -> Mapping[str, object]:
        return {
            "other": self.other or list(self.template), "column": self.column, "into": self.into,
            "normalize": self.normalize, "peak": self.peak, "lag": self.lag,
        }  # fmt: skip

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        (stream,) = inputs
        if bool(self.other) == bool(self.template):
            raise NetworkError("give the column of the `other` segment, or a `template` of samples")
        if not np.isfinite(self.template).all():
            raise NetworkError("the samples of a template are finite")
        for name in (self._column(stream), *([chosen(stream, self.other)] if self.other else [])):
            if dtype_of(stream, name).kind == "c":
                raise NetworkError(f"`{name}` has complex samples, and a correlation is of real ones")
        return {"out": self._schema(stream)}

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        (train,) = trains
        left = segments(train[self._column(train.schema)])
        right = segments(train[self.other]) if self.other else self._templates(left)
        use = (left.sizes > 0) & (right.sizes > 0) & (left.rate * right.per == right.rate * left.per)
        sizes = np.where(use, left.sizes + right.sizes - 1, 0).astype(np.int32)
        peak, lag = np.zeros(len(train)), np.zeros(len(train), np.int64)
        dtype = real(left.samples.dtype)
        offsets, parts, at = np.zeros(len(train), np.int32), [np.empty(0, dtype)], 0
        for rows in _alike(left.sizes, right.sizes, use):
            one, two = (side.block(rows, int(side.sizes[rows[0]])) for side in (left, right))
            whole = _correlation(one, two, self.normalize)
            place = _first_largest(whole)
            peak[rows] = whole[np.arange(len(rows)), place]
            lag[rows] = place - (two.shape[1] - 1)
            if self.into:
                offsets[rows] = at + np.arange(len(rows)) * whole.shape[1]
                at += whole.size
                parts.append(whole.astype(dtype).reshape(-1))
        mask = ~use if not use.all() else None
        columns: list[Any] = [train.part(name) for name in train.schema.names]
        unknown = np.isnan(peak)
        nowhere = mask if not unknown.any() else unknown if mask is None else unknown | mask
        columns += [pa.array(peak, mask=mask), pa.array(lag, mask=nowhere)]
        if self.into:
            none = np.zeros(len(train), np.int64)
            start, valid = np.where(use, 1 - right.sizes.astype(np.int64), 0), None if mask is None else use
            rate, per = np.where(use, left.rate, 0), np.where(use, left.per, 0)
            columns.append(Segments(np.concatenate(parts), offsets, sizes, start, rate, per, none, valid).arrow())
        return (train.made(self._schema(train.schema), columns),)

    def _templates(self, left: Segments) -> Segments:
        """The template beside each segment, all in one place."""
        none, size = np.zeros(len(left), np.int32), np.full(len(left), len(self.template), np.int32)
        return left.on(_samples(self.template), none, size)

    def _column(self, stream: pa.Schema) -> str:
        """The column that is meant: where there are two, the one that is not the `other`."""
        if self.column or not self.other:
            return chosen(stream, self.column)
        return chosen(pa.schema([field for field in stream if field.name != chosen(stream, self.other)]), "")

    @bound
    def _schema(self, stream: pa.Schema) -> pa.Schema:
        fields: list[pa.Field[Any]] = [pa.field(self.peak, pa.float64()), pa.field(self.lag, pa.int64())]
        if self.into:
            fields.append(pa.field(self.into, segment_type(real(dtype_of(stream, self._column(stream))).name)))
        for each in fields:
            if each.name in stream.names:
                raise SchemaError(f"there is a column `{each.name}` already: give `peak`, `lag` or `into` another name")
        return pa.schema([*stream, *fields])


def _alike(left: Any, right: Any, use: Any) -> list[Any]:
    """The rows of each pair of lengths."""
    both = left.astype(np.int64) << 32 | right
    return [np.flatnonzero(use & (both == each)) for each in np.unique(both[use])]


def _correlation(one: Samples, two: Samples, normalize: bool) -> Floats:
    """Of the rows of two arrays, at lags from the negative length of the second on, by way of their spectra."""
    import scipy

    size = one.shape[1] + two.shape[1] - 1
    fast = scipy.fft.next_fast_len(size, real=True)
    left, right = (np.asarray(each, np.float64) for each in (one, two))
    # All rows of a template are one.
    spectrum = scipy.fft.rfft(right[:1] if right.strides[0] == 0 else right, fast, axis=1)
    circular = scipy.fft.irfft(scipy.fft.rfft(left, fast, axis=1) * spectrum.conj(), fast, axis=1)
    whole: Floats = np.concatenate([circular[:, fast - two.shape[1] + 1 :], circular[:, : one.shape[1]]], axis=1)
    if normalize:
        energy = np.sqrt(np.square(left).sum(axis=1) * np.square(right).sum(axis=1))[:, None]
        whole = np.divide(whole, energy, out=np.zeros_like(whole), where=energy != 0)
    return whole


def _first_largest(whole: Floats) -> Any:
    """Where the magnitude is largest; what differs by no more than rounding is equal."""
    size = np.abs(whole)
    return np.argmax(size >= size.max(axis=1, keepdims=True) * (1 - _EQUAL), axis=1)


@lru_cache(maxsize=64)
def _samples(template: tuple[float, ...]) -> Samples:
    return np.array(template)
