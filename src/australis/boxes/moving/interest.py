"""Interest: how many queries have each object in their region or in the cache around it (SOLE 4.4, 5.2)."""

from __future__ import annotations

import math

import numpy as np

from australis.boxes.moving.grid import CellGrid, cells_of, rows_of
from australis.boxes.moving.regions import (
    CIRCLE,
    EARTH,
    LAST,
    NEAREST,
    RECTANGLE,
    Floats,
    Regions,
    contains,
    covers,
    distance,
    measured,
    reach,
)
from australis.kernels.jit import inner
from australis.model.train import Ints


def grown(regions: Regions, queries: Ints, wider: Floats) -> Regions:
    """The regions with a cache of some width around each; that of a polygon is around its bounds."""
    kept = ("need", "starts", "edges", "earth")
    copies = regions._replace(**{name: getattr(regions, name).copy() for name in regions._fields if name not in kept})
    _grow(copies, queries, wider)
    return copies


def interest(grid: CellGrid, regions: Regions, queries: Ints, objects: int) -> Ints:
    """The reference counts of objects, by slot."""
    counts = np.zeros(objects, np.int64)
    _interest(grid, regions, queries, np.zeros(len(grid.starts) - 1, np.int64), counts)
    return counts


@inner
def _grow(regions: Regions, queries: Ints, wider: Floats) -> None:
    for query in queries:
        kind, more = regions.kind[query], wider[query]
        if not regions.west[query] <= regions.east[query]:
            continue
        if kind in (CIRCLE, NEAREST):
            if regions.limit[query] < math.inf and more > 0:
                radius = distance(regions.limit[query], regions.earth) + more
                regions.limit[query], regions.tie[query] = measured(radius, regions.earth), LAST
                bounds = reach(regions.x[query], regions.y[query], radius, regions.earth)
                regions.west[query], regions.east[query], regions.south[query], regions.north[query] = bounds
            continue
        regions.kind[query] = RECTANGLE
        wide = high = more
        if regions.earth:
            high = math.degrees(more / EARTH)
            most = max(abs(regions.south[query]), abs(regions.north[query])) + high
            wide = high / math.cos(math.radians(most)) if most < 90 else math.inf
            if regions.west[query] - wide < -180 or regions.east[query] + wide > 180:
                wide = math.inf if more > 0 else 0.0
        regions.west[query] -= wide
        regions.east[query] += wide
        regions.south[query] -= high
        regions.north[query] += high


@inner
def _interest(grid: CellGrid, regions: Regions, queries: Ints, whole: Ints, counts: Ints) -> None:
    """Cells that a region covers count once for all their objects."""
    for query in queries:
        bottom, top = rows_of(grid, regions, query)
        for row in range(bottom, top + 1):
            first, last = cells_of(grid, regions, query, row)
            for spot in range(first, last + 1):
                bounds = grid.bounds[spot]
                if not regions.need[query] and covers(regions, query, bounds[0], bounds[1], bounds[2], bounds[3]):
                    whole[spot] += 1
                    continue
                for i in range(grid.starts[spot], grid.starts[spot + 1]):
                    if contains(regions, query, grid.x[i], grid.y[i], grid.mask[i], grid.id[i]):
                        counts[grid.slots[i]] += 1
    for spot in range(len(whole)):
        for i in range(grid.starts[spot], grid.starts[spot + 1]):
            counts[grid.slots[i]] += whole[spot]
