"""Memory: which objects are kept, and which are shed while there are more than the budget allows (SOLE 5.2, 6.1)."""

from __future__ import annotations

import numpy as np

from australis.moving.grid import Grid, grid
from australis.moving.interest import grown, interest
from australis.moving.queries import ACCURACY
from australis.moving.regions import NEAREST, Points, Regions
from australis.moving.shedding import Interest, drop, restore
from australis.table import Table
from australis.train import Bools, Ints


def wanted(queries: Table, everyone: Points, visible: Grid, after: Regions, leaders: Ints, width: float) -> Interest:
    """How many queries want each object, in their regions, in the caches around these, or as their focal object."""
    placed = np.flatnonzero(after.west <= after.east)
    there = np.flatnonzero(~np.isnan(everyone.x))
    whole = visible if len(there) == len(visible.slots) else grid(everyone, everyone, there)
    ways = queries["bound"].astype(np.float64) + (queries["kind"] == NEAREST)
    around = grown(after, placed, ways * width)
    counts = interest(whole, around, placed, len(everyone.x))
    counts[leaders[leaders >= 0]] += 1
    return Interest(whole, around, placed, counts)


def lighten(
    wants: Interest, everyone: Points, queries: Table, shed: Bools, accessed: Bools, leaders: Ints, budget: int
) -> None:
    """Shed what there is too much of among the objects that were accessed: it is done lazily, as they report."""
    restore(wants, shed, queries[ACCURACY])
    shed[leaders[leaders >= 0]] = False
    kept = ~np.isnan(everyone.x) & (wants.counts > 0) & ~shed
    surplus = int(np.count_nonzero(kept)) - budget
    if surplus > 0:
        led = np.zeros(len(shed), np.bool_)
        led[leaders[leaders >= 0]] = True
        drop(wants, everyone, shed, kept & accessed & ~led, queries[ACCURACY], surplus)
