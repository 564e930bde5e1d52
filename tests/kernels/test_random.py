"""Chance: draws that are what they say."""

import numpy as np
import pytest

from australis.kernels.random import below, chance, normal, poisson, uniform

MANY = 4000


def test_a_seed_and_a_stream_say_all() -> None:
    def draws(seed: int, stream: int) -> list[float]:
        state = chance(seed, stream)
        return [uniform(state) for _ in range(5)]

    assert draws(1, 0) == draws(1, 0)
    assert len({*draws(1, 0), *draws(1, 1), *draws(2, 0)}) == 15


def test_draws_have_their_distributions() -> None:
    state = chance(1, 0)
    numbers = np.array([uniform(state) for _ in range(MANY)])
    assert 0 <= numbers.min() < 0.01
    assert 0.99 < numbers.max() < 1
    assert numbers.mean() == pytest.approx(0.5, abs=0.03)
    assert {below(state, 3) for _ in range(100)} == {0, 1, 2}
    bells = np.array([normal(state, 50.0, 20.0) for _ in range(MANY)])
    assert (bells.mean(), bells.std()) == pytest.approx((50, 20), abs=1.5)
    counts = np.array([poisson(state, 14.0) for _ in range(MANY)])
    assert (counts.mean(), counts.var()) == pytest.approx((14, 14), rel=0.1)
