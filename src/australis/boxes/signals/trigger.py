"""Trigger: ranges in which a signal is high, with hysteresis, for sync to cut out (XStream II-A)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pyarrow as pa

from australis.arrow.columns import plain
from australis.boxes.signals.column import Sizes, chosen, dtype_of, segments
from australis.boxes.signals.families import Following
from australis.boxes.signals.pieces import check_by
from australis.boxes.signals.ranges import FoundRanges, check_score, joined, put_range, ranges, ranges_schema, room
from australis.boxes.signals.segments import Samples
from australis.boxes.signals.sequence import (
    LATE,
    PLACE,
    SegmentRows,
    SignalPlaces,
    follows,
    out_of_order,
    places,
    same_base,
    segment_rows,
    set_base,
)
from australis.errors import NetworkError
from australis.kernels.jit import inner
from australis.model.box import Moment, Tables, Trains
from australis.model.table import Table
from australis.model.train import Bools, Ints, Train, concat

_STATE = ("#open", "#begin", "#stop", "#freed", "#ts")
_INTS = (*PLACE, *_STATE)
_ROOM = 1024


class Looked(NamedTuple):
    """The values that are compared with the thresholds: all samples of rows' segments, or one value a row."""

    values: Samples
    offsets: Sizes
    use: Bools
    segments: SegmentRows
    ts: Ints


class TriggerState(NamedTuple):
    """The range of each key that is open, if one is, up to where nothing is needed any more, and its oldest `ts`."""

    open: Ints
    begin: Ints
    stop: Ints
    freed: Ints
    oldest: Ints


class TriggerRule(NamedTuple):
    """The parameters of a box; `singly` if each sample is compared, and not one value for each window."""

    singly: bool
    high: float
    low: float
    longest: int
    padding: int


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
        signal = segments(train[chosen(train.schema, self.column)])
        values, offsets, use = signal.samples, signal.offsets, signal.sizes > 0
        if self.on:
            values, there = plain(train[self.on].cast(pa.float64()))
            offsets, use = np.arange(len(train), dtype=np.int32), use if there is None else use & there
        looked = Looked(values, offsets, use, segment_rows(signal), train.ts)
        late = np.zeros(len(train), np.bool_)
        row, start, end, keep, ts = self._found(keys, slots, looked, late)
        out = ranges(train.schema, self.by, keys, slots[row], start, end, keep, ts, train.number[row])
        if moment.end:
            out = concat(out.schema, [out, self._rest(train.schema, keys, moment.number)])
        return out, out_of_order(train, late)

    def _found(self, keys: Table, slots: Ints, looked: Looked, late: Bools) -> FoundRanges:
        """The ranges that are known after a train."""
        rule = TriggerRule(not self.on, float(self.high), float(self._low()), self.longest, self.padding)
        state, signals = TriggerState(*(keys[name] for name in _STATE)), places(keys)
        size = int(looked.segments.size.max(initial=0)) if rule.singly else 1
        row, parts = 0, []
        while row < len(slots):
            found = room(2 * size + _ROOM)
            row, count = _detect(row, slots, looked, signals, state, rule, late, found)
            parts.append(found.cut(count))
        return joined(parts)

    def _rest(self, stream: pa.Schema, keys: Table, number: int) -> Train:
        """The ranges that are open at the end."""
        slots = keys.slots[keys["#open"][keys.slots] > 0]
        start, end = keys["#begin"][slots] - self.padding, keys["#stop"][slots] - 1 + self.padding
        keys["#open"][slots] = 0
        keys.touched[slots] = True
        keep, numbers = np.ones(len(slots), np.bool_), np.full(len(slots), number)
        return ranges(stream, self.by, keys, slots, start, end, keep, keys["#ts"][slots], numbers)

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


@inner
def _most(segments: SegmentRows, row: int, rule: TriggerRule) -> int:
    """How many ranges a row can end or free at most: two for each value, and two more."""
    return 2 * (segments.size[row] if rule.singly else 1) + 2


