"""Differences between two moments: who lies in a query's region at one, and not at the other (SOLE 5.3)."""

from __future__ import annotations

import numpy as np

from australis.boxes.moving.grid import CellGrid, cells_of, rows_of
from australis.boxes.moving.regions import Regions, contains, covers
from australis.kernels.jit import inner
from australis.model.train import Ints

_MOST_PAIRS = 1 << 20


def differences(grid: CellGrid, here: Regions, there: Regions, queries: Ints) -> tuple[Ints, Ints]:
    """The slots of queries and of objects that are in the answer here and not there.

    Membership follows from the positions at both moments: no answer is stored.
    """
    if not len(grid.slots) or not len(queries):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    at, out = np.array([0, -1, 0]), []
    room = max(_MOST_PAIRS, int(np.diff(grid.starts).max()))
    while at[0] < len(queries):
        pairs = np.empty((2, room), np.int64)
        count = _differences(grid, here, there, queries, at, pairs[0], pairs[1])
        out.append(pairs[:, :count])
    asking, objects = np.concatenate(out, axis=1)
    return asking, objects


def members(grid: CellGrid, regions: Regions, queries: Ints) -> tuple[Ints, Ints]:
    """The slots of queries and of all objects in their answers."""
    nowhere = regions._replace(west=np.full(len(regions.west), np.inf))
    return differences(grid, regions, nowhere, queries)


@inner
def _differences(
    grid: CellGrid, here: Regions, there: Regions, queries: Ints, at: Ints, asking: Ints, objects: Ints
) -> int:
    """Go on from `at` (a query, a row or none yet, a cell) while there is room for all objects of a cell."""
    count = 0
    for place in range(at[0], len(queries)):
        query = queries[place]
        bottom, top = rows_of(grid, here, query)
        steady = here.need[query] == there.need[query]
        row, begun = (bottom, -1) if at[1] < 0 else (at[1], at[2])
        at[1] = -1
        while row <= top:
            spot, last = cells_of(grid, here, query, row)
            if begun >= 0:
                spot, begun = begun, -1
            while spot <= last:
                start, stop = grid.starts[spot], grid.starts[spot + 1]
                if count + stop - start > len(asking):
                    at[0], at[1], at[2] = place, row, spot
                    return count
                bounds = grid.bounds[spot]
                if not (
                    steady
                    and covers(here, query, bounds[0], bounds[1], bounds[2], bounds[3])
                    and covers(there, query, bounds[4], bounds[5], bounds[6], bounds[7])
                ):
                    for i in range(start, stop):
                        if contains(here, query, grid.x[i], grid.y[i], grid.mask[i], grid.id[i]) and not contains(
                            there, query, grid.x_there[i], grid.y_there[i], grid.mask_there[i], grid.id[i]
                        ):
                            asking[count], objects[count] = query, grid.slots[i]
                            count += 1
                spot += 1
            row += 1
    at[0] = len(queries)
    return count
