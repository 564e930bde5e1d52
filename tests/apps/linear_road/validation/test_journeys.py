"""Journeys: how long a drive takes and what it costs, by the averages of past weeks."""

import numpy as np
import pytest

from australis.apps.linear_road.validation.journeys import journeys
from australis.errors import RunError
from tests.oracles.linear_road import Past

HOME = Past(lav={(1, 1, 0, 5): 60.0, (1, 2, 0, 6): 30.0, (7, 1440, 1, 7): 20.0}, cnt={(1, 2, 0, 6): 51.5})
THIRDS = Past(lav={(1, minute, 0, seg): 45.0 for minute in range(1, 5) for seg in range(3)} | {(1, 5, 0, 3): 60.0})


def answers(past: Past, sinit: int, send: int, dow: int = 1, tod: int = 1, xway: int = 0) -> set[tuple[float, float]]:
    columns = (np.array([each]) for each in (xway, sinit, send, dow, tod))
    return {(round(float(seconds[0]), 6), float(toll[0])) for seconds, toll in journeys(past, *columns)}


def test_each_mile_is_driven_at_the_speed_of_its_minute() -> None:
    assert answers(HOME, 5, 6) == {(60.0, 0.0)}
    assert answers(HOME, 5, 7) == {(180.0, 2 * 1.5**2)}
    assert answers(HOME, 7, 6, dow=7, tod=1440) == answers(HOME, 7, 6, dow=0, tod=1440) == {(180.0, 0.0)}


def test_what_is_not_known_has_no_time() -> None:
    assert answers(HOME, 5, 8) == answers(HOME, 5, 6, xway=1) == {(-1.0, 0.0)}
    assert answers(HOME, 5, 5) == answers(HOME, 5, 5, xway=1) == {(0.0, 0.0)}


def test_a_sum_that_comes_to_a_full_minute_may_fall_on_either_side() -> None:
    """Three miles at 45 mph take four minutes; only minute 5 has a speed for the fourth."""
    assert answers(THIRDS, 0, 4) == {(300.0, 0.0), (-1.0, 0.0)}


def test_a_history_of_another_shape_is_refused() -> None:
    short = Past()
    short.lav = short.lav[:6]
    with pytest.raises(RunError, match=r"shape \(6, 1440, 2, 100\)"):
        answers(short, 5, 6)
