"""Trigger: ranges in which a signal is high, with hysteresis, for sync to cut out (XStream II-A)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from australis.arrow.columns import plain
from australis.boxes.signals.column import Sizes, chosen, dtype_of, segments
from australis.boxes.signals.families import Following
from australis.boxes.signals.pieces import check_by
from australis.boxes.signals.ranges import check_score, ranges, ranges_schema
from australis.boxes.signals.segments import Samples
from australis.boxes.signals.sequence import LATE, PLACE, follows, out_of_order
from australis.errors import NetworkError
from australis.kernels.jit import inner, kernel, longer
from australis.model.box import Key, Moment, Tables, Trains
from australis.model.table import Table
from australis.model.train import Bools, Ints, concat

_INTS = (*PLACE, "#open", "#begin", "#stop", "#freed", "#ts")


@dataclass(frozen=True)
class Trigger(Following):
    """Where the samples of a key's signal, or the numbers `on` of its windows, exceed `high` and until they fall
    below `low`, which is `high` if it is not given.

    A range goes from the first sample (window) that exceeds to the last before one that is below, and is widened by
    `padding` samples on both sides. It ends with `longest` samples; a gap in the samples, another timebase and the end
    of the input end it too. Between those ranges come others that are not to `keep`, about every `longest` samples, so
    that `sync` can free what none needs. Samples that come again are taken once; a null number is passed over. NaN is
    neither above nor below: it begins no range and ends none. A segment that is out of order leaves by the port `late`,
    and so does a window that begins no later than the one before it. Ranges are indices, both ends included.

    >>> from australis.boxes.signals.segments import segment
    >>> from australis.testing.signals import signal
    >>> from australis.boxes.signals.timebases import timebase
    >>> from australis.testing import apply, rows
    >>> sound = segment([0, 9, 5, 9, 5, 0, 0, 7], timebase(8), dtype="int16")
    >>> rows(apply(Trigger(6, 3), signal("audio segment<int16>", audio=[sound]), end=True)[0])
    [(1, 4, True), (7, 7, True)]
    """

    high: float
    low: float | None = None
    on: str = ""
    by: tuple[str, ...] = ()
    column: str = ""
    longest: int = 48_000
    padding: int = 0

    kind: ClassVar[str] = "trigger"

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        (stream,) = inputs
        column = chosen(stream, self.column)
        check_by(stream, self.by)
        if self.on:
            check_score(stream, self.on)
        elif dtype_of(stream, column).kind == "c":
            raise NetworkError("complex samples are neither high nor low: transform them with `abs` first")
        if not self._low() <= self.high:
            raise NetworkError(f"a range begins above {self.high} and ends below {self.low}: low is at most high")
        if self.longest < 1 or self.padding < 0:
            raise NetworkError("longest is at least 1, padding at least 0")
        return {"out": ranges_schema(stream, self.by), "late": stream}

    def keys(self, *inputs: pa.Schema) -> tuple[Key, ...] | None:
        return (self.by,)

    def tables(self, *inputs: pa.Schema) -> Tables:
        (stream,) = inputs
        ints = [pa.field(name, pa.int64(), nullable=False) for name in _INTS]
        return {"keys": Table(pa.schema([*(stream.field(name) for name in self.by), *ints]), self.by)}

    def holds(self, *inputs: pa.Schema) -> str:
        return f"{len(_INTS)} numbers" + (f" for each {', '.join(self.by)}" if self.by else "")

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        (train,) = trains
        keys = tables["keys"]
        slots = keys.find([train[name] for name in self.by], len(train))
        given = segments(train[chosen(train.schema, self.column)])
        values, offsets, use = given.samples, given.offsets, given.sizes > 0
        if self.on:
            values, there = plain(train[self.on].cast(pa.float64()))
            offsets, use = np.arange(len(train), dtype=np.int32), use if there is None else use & there
        next_, before, rate, per, phase, open_, begin, stop, freed, oldest = (keys[name] for name in _INTS)
        late = np.zeros(len(train), np.bool_)
        row, start, end, keep, ts = _detect(
            slots, values, offsets, given.sizes, use, given.start, given.rate, given.per, given.phase, train.ts,
            next_, before, rate, per, phase, open_, begin, stop, freed, oldest, self.on == "", float(self.high),
            float(self._low()), self.longest, self.padding, late,
        )  # fmt: skip
        out = ranges(train.schema, self.by, keys, slots[row], start, end, keep == 1, ts, train.number[row])
        if not moment.end:
            return out, out_of_order(train, late)
        left = keys.slots[keys["#open"][keys.slots] > 0]
        start, end = keys["#begin"][left] - self.padding, keys["#stop"][left] - 1 + self.padding
        keys["#open"][left] = 0
        keys.touched[left] = True
        all_ = np.ones(len(left), np.bool_)
        number = np.full(len(left), moment.number)
        rest = ranges(train.schema, self.by, keys, left, start, end, all_, keys["#ts"][left], number)
        return concat(out.schema, [out, rest]), out_of_order(train, late)

    def _low(self) -> float:
        return self.high if self.low is None else self.low


@inner
def _quiet(values: Samples, place: int, at: int, stop: int, step: int, high: float) -> tuple[int, int]:
    """The first index, and the place of its value, that is high, or at which to stop."""
    while at < stop and not values[place] > high:
        at, place = at + step, place + 1
    return at, place


@inner
def _loud(
    values: Samples, place: int, at: int, stop: int, step: int, low: float, end: int, reach: int
) -> tuple[int, int, int]:
    """The first index, and the place of its value, that is low, or after which the range is long enough; its end."""
    while at < stop and reach < end and not values[place] < low:
        at, place = at + step, place + 1
        reach = at
    return at, place, reach


@kernel
def _detect(
    key: Ints, values: Samples, offsets: Sizes, sizes: Sizes, use: Bools, start: Ints, rate: Ints, per: Ints,
    phase: Ints, ts: Ints, next_: Ints, before: Ints, rates: Ints, pers: Ints, phases: Ints, open_: Ints, begin: Ints,
    reached: Ints, freed: Ints, oldest: Ints, singly: bool, high: float, low: float, longest: int, padding: int,
    late: Bools,
) -> tuple[Ints, Ints, Ints, Ints, Ints]:  # fmt: skip
    """The row at which each range is known, the range, whether it is kept, and its `ts`.

    What is looked at are samples, or (not `singly`) windows, each with one value.
    """
    row_of, first, last = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64, np.int64)
    keep, old = np.empty(64, np.int64), np.empty(64, np.int64)
    found = 0
    for row in range(len(key)):
        if not use[row]:
            continue
        k, stop = key[row], start[row] + sizes[row]
        same = rates[k] == rate[row] and pers[k] == per[row] and phases[k] == phase[row]
        new = rates[k] == 0 or not same
        here = follows(
            start[row], sizes[row], rate[row], per[row], phase[row], next_[k] if singly else before[k] + 1, before[k],
            rates[k], pers[k], phases[k],
        )  # fmt: skip
        if here == LATE:
            late[row] = True
            continue
        skip = max(here, 0) if singly else 0
        if open_[k] and (new or (singly and start[row] > next_[k])):
            if found == len(row_of):
                row_of, first, last, keep, old = longer(row_of), longer(first), longer(last), longer(keep), longer(old)
            row_of[found], first[found], last[found] = row, begin[k] - padding, reached[k] - 1 + padding
            keep[found], old[found] = 1, oldest[k]
            found += 1
            open_[k], freed[k] = 0, max(freed[k], reached[k])
        if new:
            rates[k], pers[k], phases[k], freed[k] = rate[row], per[row], phase[row], start[row]
        next_[k], before[k] = stop, start[row]
        if open_[k]:
            oldest[k] = min(oldest[k], ts[row])
        is_open, began, reach, free = open_[k] == 1, begin[k], reached[k], freed[k]
        step = 1 if singly else sizes[row]
        at, place = start[row] + skip, offsets[row] + skip
        while at < stop:
            if not is_open:
                at, place = _quiet(values, place, at, min(stop, free + padding + longest), step, high)
                if at >= stop:
                    break
                if values[place] > high:
                    is_open, began, reach, oldest[k] = True, at, at, ts[row]
            ends = is_open
            if is_open:
                at, place, reach = _loud(values, place, at, stop, step, low, began + longest, reach)
                ends = reach - began >= longest or at < stop
                if not ends:
                    break
            if found == len(row_of):
                row_of, first, last = longer(row_of), longer(first), longer(last)
                keep, old = longer(keep), longer(old)
            row_of[found], keep[found] = row, ends
            if ends:
                first[found], last[found], old[found] = began - padding, reach - 1 + padding, oldest[k]
                # The sample that ends a range by being low begins none.
                if reach - began < longest:
                    at, place = at + step, place + 1
                is_open, free = False, max(free, reach)
            else:
                first[found], last[found], old[found] = free, at - padding - 1, ts[row]
                free = at - padding
            found += 1
        open_[k], begin[k], reached[k], freed[k] = is_open, began, reach, free
    return row_of[:found], first[:found], last[:found], keep[:found], old[:found]
