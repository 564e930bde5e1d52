"""The k nearest: how far the circle of a kNN query must reach (SOLE 3.2)."""

from __future__ import annotations

import math

import numpy as np

from australis.kernel import inner
from australis.moving.grid import Grid, between
from australis.moving.regions import LAST, Floats, Points, Regions, apart, distance, measured, reach
from australis.train import Ints

_WIDER = 2.0


def limit(grid: Grid, regions: Regions, queries: Ints, k: Ints) -> None:
    """Set the limits, ties and bounds of kNN queries with a place, so that the k nearest lie in their circles.

    Among objects that are equally far the smaller identifiers count as nearer. Where there are fewer than k, all lie in
    the circle. The limit from before is where the search begins.
    """
    if len(queries):
        most = max(int(k[queries].max()), 1)
        _limit(grid, regions, queries, k, np.empty(most), np.empty(most, np.int64))


@inner
def _limit(grid: Grid, regions: Regions, queries: Ints, k: Ints, far: Floats, who: Ints) -> None:
    for query in queries:
        x, y, earth = regions.x[query], regions.y[query], regions.earth
        wanted = min(k[query], len(far))
        radius = distance(regions.limit[query], earth) if regions.limit[query] < math.inf else 0.0
        radius = max(radius, _guess(grid, wanted, earth))
        while True:
            count, whole = _within(grid, regions.need[query], x, y, radius, earth, wanted, far, who)
            if count == wanted or whole:
                break
            radius *= _WIDER
        if count == wanted:
            regions.limit[query], regions.tie[query] = far[count - 1], who[count - 1]
            radius = distance(far[count - 1], earth)
        else:
            regions.limit[query], regions.tie[query] = math.inf, LAST
            radius = math.inf
        bounds = reach(x, y, radius, earth)
        regions.west[query], regions.east[query], regions.south[query], regions.north[query] = bounds


def distances(regions: Regions, points: Points, queries: Ints, objects: Ints) -> Floats:
    """How far objects lie from the centres of queries, as a measure."""
    far = np.empty(len(queries))
    _distances(regions, points.x, points.y, queries, objects, far)
    return far


@inner
def _distances(regions: Regions, x: Floats, y: Floats, queries: Ints, objects: Ints, far: Floats) -> None:
    for place in range(len(queries)):
        query, each = queries[place], objects[place]
        far[place] = apart(x[each], y[each], regions.x[query], regions.y[query], regions.earth)


@inner
def _guess(grid: Grid, wanted: int, earth: bool) -> float:
    """The radius in which there would be enough objects if they were spread evenly."""
    area = 1.0
    for axis in range(2):
        per = grid.corner[2 + axis]
        area *= grid.sides[axis] / per if per > 0 else 1.0
    unit = 111_000.0 if earth else 1.0
    return max(math.sqrt(area * wanted / max(len(grid.slots), 1) / math.pi), 1e-300) * unit


@inner
def _within(
    grid: Grid, need: int, x: float, y: float, radius: float, earth: bool, wanted: int, far: Floats, who: Ints
) -> tuple[int, bool]:
    """Put the nearest objects within a radius in order; how many there are, and whether these are all of the grid."""
    west, east, south, north = reach(x, y, radius, earth)
    columns, rows = grid.sides[0], grid.sides[1]
    first, last, bottom, top = between(grid, west, east, south, north)
    whole = last - first + 1 == columns and top - bottom + 1 == rows
    most = math.inf if whole else measured(radius, earth)
    count = 0
    for row in range(bottom, top + 1):
        for spot in range(grid.starts[row * columns + first], grid.starts[row * columns + last + 1]):
            if need & ~grid.mask[spot]:
                continue
            away, identifier = apart(grid.x[spot], grid.y[spot], x, y, earth), grid.id[spot]
            if away > most:
                continue
            if count == wanted and not _before(away, identifier, far[count - 1], who[count - 1]):
                continue
            at = count if count < wanted else count - 1
            count = min(count + 1, wanted)
            while at > 0 and _before(away, identifier, far[at - 1], who[at - 1]):
                far[at], who[at] = far[at - 1], who[at - 1]
                at -= 1
            far[at], who[at] = away, identifier
    return count, whole


@inner
def _before(away: float, identifier: int, other: float, another: int) -> bool:
    return away < other or (away == other and identifier < another)
