"""CFAR: ranges in which a score stands out of its noise, at a constant rate of false alarms (XStream II-A)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.arrow.columns import plain
from australis.boxes.signals.column import chosen, segments
from australis.boxes.signals.families import Following
from australis.boxes.signals.pieces import check_by
from australis.boxes.signals.ranges import FoundRanges, check_score, put_range, ranges, ranges_schema, room
from australis.boxes.signals.sequence import (
    LATE,
    Bases,
    SegmentRows,
    follows,
    out_of_order,
    same_base,
    segment_rows,
    set_base,
)
from australis.errors import NetworkError
from australis.kernels.jit import inner
from australis.model.box import Moment, Tables, Trains
from australis.model.table import Table
from australis.model.train import Bools, Ints, Train, concat

Floats = npt.NDArray[np.float64]
_INTS = ("#begun", "#rate", "#per", "#phase", "#seen", "#left", "#locked", "#begin", "#stop", "#freed", "#ts")
_FLOATS = ("#mean", "#var")
_FAR = 1e150  # the squares of scores that are not so far from zero are finite, and so are their sums


class ScoredWindows(NamedTuple):
    """Windows of a train, the score of each, and whether it has one."""

    score: Floats
    use: Bools
    segments: SegmentRows
    stop: Ints
    ts: Ints


class CfarState(NamedTuple):
    """What is known of the noise of each key, and of its event if one is open."""

    begun: Ints
    """Where the last window began."""
    bases: Bases
    seen: Ints
    """How many windows mean and variance are of."""
    left: Ints
    """How many more windows an event waits for; -1 after one that ended because it was the longest, so that another
    that follows at once is of the same lock."""
    locked: Ints
    """Where the first of the events began that follow each other at once."""
    begin: Ints
    stop: Ints
    freed: Ints
    """Up to where nothing is needed any more."""
    oldest: Ints
    mean: Floats
    var: Floats


class CfarRule(NamedTuple):
    """The parameters of a box, for its kernel."""

    threshold: float
    weight: float
    startup: int
    refractory: int
    longest: int
    padding: int
    lock: int


@dataclass(frozen=True)
class Cfar(Following):
    """Where the score of a key's windows exceeds the mean of its noise by `threshold` standard deviations.

    Mean and variance run along with `weight`, and stand still during an event. Nothing is an event before `startup`
    windows. An event ends `refractory` windows after the last that exceeds, or with `longest` samples; its range, from
    the first window to the last of them, is widened by `padding` samples on both sides. Between events come ranges that
    are not to `keep`, about every `longest` samples, so that `sync` can free what no event needs. Ranges are indices,
    both ends included. Another timebase, in which indices mean other times, ends an event that is open, and so does the
    end of the input.

    What goes on for more than `lock` samples without a pause, as one event or as several, each at once after the one
    before, is no event but noise that has become louder: nothing of it is kept from there on, not the event that is
    open either. Mean and variance are estimated anew from that window on, and `startup` windows pass before the next
    event. The window that begins an event is never too long.

    A window that begins no later than the one before it is out of order, and leaves by the port `late`. A null or NaN
    score, or no window, is passed over, as if it had not come. An infinite score, and one beyond 1e150, begins an event
    or ends one as any other does, but does not enter mean and variance.
    """

    on: str
    by: tuple[str, ...] = ()
    column: str = ""
    threshold: float = 16.0
    weight: float = 0.999
    startup: int = 300
    refractory: int = 40
    longest: int = 48_000
    padding: int = 2_400
    lock: int = 48_000

    kind: ClassVar[str] = "cfar"

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        (stream,) = inputs
        chosen(stream, self.column)
        check_by(stream, self.by)
        check_score(stream, self.on)
        if not math.isfinite(self.threshold) or not 0 < self.weight < 1:
            raise NetworkError(f"cfar has a finite threshold and a weight between 0 and 1, not {self.threshold} and"
                               f" {self.weight}")  # fmt: skip
        if min(self.startup, self.refractory, self.longest, self.lock) < 1 or self.padding < 0:
            raise NetworkError("startup, refractory, longest and lock are at least 1, padding is at least 0")
        return {"out": ranges_schema(stream, self.by), "late": stream}

    def tables(self, *inputs: pa.Schema) -> Tables:
        (stream,) = inputs
        ints = [pa.field(name, pa.int64(), nullable=False) for name in _INTS]
        floats = [pa.field(name, pa.float64(), nullable=False) for name in _FLOATS]
        return {"keys": Table(pa.schema([*(stream.field(name) for name in self.by), *ints, *floats]), self.by)}

    def holds(self, *inputs: pa.Schema) -> str:
        return "the noise" + (f" of each {', '.join(self.by)}" if self.by else "")

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        (train,) = trains
        keys = tables["keys"]
        slots = keys.find([train[name] for name in self.by], len(train))
        windows = segments(train[chosen(train.schema, self.column)])
        score, there = plain(train[self.on].cast(pa.float64()))
        use = windows.sizes > 0 if there is None else there & (windows.sizes > 0)
        late = np.zeros(len(train), np.bool_)
        scored = ScoredWindows(score, use, segment_rows(windows), windows.stop, train.ts)
        row, start, end, keep, ts = detect(self, slots, scored, self._state(keys), late)
        out = [ranges(train.schema, self.by, keys, slots[row], start, end, keep, ts, train.number[row])]
        if moment.end:
            out.append(self._rest(train.schema, keys, moment.number))
        return concat(out[0].schema, out), out_of_order(train, late)

    def _state(self, keys: Table) -> CfarState:
        begun, rate, per, phase, *ints = (keys[name] for name in _INTS)
        return CfarState(begun, Bases(rate, per, phase), *ints, *(keys[name] for name in _FLOATS))

    def _rest(self, stream: pa.Schema, keys: Table, number: int) -> Train:
        """Events that are open at the end."""
        slots = keys.slots[keys["#left"][keys.slots] > 0]
        start, end = keys["#begin"][slots] - self.padding, keys["#stop"][slots] - 1 + self.padding
        ts = keys["#ts"][slots]
        keys["#left"][slots] = 0
        keys.touched[slots] = True
        keep, numbers = np.ones(len(slots), np.bool_), np.full(len(slots), number)
        return ranges(stream, self.by, keys, slots, start, end, keep, ts, numbers)


def detect(box: Cfar, slots: Ints, windows: ScoredWindows, state: CfarState, late: Bools) -> FoundRanges:
    """Find the ranges of windows of keys, and mark windows that are `late`."""
    rule = CfarRule(float(box.threshold), box.weight, box.startup, box.refractory, box.longest, box.padding, box.lock)
    # A row tells one range or begins another, but those that were open before may end beside it.
    found = room(len(slots) + min(len(slots), len(state.left)))
    return found.cut(_detect(slots, windows, state, rule, late, found))


@inner
def _in_order(row: int, key: np.uint64, windows: ScoredWindows, state: CfarState) -> bool:
    """Whether a window begins after the last window of its key."""
    begun = state.begun[key]
    return follows(windows.segments, row, begun + 1, begun, state.bases, key) != LATE


@inner
def _tell_event(
    row: int, key: np.uint64, stop: int, state: CfarState, rule: CfarRule, found: FoundRanges, count: int
) -> int:
    """Add the event of a key, which ends before `stop`; gives how many ranges there are then."""
    first, last = state.begin[key] - rule.padding, stop - 1 + rule.padding
    return put_range(found, count, row, first, last, True, state.oldest[key])


@inner
def _learn(key: np.uint64, value: float, count: int, state: CfarState, weight: float) -> None:
    """Update the mean and variance of a key with a score, which is the one of this count."""
    state.seen[key] = count
    if count == 1:
        state.mean[key], state.var[key] = value, 0.0
    else:
        # The first windows weigh equally, so that the estimate does not hang on the very first.
        share = max(1.0 - weight, 1.0 / count)
        away = value - state.mean[key]
        state.mean[key] += share * away
        state.var[key] = (1.0 - share) * (state.var[key] + share * away * away)


@inner
def _goes_on(row: int, key: np.uint64, above: bool, windows: ScoredWindows, state: CfarState, rule: CfarRule) -> bool:
    """Let a window begin an event or go on with one; gives whether it does. Noise that has become louder does not."""
    start, stop, waits = windows.segments.start[row], windows.stop[row], state.left[key]
    if above and waits <= 0:
        if waits == 0:
            state.locked[key] = start
        state.begin[key], state.left[key], state.oldest[key] = start, rule.refractory + 1, windows.ts[row]
    if state.left[key] > 0 and waits != 0 and stop - state.locked[key] > rule.lock:
        state.left[key], state.seen[key] = 0, 0
    if state.left[key] <= 0:
        state.left[key] = 0
        return False
    state.seen[key] += 1
    state.oldest[key] = min(state.oldest[key], windows.ts[row])
    state.left[key] = rule.refractory if above else state.left[key] - 1
    state.stop[key] = stop
    return True


@inner
def _detect(
    keys: Ints, windows: ScoredWindows, state: CfarState, rule: CfarRule, late: Bools, found: FoundRanges
) -> int:
    """Find ranges and mark windows that are `late`; gives how many ranges there are."""
    count = 0
    for row in range(len(keys)):
        key, value = np.uint64(keys[row]), windows.score[row]
        if not windows.use[row] or value != value:
            continue
        start, stop = windows.segments.start[row], windows.stop[row]
        other = not same_base(windows.segments.bases, row, state.bases, key)
        if (start <= state.begun[key]) | other:
            if not _in_order(row, key, windows, state):
                late[row] = True
                continue
            if state.left[key] > 0:
                count = _tell_event(row, key, state.stop[key], state, rule, found, count)
            state.left[key], state.freed[key] = 0, start
            set_base(windows.segments.bases, row, state.bases, key)
        state.begun[key] = start
        above = state.seen[key] >= rule.startup and value > state.mean[key] + rule.threshold * np.sqrt(state.var[key])
        if (above or state.left[key] != 0) and _goes_on(row, key, above, windows, state, rule):
            if state.left[key] == 0 or stop - state.begin[key] >= rule.longest:
                state.left[key] = 0 if state.left[key] == 0 else -1
                count = _tell_event(row, key, stop, state, rule, found, count)
                state.freed[key] = max(state.freed[key], stop)
            continue
        if abs(value) < _FAR:
            _learn(key, value, state.seen[key] + 1, state, rule.weight)
        if start - rule.padding - state.freed[key] >= rule.longest:
            last = start - rule.padding - 1
            count = put_range(found, count, row, state.freed[key], last, False, windows.ts[row])
            state.freed[key] = last + 1
    return count
