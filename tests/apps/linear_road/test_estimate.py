"""The travel time and the tolls of a journey, from averages of past weeks."""

import numpy as np
import pytest

from australis.apps.linear_road.estimate import estimates
from tests.oracles.linear_road import Past

WAY = Past(
    lav={(1, 1, 0, 5): 60.0, (1, 2, 0, 6): 30.0, (1, 1, 1, 6): 20.0, (7, 1440, 0, 5): 60.0, (1, 1, 0, 6): 15.0},
    cnt={(1, 2, 0, 6): 53.0, (1, 1, 1, 6): 50.5},
)


@pytest.mark.parametrize(
    ("sinit", "send", "dow", "tod", "seconds", "toll"),
    [
        (5, 6, 1, 1, 60, 0),
        (5, 7, 1, 1, 60 + 120, 2 * 3**2),  # the second mile in the minute in which it is reached
        (6, 5, 1, 1, 180, 1),  # westbound; half a toll is rounded up
        (5, 7, 7, 1440, 60 + 240, 0),  # after the last minute of the week comes its first
        (5, 7, 0, 1440, 60 + 240, 0),  # day 0 is the last of the week before
        (5, 8, 1, 1, -1, 0),  # of segment 7 nothing is known
        (5, 5, 1, 1, 0, 0),
    ],
)
def test_each_mile_is_driven_at_the_speed_of_its_minute(
    sinit: int, send: int, dow: int, tod: int, seconds: int, toll: int
) -> None:
    found = estimates(WAY, [0], [sinit], [send], [dow], [tod])
    assert [each.tolist() for each in found] == [[seconds], [toll]]


def test_requests_of_several_expressways_keep_their_rows() -> None:
    seconds, tolls = estimates(WAY, [1, 0, 1, 0], [5, 5, 5, 6], [6, 6, 5, 5], [1] * 4, [1] * 4)
    assert (seconds.tolist(), tolls.tolist()) == ([-1, 60, 0, 180], [0, 0, 0, 1])


def test_without_a_past_nothing_is_known() -> None:
    none = np.empty(0, np.int64)
    assert [each.tolist() for each in estimates(None, [0, 0], [5, 5], [6, 5], [1, 1], [1, 1])] == [[-1, 0], [0, 0]]
    assert [len(each) for each in estimates(WAY, none, none, none, none, none)] == [0, 0]
