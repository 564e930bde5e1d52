"""The load curves of the overload benchmark: what they are in times of a capacity."""

from pathlib import Path

import numpy as np
import pytest

from australis.bench.overload_curves import CALM, QUICK, TrialSpan, bursts, following, recorded, sine, step

SPAN = TrialSpan(5, 20, 10)


def test_a_step_is_between_two_calm_times():
    curve = step(3, 1000, SPAN)
    assert [curve.at(second) for second in (0, 4.9, 5, 24.9, 25, 99)] == [500, 500, 3000, 3000, 500, 500]
    assert curve.count(SPAN.whole) == 5 * 500 + 20 * 3000 + 10 * 500 + 1


def test_a_span_knows_when_its_load_is_steady():
    assert (TrialSpan(8, 40, 30).steady, TrialSpan(8, 40, 30).end, TrialSpan(8, 40, 30).whole) == (18, 48, 78)
    assert QUICK.begin < QUICK.steady < QUICK.end < QUICK.whole


def test_a_sine_swings_around_its_mean_and_never_falls_below_zero():
    curve = sine(1000, TrialSpan(5, 40, 10))
    load = [curve.at(second) for second in np.arange(5, 45, 0.25)]
    assert np.mean(load) == pytest.approx(1000, rel=0.01)
    assert (max(load), min(load)) == (pytest.approx(1800, rel=0.01), pytest.approx(200, rel=0.05))


def test_bursts_come_at_even_times_and_end():
    curve = bursts(1000, SPAN)
    assert [curve.at(second) for second in (5, 6.9, 7, 15, 17, 30)] == [2000, 2000, 500, 2000, 500, 500]


def test_a_recorded_load_goes_as_its_counts_up_to_the_peak():
    curve = following(np.arange(1.0, 201.0), 1000, SPAN, peak=2.0)
    rates = [curve.at(second) for second in np.arange(5, 25, 0.5)]
    assert rates == sorted(rates)
    assert max(rates) == pytest.approx(2000)
    assert curve.at(0) == curve.at(26) == CALM * 1000


@pytest.mark.slow
def test_the_traffic_of_linear_road_can_be_a_load(tmp_path: Path):
    curve = recorded(1000, SPAN, tmp_path, traffic=120)
    rates = [curve.at(second) for second in np.arange(5, 25, 0.5)]
    assert max(rates) == pytest.approx(2000)
    assert min(rates) >= 0
