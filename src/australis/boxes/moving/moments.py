"""Moments: the tuples of a train one after another, and what each of them changes in the answers (SOLE 5.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from australis.arrow.columns import Values, plain
from australis.boxes.moving.overlaps import FoundUpdates
from australis.boxes.moving.placements import Placements
from australis.kernels.jit import inner
from australis.model.box import Trains
from australis.model.table import Table
from australis.model.train import Bools, Ints, Train

_LEAST = 4096


class Phase(NamedTuple):
    """Tuples that are evaluated together: queries that come one after the other, or reports."""

    trains: Trains
    asks: bool


def parts(trains: Trains, query: str, objects: int, breaks: Ints) -> Iterator[Phase]:
    """The trains in parts, in order of arrival: parts with reports only, and parts with queries.

    Queries that are not told of twice, with no report among them, do not matter to one another. Reports are taken
    about as many at a time as there are objects, so that there are not many more places than objects. A part ends
    before each of the numbers `breaks`.
    """
    rows = trains[1]
    others = np.unique(np.concatenate([each.number for at, each in enumerate(trains) if at != 1]))
    chunk = max(_LEAST, objects)
    edges = others[chunk::chunk]
    starts = np.concatenate([edges, breaks, _asked(rows, query, others)])
    numbers = np.concatenate([each.number for each in trains])
    starts = np.unique(np.append(starts, numbers.min()))
    for low, high in zip(starts, [*starts[1:], None], strict=True):
        phase = tuple(_between(each, low, high) for each in trains)
        if any(map(len, phase)):
            yield Phase(phase, len(phase[1]) > 0)


def _asked(rows: Train, query: str, others: Ints) -> Ints:
    """The numbers before which a part must begin, because of the queries in a train."""
    if not len(rows):
        return np.empty(0, np.int64)
    number = rows.number
    place = np.searchsorted(others, number)
    with_reports = np.isin(number, others)
    codes = np.asarray(rows[query].dictionary_encode().indices.fill_null(-1))
    begins = np.zeros(len(rows), np.bool_)
    begins[0] = True
    begins[1:] = (place[1:] != place[:-1]) | with_reports[1:] | with_reports[:-1]
    begins[1:] &= number[1:] != number[:-1]
    _begin(codes, number, np.full(int(codes.max()) + 2, -1, np.int64), begins)
    last = np.append(begins[1:], True)
    after = place[last] + with_reports[last]
    following = others[after[after < len(others)]]
    return np.concatenate([number[begins], following])


@inner
def _begin(codes: Ints, number: Ints, seen: Ints, begins: Bools) -> None:
    """Begin anew where a query comes again."""
    start = 0
    for row in range(len(codes)):
        if begins[row]:
            start = row
        elif seen[codes[row]] >= start and number[row] != number[row - 1]:
            begins[row], start = True, row
        seen[codes[row]] = row


def _between(train: Train, low: Any, high: Any) -> Train:
    first = int(np.searchsorted(train.number, low))
    stop = len(train) if high is None else int(np.searchsorted(train.number, high))
    return train if (first, stop) == (0, len(train)) else train.slice(first, stop)


class Carried:
    """The columns that objects carry: from the table before the reports of a train, and from these reports."""

    def __init__(self, table: Table, reports: Train, names: tuple[str, ...], placed: Placements) -> None:
        self.placed = placed
        self.columns = {name: pa.concat_arrays([table.get(name, placed.slots), reports[name]]) for name in names}

    def rows(self, places: Ints) -> Ints:
        """Where the columns have what an object carries at a place."""
        row = self.placed.row[places]
        return np.where(row < 0, places, len(self.placed.slots) + row)

    def again(self) -> Bools:
        """At which places an object carries something else than at the one before, and is somewhere at both."""
        x, earlier = self.placed.points.x, self.placed.before
        there = (earlier >= 0) & ~np.isnan(x) & ~np.isnan(x[earlier])
        changed = np.zeros(len(x), np.bool_)
        now, then = self.rows(np.arange(len(x))), self.rows(np.maximum(earlier, 0))
        for column in self.columns.values():
            values, valid = plain(column)
            other = np.asarray(values[now] != values[then], np.bool_)
            if valid is not None:
                other = (other & valid[now] & valid[then]) | (valid[now] != valid[then])
            changed |= other
        return changed & there

    def told(self, updates: FoundUpdates, revise: bool) -> Ints:
        """The rows of what updates carry: who leaves has what it last reported, or what entered if that is revised."""
        places, placed = updates.places, self.placed
        over = (updates.signs < 0) & (placed.until[places] == updates.moments) & (not revise)
        return self.rows(np.where(over, placed.after[places], places))


def running(times: Values, moments: Ints, count: int, now: Any, leeway: float) -> Values:
    """The latest time at each moment; it falls where times far back are believed."""
    nows = np.empty(count, times.dtype)
    _run(times, moments, nows, now, leeway)
    return nows


@inner
def _run(times: Values, moments: Ints, nows: Values, now: Any, leeway: float) -> None:
    row = 0
    for moment in range(len(nows)):
        while row < len(times) and moments[row] == moment:
            if times[row] > now or float(now) - float(times[row]) > leeway:
                now = times[row]
            row += 1
        nows[moment] = now
