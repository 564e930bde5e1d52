"""Differences between two moments, beside every query and every object one by one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from australis.boxes.moving.differences import differences, members
from australis.boxes.moving.grid import grid
from tests.boxes.moving.plane import PLACES, SHAPES, Place, Shape, inside, pairs, points, regions


@given(PLACES, SHAPES, st.integers(0, 6), st.integers(0, 6))
def test_who_is_here_and_not_there(places: list[Place], shapes: list[Shape], right: int, up: int) -> None:
    """Objects and queries are elsewhere at the other moment: both in reverse, the objects moved too."""
    others = [None if place is None else (place[0] + right - 3, place[1] + up - 3) for place in places[::-1]]
    here, there = points(places), points(others)
    somewhere = np.flatnonzero(~np.isnan(here.x))
    found = differences(grid(here, there, somewhere), regions(shapes), regions(shapes[::-1]), np.arange(len(shapes)))
    assert pairs(*found) == {
        (query, each)
        for query, (shape, other) in enumerate(zip(shapes, shapes[::-1], strict=True))
        for each, (place, away) in enumerate(zip(places, others, strict=True))
        if inside(shape, place) and not inside(other, away)
    }


@given(PLACES, SHAPES)
def test_members_are_all_who_lie_in_a_region(places: list[Place], shapes: list[Shape]) -> None:
    here = points(places)
    cells = grid(here, here, np.flatnonzero(~np.isnan(here.x)))
    asking = np.arange(0, len(shapes), 2)
    assert pairs(*members(cells, regions(shapes), asking)) == {
        (query, each) for query in asking.tolist() for each, place in enumerate(places) if inside(shapes[query], place)
    }


def test_a_condition_that_is_lost_is_a_difference() -> None:
    here, there = points([(1, 1), (1, 1)], [1, 1]), points([(1, 1), (1, 1)], [0, 1])
    wide = regions([(0, 2, 0, 2)], need=1)
    found = differences(grid(here, there, np.arange(2)), wide, wide, np.arange(1))
    assert pairs(*found) == {(0, 0)}
