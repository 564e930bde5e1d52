"""Placements: where each object is from which report to which, in a row of moments within one train (SOLE 5.3)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from australis.arrow.columns import Values
from australis.boxes.moving import objects as known
from australis.boxes.moving.regions import Floats, Points
from australis.kernels.jit import inner
from australis.model.table import Table
from australis.model.train import Bools, Ints


class Placements(NamedTuple):
    """Places in the order of the objects' slots, and of the moments from which on these are there.

    The first place of an object is the one from before all moments, -1. A place that is none has no x.
    """

    slots: Ints
    since: Ints
    until: Ints
    row: Ints
    """Of the report that told what the object carries; -1 for what the table has of it."""
    time: Values
    points: Points
    before: Ints
    """The place of the object before this one, and the one after; -1 if there is none."""
    after: Ints


class PlaceReports(NamedTuple):
    """Reports in order: the slots of objects, the moments, the rows of the train, and what they tell."""

    slots: Ints
    moments: Ints
    rows: Ints
    x: Floats
    y: Floats
    mask: Ints
    time: Values
    placed: Bools


def placements(
    table: Table, there: Bools, reports: PlaceReports, moments: int, nows: Values | None, timeout: Any
) -> Placements:
    """The places of all objects that report, or that have been silent for too long by one of the moments.

    `nows` has the latest time at each moment, which never falls.
    """
    last = np.flatnonzero(_last(reports.slots, reports.moments, len(there)))
    touched = np.zeros(len(there), np.bool_)
    touched[reports.slots] = True
    if nows is not None and moments:
        touched |= there & (table[known.TIME] < _minus(nows[-1], timeout))
    first = np.flatnonzero(touched)
    slots = np.concatenate([first, reports.slots[last]])
    since = np.concatenate([np.full(len(first), -1), reports.moments[last]])
    row = np.concatenate([np.full(len(first), -1), reports.rows[last]])
    time = np.concatenate([table[known.TIME][first], reports.time[last]])
    then, now = np.where(there[first], table[known.X][first], np.nan), np.where(reports.placed, reports.x, np.nan)
    x = np.concatenate([then, now[last]])
    y = np.concatenate([table[known.Y][first], reports.y[last]])
    mask = np.concatenate([table[known.MASK][first], reports.mask[last]])
    order = np.lexsort((since, slots))
    slots, since, row, time, x, y, mask = (each[order] for each in (slots, since, row, time, x, y, mask))
    until = _until(slots, since, moments)
    if nows is not None and moments:
        ends = np.maximum(np.searchsorted(nows, _plus(time, timeout), side="right"), np.maximum(since, 0))
        over = ~np.isnan(x) & (ends < until)
        x = np.where(over & (ends <= since), np.nan, x)
        ended = np.flatnonzero(over & (ends > since))
        order = np.concatenate([np.arange(len(slots)), ended])
        since = np.concatenate([since, ends[ended]])
        x = np.concatenate([x, np.full(len(ended), np.nan)])
        slots, row, time, y, mask = (each[order] for each in (slots, row, time, y, mask))
        order = np.lexsort((since, slots))
        slots, since, row, time, x, y, mask = (each[order] for each in (slots, since, row, time, x, y, mask))
        until = _until(slots, since, moments)
    _inherit(slots, x, row)
    points = Points(x, y, mask, table[table.key[0]][slots].astype(np.int64))
    return Placements(slots, since, until, row, time, points, *_beside(slots))


def sequences(
    held: Ints, x: Floats, identifiers: Ints, slots: Ints, moments: Ints, values: Floats, count: int
) -> Placements:
    """The values of things in slots, as placements: those from before all moments, and those that are told."""
    kept = np.flatnonzero(_last(slots, moments, int(held.max(initial=-1)) + 1))
    where = np.concatenate([held, slots[kept]])
    since = np.concatenate([np.full(len(held), -1), moments[kept]])
    row, value = np.concatenate([np.full(len(held), -1), kept]), np.concatenate([x, values[kept]])
    order = np.lexsort((since, where))
    where, since, row, value = where[order], since[order], row[order], value[order]
    _inherit(where, value, row)
    name = np.zeros(int(held.max(initial=-1)) + 1, np.int64)
    name[held] = identifiers
    none = np.zeros(len(where), np.int64)
    points = Points(value, none.astype(np.float64), none, name[where])
    return Placements(where, since, _until(where, since, count), row, none, points, *_beside(where))


def _beside(slots: Ints) -> tuple[Ints, Ints]:
    """The place before each of the same slot, and the one after."""
    same, places = slots[1:] == slots[:-1], np.arange(len(slots))
    before, after = np.full(len(slots), -1), np.full(len(slots), -1)
    before[1:][same], after[:-1][same] = places[:-1][same], places[1:][same]
    return before, after


def _last(slots: Ints, moments: Ints, size: int) -> Bools:
    """Which reports are the last of their object in their moment."""
    kept = np.zeros(len(slots), np.bool_)
    _mark(slots, moments, np.full(size, -1, np.int64), kept)
    return kept


@inner
def _mark(slots: Ints, moments: Ints, seen: Ints, kept: Bools) -> None:
    for row in range(len(slots) - 1, -1, -1):
        if seen[slots[row]] != moments[row]:
            seen[slots[row]], kept[row] = moments[row], True


@inner
def _inherit(slots: Ints, x: Floats, row: Ints) -> None:
    """Who is nowhere carries what it did before."""
    for place in range(1, len(slots)):
        if slots[place] == slots[place - 1] and np.isnan(x[place]):
            row[place] = row[place - 1]


def _until(slots: Ints, since: Ints, moments: int) -> Ints:
    until = np.full(len(slots), moments)
    same = slots[1:] == slots[:-1]
    until[:-1][same] = since[1:][same]
    return until


def _plus(times: Values, more: Any) -> Values:
    if times.dtype.kind == "f":
        later: Values = times + more
        return later
    most = np.iinfo(np.int64).max
    sums: Values = np.where(times > most - more, most, times + more)
    return sums


def _minus(time: Any, less: Any) -> Any:
    value = time.item()
    return max(value - less, np.iinfo(np.int64).min) if isinstance(value, int) else value - less
