"""Zip: signals side by side, sample by sample, as far as all of them go (XStream II-A, PIPELINE)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from australis.arrow.schema import samples_of
from australis.boxes.signals.column import Segments, segments
from australis.boxes.signals.families import Following
from australis.boxes.signals.pieces import (
    Pieces,
    arrive,
    channels,
    check_same,
    held_table,
    hold,
    keys_table,
    laid,
    samples,
    waiting,
)
from australis.boxes.signals.sequence import out_of_order
from australis.boxes.signals.zipping import zipped
from australis.errors import NetworkError, SchemaError
from australis.model import parameters
from australis.model.box import Moment, Tables, Trains, bound, lost, unchanged
from australis.model.facts import Facts
from australis.model.labels import as_written
from australis.model.parameters import By
from australis.model.train import Train


@dataclass(frozen=True)
class Zip(Following):
    """Tuples of segments, one of each column of segments of its streams, that lie at the same times.

    Samples go together whose times are nearest: signals of one rate, whatever their phases. A tuple comes of what one
    segment of each has in common; with a `size`, of windows of so many samples that all have without a gap, as
    `rewindow` cuts them. What one signal has come past, and another never had, is left out. Signals that have another
    rate at the same time are an error, which says how to `rerate` them. A signal that is ahead waits. Samples that come
    again are taken once; tuples with a segment out of order leave by the port `late_1` if they are of the first stream,
    `late_2` of the second, and so on. Columns beside the key are left behind. `signals` counts the streams beside the
    first.

    >>> from australis.boxes.signals.segments import segment
    >>> from australis.testing.signals import signal
    >>> from australis.boxes.signals.timebases import timebase
    >>> from australis.testing import apply
    >>> sound = segment(range(9), timebase(8), dtype="int16")
    >>> left = signal("left segment<int16>", left=[sound[:5], sound[5:]])
    >>> both, *_ = apply(Zip(), left, signal("right segment<int16>", right=[sound[2:7]]))
    >>> [list(each["samples"]) for name in both.schema.names for each in both[name].to_pylist()]
    [[2, 3, 4], [5, 6], [2, 3, 4], [5, 6]]
    """

    signals: int = 1
    by: tuple[str, ...] = ()
    size: int = 0

    kind: ClassVar[str] = "zip"
    others: ClassVar[tuple[str, ...]] = ("*signals",)

    @classmethod
    def make(cls, *, by: By = (), size: int = 0, arity: int) -> Zip:
        """Put the signals of streams side by side, as far as all go; with a size, in windows of so many samples."""
        return cls(arity - 1, parameters.by(by), size)

    def written(self) -> Mapping[str, object]:
        return {"by": as_written(self.by), "size": self.size}

    @property
    def arity(self) -> int:
        return 1 + self.signals

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        if self.size < 0:
            raise NetworkError(f"windows have at least 1 sample, not {self.size}; 0 is for segments as they come")
        check_same(inputs, self.by)
        if len(self._channels(*inputs)) < 2:
            raise SchemaError("there is only one column of segments: zip takes two or more")
        return {"out": self._schema(*inputs)} | {f"late_{at}": each for at, each in enumerate(inputs, 1)}

    def tables(self, *inputs: pa.Schema) -> Tables:
        count = len(self._channels(*inputs))
        each: Any = pa.list_(pa.int64(), count)
        skip = pa.field("#skip", each, nullable=False)
        return {
            "keys": keys_table(inputs[0], self.by, count, skip),
            **{f"held_{at}": held_table() for at in range(count)},
        }

    def holds(self, *inputs: pa.Schema) -> str:
        return "what one signal has come to and another has not" + (
            f", of each {', '.join(self.by)}" if self.by else ""
        )

    def passes(self, port: str, *inputs: pa.Schema) -> Mapping[int, Mapping[str, str]]:
        if lost(port):
            side = int(port.removeprefix("late_")) - 1
            return {side: unchanged(inputs[side])}
        return super().passes(port, *inputs)

    def facts(self, title: str, given: Sequence[Facts], streams: Sequence[pa.Schema]) -> Facts:
        """Signals of different rates cannot lie side by side."""
        facts = super().facts(title, given, streams)
        rates = {
            name: known.rates[name]
            for known, stream in zip(given, streams, strict=True)
            for name in stream.names
            if name in known.rates
        }
        for name, rate in rates.items():
            first, wanted = next(iter(rates.items()))
            if rate != wanted:
                factor = wanted / rate
                raise NetworkError(
                    f"`{first}` has {float(wanted):,.10g} samples a second and `{name}` {float(rate):,.10g}:"
                    f" bring them to one rate first, such as by rerate({factor.numerator}, {factor.denominator}) of"
                    f" `{name}`"
                )
        return facts

    def followed(self, given: Sequence[Facts], streams: Sequence[pa.Schema]) -> Facts:
        rates = {name: rate for known in given for name, rate in known.rates.items()}
        names = [each.name for stream in streams for each in stream if samples_of(each.type) is not None]
        return Facts(rates=rates, sizes=dict.fromkeys(names, self.size) if self.size else {})

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        keys = tables["keys"]
        schemas = [train.schema for train in trains]
        slots = [keys.find([train[name] for name in self.by], len(train)) for train in trains]
        wanted = np.unique(np.concatenate(slots))
        signals: list[Segments] = []
        pieces: list[Pieces] = []
        laid_: list[Any] = []
        late = [np.zeros(len(train), np.bool_) for train in trains]
        for at, (side, name) in enumerate(self._channels(*schemas)):
            held = tables[f"held_{at}"]
            signals.append(segments(trains[side][name]))
            old = waiting(keys, held, wanted)
            channel = arrive(keys, held, old, at, slots[side], trains[side], signals[at], late[side])
            all_, offsets = samples(held, old, signals[at]), channel.offset
            if self.size:
                all_, offsets = laid(channel, all_)
            laid_.append(all_)
            pieces.append(replace(channel, offset=offsets))
        ranges = zipped(pieces, wanted, keys["#skip"], self.size, [name for _, name in self._channels(*schemas)])
        columns: list[Any] = [keys.get(name, ranges.key) for name in self.by]
        for at, channel in enumerate(pieces):
            columns.append(ranges.segments(at, channel, laid_[at]).arrow())
            hold(tables[f"held_{at}"], channel, laid_[at], ranges.limits[at])
        tuples = pa.RecordBatch.from_arrays(columns, schema=self._schema(*schemas))
        return (Train(tuples, ranges.ts, ranges.number), *map(out_of_order, trains, late))

    @bound
    def _channels(self, *inputs: pa.Schema) -> list[tuple[int, str]]:
        return [(side - 1, name) for side, name in channels(inputs)]

    @bound
    def _schema(self, *inputs: pa.Schema) -> pa.Schema:
        fields: list[pa.Field[Any]] = [inputs[0].field(name) for name in self.by]
        for side, name in self._channels(*inputs):
            if name in [field.name for field in fields]:
                raise SchemaError(f"the column `{name}` of signal {side + 1} is there already: map it to another name")
            fields.append(inputs[side].field(name))
        return pa.schema(fields)
