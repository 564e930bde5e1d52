"""Updates: what enters and leaves the answers of queries from one moment to the next (SOLE 5.3)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np

from australis.boxes.moving.differences import differences
from australis.boxes.moving.grid import CellGrid, grid
from australis.boxes.moving.regions import Points, Regions
from australis.model.train import Bools, Ints

_MUCH = 1 << 24
"""Queries times objects."""


class Updates(NamedTuple):
    """Slots of queries and objects, those that leave before those that enter, and how many leave."""

    queries: Ints
    objects: Ints
    leaving: int


def updates(
    old: Points,
    new: Points,
    before: Regions,
    after: Regions,
    anew: Bools,
    all_new: CellGrid,
    again: Bools | None = None,
) -> Updates:
    """Go through all objects for the queries whose regions are `anew`, and for the others through those that changed.

    Where neither the query nor the object changed, nothing enters or leaves; but objects that are told `again` leave
    where they were members, and enter where they are. Where there is much to do, those that leave are found beside
    those that enter: kernels run without the interpreter's lock.
    """
    whole: CellGrid | None = all_new
    left, came = new, old
    if again is not None and again.any():
        left, came, whole = _without(new, again), _without(old, again), None
    leaving = partial(_entering, left, old, after, before, anew, None)
    entering = partial(_entering, came, new, before, after, anew, whole)
    if len(anew) * len(old.x) < _MUCH:
        lost, won = leaving(), entering()
    else:
        with ThreadPoolExecutor(1) as beside:
            other = beside.submit(leaving)
            won, lost = entering(), other.result()
    return Updates(np.concatenate([lost[0], won[0]]), np.concatenate([lost[1], won[1]]), len(lost[0]))


def candidates(
    old: Points, new: Points, before: Regions, after: Regions, anew: Bools, fresh: Bools, again: Bools
) -> Updates:
    """The same, but members that stay enter again where the query is `fresh` or the object is marked `again`."""
    unknown = only(before, ~fresh)
    lost = _entering(new, old, after, before, anew, None)
    won = _entering(_without(old, again), new, unknown, after, anew | fresh, None)
    return Updates(np.concatenate([lost[0], won[0]]), np.concatenate([lost[1], won[1]]), len(lost[0]))


def only(regions: Regions, kept: Bools) -> Regions:
    """The regions of the queries that are `kept`."""
    return regions._replace(west=np.where(kept, regions.west, np.inf))


def _without(points: Points, hidden: Bools) -> Points:
    return points._replace(x=np.where(hidden, np.nan, points.x))


def _entering(
    there: Points, here: Points, far: Regions, near: Regions, anew: Bools, whole: CellGrid | None
) -> tuple[Ints, Ints]:
    """Who is in an answer here that was not there."""
    somewhere = near.west <= near.east
    moving, resting = np.flatnonzero(anew & somewhere), np.flatnonzero(~anew & somewhere)
    seen = ~np.isnan(here.x)
    changed = seen & ~((here.x == there.x) & (here.y == there.y) & (here.mask == there.mask))
    few = 2 * np.count_nonzero(changed) < np.count_nonzero(seen)
    if not few:
        moving, resting = np.concatenate([moving, resting]), resting[:0]
    pairs = []
    if len(moving):
        pairs.append(differences(whole or grid(here, there, np.flatnonzero(seen)), near, far, moving))
    if len(resting):
        pairs.append(differences(grid(here, there, np.flatnonzero(changed)), near, far, resting))
    if not pairs:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    queries, objects = np.concatenate(pairs, axis=1)
    return queries, objects
