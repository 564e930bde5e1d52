"""Averages are rounded down exactly, also where a double is just below the whole number that it stands for."""

import math
from fractions import Fraction

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from australis.apps.linear_road.validation.statistics import averages

MINUTES = st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 100)), min_size=1, max_size=5)


@st.composite
def whole(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Cars and sums of sixtieths of up to five minutes, whose average is a whole number, or next to one."""
    minutes = []
    for _ in range(draw(st.integers(1, 2))):
        cars, lav = draw(st.integers(1, 3000)), draw(st.integers(1, 99))
        more = draw(st.integers(0, 60 * cars))
        minutes += [(cars, 60 * cars * lav + more), (cars, 60 * cars * lav - more)]
    minutes += draw(st.sampled_from([[], [(1, 60)], [(7, 420)]]))
    at = draw(st.integers(0, len(minutes) - 1))
    cars, speeds = minutes[at]
    minutes[at] = cars, max(0, speeds + draw(st.integers(-1, 1)))
    return draw(st.permutations(minutes))


@given(whole() | MINUTES.map(lambda minutes: [(cars, 60 * cars * mph) for cars, mph in minutes]))
@example([(3, 40 * 180 + 1), (3, 40 * 180 + 2)])
@example([(2999, 1), (2998, 2997), (2997, 2996), (2993, 2992), (2989, 2988)])
def test_lav_agrees_with_fractions(minutes: list[tuple[int, int]]) -> None:
    cars, speeds = np.zeros((7, 1), np.int64), np.zeros((7, 1), np.int64)
    for minute, (count, total) in enumerate(minutes, start=1):
        cars[minute], speeds[minute] = count, total
    means = [Fraction(total, 60 * count) for count, total in minutes if count]
    expected = math.floor(sum(means) / len(means)) if means else -1
    assert averages(cars, speeds)[6, 0] == expected
