"""Driving, beside one object at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.apps.city import driving
from australis.apps.city.roads import Roads
from australis.apps.city.routes import Routes
from australis.apps.city.simulate import City
from australis.apps.city.vehicles import Vehicles, vehicles
from australis.kernels.random import chance
from tests.apps.city.simulated import tuples
from tests.oracles.city import Journey, moved


def test_full_roads_are_slow(ground: Roads) -> None:
    free, _ = tuples(City(20000, 20), ground)
    full, _ = tuples(City(20000, 20, crowded=True), ground)
    assert full.speed[full.time == 19].mean() < 0.8 * free.speed[free.time == 19].mean()


@given(st.integers(0, 50), st.floats(0.1, 300), st.integers(1, 9))
def test_driving_agrees_with_an_oracle(ground: Roads, ways: Routes, slot: int, seconds: float, seed: int) -> None:
    moving, draws, flow = vehicles(51), chance(seed, 0), np.ones(len(ground.ends))
    driving.begin(moving, ground, ways, driving.SPEEDS, driving.SHARES, draws)
    before = Vehicles(*(part.copy() for part in moving))
    arrived = driving.drive(seconds, moving, ground, ways, flow, driving.SPEEDS, driving.SHARES, True, draws)
    kind, place = before.kind[slot], before.place[slot]
    target = ways.places[place]
    speeds = np.minimum(ground.limit, driving.SPEEDS[kind]) * before.manner[slot]
    turn = {
        edge: None if end == target else int(ground.starts[end] + ways.turns[kind, place, end])
        for edge, end in enumerate(ground.ends)
    }
    there, done = moved(
        Journey(int(before.edge[slot]), before.along[slot]), seconds, ground.length.tolist(), speeds.tolist(), turn
    )
    assert done == (moving.number[slot] != before.number[slot])
    assert arrived == (moving.number != before.number).sum()
    if not done:
        assert (moving.edge[slot], moving.along[slot]) == (there.edge, pytest.approx(there.along))


@given(st.integers(1, 40), st.integers(1, 6))
def test_moments_may_be_as_long_as_one_likes(ground: Roads, ways: Routes, seconds: int, parts: int) -> None:
    """Two ways to the same moment, for objects that do not arrive meanwhile."""
    ends = []
    for steps in (1, parts):
        moving, draws, flow = vehicles(80), chance(5, 0), np.ones(len(ground.ends))
        driving.begin(moving, ground, ways, driving.SPEEDS, driving.SHARES, draws)
        for _ in range(steps):
            driving.drive(seconds / steps, moving, ground, ways, flow, driving.SPEEDS, driving.SHARES, True, draws)
        ends.append(moving)
    same = ends[0].number < 80
    same &= ends[1].number < 80
    x, y, kind = np.empty((2, 80)), np.empty((2, 80)), np.empty(80, np.uint8)
    for i, moving in enumerate(ends):
        driving.places(moving, ground, np.arange(80), x[i], y[i], kind)
    np.testing.assert_allclose(x[0][same], x[1][same], atol=1e-6)
    np.testing.assert_allclose(y[0][same], y[1][same], atol=1e-6)
