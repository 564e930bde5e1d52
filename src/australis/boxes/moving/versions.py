"""Versions: where the region of each query lies from which moment to which, as its focal object reports (SOLE 5.3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from australis.boxes.moving.placements import Placements
from australis.boxes.moving.placing import regions_of
from australis.boxes.moving.regions import Floats, Points, Regions
from australis.model.table import Table
from australis.model.train import Bools, Ints


class RegionVersions(NamedTuple):
    """Regions in the order of the queries' slots, and of the moments from which on they lie there."""

    queries: Ints
    since: Ints
    until: Ints
    before: Ints
    """The version of the query before this one, and the one after; -1 if there is none."""
    after: Ints
    regions: Regions


def versions(
    queries: Table, asking: Bools, leaders: Ints, guides: Points, moved: Placements, moments: int, earth: bool
) -> RegionVersions:
    """One for each query that is there, and for each report of its focal object.

    `leaders` has the slots of focal objects, -1 where there is none, `guides` where these are before all moments.
    """
    slots = np.flatnonzero(asking)
    count, first = np.zeros(len(guides.x), np.int64), np.zeros(len(guides.x), np.int64)
    np.add.at(count, moved.slots, 1)
    starts = np.flatnonzero(moved.since < 0)
    first[moved.slots[starts]] = starts
    led = leaders[slots]
    many = np.where(led >= 0, count[np.maximum(led, 0)], 0) if len(count) else np.zeros(len(slots), np.int64)
    times = np.maximum(many, 1)
    query, lead, reports = np.repeat(slots, times), np.repeat(led, times), np.repeat(many, times)
    nth = np.arange(len(query)) - np.repeat(np.cumsum(times) - times, times)
    x, y = _here(lead, guides)
    since, until = np.full(len(query), -1), np.full(len(query), moments)
    led_ = np.flatnonzero(reports > 0)
    place = first[lead[led_]] + nth[led_]
    x[led_], y[led_] = moved.points.x[place], moved.points.y[place]
    since[led_], until[led_] = moved.since[place], moved.until[place]
    same = query[1:] == query[:-1]
    at = np.arange(len(query))
    before, after = np.full(len(query), -1), np.full(len(query), -1)
    before[1:][same], after[:-1][same] = at[:-1][same], at[1:][same]
    return RegionVersions(query, since, until, before, after, regions_of(queries, query, x, y, earth))


def _here(lead: Ints, guides: Points) -> tuple[Floats, Floats]:
    """Where focal objects are; nowhere, if there is none."""
    if not len(guides.x):
        return np.full(len(lead), np.nan), np.full(len(lead), np.nan)
    at = np.maximum(lead, 0)
    return np.where(lead < 0, np.nan, guides.x[at]), np.where(lead < 0, np.nan, guides.y[at])
