"""Query load shedding: smaller caches, then smaller regions, until few enough objects are wanted (SOLE 6.3)."""

from __future__ import annotations

import math

import numpy as np

from australis.kernel import inner
from australis.moving.interest import grown, interest
from australis.moving.queries import ACCURACY
from australis.moving.regions import CIRCLE, NEAREST, RECTANGLE, Floats, Regions, distance, measured, reach
from australis.moving.shedding import Interest, allowed, populations
from australis.table import Table
from australis.train import Bools, Ints

_ROUNDS = 6
_HALVES = 3


def shrunk(queries: Table, after: Regions, whole: Interest, led: Bools, width: float, budget: int) -> Bools:
    """Who is still wanted, beside focal objects, at the least level at which the budget is met, or at the last.

    At levels up to 1 caches shrink, then regions by as much of their area. All queries have the same level, but for
    those that would fall below their accuracy.
    """
    low, high, best = 0.0, 2.0, _wanted(queries, after, whole, led, width, 2.0)
    for _ in range(_ROUNDS if np.count_nonzero(best) <= budget else 0):
        level = (low + high) / 2
        kept = _wanted(queries, after, whole, led, width, level)
        if np.count_nonzero(kept) <= budget:
            best, high = kept, level
        else:
            low = level
    return best


def around(queries: Table, after: Regions, placed: Ints, width: float, levels: Floats) -> Regions:
    """The regions at levels, with the caches that these leave; those of polygons and kNN queries stay as they are."""
    ways = queries["bound"].astype(np.float64) + (queries["kind"] == NEAREST)
    return grown(_smaller(after, levels), placed, ways * width * np.maximum(1 - levels, 0.0))


def _wanted(queries: Table, after: Regions, whole: Interest, led: Bools, width: float, level: float) -> Bools:
    """Who is wanted at a level.

    A query has what others keep in its region, so that it may shrink further than its accuracy. One that has too little
    goes back half of the way, and at last all of it, where it misses nothing.
    """
    levels, turns = np.full(len(after.kind), level), 0
    placed, accuracy = whole.queries[whole.queries < len(levels)], np.tile(queries[ACCURACY], 2)
    while True:
        smaller = around(queries, after, placed, width, levels)
        kept: Bools = led | (interest(whole.grid, smaller, placed, len(led)) > 0)
        actual, hidden = populations(whole, (whole.counts > 0) & ~kept)
        broken = (hidden > allowed(actual, accuracy)).reshape(2, -1).any(axis=0)
        if not broken.any():
            return kept
        levels[broken] = levels[broken] / 2 if turns < _HALVES else 0.0
        turns += 1


def _smaller(regions: Regions, levels: Floats) -> Regions:
    smaller = np.flatnonzero(levels > 1)
    if not len(smaller):
        return regions
    names = ("west", "east", "south", "north", "limit")
    copies = regions._replace(**{name: getattr(regions, name).copy() for name in names})
    _shrink(copies, smaller, np.sqrt(np.maximum(2 - levels, 0.0)))
    return copies


@inner
def _shrink(regions: Regions, queries: Ints, scale: Floats) -> None:
    for query in queries:
        if not regions.west[query] <= regions.east[query]:
            continue
        kind, x, y, part = regions.kind[query], regions.x[query], regions.y[query], scale[query]
        if kind == RECTANGLE:
            regions.west[query] = x - (x - regions.west[query]) * part
            regions.east[query] = x + (regions.east[query] - x) * part
            regions.south[query] = y - (y - regions.south[query]) * part
            regions.north[query] = y + (regions.north[query] - y) * part
        elif kind == CIRCLE and regions.limit[query] < math.inf:
            radius = distance(regions.limit[query], regions.earth) * part
            regions.limit[query] = measured(radius, regions.earth)
            bounds = reach(x, y, radius, regions.earth)
            regions.west[query], regions.east[query], regions.south[query], regions.north[query] = bounds
