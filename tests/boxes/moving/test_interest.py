"""Interest: how many queries have each object in their region, or in the cache around it."""

import numpy as np
import pytest
from hypothesis import given

from australis.boxes.moving.grid import grid
from australis.boxes.moving.interest import grown, interest
from tests.boxes.moving.plane import PLACES, SHAPES, Place, Shape, inside, points, regions


@given(PLACES, SHAPES)
def test_each_query_counts_once(places: list[Place], shapes: list[Shape]) -> None:
    here = points(places)
    cells = grid(here, here, np.flatnonzero(~np.isnan(here.x)))
    counts = interest(cells, regions(shapes), np.arange(len(shapes)), len(places))
    assert counts.tolist() == [sum(inside(shape, place) for shape in shapes) for place in places]


@pytest.mark.parametrize(
    ("shape", "wider", "near", "far"),
    [
        ((0, 2, 0, 4), 1.0, (3, 5), (3.5, 5)),
        ((0, 2, 0, 4), 0.0, (2, 4), (2.5, 4)),
        ((0, 0, 2.0), 1.5, (3.5, 0), (3.6, 0)),
        ((0, 0, 2.0), 0.0, (2, 0), (2.1, 0)),
    ],
)
def test_a_cache_lies_around_a_region(shape: Shape, wider: float, near: Place, far: Place) -> None:
    bare = regions([shape])
    wide = grown(bare, np.arange(1), np.full(1, wider))
    here = points([near, far])
    assert interest(grid(here, here, np.arange(2)), wide, np.arange(1), 2).tolist() == [1, 0]
    assert bare.west.tolist() == regions([shape]).west.tolist()  # the region itself stays


def test_a_region_that_is_nowhere_does_not_grow() -> None:
    none = regions([(np.inf, -np.inf, np.inf, -np.inf)])
    assert grown(none, np.arange(1), np.full(1, 9.0)).west.tolist() == [np.inf]
