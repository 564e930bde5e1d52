"""Rewindow: a signal in windows of another length, which skip samples or overlap (XStream III-A)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.arrow.columns import take
from australis.boxes.signals.column import Segments, chosen, segments
from australis.boxes.signals.families import Following
from australis.boxes.signals.pieces import (
    Pieces,
    arrive,
    check_by,
    held_table,
    hold,
    keys_table,
    laid,
    samples,
    waiting,
)
from australis.boxes.signals.sequence import out_of_order
from australis.errors import NetworkError
from australis.kernels.jit import kernel, longer
from australis.model.box import Moment, Tables, Trains, bound
from australis.model.facts import Facts
from australis.model.train import Ints, Train


@dataclass(frozen=True)
class Rewindow(Following):
    """Windows of `size` samples of each key's signal; `gap` samples lie between two, or are in both if it is negative.

    Windows share the samples they were cut from. Each begins a whole number of steps after its run: a gap in the
    signal, or another timebase, begins a new run, and what filled no window before is left out, as it is at the end.
    Samples that come again, as in windows that overlap, are taken once. A segment that begins no later than the one
    before it, or brings nothing new, leaves whole by the port `late`. Columns beside the key are left behind.

    >>> from australis.boxes.signals.segments import segment
    >>> from australis.testing.signals import signal
    >>> from australis.boxes.signals.timebases import timebase
    >>> from australis.testing import apply
    >>> train = signal("audio segment<int16>", audio=[segment(range(10), timebase(8), dtype="int16")])
    >>> segments(apply(Rewindow(4, -2), train)[0]["audio"]).start.tolist()
    [0, 2, 4, 6]
    """

    size: int
    gap: int = 0
    by: tuple[str, ...] = ()
    column: str = ""

    kind: ClassVar[str] = "rewindow"

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        (stream,) = inputs
        if self.size < 1 or self.size + self.gap < 1:
            raise NetworkError(
                f"windows of {self.size} samples with a gap of {self.gap} do not move on: the size is at least 1, and"
                " the gap above its negative"
            )
        check_by(stream, self.by)
        return {"out": self._schema(stream), "late": stream}

    def tables(self, *inputs: pa.Schema) -> Tables:
        window = pa.field("#window", pa.int64(), nullable=False)
        return {"keys": keys_table(inputs[0], self.by, 1, window), "held": held_table()}

    def holds(self, *inputs: pa.Schema) -> str:
        return f"the last {self.size} samples at most" + (f" of each {', '.join(self.by)}" if self.by else "")

    def followed(self, given: Sequence[Facts], streams: Sequence[pa.Schema]) -> Facts:
        column = chosen(streams[0], self.column)
        rate = given[0].rates.get(column)
        return Facts(rates={} if rate is None else {column: rate}, sizes={column: self.size})

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        (train,) = trains
        keys, held = tables["keys"], tables["held"]
        column = chosen(train.schema, self.column)
        signal = segments(train[column])
        slots = keys.find([train[name] for name in self.by], len(train))
        old = waiting(keys, held, slots)
        late = np.zeros(len(train), np.bool_)
        pieces = arrive(keys, held, old, 0, slots, train, signal, late)
        all_, offsets = laid(pieces, samples(held, old, signal))
        last, place, start, ts, limit = self._cut(keys["#window"], pieces, offsets)
        rows = pieces.row[last]
        if self.by:
            order = np.argsort(rows, kind="stable")
            rows, place, start, ts = rows[order], place[order], start[order], ts[order]
        sizes = np.full(len(rows), self.size, np.int32)
        windows = Segments(
            all_, place.astype(np.int32), sizes, start, signal.rate[rows], signal.per[rows], signal.phase[rows]
        ).arrow()
        hold(held, replace(pieces, offset=offsets), all_, limit)
        columns: list[pa.Array[Any]] = [*(take(train[name], rows) for name in self.by), windows]
        tuples = pa.RecordBatch.from_arrays(columns, schema=self._schema(train.schema))
        return Train(tuples, ts, train.number[rows]), out_of_order(train, late)

    def _cut(self, window: Ints, pieces: Pieces, offsets: Ints) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        limit = np.empty(len(pieces), np.int64)
        windows = _windows(
            pieces.key, pieces.fresh, pieces.start, pieces.size, offsets, pieces.ts, window,
            self.size, self.size + self.gap, limit,
        )  # fmt: skip
        return *windows, limit

    @bound
    def _schema(self, stream: pa.Schema) -> pa.Schema:
        return pa.schema([stream.field(name) for name in (*self.by, chosen(stream, self.column))])


@kernel
def _windows(
    key: Ints, fresh: npt.NDArray[np.bool_], start: Ints, size: Ints, offset: Ints, ts: Ints, window: Ints,
    length: int, step: int, limit: Ints,
) -> tuple[Ints, Ints, Ints, Ints]:  # fmt: skip
    """Of each window its last piece, where it lies, its first index and oldest `ts`; and what pieces are held from."""
    last, place = np.empty(64, np.int64), np.empty(64, np.int64)
    begin, oldest = np.empty(64, np.int64), np.empty(64, np.int64)
    found, first = 0, 0
    for piece in range(len(key)):
        k = key[piece]
        if piece == 0 or key[piece - 1] != k or fresh[piece]:
            first = piece
            if fresh[piece]:
                window[k] = start[piece]
        stop = start[piece] + size[piece]
        while window[k] + length <= stop:
            while start[first] + size[first] <= window[k]:
                first += 1
            if found == len(last):
                last, place, begin, oldest = longer(last), longer(place), longer(begin), longer(oldest)
            last[found], begin[found] = piece, window[k]
            place[found] = offset[piece] + window[k] - start[piece]
            oldest[found] = ts[piece]
            for each in range(first, piece):
                oldest[found] = min(oldest[found], ts[each])
            found += 1
            window[k] += step
    for piece in range(len(key) - 1, -1, -1):
        again = piece + 1 < len(key) and key[piece + 1] == key[piece]
        limit[piece] = window[key[piece]]
        if again and (fresh[piece + 1] or limit[piece + 1] == np.iinfo(np.int64).max):
            limit[piece] = np.iinfo(np.int64).max
    return last[:found], place[:found], begin[:found], oldest[:found]
