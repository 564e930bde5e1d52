"""Where queries lie, from what they ask for and where their focal objects are."""

import math
from typing import Any

import numpy as np

from australis.arrow.schema import schema
from australis.boxes.moving import queries as asked
from australis.boxes.moving.placing import moved, regions, regions_of
from australis.boxes.moving.regions import Regions
from australis.model.table import Table
from australis.testing import train
from tests.boxes.moving.plane import points

QUERIES = "query int, kind string, x double, y double, width double, height double, radius double, k int," \
    " shape string, focal bigint"  # fmt: skip
NAMES = [part.split()[0] for part in QUERIES.split(", ")]


def registered(*rows: dict[str, Any]) -> Table:
    wanted = train(QUERIES, {name: [row.get(name) for row in rows] for name in NAMES if name != "query"},
                   query=list(range(len(rows))))  # fmt: skip
    table, read = asked.table(schema(QUERIES)), asked.QueryRows(wanted, ())
    assert read.good.all()
    slots = table.find([wanted["query"]], len(rows))
    read.put(table, slots, np.arange(len(rows)))
    return table


def bounds(placed: Regions, query: int) -> tuple[float, ...]:
    return tuple(float(side[query]) for side in (placed.west, placed.east, placed.south, placed.north))


ROWS = (
    {"kind": "rectangle", "x": 1, "y": 2, "width": 4, "height": 2},
    {"kind": "rectangle", "width": 2, "height": 2, "focal": 9},
    {"kind": "circle", "x": 1, "y": 0, "radius": 2, "focal": 9},
    {"kind": "polygon", "x": 1, "shape": "POLYGON ((0 0, 2 0, 0 4, 0 0))"},
)


def test_regions_lie_around_their_centres() -> None:
    table = registered(*ROWS)
    leaders = np.where(table["bound"], 1, -1)
    placed = regions(table, table.alive, points([None, (10, 20)]), leaders, False)
    assert bounds(placed, 0) == (-1, 3, 1, 3)
    assert bounds(placed, 1) == (9, 11, 19, 21)
    west, east, south, north = bounds(placed, 2)
    assert west <= 9 < 9 + 1e-6 and 13 <= east < 13 + 1e-6 and south <= 18 and north >= 22  # noqa: PT018
    assert placed.limit[2] == 2
    west, east, south, north = bounds(placed, 3)
    assert 1 - 1e-6 < west <= 1 and 3 <= east < 3 + 1e-6 and north >= 4  # noqa: PT018


def test_without_a_focal_object_or_if_it_is_not_asked_a_query_is_nowhere() -> None:
    table = registered(*ROWS)
    none = np.full(len(table.alive), -1)
    nowhere = np.where(table["bound"], 0, -1)
    for leaders in (none, nowhere):
        placed = regions(table, table.alive, points([None]), leaders, False)
        assert (placed.west <= placed.east)[:4].tolist() == [True, False, False, True]
    placed = regions(table, np.zeros(len(table.alive), bool), points([]), none, False)
    assert not (placed.west <= placed.east).any()


def test_a_query_has_a_region_for_each_place_of_its_focal_object() -> None:
    table = registered(*ROWS)
    x, y = np.array([0.0, 5.0, math.nan, 7.0]), np.array([0.0, 5.0, 0.0, 7.0])
    placed = regions_of(table, np.array([1, 1, 1, 0]), x, y, False)
    assert [bounds(placed, each) for each in (0, 1, 3)] == [(-1, 1, -1, 1), (4, 6, 4, 6), (-1, 3, 1, 3)]
    assert bounds(placed, 2) == (math.inf, -math.inf, math.inf, -math.inf)


def test_a_query_has_moved_if_its_region_has() -> None:
    table = registered(*ROWS)
    leaders = np.where(table["bound"], 0, -1)
    one, other = (regions(table, table.alive, points([place]), leaders, False) for place in ((0, 0), (0, 1)))
    assert moved(one, other)[:4].tolist() == [False, True, True, False]
    assert not moved(one, one).any()
