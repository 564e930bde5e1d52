"""Query load shedding: smaller caches, then smaller regions, until few enough objects are wanted (SOLE 6.3)."""

from __future__ import annotations

import math

import numpy as np

from australis.kernel import inner
from australis.moving.interest import grown, interest
from australis.moving.queries import ACCURACY
from australis.moving.regions import CIRCLE, NEAREST, POLYGON, RECTANGLE, Floats, Regions, distance, measured, reach
from australis.moving.shedding import Interest, populations
from australis.table import Table
from australis.train import Bools, Ints

_ROUNDS = 6
_SLACK = 1e-9


def shrunk(regions: Regions, levels: Floats) -> Regions:
    """The regions of queries at their levels: up to 1 only the cache shrinks, then the region by as much of its area.

    Those of polygons and kNN queries stay as they are.
    """
    smaller = np.flatnonzero(levels > 1)
    if not len(smaller):
        return regions
    names = ("west", "east", "south", "north", "limit")
    copies = regions._replace(**{name: getattr(regions, name).copy() for name in names})
    _shrink(copies, smaller, np.sqrt(np.maximum(2 - levels, 0.0)))
    return copies


def around(queries: Table, after: Regions, placed: Ints, width: float, levels: Floats) -> Regions:
    """The regions at levels, with the caches that these leave."""
    ways = queries["bound"].astype(np.float64) + (queries["kind"] == NEAREST)
    return grown(shrunk(after, levels), placed, ways * width * np.maximum(1 - levels, 0.0))


def level(
    queries: Table, after: Regions, whole: Interest, led: Bools, width: float, budget: int
) -> tuple[Floats, Bools, Floats]:
    """The levels of queries at which the budget is met, or as far as that goes; who is wanted then; the accuracies.

    All have the same, but for those that would fall below their accuracy: these lock themselves.
    """
    actual, _ = populations(whole, np.zeros(len(led), np.bool_))
    low, high, best = 0.0, 2.0, None
    for turn in range(_ROUNDS + 1):
        tried = 2.0 if turn == 0 else (low + high) / 2
        made = _tried(queries, after, whole, led, width, actual, tried)
        if np.count_nonzero(made[1]) <= budget:
            best, high = made, tried
        elif turn == 0:
            return made
        else:
            low = tried
    assert best is not None
    return best


def _tried(
    queries: Table, after: Regions, whole: Interest, led: Bools, width: float, actual: Ints, tried: float
) -> tuple[Floats, Bools, Floats]:
    fixed = np.isin(queries["kind"], (NEAREST, POLYGON))
    levels = np.minimum(tried, np.where(fixed, 1.0, 2 - queries[ACCURACY]))
    none = np.zeros(len(led), np.bool_)
    smaller = whole._replace(regions=around(queries, after, whole.queries, width, levels))
    current, _ = populations(smaller, none)
    levels = np.where(current < queries[ACCURACY] * actual - _SLACK, 0.0, levels)
    smaller = whole._replace(regions=around(queries, after, whole.queries, width, levels))
    current, _ = populations(smaller, none)
    part = np.where(actual > 0, current / np.maximum(actual, 1), 1.0)
    return levels, led | (interest(whole.grid, smaller.regions, whole.queries, len(led)) > 0), part


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
