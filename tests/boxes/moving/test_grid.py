"""The grid of cells, whatever lies in it."""

import sys

import numpy as np
import pytest

from australis.boxes.moving.differences import members
from australis.boxes.moving.grid import cells_of, grid, rows_of
from australis.boxes.moving.regions import RECTANGLE, Points, Regions


@pytest.mark.parametrize(
    "outliers", [[], [(0.0, 0.0)], [(0.0, 0.0), (1e9, -1e300)], [(sys.float_info.max, -sys.float_info.max)]]
)
def test_a_grid_does_not_care_about_objects_far_away(outliers: list[tuple[float, float]]) -> None:
    """Two towns of objects, and squares among them: how many objects are looked at for those that are found."""
    chance = np.random.default_rng(1)
    places = chance.random((2, 4000)) / 2 + np.array([[40.0], [7.0]])
    places[:, :1000] += 100
    far = np.array(outliers, float).reshape(-1, 2).T
    x, y = np.concatenate([places, far], axis=1)
    points = Points(x, y, np.zeros(len(x), np.int64), np.arange(len(x)))
    made = grid(points, points, np.arange(len(x)))
    assert np.array_equal(np.sort(made.slots), np.arange(len(x)))
    west, south = places[:, ::40] - 0.02
    none = np.zeros(len(west))
    regions = Regions(
        np.full(len(west), RECTANGLE, np.int8), west, west + 0.04, south, south + 0.04, none, none, none,
        np.zeros(len(west), np.int64), np.zeros(len(west), np.int64), np.zeros(len(west) + 1, np.int64),
        np.empty((0, 4)), False,
    )  # fmt: skip
    seen = 0
    for query in range(len(west)):
        bottom, top = rows_of(made, regions, query)
        for row in range(bottom, top + 1):
            first, last = cells_of(made, regions, query, row)
            seen += made.starts[last + 1] - made.starts[first]
    found = len(members(made, regions, np.arange(len(west)))[0])
    inside = (x >= west[:, None]) & (x <= west[:, None] + 0.04) & (y >= south[:, None]) & (y <= south[:, None] + 0.04)
    assert found == np.count_nonzero(inside)
    assert seen < 6 * found
    assert np.count_nonzero(np.diff(made.starts)) > len(x) / 40
