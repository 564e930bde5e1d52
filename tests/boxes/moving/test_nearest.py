"""How far the circle of a kNN query must reach."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.boxes.moving import Watch
from australis.boxes.moving.differences import members
from australis.boxes.moving.grid import grid
from australis.boxes.moving.nearest import distances, limit
from australis.testing import train
from tests.boxes.moving.plane import LINE, PLACES, nearest, pairs, points
from tests.oracles.running import run


@pytest.mark.parametrize("every", [None, "train"])
def test_a_query_that_is_led_beyond_a_pole_finds_its_nearest(every: str | None) -> None:
    objects = train("id int, x double, y double", id=[0, 1], x=[-180, -180], y=[89.75, -90])
    wanted = train(
        "query int, kind string, x double, y double, k int, focal int",
        query=[1], kind=["knn"], x=[None], y=[1.0], k=[2], focal=[0], first=3,
    )  # fmt: skip
    assert [row for row, _, _ in run(Watch(earth=True, every=every), [objects, wanted])[0]] == [(1, 1, 0), (1, 1, 1)]


@given(PLACES, st.lists(st.tuples(LINE, LINE), min_size=1, max_size=3), st.integers(1, 5))
def test_the_circle_ends_at_the_last_of_the_k_nearest(places: Any, centres: Any, k: int) -> None:
    here, asking = points(places), np.arange(len(centres))
    cells = grid(here, here, np.flatnonzero(~np.isnan(here.x)))
    circles = nearest(centres)
    limit(cells, circles, asking, np.full(len(centres), k))
    found = pairs(*members(cells, circles, asking))
    for query, (x, y) in enumerate(centres):
        far = sorted((math.hypot(place[0] - x, place[1] - y), each) for each, place in enumerate(places) if place)
        assert {each for asked, each in found if asked == query} == {each for _, each in far[:k]}
        if len(far) >= k:
            assert (circles.limit[query], circles.tie[query]) == far[k - 1]
        else:
            assert circles.limit[query] == math.inf


def test_distances_are_to_the_centres() -> None:
    far = distances(nearest([(0, 0), (3, 4)]), points([(3, 4), None]), np.array([0, 1, 0]), np.array([0, 0, 1]))
    assert far[:2].tolist() == [5.0, 0.0]
    assert math.isnan(far[2])
