"""The fastest ways, beside an oracle."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from australis.apps.city.roads import roads
from australis.apps.city.routes import NO_TURN, backward, fastest, times
from tests.apps.city.test_roads import edges, town
from tests.oracles.city import costs


@given(edges, st.integers(0, 7), st.data())
def test_fastest_ways_agree_with_an_oracle(found: list[tuple[int, int]], place: int, data: st.DataObject) -> None:
    both = [*found, *((end, begin) for begin, end in found)]
    city = town(both, 8, data.draw(st.lists(st.integers(0, 3), min_size=len(both), max_size=len(both))))
    place %= len(city.x)
    seconds = times(city, np.ones(len(city.ends)))[0]
    cost, turns = np.empty(len(city.x)), np.empty(len(city.x), np.uint8)
    room = np.empty(len(city.ends) + 1), np.empty(len(city.ends) + 1, np.int64)
    back = backward(city)
    fastest(place, city.starts, city.begins, *back, seconds, cost, *room, turns)
    lines = list(zip(city.begins.tolist(), city.ends.tolist(), seconds.tolist(), strict=True))
    expected = costs(len(city.x), lines, place)
    assert cost.tolist() == expected
    for node in range(len(city.x)):
        if node == place:
            assert turns[node] == NO_TURN
        else:
            edge = city.starts[node] + turns[node]
            assert city.begins[edge] == node
            assert expected[node] == seconds[edge] + expected[city.ends[edge]]


def test_bicycles_keep_off_highways_where_they_can() -> None:
    # The highway 0-1 is straight; the lane over 2 is longer, and faster only for those that shun the highway.
    city = roads(
        np.array([0.0, 1000.0, 500.0]), np.array([0.0, 0.0, 200.0]),
        np.array([0, 1, 0, 2, 1, 2]), np.array([1, 0, 2, 0, 2, 1]), np.array([0, 0, 3, 3, 3, 3], np.uint8),
    )  # fmt: skip
    car, *_, bicycle = times(city, np.ones(6))
    assert car[city.kind == 0].max() < car[city.kind == 3].min()
    assert bicycle[city.kind == 0].min() > bicycle[city.kind == 3].sum()
