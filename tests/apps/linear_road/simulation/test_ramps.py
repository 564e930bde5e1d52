"""Ramps: who enters where, and where they want to leave."""

import numpy as np
import pytest

from australis.apps.linear_road.record import ENTRY, SEGMENTS
from australis.apps.linear_road.simulation.ramps import destination, draw_wish, enter, entries, idle
from australis.apps.linear_road.simulation.road import DRIVING, MPH, road
from australis.kernels.random import chance


def test_the_first_minutes_are_those_measured() -> None:
    minutes = [sum(entries(second) for second in range(60 * minute, 60 * minute + 60)) for minute in range(5)]
    assert (minutes[0], minutes[4]) == pytest.approx((700, 510), rel=0.02)
    assert minutes == sorted(minutes, reverse=True)


def test_exits_are_others_around_the_middle() -> None:
    state = chance(3, 0)
    exits = np.array([destination(state, 50) for _ in range(4000)])
    assert exits.min() >= 0
    assert exits.max() < SEGMENTS
    assert 50 not in exits
    assert (exits.mean(), exits.std()) == pytest.approx((50, 20), abs=1.5)


@pytest.mark.parametrize(("lane", "deviation"), [(1, 10.0), (2, 12.5), (3, 12.0)])
def test_drivers_wish_for_speeds_far_apart_and_not_all_for_the_same_bound(lane: int, deviation: float) -> None:
    state = chance(3, 0)
    wishes = np.array([draw_wish(state, lane) for _ in range(4000)]) / MPH
    assert wishes.min() >= 20
    assert wishes.max() <= 75
    assert wishes.std() == pytest.approx(deviation, abs=1.0)
    assert np.histogram(wishes, 55, (20, 75))[0].max() < 200


def test_a_ramp_takes_one_vehicle_a_second_and_only_where_there_is_room() -> None:
    here, parked = road(1, 0), idle()
    here.waiting[:, 3] = 2
    enter(here, parked, 0, 0.0)
    assert here.counts[:, ENTRY].tolist() == [1, 1]
    enter(here, parked, 1, 0.0)
    assert here.counts[:, ENTRY].tolist() == [1, 1]
    assert here.waiting[:, 3].tolist() == [1, 1]


def test_those_who_rested_drive_again() -> None:
    here, parked = road(1, 0), idle()
    parked.vid[0], parked.numbers[:] = 7, (1, 8)
    here.waiting[0, 3] = here.waiting[1, 3] = 1
    enter(here, parked, 600, 0.0)
    assert sorted(here.vid[here.state == DRIVING]) == [7, 8]
    assert parked.numbers.tolist() == [0, 9]
