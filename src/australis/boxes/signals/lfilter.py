"""Lfilter: a linear filter, FIR or IIR, along the whole of a signal however it is cut in segments (XStream III-A)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.arrow.schema import segment as segment_type
from australis.boxes.signals.column import Sizes, bounds, chosen, dtype_of, segments, starts
from australis.boxes.signals.families import Rowwise, check_groups
from australis.boxes.signals.pieces import check_by
from australis.boxes.signals.segments import Samples
from australis.boxes.signals.sequence import admit, out_of_order, place_fields, places
from australis.boxes.signals.steps import real
from australis.errors import NetworkError
from australis.kernels.jit import kernel
from australis.model.box import Key, Moment, Tables, Trains, bound
from australis.model.facts import Facts, SignalGroup
from australis.model.table import Table
from australis.model.train import Bools, Ints

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Lfilter(Rowwise):
    """The tuple, with its segment filtered as `scipy.signal.lfilter(b, a, signal)` does; null stays null.

    A segment that goes on where the last of its key stopped finds the filter as that one left it; after a gap, or in
    another timebase, it finds it at rest. Samples that come again, as in windows that overlap, are taken once: the
    segment that leaves has the new ones alone. One that is out of order leaves as it is by the port `late`.

    A sample that is NaN makes so many results NaN as a filter without feedback (`a` of one number) is long. With
    feedback all are, as of scipy's filters, until a gap lets it begin again.

    >>> from australis.boxes.signals.segments import segment
    >>> from australis.testing.signals import signal
    >>> from australis.boxes.signals.timebases import timebase
    >>> from australis.testing import apply
    >>> sound = segment([2, 4, 8, 0], timebase(8), dtype="int16")
    >>> train = signal("audio segment<int16>", audio=[sound[:2], sound[2:]])
    >>> segments(apply(Lfilter((0.5, 0.5)), train)[0]["audio"]).samples.tolist()
    [1.0, 3.0, 6.0, 4.0]
    """

    b: tuple[float, ...]
    a: tuple[float, ...] = (1.0,)
    by: tuple[str, ...] = ()
    column: str = ""

    kind: ClassVar[str] = "lfilter"

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        (stream,) = inputs
        if not self.b or not self.a or self.a[0] == 0 or not np.isfinite([*self.b, *self.a]).all():
            raise NetworkError("a filter has coefficients b and a, all finite, and the first of a is not 0")
        check_by(stream, self.by)
        if dtype_of(stream, chosen(stream, self.column)).kind == "c":
            raise NetworkError("a filter is for real samples")
        return {"out": self._schema(stream), "late": stream}

    def keys(self, *inputs: pa.Schema) -> tuple[Key, ...] | None:
        return (self.by,)

    def tables(self, *inputs: pa.Schema) -> Tables:
        (stream,) = inputs
        order: Any = pa.list_(pa.float64(), max(len(self.a), len(self.b)))
        fields: list[pa.Field[Any]] = [stream.field(name) for name in self.by]
        return {"keys": Table(pa.schema([*fields, *place_fields(), pa.field("#z", order, nullable=False)]), self.by)}

    def holds(self, *inputs: pa.Schema) -> str:
        return f"{max(len(self.a), len(self.b))} numbers" + (f" for each {', '.join(self.by)}" if self.by else "")

    def facts(self, title: str, given: Sequence[Facts], streams: Sequence[pa.Schema]) -> Facts:
        check_groups(self.by, given[0].groups)
        more = tuple(SignalGroup(name, title, name) for name in self.by)
        return replace(given[0], groups=(*given[0].groups, *more), sizes={})

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        (train,) = trains
        keys, column = tables["keys"], chosen(train.schema, self.column)
        signal = segments(train[column])
        slots = keys.find([train[name] for name in self.by], len(train))
        late = np.zeros(len(train), np.bool_)
        skip, _, fresh = admit(slots, signal, places(keys), late)
        rest, kept = out_of_order(train, late), train
        if late.any():
            rows = np.flatnonzero(~late)
            kept, signal = train.where(pa.array(~late)), signal.take(rows)
            slots, skip, fresh = slots[rows], skip[rows], fresh[rows]
        if skip.any():
            dropped = skip.astype(np.int32)
            signal = replace(
                signal, start=signal.start + skip, offsets=signal.offsets + dropped, sizes=signal.sizes - dropped
            )
        to = starts(signal.sizes)
        out = np.empty(int(signal.sizes.sum()), real(signal.samples.dtype))
        b, a = self._coefficients()
        feedback = a if a[1:].any() else None
        _filter(slots, signal.samples, signal.offsets, signal.sizes, fresh, keys["#z"], b, feedback, to, out)
        columns: list[Any] = [kept.part(name) for name in kept.schema.names]
        columns[kept.schema.get_field_index(column)] = signal.on(out, to, signal.sizes).arrow()
        return kept.made(self._schema(kept.schema), columns), rest

    def _coefficients(self) -> tuple[Floats, Floats]:
        """Both of one length, over the first of a."""
        both = np.zeros((2, max(len(self.a), len(self.b))))
        both[0, : len(self.b)] = self.b
        both[1, : len(self.a)] = self.a
        both /= self.a[0]
        return both[0], both[1]

    @bound
    def _schema(self, stream: pa.Schema) -> pa.Schema:
        column = chosen(stream, self.column)
        field = pa.field(column, segment_type(real(dtype_of(stream, column)).name))
        return stream.set(stream.get_field_index(column), field)


@kernel
def _filter(
    key: Ints, samples: Samples, offsets: Sizes, sizes: Sizes, fresh: Bools, z: Floats, b: Floats, a: Floats | None,
    places: Sizes, out: Samples,
) -> None:  # fmt: skip
    """The transposed direct form II, as scipy has it.

    `a` is None where there is no feedback: 0 times a result that is NaN would be NaN again. numba compiles both cases.
    """
    one, order = np.uint64(1), np.uint64(len(b))
    for row in range(len(key)):
        (first, last), place, slot = bounds(row, offsets, sizes), np.uint64(places[row]), np.uint64(key[row])
        if fresh[row]:
            z[slot] = 0.0
        for at in range(first, last):
            x = np.float64(samples[at])
            y = b[0] * x + z[slot, np.uint64(0)]
            for each in range(one, order):
                if a is None:
                    z[slot, each - one] = b[each] * x + z[slot, each]
                else:
                    z[slot, each - one] = b[each] * x + z[slot, each] - a[each] * y
            out[place + (at - first)] = y
