"""How many queries a budget is enough for. The experiments themselves run in the tests of `moving_paper`."""

import numpy as np
import pytest

from australis.bench.moving_shed import _supported_queries

COUNTS, LEAST = np.array([10.0, 20.0, 40.0]), np.array([100.0, 200.0, 300.0])


@pytest.mark.parametrize(
    ("budget", "queries"), [(0, 10), (100, 10), (150, 15), (200, 20), (250, 30), (299, 39.8), (300, 40), (1e9, 40)]
)
def test_between_two_measurements_it_is_in_proportion(budget: float, queries: float) -> None:
    assert _supported_queries(COUNTS, LEAST, budget) == pytest.approx(queries)
