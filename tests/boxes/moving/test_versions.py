"""Versions: where the region of each query lies from which moment to which."""

import math
from typing import Any

import numpy as np

from australis.boxes.moving.placements import placements
from australis.boxes.moving.versions import RegionVersions, versions
from tests.boxes.moving.plane import points
from tests.boxes.moving.test_placements import known, reports
from tests.boxes.moving.test_placing import registered

FOLLOWING = {"kind": "rectangle", "width": 2, "height": 2, "focal": 70}
STILL = {"kind": "rectangle", "x": 5, "y": 5, "width": 2, "height": 2}


def listed(found: RegionVersions) -> list[tuple[Any, ...]]:
    """Query, from when, until when, and the west of its region."""
    columns = (found.queries, found.since, found.until, found.regions.west)
    return list(zip(*(each.tolist() for each in columns), strict=True))


def test_a_query_has_a_region_from_each_report_of_its_focal_object_on() -> None:
    table, there = known()
    moved = placements(table, there, reports((0, 1, 8.0, 0), (0, 3, None, 0), (1, 0, 3.0, 0)), 4, None, None)
    queries = registered(STILL, FOLLOWING)
    leaders = np.where(queries["bound"], 0, -1)
    found = versions(queries, queries.alive, leaders, points([(1, 0), (2, 0)]), moved, 4, False)
    assert listed(found) == [(0, -1, 4, 4.0), (1, -1, 1, 0.0), (1, 1, 3, 7.0), (1, 3, 4, math.inf)]
    assert (found.before.tolist(), found.after.tolist()) == ([-1, -1, 1, 2], [-1, 2, 3, -1])


def test_without_reports_there_is_one_each() -> None:
    table, there = known()
    moved = placements(table, there, reports(), 2, None, None)
    queries = registered(STILL, FOLLOWING, FOLLOWING)
    leaders = np.array([-1, 1, -1, *[-1] * (len(queries.alive) - 3)])
    found = versions(queries, queries.alive, leaders, points([(1, 0), (2, 0)]), moved, 2, False)
    assert listed(found) == [(0, -1, 2, 4.0), (1, -1, 2, 1.0), (2, -1, 2, math.inf)]
    none = versions(queries, queries.alive & False, leaders, points([]), moved, 2, False)
    assert listed(none) == []
