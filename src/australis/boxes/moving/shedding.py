"""Object load shedding: forget the objects that fewest queries want, and break no query's accuracy (SOLE 6.4, 6.5)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from australis.boxes.moving.differences import members
from australis.boxes.moving.grid import CellGrid, cells_of, rows_of
from australis.boxes.moving.interest import interest
from australis.boxes.moving.regions import Floats, Regions, contains, covers
from australis.kernels.jit import inner
from australis.model.train import Bools, Ints

_SLACK = 1e-9
"""So that 70% of ten objects are seven, whatever a product of doubles says."""
MOST_PAIRS = 1 << 20
"""How many pairs of a query and an object are looked at before it is found out anew who is locked."""


class Interest(NamedTuple):
    """All objects in a grid, the regions of queries with their caches, and how many want each object, by slot."""

    grid: CellGrid
    regions: Regions
    queries: Ints
    counts: Ints


def restore(wanted: Interest, shed: Bools, accuracy: Floats) -> None:
    """Take back the shadows in regions that have come to lie over too many of them."""
    actual, hidden = populations(wanted, shed)
    broken = wanted.queries[(hidden > allowed(actual, accuracy))[wanted.queries]]
    shed[members(wanted.grid, wanted.regions, broken)[1]] = False


def drop(wanted: Interest, ids: Ints, shed: Bools, candidates: Bools, left: Ints, surplus: int, weights: Ints) -> None:
    """Shed candidates that weigh `surplus` together, those that fewest queries want first.

    That is what raising k from one on does (SOLE 6.4), where objects of interest to fewer than k queries go. A query
    whose accuracy would fall below what it asks for locks its objects: `left` is how many more each can miss.
    """
    order = np.flatnonzero(candidates)
    order = order[np.lexsort((ids[order], wanted.counts[order]))]
    while surplus > 0 and len(order):
        locked = interest(wanted.grid, wanted.regions, wanted.queries[left[wanted.queries] < 1], len(shed)) > 0
        order = order[~locked[order]]
        part = max(int(np.searchsorted(np.cumsum(wanted.counts[order]), MOST_PAIRS)), 1)
        starts, asking = by_object(wanted, order[:part], len(shed))
        surplus -= _drop(order[:part], starts, asking, left, shed, surplus, weights)
        order = order[part:]


def by_object(wanted: Interest, slots: Ints, objects: int) -> tuple[Ints, Ints]:
    """The regions that have each of some objects, and where those of each begin."""
    place = np.full(objects, -1)
    place[slots] = np.arange(len(slots))
    asking, found = members(only(wanted.grid, place), wanted.regions, wanted.queries)
    starts = np.zeros(len(slots) + 1, np.int64)
    np.cumsum(np.bincount(place[found], minlength=len(slots)), out=starts[1:])
    grouped = np.empty(len(asking), np.int64)
    _group(place[found], starts.copy(), asking, grouped)
    return starts, grouped


def populations(wanted: Interest, shed: Bools) -> tuple[Ints, Ints]:
    """How many objects lie in the region and the cache of each query, by slot, and how many of them are shed."""
    grid, size = wanted.grid, len(wanted.regions.kind)
    hidden = np.concatenate([[0], np.cumsum(shed[grid.slots])])
    both = np.zeros((2, size), np.int64)
    _populate(grid, wanted.regions, wanted.queries, hidden, both[0], both[1])
    return both[0], both[1]


def spare(wanted: Interest, shed: Bools, accuracy: Floats) -> Ints:
    """How many more objects each query can miss, by slot."""
    actual, hidden = populations(wanted, shed)
    return allowed(actual, accuracy) - hidden


def accuracies(wanted: Interest, shed: Bools) -> Floats:
    """The part of its objects that each query has, by slot; all of none is all."""
    return had(*populations(wanted, shed))


def had(actual: Ints, hidden: Ints) -> Floats:
    """The part that is not hidden; all of none is all."""
    part: Floats = np.where(actual > 0, (actual - hidden) / np.maximum(actual, 1), 1.0)
    return part


def allowed(actual: Ints, accuracy: Floats) -> Ints:
    """How many objects a query can miss."""
    return np.floor((1 - accuracy) * actual + _SLACK).astype(np.int64)


def only(grid: CellGrid, place: Ints) -> CellGrid:
    """The grid with the objects that have a place; the bounds of cells stay, a little wide."""
    kept = place[grid.slots] >= 0
    starts = np.concatenate([[0], np.cumsum(kept)])[grid.starts]
    names = ("slots", "id", "x", "y", "mask", "x_there", "y_there", "mask_there")
    return grid._replace(starts=starts, **{name: getattr(grid, name)[kept] for name in names})


@inner
def _group(places: Ints, at: Ints, asking: Ints, grouped: Ints) -> None:
    """Queries in the order of the objects that they ask for."""
    for i in range(len(places)):
        grouped[at[places[i]]] = asking[i]
        at[places[i]] += 1


@inner
def _drop(slots: Ints, starts: Ints, asking: Ints, left: Ints, shed: Bools, surplus: int, weights: Ints) -> int:
    """Shed objects, in their order; how much went."""
    dropped = 0
    for place in range(len(slots)):
        if dropped >= surplus:
            break
        locked = False
        for at in range(starts[place], starts[place + 1]):
            locked = locked or left[asking[at]] < 1
        if not locked:
            for at in range(starts[place], starts[place + 1]):
                left[asking[at]] -= 1
            shed[slots[place]] = True
            dropped += weights[slots[place]]
    return dropped


@inner
def _populate(grid: CellGrid, regions: Regions, queries: Ints, hidden: Ints, actual: Ints, missing: Ints) -> None:
    """`hidden` counts the shed objects before each place in the order of the grid."""
    for query in queries:
        bottom, top = rows_of(grid, regions, query)
        for row in range(bottom, top + 1):
            first, last = cells_of(grid, regions, query, row)
            for spot in range(first, last + 1):
                start, stop = grid.starts[spot], grid.starts[spot + 1]
                bounds = grid.bounds[spot]
                if not regions.need[query] and covers(regions, query, bounds[0], bounds[1], bounds[2], bounds[3]):
                    actual[query] += stop - start
                    missing[query] += hidden[stop] - hidden[start]
                    continue
                for i in range(start, stop):
                    if contains(regions, query, grid.x[i], grid.y[i], grid.mask[i], grid.id[i]):
                        actual[query] += 1
                        missing[query] += hidden[i + 1] - hidden[i]
