"""The time of day at which a stream is sent."""

import numpy as np
import pytest

from australis.apps.linear_road.clock import Clock, moment
from australis.errors import RunError
from tests.apps.linear_road.test_drive import NOW


def test_a_moment_says_its_zone() -> None:
    assert moment("2026-01-31T12:00:00Z", "--since") == moment("2026-01-31T13:00+01:00", "--since")
    for text in ("noon", "2026-01-31T12:00:00", "-5", "nan"):
        with pytest.raises(RunError, match=f"--since {text}: give seconds since 1970, or a date and a time with its"):
            moment(text, "--since")
    assert np.isclose(moment("1700000000.25", "--since"), NOW + 0.25)


@pytest.mark.parametrize(("moment_", "waited"), [(100.0, []), (99.0, []), (100.25, [0.25]), (101.2, [0.5, 0.5, 0.2])])
def test_it_waits_in_short_steps(moment_: float, waited: list[float]) -> None:
    slept: list[float] = []
    Clock(lambda: 100.0 + sum(slept), slept.append).wait(moment_, lambda: False)
    assert slept == pytest.approx(waited)


def test_it_waits_no_longer_once_stopped() -> None:
    slept: list[float] = []
    Clock(lambda: 0.0, slept.append).wait(1e9, lambda: len(slept) == 3)
    assert slept == [0.5] * 3
