"""Lanes: changes that keep every vehicle listed once, in order, and apart from the others."""

import numpy as np
import pytest

from australis.apps.linear_road.record import ENTRY, FEET, SEGMENTS
from australis.apps.linear_road.simulation.following import move
from australis.apps.linear_road.simulation.lanes import change
from australis.apps.linear_road.simulation.ramps import enter, idle
from australis.apps.linear_road.simulation.road import BRAKING, DRIVING, END, FREE, LENGTH, MPH, Road, road, wider


def check(here: Road) -> None:
    """Nobody is lost, listed twice, listed elsewhere, out of order or inside another vehicle."""
    listed = []
    for way in range(2):
        for lane in range(5):
            slots = here.order[way, lane, : here.counts[way, lane]]
            assert (here.way[slots] == way).all()
            assert (here.lane[slots] == lane).all()
            assert (-np.diff(here.place[slots]) >= LENGTH).all()
            listed.append(slots)
    assert sorted(np.concatenate(listed)) == np.flatnonzero(here.state != FREE).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("mean", [5.0, 60.0])
def test_vehicles_keep_apart_however_full_the_road_is(mean: float) -> None:
    here, parked = road(5, 0), idle()
    for now in range(240):
        if here.frees[0] < 2 * SEGMENTS:
            here = wider(here)
        change(here, now)
        move(here)
        enter(here, parked, now, mean)
        check(here)
    assert here.counts[:, 1:4].sum() > here.counts[:, ENTRY].sum()


def put(here: Road, slot: int, lane: int, place: float, exit: int, speed: float = 50.0 * MPH) -> None:
    """A vehicle that drives to the east, behind those put before it."""
    here.order[0, lane, here.counts[0, lane]] = slot
    here.counts[0, lane] += 1
    here.state[slot], here.lane[slot], here.gives[slot], here.likes[slot] = DRIVING, lane, -1, 3
    here.place[slot], here.speed[slot], here.wish[slot], here.exit[slot] = place, speed, 55.0 * MPH, exit


def drive(here: Road, seconds: int) -> None:
    for now in range(seconds):
        change(here, now)
        move(here)


def test_one_reaches_the_exit_from_the_farthest_lane() -> None:
    here = road(1, 0, 64)
    put(here, 0, 3, 10.0 * FEET, 12)
    drive(here, 200)
    assert here.lane[0] == 4
    assert here.place[0] >= 12 * FEET


def test_one_drives_where_one_likes() -> None:
    here = road(1, 0, 64)
    put(here, 0, 1, 10.0 * FEET, 90)
    drive(here, 60)
    assert here.lane[0] == 3


def test_one_gets_past_an_accident() -> None:
    here = road(1, 0, 64)
    put(here, 0, 3, 11.0 * FEET, 90, 0.0)
    put(here, 1, 3, 10.0 * FEET, 90)
    here.state[0] = BRAKING
    here.sites[0] = 0, 3, 11.0 * FEET
    drive(here, 120)
    assert here.place[1] > 11.0 * FEET


def test_who_misses_an_exit_takes_the_next_and_nobody_drives_off_the_end() -> None:
    here = road(1, 0, 64)
    for slot in range(3):  # side by side, all beyond the last place to leave at
        put(here, slot, 1 + slot, 10.0 * FEET + 3000.0, 10)
    put(here, 3, 3, END - 100.0, SEGMENTS - 1, 5.0)
    drive(here, 1)
    assert here.exit[:3].tolist() == [11] * 3
    drive(here, 120)
    assert here.place[3] <= SEGMENTS * FEET
    assert here.lane[:3].tolist() == [4] * 3
