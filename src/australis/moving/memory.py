"""Memory: which objects are kept, and which are shed while there are more than the budget allows (SOLE 5.2, 6.1)."""

from __future__ import annotations

import numpy as np

from australis.moving.grid import Grid, grid
from australis.moving.interest import interest
from australis.moving.queries import ACCURACY
from australis.moving.regions import Floats, Points, Regions
from australis.moving.shedding import Interest, accuracies, drop, restore
from australis.moving.shrinking import around, shrunk
from australis.table import Table
from australis.train import Bools, Ints


def wanted(queries: Table, everyone: Points, visible: Grid, after: Regions, leaders: Ints, width: float) -> Interest:
    """How many queries want each object, in their regions, in the caches around these, or as their focal object."""
    placed = np.flatnonzero(after.west <= after.east)
    there = np.flatnonzero(~np.isnan(everyone.x))
    whole = visible if len(there) == len(visible.slots) else grid(everyone, everyone, there)
    full = around(queries, after, placed, width, np.zeros(len(after.kind)))
    counts = interest(whole, full, placed, len(everyone.x))
    counts[leaders[leaders >= 0]] += 1
    return Interest(whole, full, placed, counts)


def lighten(
    wants: Interest, everyone: Points, queries: Table, shed: Bools, accessed: Bools, leaders: Ints, budget: int
) -> Floats:
    """Shed what there is too much of among the objects that were accessed: it is done lazily, as they report.

    Gives the accuracies of queries.
    """
    restore(wants, shed, queries[ACCURACY])
    led = _led(leaders, len(shed))
    shed[led] = False
    kept = ~np.isnan(everyone.x) & (wants.counts > 0) & ~shed
    surplus = int(np.count_nonzero(kept)) - budget
    if surplus > 0:
        drop(wants, everyone, shed, kept & accessed & ~led, queries[ACCURACY], surplus)
    return accuracies(wants, shed)


def shrink(
    wants: Interest, queries: Table, after: Regions, shed: Bools, leaders: Ints, width: float, budget: int
) -> Floats:
    """Shrink queries if they want too many objects, and shed those that none wants any more; their accuracies."""
    shed[:] = False
    if np.count_nonzero(wants.counts) > budget:
        shed[:] = (wants.counts > 0) & ~shrunk(queries, after, wants, _led(leaders, len(shed)), width, budget)
    return accuracies(wants, shed)


def _led(leaders: Ints, objects: int) -> Bools:
    """Which objects are focal."""
    led = np.zeros(objects, np.bool_)
    led[leaders[leaders >= 0]] = True
    return led
