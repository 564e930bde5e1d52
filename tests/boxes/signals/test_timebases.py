"""Timebases: indices and times, exactly."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.boxes.signals.timebases import Timebase, indices, timebase
from australis.errors import SchemaError

RATES = st.fractions(Fraction(1, 20), 10**5, max_denominator=20)
PHASES = st.fractions(-(10**6), 10**6, max_denominator=20)


@given(RATES, PHASES, st.integers(-(10**9), 10**9))
def test_indices_and_times_convert_exactly(rate: Fraction, phase: Fraction, index: int) -> None:
    base = timebase(rate, phase)
    assert base.time(index) == phase + index / rate
    assert base.first(base.time(index)) == base.last(base.time(index)) == index
    assert base.frequency == rate


@given(RATES, PHASES, st.integers(0, 2 * 10**15), st.sampled_from([1, 1000, 10**6]))
def test_many_times_convert_as_one_does(rate: Fraction, phase: Fraction, time: int, unit: int) -> None:
    base = timebase(rate, phase)
    place = time * unit // 10**6
    parts = [np.array([each]) for each in (place, base.rate, base.per, base.phase)]
    exact = Fraction(place, unit)
    assert indices(parts[0], unit, *parts[1:], up=True).tolist() == [base.first(exact)]
    assert indices(parts[0], unit, *parts[1:], up=False).tolist() == [base.last(exact)]


def test_rates_that_are_none_are_refused() -> None:
    for wrong in (0, -5, "fast", "1/0", float("inf")):
        with pytest.raises(SchemaError, match=r"rate"):
            timebase(wrong)
    with pytest.raises(SchemaError, match="too fine"):
        timebase(Fraction(1, 1 << 40))
    assert timebase(0.5) == Timebase(1, 2, 0)
