"""CFAR: ranges in which a score stands out of its noise, at a constant rate of false alarms (XStream II-A)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.arrow.columns import plain
from australis.boxes.signals.column import chosen, segments
from australis.boxes.signals.families import Following
from australis.boxes.signals.pieces import check_by
from australis.boxes.signals.ranges import check_score, ranges, ranges_schema
from australis.boxes.signals.sequence import LATE, follows, out_of_order
from australis.errors import NetworkError
from australis.kernels.jit import kernel
from australis.model.box import Key, Moment, Tables, Trains
from australis.model.table import Table
from australis.model.train import Bools, Ints, Train, concat

_INTS = ("#begun", "#rate", "#per", "#phase", "#seen", "#left", "#locked", "#begin", "#stop", "#freed", "#ts")
_FLOATS = ("#mean", "#var")
_FAR = 1e150  # the squares of scores that are not so far from zero are finite, and so are their sums


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

    def keys(self, *inputs: pa.Schema) -> tuple[Key, ...] | None:
        return (self.by,)

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
        begun, rate, per, phase, seen, left, locked, begin, stop, freed, oldest = (keys[name] for name in _INTS)
        mean, var = (keys[name] for name in _FLOATS)
        late = np.zeros(len(train), np.bool_)
        row, start, end, keep, ts = _detect(
            slots, score, use, windows.start, windows.stop, windows.rate, windows.per, windows.phase, train.ts, begun,
            rate, per, phase, seen, left, locked, begin, stop, freed, oldest, mean, var, self.threshold, self.weight,
            self.startup, self.refractory, self.longest, self.padding, self.lock, late,
        )  # fmt: skip
        out = [ranges(train.schema, self.by, keys, slots[row], start, end, keep == 1, ts, train.number[row])]
        if moment.end:
            out.append(self._rest(train.schema, keys, moment.number))
        return concat(out[0].schema, out), out_of_order(train, late)

    def _rest(self, stream: pa.Schema, keys: Table, number: int) -> Train:
        """Events that are open at the end."""
        slots = keys.slots[keys["#left"][keys.slots] > 0]
        start, end = keys["#begin"][slots] - self.padding, keys["#stop"][slots] - 1 + self.padding
        ts = keys["#ts"][slots]
        keys["#left"][slots] = 0
        keys.touched[slots] = True
        keep, numbers = np.ones(len(slots), np.bool_), np.full(len(slots), number)
        return ranges(stream, self.by, keys, slots, start, end, keep, ts, numbers)


@kernel
def _detect(
    key: Ints, score: npt.NDArray[np.float64], use: Bools, start: Ints, stop: Ints, rate: Ints, per: Ints, phase: Ints,
    ts: Ints, begun: Ints, rates: Ints, pers: Ints, phases: Ints, seen: Ints, left: Ints, locked: Ints, begin: Ints,
    reached: Ints, freed: Ints, oldest: Ints, mean: npt.NDArray[np.float64], var: npt.NDArray[np.float64],
    threshold: float, weight: float, startup: int, refractory: int, longest: int, padding: int, lock: int, late: Bools,
) -> tuple[Ints, Ints, Ints, Ints, Ints]:  # fmt: skip
    """The row at which each range is known, the range, whether it is kept, and its `ts`; marks what is `late`.

    `left` is how many more windows an event waits for; -1 says that one has just ended because it was the longest, so
    that another that follows at once is of the same lock.
    """
    # A row tells one range or begins another, but those that were open before may end beside it.
    most = len(key) + min(len(key), len(left))
    row_of, first, last = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    keep, old = np.empty(most, np.int64), np.empty(most, np.int64)
    found = 0
    for row in range(len(key)):
        k, value = np.uint64(key[row]), score[row]
        if not use[row] or value != value:
            continue
        at, end = start[row], stop[row]
        if (at <= begun[k]) | (rate[row] != rates[k]) | (per[row] != pers[k]) | (phase[row] != phases[k]):
            here = follows(at, 1, rate[row], per[row], phase[row], begun[k] + 1, begun[k], rates[k], pers[k], phases[k])
            if here == LATE:
                late[row] = True
                continue
            if left[k] > 0:
                row_of[found], first[found] = row, begin[k] - padding
                last[found], keep[found], old[found] = reached[k] - 1 + padding, 1, oldest[k]
                found += 1
            left[k], freed[k] = 0, at
            rates[k], pers[k], phases[k] = rate[row], per[row], phase[row]
        begun[k] = at
        count, waits = seen[k], left[k]
        above = count >= startup and value > mean[k] + threshold * np.sqrt(var[k])
        if above or waits != 0:
            if above and waits <= 0:
                if waits == 0:
                    locked[k] = at
                begin[k], left[k], oldest[k] = at, refractory + 1, ts[row]
            if left[k] > 0 and waits != 0 and end - locked[k] > lock:
                left[k], count = 0, 0
            if left[k] > 0:
                seen[k] = count + 1
                oldest[k] = min(oldest[k], ts[row])
                left[k] = refractory if above else left[k] - 1
                reached[k] = end
                if left[k] == 0 or end - begin[k] >= longest:
                    left[k] = 0 if left[k] == 0 else -1
                    row_of[found], first[found] = row, begin[k] - padding
                    last[found], keep[found], old[found] = end - 1 + padding, 1, oldest[k]
                    found += 1
                    freed[k] = max(freed[k], end)
                continue
            left[k], seen[k] = 0, count
        if abs(value) < _FAR:
            count += 1
            seen[k] = count
            if count == 1:
                mean[k], var[k] = value, 0.0
            else:
                # The first windows weigh equally, so that the estimate does not hang on the very first.
                share = max(1.0 - weight, 1.0 / count)
                away = value - mean[k]
                mean[k] += share * away
                var[k] = (1.0 - share) * (var[k] + share * away * away)
        if at - padding - freed[k] >= longest:
            row_of[found], first[found], last[found] = row, freed[k], at - padding - 1
            keep[found], old[found] = 0, ts[row]
            found += 1
            freed[k] = at - padding
    return row_of[:found], first[:found], last[:found], keep[:found], old[:found]