@inner
def _went_on(row: int, key: int, looked: Looked, signals: SignalPlaces, rule: TriggerRule, late: Bools) -> int:
    """How many samples of a row's segment came before; LATE, and marked as such, if it is out of order."""
    begun = signals.begun[key]
    next_ = signals.next[key] if rule.singly else begun + 1
    before = follows(looked.segments, row, next_, begun, signals.bases, key)
    if before == LATE:
        late[row] = True
        return LATE
    return max(before, 0) if rule.singly else 0


@inner
def _begin_row(
    row: int, key: int, looked: Looked, signals: SignalPlaces, state: TriggerState, rule: TriggerRule,
    found: FoundRanges, count: int,
) -> int:  # fmt: skip
    """Move the key's signal on to a row's segment, and end its open range if that is not continued."""
    segments = looked.segments
    start, other = segments.start[row], not same_base(segments.bases, row, signals.bases, key)
    if state.open[key] and (other or (rule.singly and start > signals.next[key])):
        first, last = state.begin[key] - rule.padding, state.stop[key] - 1 + rule.padding
        count = put_range(found, count, row, first, last, True, state.oldest[key])
        state.open[key], state.freed[key] = 0, max(state.freed[key], state.stop[key])
    if other:
        set_base(segments.bases, row, signals.bases, key)
        state.freed[key] = start
    signals.next[key], signals.begun[key] = start + segments.size[row], start
    if state.open[key]:
        state.oldest[key] = min(state.oldest[key], looked.ts[row])
    return count


@inner
def _look(
    row: int, key: int, skip: int, looked: Looked, state: TriggerState, rule: TriggerRule, found: FoundRanges,
    count: int,
) -> int:  # fmt: skip
    """Find the ranges that end in a row; gives how many ranges there are then."""
    values, size, padding, longest = looked.values, looked.segments.size[row], rule.padding, rule.longest
    is_open, began, reach, free = state.open[key] == 1, state.begin[key], state.stop[key], state.freed[key]
    step = 1 if rule.singly else size
    at, place = looked.segments.start[row] + skip, looked.offsets[row] + skip
    stop = looked.segments.start[row] + size
    while at < stop:
        if not is_open:
            at, place = _quiet(values, place, at, min(stop, free + padding + longest), step, rule.high)
            if at >= stop:
                break
            if values[place] > rule.high:
                is_open, began, reach, state.oldest[key] = True, at, at, looked.ts[row]
        if not is_open:
            count = put_range(found, count, row, free, at - padding - 1, False, looked.ts[row])
            free = at - padding
            continue
        at, place, reach = _loud(values, place, at, stop, step, rule.low, began + longest, reach)
        if reach - began < longest and at >= stop:
            break
        count = put_range(found, count, row, began - padding, reach - 1 + padding, True, state.oldest[key])
        # The sample that ends a range by being low begins none.
        if reach - began < longest:
            at, place = at + step, place + 1
        is_open, free = False, max(free, reach)
    state.open[key], state.begin[key], state.stop[key], state.freed[key] = is_open, began, reach, free
    return count


@inner
def _detect(
    first: int, keys: Ints, looked: Looked, signals: SignalPlaces, state: TriggerState, rule: TriggerRule,
    late: Bools, found: FoundRanges,
) -> tuple[int, int]:  # fmt: skip
    """Find ranges from a row on while there is room; gives the row it came to, and how many ranges there are."""
    count = 0
    for row in range(first, len(keys)):
        if not looked.use[row]:
            continue
        if count + _most(looked.segments, row, rule) > len(found.row):
            return row, count
        key = keys[row]
        skip = _went_on(row, key, looked, signals, rule, late)
        if skip == LATE:
            continue
        count = _begin_row(row, key, looked, signals, state, rule, found, count)
        count = _look(row, key, skip, looked, state, rule, found, count)
    return len(keys), count
