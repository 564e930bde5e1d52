"""The road of a simulation."""

import numpy as np

from australis.apps.linear_road.simulation.ramps import enlarge, enter, idle
from australis.apps.linear_road.simulation.road import FREE, road, wider


def test_more_room_keeps_what_is_there() -> None:
    here, parked = road(1, 0, slots=512), idle()
    for now in range(30):
        enter(here, parked, now, 5.0)
    more = wider(here)
    assert np.array_equal(more.order[:, :, :512], here.order)
    assert np.array_equal(more.place[:512], here.place)
    free = more.free[: more.frees[0]].tolist()
    assert sorted(free) == sorted(set(range(1024)) - set(np.flatnonzero(here.state).tolist()))
    assert len(enlarge(parked).vid) == 2 * len(parked.vid)


def test_a_new_road_is_empty() -> None:
    here = road(1, 0, slots=4)
    assert (here.state == FREE).all()
    assert here.free[: here.frees[0]].tolist() == [3, 2, 1, 0]  # the first slot is taken first
    assert not here.counts.any()
    assert (here.sites == -1).all()


def test_the_slots_that_were_free_are_taken_first() -> None:
    here = road(1, 0, slots=2)
    here.frees[0] = 1  # slot 0 is taken
    more = wider(here)
    assert len(more.state) == 4
    assert more.free[: more.frees[0]][::-1].tolist() == [1, 2, 3]
