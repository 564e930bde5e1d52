"""Accidents: when they are planned, and that they wait for vehicles."""

from hypothesis import given
from hypothesis import strategies as st

from australis.apps.linear_road.record import FEET, SEGMENTS
from australis.apps.linear_road.simulation.accidents import plan, tend
from australis.apps.linear_road.simulation.road import BRAKING, DRIVING, HITTING, road


@given(st.integers(0, 1000), st.integers(1, 20000))
def test_one_is_planned_for_every_twenty_minutes(seed: int, seconds: int) -> None:
    planned = plan(road(seed, 0, 16), 0, seconds)
    assert [accident.begin // 1200 for accident in planned] == list(range((seconds + 1200 - 241) // 1200))
    for accident in planned:
        assert accident.begin <= min(accident.begin // 1200 * 1200 + 1200, seconds) - 240
        assert accident.way in (0, 1)
        assert accident.lane in (1, 2, 3)
        assert 0 <= accident.place < (SEGMENTS - 1) * FEET


def test_places_differ() -> None:
    (one,), (two,) = plan(road(1, 0, 16), 0, 1200), plan(road(1, 1, 16), 1, 1200)
    assert (one.begin, one.place) != (two.begin, two.place)


def test_on_an_empty_road_it_waits_and_then_takes_the_nearest_two() -> None:
    here = road(1, 0, 16)
    (accident,) = plan(here, 0, 1200)
    tend(accident, here, accident.begin, 1200)
    assert not accident.slots
    here.order[accident.way, accident.lane, :4] = (3, 2, 1, 0)
    here.counts[accident.way, accident.lane] = 4
    here.place[:4] = [1000.0, 1200.0, 9000.0, 9800.0]  # only the last two are close to each other
    here.state[:4] = DRIVING
    here.vid[:4] = [10, 11, 12, 13]
    tend(accident, here, accident.begin + 1, 1200)
    assert accident.vids == (11, 10)
    assert here.state[:4].tolist() == [HITTING, BRAKING, DRIVING, DRIVING]


def test_too_late_it_is_left_out() -> None:
    here = road(1, 0, 16)
    (accident,) = plan(here, 0, 1200)
    here.order[accident.way, accident.lane, :2] = (1, 0)
    here.counts[accident.way, accident.lane] = 2
    here.place[:2], here.state[:2] = [1000.0, 1200.0], DRIVING
    tend(accident, here, 1200 - 240, 1200)
    assert not accident.slots
