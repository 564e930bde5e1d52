"""A grid of cells over the space, and the objects counted into them (SOLE 5.2)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from australis.kernel import inner
from australis.moving.regions import Floats, Points, Regions
from australis.train import Ints

_CROWD = 6
"""How many objects a cell holds on average: fewer make more cells to look at, more make more objects to test."""
_MOST_CELLS = 1 << 22


class Grid(NamedTuple):
    """Objects in the order of their cells, with where they are, `here`, and where they are at another time, `there`.

    Beside each cell lie the bounds of what it holds, here and there. There they are endless if an object of the cell is
    nowhere then, or satisfies other conditions: no region covers that.
    """

    corner: Floats
    """West, south, columns in a unit of x, rows in a unit of y."""
    sides: Ints
    """How many columns and rows there are."""
    starts: Ints
    slots: Ints
    id: Ints
    x: Floats
    y: Floats
    mask: Ints
    x_there: Floats
    y_there: Floats
    mask_there: Ints
    bounds: npt.NDArray[np.float64]
    """West, east, south and north of each cell's objects, here and then there."""


def grid(here: Points, there: Points, slots: Ints, crowd: float = _CROWD) -> Grid:
    """The grid of some objects, each of which is somewhere here, about so many to a cell."""
    x, y = here.x[slots], here.y[slots]
    west, east, south, north = (x.min(), x.max(), y.min(), y.max()) if len(slots) else (0.0, 0.0, 0.0, 0.0)
    columns, rows = _sides(len(slots) / crowd, east - west, north - south)
    corner = np.array([west, south, _per(columns, east - west), _per(rows, north - south)])
    cells = np.empty(len(slots), np.int64)
    starts = np.zeros(columns * rows + 1, np.int64)
    _count(x, y, corner, columns, rows, cells, starts)
    order = np.empty(len(slots), np.int64)
    _settle(cells, starts.copy(), order)
    sorted_ = slots[order]
    bounds = np.empty((columns * rows, 8))
    made = Grid(
        corner, np.array([columns, rows]), starts, sorted_, here.id[sorted_],
        here.x[sorted_], here.y[sorted_], here.mask[sorted_],
        there.x[sorted_], there.y[sorted_], there.mask[sorted_], bounds,
    )  # fmt: skip
    _bound(made)
    return made


def _sides(wanted: float, wide: float, high: float) -> tuple[int, int]:
    """So many columns and rows that cells are about square."""
    cells = min(max(wanted, 1.0), _MOST_CELLS)
    if not (wide > 0 and high > 0):
        return (round(cells), 1) if wide > 0 else (1, round(cells))
    columns = min(max(round(math.sqrt(cells * wide / high)), 1), math.ceil(cells))
    return columns, max(round(cells / columns), 1)


def _per(count: int, length: float) -> float:
    per = count / length if length > 0 else 0.0
    return per if math.isfinite(per) else 0.0


@inner
def cell(value: float, low: float, per: float, count: int) -> int:
    """The column or row of a coordinate; beyond the grid it is the outermost one."""
    at = (value - low) * per
    if not at > 0:
        return 0
    return count - 1 if at >= count else int(at)


@inner
def between(grid: Grid, west: float, east: float, south: float, north: float) -> tuple[int, int, int, int]:
    """The columns and rows, first and last, that bounds touch."""
    low, bottom, per_x, per_y = grid.corner[0], grid.corner[1], grid.corner[2], grid.corner[3]
    columns, rows = grid.sides[0], grid.sides[1]
    first, last = cell(west, low, per_x, columns), cell(east, low, per_x, columns)
    return first, last, cell(south, bottom, per_y, rows), cell(north, bottom, per_y, rows)


@inner
def span(grid: Grid, regions: Regions, query: int) -> tuple[int, int, int, int]:
    """The columns and rows, first and last, that a region touches; none if it lies nowhere."""
    west, east, south, north = regions.west[query], regions.east[query], regions.south[query], regions.north[query]
    if not (west <= east and south <= north):
        return 0, -1, 0, -1
    return between(grid, west, east, south, north)


@inner
def _count(x: Floats, y: Floats, corner: Floats, columns: int, rows: int, cells: Ints, starts: Ints) -> None:
    for i in range(len(x)):
        column = cell(x[i], corner[0], corner[2], columns)
        cells[i] = cell(y[i], corner[1], corner[3], rows) * columns + column
        starts[cells[i] + 1] += 1
    for i in range(1, len(starts)):
        starts[i] += starts[i - 1]


@inner
def _settle(cells: Ints, at: Ints, order: Ints) -> None:
    for i in range(len(cells)):
        order[at[cells[i]]] = i
        at[cells[i]] += 1


@inner
def _bound(grid: Grid) -> None:
    for place in range(len(grid.starts) - 1):
        bounds = grid.bounds[place]
        for side in range(0, 8, 2):
            bounds[side], bounds[side + 1] = math.inf, -math.inf
        for i in range(grid.starts[place], grid.starts[place + 1]):
            bounds[0], bounds[1] = min(bounds[0], grid.x[i]), max(bounds[1], grid.x[i])
            bounds[2], bounds[3] = min(bounds[2], grid.y[i]), max(bounds[3], grid.y[i])
            if math.isnan(grid.x_there[i]) or grid.mask[i] != grid.mask_there[i]:
                bounds[4], bounds[5] = -math.inf, math.inf
            else:
                bounds[4], bounds[5] = min(bounds[4], grid.x_there[i]), max(bounds[5], grid.x_there[i])
                bounds[6], bounds[7] = min(bounds[6], grid.y_there[i]), max(bounds[7], grid.y_there[i])
