"""Following: what drivers choose behind another vehicle, and that nobody drives into it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from australis.apps.linear_road.simulation.following import acceleration, move
from australis.apps.linear_road.simulation.road import BRAKING, DRIVING, HITTING, LENGTH, MPH, Road, road

WISH = 55.0 * MPH
speeds = st.floats(0.0, 110.0)
gaps = st.floats(1.0, 5000.0)


def lane(places: list[float], speeds: list[float]) -> Road:
    """Vehicles in lane 2 towards the east, from the foremost to the last."""
    here = road(1, 0, 64)
    count = len(places)
    here.order[0, 2, :count] = np.arange(count)
    here.counts[0, 2] = count
    here.state[:count], here.lane[:count], here.gives[:count] = DRIVING, 2, -1
    here.place[:count], here.speed[:count], here.wish[:count] = places, speeds, WISH
    return here


def oracle(speed: float, wish: float, gap: float, closing: float) -> float:
    """The model as its paper has it, with a = 5, b = 6.5, s0 = 6.5 and T = 0.75."""
    desired = 6.5 + max(0.0, 0.75 * speed + speed * closing / (2 * (5 * 6.5) ** 0.5))
    return 5.0 * (1 - (speed / wish) ** 4 - (desired / gap) ** 2)


@given(speeds, gaps, st.floats(-50.0, 50.0))
def test_it_is_the_intelligent_driver_model(speed: float, gap: float, closing: float) -> None:
    assert np.isclose(acceleration(speed, WISH, gap, closing), oracle(speed, WISH, gap, closing))


@given(speeds, gaps, gaps)
def test_less_room_is_never_faster(speed: float, one: float, two: float) -> None:
    near, far = sorted((one, two))
    assert acceleration(speed, WISH, near, 0.0) <= acceleration(speed, WISH, far, 0.0)


@given(st.lists(st.tuples(st.floats(1.0, 300.0), speeds), min_size=2, max_size=30))
def test_vehicles_stay_in_order_and_never_drive_back(cars: list[tuple[float, float]]) -> None:
    places = 300000.0 - np.cumsum([gap + LENGTH for gap, _ in cars])
    here = lane(places.tolist(), [speed for _, speed in cars])
    here.state[0] = BRAKING
    for _ in range(60):
        before = here.place[: len(cars)].copy()
        move(here)
        after = here.place[: len(cars)]
        assert (after >= before).all()
        assert (after - before <= 110.0).all()
        assert (-np.diff(after) >= LENGTH).all()


@given(st.floats(20.0, 480.0), speeds, speeds)
def test_the_vehicles_of_an_accident_stand_at_one_place(behind: float, one: float, two: float) -> None:
    here = lane([300000.0, 300000.0 - behind], [one, two])
    here.state[:2] = BRAKING, HITTING
    for _ in range(130):
        move(here)
    assert here.place[0] == here.place[1]
    assert (here.speed[:2] == 0.0).all()


def test_alone_one_drives_as_fast_as_one_wishes() -> None:
    here = lane([1000.0], [0.0])
    for _ in range(120):
        move(here)
    assert np.isclose(here.speed[0], WISH, rtol=0.01)
