"""A grid of cells over the space, and the objects counted into them (SOLE 5.2)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from australis.boxes.moving.regions import Floats, Points, Regions, wraps
from australis.kernels.jit import inner
from australis.model.train import Ints

_CROWD = 6
"""How many objects a cell holds on average: fewer make more cells to look at, more make more objects to test."""
_MOST_CELLS = 1 << 22
_UNEVEN = 4
"""By how much more crowded the cell of an object may be on average before cells are made to hold equally many."""


class CellGrid(NamedTuple):
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
    south: Floats
    """Of the objects in each row, where cells hold equally many objects instead of being equally large."""
    north: Floats
    room: Floats
    """The area that an object has to itself, in one value."""


def grid(here: Points, there: Points, slots: Ints, crowd: float = _CROWD) -> CellGrid:
    """The grid of some objects, each of which is somewhere here, about so many to a cell.

    Cells are equally large, unless objects crowd in few of them: one that is far away makes the space so large that all
    others are in one cell. Then rows hold equally many objects, and so do the cells of a row.
    """
    x, y = here.x[slots], here.y[slots]
    west, east, south, north = (x.min(), x.max(), y.min(), y.max()) if len(slots) else (0.0, 0.0, 0.0, 0.0)
    wide, high = float(east) - float(west), float(north) - float(south)
    columns, rows = _sides(len(slots) / crowd, wide, high)
    corner = np.array([west, south, _per(columns, wide), _per(rows, high)])
    cells = np.empty(len(slots), np.int64)
    starts = np.zeros(columns * rows + 1, np.int64)
    crowded = _count(x, y, corner, columns, rows, cells, starts)
    low = top = np.empty(0)
    if crowded > _UNEVEN * (crowd + 1) * len(slots):
        order, starts, low, top = _evenly(x, y, crowd)
        rows, columns = len(low), (len(starts) - 1) // len(low)
    else:
        order = np.empty(len(slots), np.int64)
        _settle(cells, starts.copy(), order)
    sorted_ = slots[order]
    bounds = np.empty((columns * rows, 8))
    index = CellGrid(
        corner, np.array([columns, rows]), starts, sorted_, here.id[sorted_],
        here.x[sorted_], here.y[sorted_], here.mask[sorted_],
        there.x[sorted_], there.y[sorted_], there.mask[sorted_], bounds, low, top, np.ones(1),
    )  # fmt: skip
    _bound(index)
    index.room[0] = _room(index)
    return index


def _evenly(x: Floats, y: Floats, crowd: float) -> tuple[Ints, Ints, Floats, Floats]:
    """Points in the order of cells that hold equally many, where cells start, and the bounds of rows."""
    count = len(x)
    rows = max(round(math.sqrt(min(count / crowd, _MOST_CELLS))), 1)
    edges = np.arange(rows + 1) * count // rows
    upward = np.argsort(y, kind="stable")
    row = np.empty(count, np.int64)
    row[upward] = np.repeat(np.arange(rows), np.diff(edges))
    columns = max(int(count // (rows * crowd)), 1)
    starts = edges[:-1, None] + np.arange(columns) * np.diff(edges)[:, None] // columns
    low, high = y[upward[edges[:-1]]], y[upward[edges[1:] - 1]]
    return np.lexsort((x, row)), np.append(starts.reshape(-1), count), low, high


def _room(grid: CellGrid) -> float:
    """The area of the whole for each object; where cells are uneven, that of a cell of middling size."""
    with np.errstate(over="ignore", invalid="ignore"):
        if len(grid.south):
            sizes = (grid.bounds[:, 1] - grid.bounds[:, 0]) * (grid.bounds[:, 3] - grid.bounds[:, 2])
            return float(np.nanmedian(sizes)) * len(sizes) / len(grid.slots)
        sides = [count / per if per > 0 else 1.0 for count, per in zip(grid.sides, grid.corner[2:], strict=True)]
        return float(sides[0] * sides[1]) / max(len(grid.slots), 1)


def _sides(wanted: float, wide: float, high: float) -> tuple[int, int]:
    """So many columns and rows that cells are about square."""
    cells = min(max(wanted, 1.0), _MOST_CELLS)
    if not (wide > 0 and high > 0 and math.isfinite(wide) and math.isfinite(high)):
        return (round(cells), 1) if wide > 0 else (1, round(cells))
    columns = round(min(max(math.sqrt(cells) * math.sqrt(wide) / math.sqrt(high), 1.0), math.ceil(cells)))
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
def rows_between(grid: CellGrid, south: float, north: float) -> tuple[int, int]:
    """The first and the last row that bounds touch."""
    if len(grid.south):
        return first_from(grid.north, south), first_beyond(grid.south, north) - 1
    bottom, per, rows = grid.corner[1], grid.corner[3], grid.sides[1]
    return cell(south, bottom, per, rows), cell(north, bottom, per, rows)


@inner
def cells_between(grid: CellGrid, row: int, west: float, east: float) -> tuple[int, int]:
    """The first and the last cell of a row that bounds touch."""
    columns = grid.sides[0]
    start = row * columns
    if len(grid.south) == 0:
        low, per = grid.corner[0], grid.corner[2]
        return start + cell(west, low, per, columns), start + cell(east, low, per, columns)
    first, stop = start, start + columns
    while first < stop:
        middle = (first + stop) // 2
        if grid.bounds[middle, 1] < west:
            first = middle + 1
        else:
            stop = middle
    last, stop = first, start + columns
    while last < stop:
        middle = (last + stop) // 2
        if grid.bounds[middle, 0] <= east:
            last = middle + 1
        else:
            stop = middle
    return first, last - 1


@inner
def first_from(values: Floats, least: float) -> int:
    """The place of the first value that is not less, among ascending ones."""
    first, stop = 0, len(values)
    while first < stop:
        middle = (first + stop) // 2
        if values[middle] < least:
            first = middle + 1
        else:
            stop = middle
    return first


@inner
def first_beyond(values: Floats, most: float) -> int:
    """The place of the first value that is larger, among ascending ones."""
    first, stop = 0, len(values)
    while first < stop:
        middle = (first + stop) // 2
        if values[middle] <= most:
            first = middle + 1
        else:
            stop = middle
    return first


@inner
def rows_of(grid: CellGrid, regions: Regions, query: int) -> tuple[int, int]:
    """The first and the last row that a region touches; none if it lies nowhere."""
    if not (regions.west[query] <= regions.east[query] and regions.south[query] <= regions.north[query]):
        return 0, -1
    return rows_between(grid, regions.south[query], regions.north[query])


@inner
def cells_of(grid: CellGrid, regions: Regions, query: int, row: int) -> tuple[int, int]:
    """The first and the last cell of a row that a region touches; all, where it reaches over the antimeridian."""
    if wraps(regions, query):
        return row * grid.sides[0], (row + 1) * grid.sides[0] - 1
    return cells_between(grid, row, regions.west[query], regions.east[query])


@inner
def _count(x: Floats, y: Floats, corner: Floats, columns: int, rows: int, cells: Ints, starts: Ints) -> float:
    """Count points into cells; how many others each shares its cell with, in all."""
    for i in range(len(x)):
        column = cell(x[i], corner[0], corner[2], columns)
        cells[i] = cell(y[i], corner[1], corner[3], rows) * columns + column
        starts[cells[i] + 1] += 1
    crowded = 0.0
    for i in range(1, len(starts)):
        crowded += float(starts[i]) * float(starts[i])
        starts[i] += starts[i - 1]
    return crowded


@inner
def _settle(cells: Ints, at: Ints, order: Ints) -> None:
    for i in range(len(cells)):
        order[at[cells[i]]] = i
        at[cells[i]] += 1


@inner
def _bound(grid: CellGrid) -> None:
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
