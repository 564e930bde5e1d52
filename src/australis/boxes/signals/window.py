"""Window: numbers that come tuple by tuple, gathered into segments (XStream I)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.arrow.columns import plain
from australis.arrow.schema import segment as segment_type
from australis.boxes.signals.column import Segments, words
from australis.boxes.signals.families import Following
from australis.boxes.signals.pieces import blobs, check_by, lengths
from australis.boxes.signals.timebases import Timebase, nearest, timebase
from australis.errors import NetworkError, SchemaError, listing, near
from australis.kernels.jit import kernel
from australis.model import parameters
from australis.model.box import Moment, Tables, Trains, bound
from australis.model.facts import Facts
from australis.model.parameters import By
from australis.model.table import Table
from australis.model.train import Bools, Ints, Train, concat

_UNITS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_SAMPLES = {
    pa.int8(): "int16", pa.uint8(): "int16", pa.int16(): "int16", pa.uint16(): "int32", pa.int32(): "int32",
    pa.float16(): "float32", pa.float32(): "float32", pa.int64(): "float64", pa.uint32(): "float64",
    pa.uint64(): "float64", pa.float64(): "float64",
}  # fmt: skip
_STATE = ("#some", "#next", "#ts")
_FAR = 1 << 62
"""No index lies as far from 0: counting on from it would overflow."""


@dataclass(frozen=True)
class Window(Following):
    """Segments of `size` samples of each key, from the numbers in the column `value`.

    The column `on` tells where each lies: a whole number is its index; a timestamp, or a number of seconds, lies at the
    nearest index at the `rate`. A gap ends a segment early, and so does the end of the input; the next number starts
    another. What comes at or before an index that has come, or at none (null, NaN, further than 2^62 from 0), leaves by
    the port `late`. A null value is no
    sample. Columns beside the key are left behind.

    >>> from australis.testing import apply, train
    >>> given = train("at int, volts float", at=[0, 1, 2, 7, 8], volts=[0.5, 1, 2, 3, 4])
    >>> out, late = apply(Window("volts", "at", 2, 50), given, end=True)
    >>> [(each["start"], each["samples"]) for each in out["volts"].to_pylist()]
    [(0, [0.5, 1.0]), (2, [2.0]), (7, [3.0, 4.0])]
    """

    value: str
    on: str
    size: int
    rate: int | float | str
    by: tuple[str, ...] = ()

    kind: ClassVar[str] = "window"

    @classmethod
    def make(cls, value: str, on: str, size: int, rate: int | float | str, by: By = ()) -> Window:
        """Gather the numbers of a column, which lie at the index or time `on`, into segments of so many samples."""
        return cls(value, on, size, rate, parameters.by(by))

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        (stream,) = inputs
        if self.size < 1:
            raise NetworkError(f"a segment has at least 1 sample, not {self.size}")
        check_by(stream, self.by)
        if self.value in self.by:
            raise SchemaError(f"`{self.value}` is both the value and a key")
        self._base()
        for name in (self.value, self.on):
            if name not in stream.names:
                raise SchemaError(f"`{name}` is no column; there are {listing(stream.names)}{near(name, stream.names)}")
        if stream.field(self.value).type not in _SAMPLES:
            raise SchemaError(f"`{self.value}` is {stream.field(self.value).type}; samples are numbers that are not"
                              " decimal: cast it in a map first")  # fmt: skip
        on = stream.field(self.on).type
        if not (pa.types.is_integer(on) or pa.types.is_floating(on) or pa.types.is_timestamp(on)):
            raise SchemaError(f"`{self.on}` is {on}; give a count (a whole number), a timestamp, or seconds")
        return {"out": self._schema(stream), "late": stream}

    def tables(self, *inputs: pa.Schema) -> Tables:
        (stream,) = inputs
        fields: list[pa.Field[Any]] = [stream.field(name) for name in self.by]
        fields += [pa.field(name, pa.int64(), nullable=False) for name in _STATE]
        return {"keys": Table(pa.schema([*fields, pa.field("#samples", pa.large_binary())]), self.by)}

    def holds(self, *inputs: pa.Schema) -> str:
        return f"fewer than {self.size} samples" + (f" of each {', '.join(self.by)}" if self.by else "")

    def followed(self, given: Sequence[Facts], streams: Sequence[pa.Schema]) -> Facts:
        return Facts(rates={self.value: timebase(self.rate).frequency})

    def ordered_on(self, side: int) -> str:
        return self.on

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        (train,) = trains
        keys, dtype = tables["keys"], np.dtype(self._samples(train.schema))
        slots = keys.find([train[name] for name in self.by], len(train))
        values, valid = plain(train[self.value])
        index, placed = self._indices(train[self.on])
        mark = np.zeros(len(keys.alive), np.bool_)
        mark[slots] = True
        known = np.flatnonzero(mark)
        # Few keys are sorted by their digits, which takes the time that reading them does.
        order = np.argsort(slots.astype(np.uint16) if len(mark) <= 1 << 16 else slots, kind="stable")
        held = keys["#samples"][known]
        before = np.frombuffer(b"".join(each for each in held if each is not None), dtype)
        sizes = lengths(held) // dtype.itemsize
        samples = np.empty(len(before) + len(train), dtype)
        late = np.zeros(len(train), np.bool_)
        rest = np.empty((len(known), 2), np.int64)
        there = np.ones(len(train), np.bool_) if valid is None else valid
        begun, next_, oldest = (keys[name] for name in _STATE)
        key, row, place, size, stop, ts = _gather(
            order, slots, words(values.astype(dtype, copy=False)), there, index, placed, train.ts, known, words(before),
            sizes, begun, next_, oldest, self.size, words(samples), late, rest,
        )  # fmt: skip
        keys.put("#samples", known, blobs(samples, rest[:, 0], rest[:, 1]))
        first = np.argsort(row, kind="stable")
        out = self._train(
            train.schema, keys, key[first], samples, place[first], size[first], stop[first], ts[first],
            train.number[row[first]],
        )  # fmt: skip
        if moment.end:
            out = concat(out.schema, [out, self._rest(train.schema, keys, dtype, moment.number)])
        return out, train.where(pa.array(late))

    def _rest(self, stream: pa.Schema, keys: Table, dtype: np.dtype[Any], number: int) -> Train:
        """The samples that have not filled a segment at the end."""
        slots = keys.slots
        held = keys["#samples"][slots]
        slots, held = slots[lengths(held) > 0], held[lengths(held) > 0]
        sizes = lengths(held) // dtype.itemsize
        samples = np.frombuffer(b"".join(held.tolist()), dtype)
        keys["#samples"][slots] = b""
        keys.touched[slots] = True
        return self._train(
            stream, keys, slots, samples, np.cumsum(sizes) - sizes, sizes, keys["#next"][slots], keys["#ts"][slots],
            np.full(len(slots), number),
        )  # fmt: skip

    def _train(
        self, stream: pa.Schema, keys: Table, slots: Ints, samples: npt.NDArray[Any], place: Ints, size: Ints,
        stop: Ints, ts: Ints, number: Ints,
    ) -> Train:  # fmt: skip
        base = self._base()
        rate, per, phase = (np.full(len(slots), each) for each in (base.rate, base.per, base.phase))
        segments = Segments(samples, place.astype(np.int32), size.astype(np.int32), stop - size, rate, per, phase)
        columns: list[Any] = [*(keys.get(name, slots) for name in self.by), segments.arrow()]
        return Train(pa.RecordBatch.from_arrays(columns, schema=self._schema(stream)), ts, number)

    def _indices(self, column: pa.Array[Any]) -> tuple[Ints, Bools]:
        """The index of each tuple, and whether it has one."""
        values, valid = plain(column)
        there = np.ones(len(column), np.bool_) if valid is None else valid
        base = self._base()
        if isinstance(column.type, pa.TimestampType):
            unit = _UNITS[column.type.unit]
            there = there & (np.abs(values / unit * base.rate) < _FAR / 2)
            return nearest(np.where(there, values, 0), unit, base.rate, base.per), there
        if values.dtype.kind != "f":
            if values.dtype.itemsize == 8:
                there = there & (values > -_FAR if values.dtype.kind == "i" else True) & (values < _FAR)
            return values.astype(np.int64), there
        place = np.floor(values.astype(np.float64) * float(base.frequency) + 0.5)
        there = there & (np.abs(place) < _FAR)
        return np.where(there, place, 0).astype(np.int64), there

    def _base(self) -> Timebase:
        return timebase(self.rate)

    def _samples(self, stream: pa.Schema) -> str:
        return _SAMPLES[stream.field(self.value).type]

    @bound
    def _schema(self, stream: pa.Schema) -> pa.Schema:
        field = pa.field(self.value, segment_type(self._samples(stream)))
        return pa.schema([*(stream.field(name) for name in self.by), field])


@kernel
def _gather(
    order: Ints, key: Ints, value: npt.NDArray[Any], there: Bools, index: Ints, placed: Bools, ts: Ints, known: Ints,
    before: npt.NDArray[Any], sizes: Ints, begun: Ints, next_: Ints, oldest: Ints, length: int,
    samples: npt.NDArray[Any], late: Bools, rest: Ints,
) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints]:  # fmt: skip
    """Of each segment its key, the row at which it is known, where its samples lie, how many, up to which index, `ts`.

    Samples of a key are copied one after the other, those held first; `rest` tells where those lie that fill none yet.
    """
    most = len(order) + len(known)
    of, row_of, place = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    size, stop, old = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    found, at, each, held = 0, 0, 0, 0
    for turn in range(len(known)):
        k, begin = known[turn], at
        samples[at : at + sizes[turn]] = before[held : held + sizes[turn]]
        at, held = at + sizes[turn], held + sizes[turn]
        while each < len(order) and key[order[each]] == k:
            row = order[each]
            each += 1
            if not placed[row] or (begun[k] and index[row] < next_[k]):
                late[row] = True
                continue
            if not there[row]:
                continue
            if at > begin and index[row] != next_[k]:
                of[found], row_of[found], place[found] = k, row, begin
                size[found], stop[found], old[found] = at - begin, next_[k], oldest[k]
                found += 1
                begin = at
            oldest[k] = ts[row] if at == begin else min(oldest[k], ts[row])
            samples[at] = value[row]
            at += 1
            begun[k], next_[k] = 1, index[row] + 1
            if at - begin == length:
                of[found], row_of[found], place[found] = k, row, begin
                size[found], stop[found], old[found] = length, next_[k], oldest[k]
                found += 1
                begin = at
        rest[turn, 0], rest[turn, 1] = begin, at - begin
    return of[:found], row_of[:found], place[:found], size[:found], stop[:found], old[:found]
