"""Focal objects as every partition knows them, apart from the objects that lie in it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from australis.boxes.moving import objects as known
from australis.boxes.moving import queries as asked
from australis.boxes.moving.regions import LAST, Points
from australis.model.table import Table
from australis.model.train import Bools, Ints, Train


def table(identifier: str, time: pa.DataType) -> Table:
    """Where focal objects are, under their identifiers."""
    return known.table(pa.field(identifier, pa.int64()), (), time)


def schema(identifier: pa.Field[pa.DataType], x: str, y: str, time: pa.Field[pa.DataType] | None) -> pa.Schema:
    """What tells where focal objects are. A row without an identifier only tells the time."""
    places = [pa.field(name, pa.float64()) for name in (x, y)]
    return pa.schema([identifier, *places, *([] if time is None else [time])])


def slots(leaders: Table, queries: Table) -> Ints:
    """The slots of the queries' focal objects, -1 where there is none."""
    leading = np.full(len(queries.alive), -1, np.int64)
    bound = np.flatnonzero(queries.alive & queries["bound"])
    leading[bound] = leaders.lookup([pa.array(queries[asked.FOCAL][bound])], len(bound))
    return leading


def points(leaders: Table) -> Points:
    return known.points(leaders, leaders.alive)


def report(leaders: Table, reports: Train, names: tuple[str, str, str], time: str | None) -> Ints:
    """Write the last report of each focal object; one that is nowhere goes. Gives the `ts` of reports, by slot."""
    identifier, x, y = names
    times, timed = known.times(reports, time)
    rows = known.named(reports, identifier)
    found_slots = leaders.find([reports[identifier].cast(pa.int64()).take(rows)], len(rows))
    last = known.latest(found_slots, len(leaders.alive))
    columns = {known.X: known.coordinate(reports, x), known.Y: known.coordinate(reports, y), known.TIME: times}
    placed = np.isfinite(columns[known.X]) & np.isfinite(columns[known.Y]) & timed
    there = placed[rows[last]]
    for name, values in columns.items():
        leaders[name][found_slots[last[there]]] = values[rows[last[there]]]
    stamps = np.full(len(leaders.alive), LAST)
    stamps[found_slots[last]] = reports.ts[rows[last]]
    leaders.free(found_slots[last[~there]])
    return stamps


def forget(leaders: Table, queries: Table, removed: Bools, oldest: Any) -> None:
    """Free the focal objects that no query follows any more, or that have been silent since before `oldest`."""
    kept = np.zeros(len(leaders.alive), np.bool_)
    following = slots(leaders, queries)
    following = following[~removed]
    kept[following[following >= 0]] = True
    if oldest is not None:
        kept &= leaders[known.TIME] >= oldest
    leaders.free(np.flatnonzero(leaders.alive & ~kept))
