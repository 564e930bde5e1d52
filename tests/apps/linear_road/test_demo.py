"""The demonstration."""

from pathlib import Path

import numpy as np
import pytest

from australis.apps.linear_road.demo import LEAD, SECONDS
from australis.apps.linear_road.feed import feed
from australis.apps.linear_road.record import ALERT, TOLL
from australis.apps.linear_road.simulation.simulate import simulate
from australis.apps.linear_road.validation.due import due


@pytest.mark.slow
def test_it_shows_a_stretch_with_tolls_and_accidents(tmp_path: Path) -> None:
    simulate(tmp_path / "road", seconds=LEAD + SECONDS)
    asked = [each.since(LEAD) for each in due(feed(tmp_path / "road"))]
    tolls = np.concatenate([each.choices[0][1] for each in asked if each.type == TOLL])
    alerts = sum(len(each.key) for each in asked if each.type == ALERT)
    assert np.mean(tolls > 0) > 0.1
    assert alerts > 1000
