"""Query load shedding: smaller caches, then smaller regions, until few enough objects are wanted (SOLE 6.3)."""

from __future__ import annotations

import math

import numpy as np

from australis.boxes.moving.interest import grown, interest
from australis.boxes.moving.regions import CIRCLE, NEAREST, RECTANGLE, Floats, Regions, distance, measured, reach
from australis.boxes.moving.shedding import Interest, allowed, populations
from australis.kernels.jit import inner
from australis.model.table import Table
from australis.model.train import Bools, Ints

_ROUNDS = 6
_LEVELS = 2 - np.concatenate([[0.0], np.geomspace(0.01, 1, 24), np.linspace(1.2, 2, 5)])
"""By which queries grow to their accuracy: where many overlap, a little of each is enough for all."""


def shrunk(
    queries: Table, after: Regions, whole: Interest, led: Bools, width: float, accuracy: Floats, budget: float,
    weights: Ints,
) -> Bools:  # fmt: skip
    """Who is still wanted, beside focal objects, at the least level at which those weigh no more than the budget.

    If there is none, it is the last level.

    At levels up to 1 caches shrink, then regions by as much of their area. All queries have the same level, but for
    those that would fall below their accuracy.
    """
    most = _most(queries, after, whole, led, width, accuracy)
    low, high, best = 0.0, 2.0, _wanted(queries, after, whole, led, width, most)
    for _ in range(_ROUNDS if weights[best].sum() <= budget else 0):
        level = (low + high) / 2
        kept = _wanted(queries, after, whole, led, width, np.minimum(level, most))
        if weights[kept].sum() <= budget:
            best, high = kept, level
        else:
            low = level
    return best


def around(queries: Table, after: Regions, placed: Ints, width: float, levels: Floats) -> Regions:
    """The regions at levels, with the caches that these leave; those of polygons and kNN queries stay as they are."""
    ways = queries["bound"].astype(np.float64) + (queries["kind"] == NEAREST)
    return grown(_smaller(after, levels), placed, ways * width * np.maximum(1 - levels, 0.0))


def _most(queries: Table, after: Regions, whole: Interest, led: Bools, width: float, accuracy: Floats) -> Floats:
    """Levels at which each query has its accuracy: those that have too little grow, step by step, until none has.

    A query has what others keep in its region, so that all are tried at once. At lower levels more is kept, so that
    accuracies hold there too.
    """

    def broken(levels: Floats) -> Bools:
        kept = _wanted(queries, after, whole, led, width, levels)
        actual, hidden = populations(whole, (whole.counts > 0) & ~kept)
        less: Bools = hidden > allowed(actual, accuracy)
        either: Bools = np.logical_or.reduce(less.reshape(-1, len(levels)))
        return either

    low, high = 0, len(_LEVELS) - 1
    while low < high:  # where most have enough if all are alike
        middle = (low + high) // 2
        most = 2 * np.count_nonzero(broken(np.full(len(after.kind), _LEVELS[middle]))) > len(whole.queries)
        low, high = (middle + 1, high) if most else (low, middle)
    at = np.full(len(after.kind), low)
    while (less := broken(_LEVELS[at])).any():
        at[less] += 1  # at the last level nothing is missed
    chosen: Floats = _LEVELS[at]
    return chosen


def _wanted(queries: Table, after: Regions, whole: Interest, led: Bools, width: float, levels: Floats) -> Bools:
    placed = np.unique(whole.queries % len(levels))
    smaller = around(queries, after, placed, width, levels)
    return led | (interest(whole.grid, smaller, placed, len(led)) > 0)


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
