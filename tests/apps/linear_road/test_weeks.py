"""Artificial traffic of ten weeks."""

import numpy as np

from australis.apps.linear_road.weeks import loads, weekday


def test_weekdays_and_loads() -> None:
    assert [weekday(day) for day in (0, 1, 6, 7, 8, 70)] == [1, 7, 2, 1, 7, 1]
    assert np.array_equal(loads(1), loads(5))
    assert not np.array_equal(loads(5), loads(6))
