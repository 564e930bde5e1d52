"""The k nearest: how far the circle of a kNN query must reach (SOLE 3.2)."""

from __future__ import annotations

import math

import numpy as np

from australis.boxes.moving.grid import CellGrid, cells_between, rows_between
from australis.boxes.moving.regions import LAST, Floats, Points, Regions, apart, distance, measured, reach
from australis.kernels.jit import inner
from australis.model.train import Ints

_WIDER = 2.0


def limit(grid: CellGrid, regions: Regions, queries: Ints, k: Ints) -> None:
    """Set the limits, ties and bounds of kNN queries with a place, so that the k nearest lie in their circles.

    Among objects that are equally far the smaller identifiers count as nearer. Where there are fewer than k, all lie in
    the circle. The limit from before is where the search begins.
    """
    if len(queries):
        most = max(int(k[queries].max()), 1)
        _limit(grid, regions, queries, k, np.empty(most), np.empty(most, np.int64))


@inner
def _limit(grid: CellGrid, regions: Regions, queries: Ints, k: Ints, far: Floats, who: Ints) -> None:
    for query in queries:
        x, y, earth = regions.x[query], regions.y[query], regions.earth
        wanted = min(k[query], len(far))
        radius = distance(regions.limit[query], earth) if regions.limit[query] < math.inf else 0.0
        radius = max(radius, guess(grid, wanted, earth))
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
def guess(grid: CellGrid, wanted: int, earth: bool) -> float:
    """The radius in which there would be enough objects if they were spread evenly."""
    unit = 111_000.0 if earth else 1.0
    return max(math.sqrt(min(grid.room[0] * wanted / math.pi, 1e300)), 1e-300) * unit


@inner
def _within(
    grid: CellGrid, need: int, x: float, y: float, radius: float, earth: bool, wanted: int, far: Floats, who: Ints
) -> tuple[int, bool]:
    """Put the nearest objects within a radius in order; how many there are, and whether these are all of the grid."""
    west, east, south, north = reach(x, y, radius, earth)
    bottom, top = rows_between(grid, south, north)
    whole = top - bottom + 1 == grid.sides[1]
    if whole:
        for row in range(bottom, top + 1):
            first, last = cells_between(grid, row, west, east)
            whole = whole and last - first + 1 == grid.sides[0]
    most = math.inf if whole else measured(radius, earth)
    # What is surely too far is told by its square, which takes no root.
    square = math.inf if earth or not 1e-100 < most < 1e100 else most * most * (1 + 1e-12)
    count = 0
    for row in range(bottom, top + 1):
        first, last = cells_between(grid, row, west, east)
        for spot in range(grid.starts[first], grid.starts[last + 1]):
            if need & ~grid.mask[spot]:
                continue
            wide, high = grid.x[spot] - x, grid.y[spot] - y
            if wide * wide + high * high > square:
                continue
            away, identifier = apart(grid.x[spot], grid.y[spot], x, y, earth), grid.id[spot]
            if away > most:
                continue
            if count == wanted and not before(away, identifier, far[count - 1], who[count - 1]):
                continue
            at = count if count < wanted else count - 1
            count = min(count + 1, wanted)
            while at > 0 and before(away, identifier, far[at - 1], who[at - 1]):
                far[at], who[at] = far[at - 1], who[at - 1]
                at -= 1
            far[at], who[at] = away, identifier
            if count == wanted and not earth and 1e-100 < far[count - 1] < 1e100:
                square = min(square, far[count - 1] * far[count - 1] * (1 + 1e-12))
    return count, whole


@inner
def before(away: float, identifier: int, other: float, another: int) -> bool:
    return away < other or (away == other and identifier < another)
