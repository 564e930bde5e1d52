"""The artificial city."""

import numpy as np
import pytest

from australis.apps.city.layout import SIDE, layout
from australis.apps.city.roads import CLASSES
from australis.apps.city.routes import NO_TURN, routes


def test_the_city_is_dense_in_the_middle_and_all_of_it_is_reached() -> None:
    city = layout(1)
    assert city.space == pytest.approx((0, 0, SIDE, SIDE), abs=1)
    middle = np.hypot(city.x - SIDE / 2, city.y - SIDE / 2) < SIDE / 5
    assert middle.mean() > 2 * np.pi / 25  # twice as dense as if it were even
    assert set(city.kind) == set(range(len(CLASSES)))
    assert (routes(city, 1, 0).turns == NO_TURN).sum(axis=2).max() == 1  # only at the place itself
    assert not np.array_equal(layout(2).x, city.x)
