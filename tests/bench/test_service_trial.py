"""Trials of quality of service: what loads are, and when the branch that can wait waits, is shed and catches up."""

import pytest

import australis as au
from australis.bench.service_trial import CATCHES_UP, SHEDS, WAITS, LoadStep, Series, ServicePhase, ServiceTrial
from australis.qos.control import NOTHING_SHED, SHED, BatchOrder
from australis.qos.simulate import SimulatedBatch

LOAD = LoadStep(1, 3, 8)
REPORTS = au.stream("reports", "mph int")
NETWORK = au.network(urgent=REPORTS.output(weight=3), patient=REPORTS.output(delivered={0: 0, 1: 1}))


def batch(start: float, behind: float = 0.0, kept: float = 1.0) -> SimulatedBatch:
    """A batch of a second, in which the urgent branch takes all, and the patient one all but the last seconds."""
    takes = {"patient": {"reports": 1}} if behind else {}
    order = BatchOrder(1, {"urgent": 1, "patient": kept}, state=SHED if kept < 1 else NOTHING_SHED, takes=takes)
    taken = {"urgent": start, "patient": start - behind}
    return SimulatedBatch(start, start + 1, order, 1, 1, 3 + kept, {"urgent": 1, "patient": 1 + behind}, taken)


def trial(*steered: SimulatedBatch) -> ServiceTrial:
    return ServiceTrial(LOAD, 1.5, steered, (batch(0),))


def test_a_step_of_load_adds_up():
    assert [LOAD(now) for now in (0, 1, 2, 3, 4)] == [0, 1, 3, 5, 6]
    assert [LOAD.rate(now) for now in (0, 1, 2.9, 3)] == [1, 2, 2, 1]


def test_a_branch_waits_until_it_is_furthest_behind_and_then_catches_up():
    waited = trial(batch(0), batch(2, behind=1), batch(3, behind=2), batch(4, behind=1), batch(5), batch(6))
    assert waited.phases == [ServicePhase(WAITS, 2, 4), ServicePhase(CATCHES_UP, 4, 6)]
    assert waited.behind("patient") == Series((1, 3, 4, 5, 6, 7), (0, 2, 4, 1, 0, 0))
    assert set(waited.behind("urgent").values) == {0}


def test_where_the_load_lasts_it_is_shed_in_between():
    shed = trial(batch(0), batch(2, 1), batch(3, 2, kept=0.5), batch(4, 2, kept=0.8), batch(5, 1), batch(6))
    assert shed.phases == [ServicePhase(WAITS, 2, 3), ServicePhase(SHEDS, 3, 5), ServicePhase(CATCHES_UP, 5, 7)]
    assert shed.kept("patient").values == (1, 1, 0.5, 0.8, 1, 1)
    assert shed.utility(NETWORK).values == pytest.approx((1, 1, 0.875, 0.95, 1, 1))
    assert shed.utility(NETWORK, steered=False) == Series((1,), (1,))


def test_a_trial_may_end_before_the_branch_has_caught_up():
    assert trial(batch(2, 1), batch(3, 2)).phases == [ServicePhase(WAITS, 2, 4), ServicePhase(CATCHES_UP, 4, 4)]


def test_where_all_fits_nobody_waits():
    assert trial(batch(0), batch(1)).phases == []
    assert trial(batch(0), batch(1)).delay("patient") == Series((1, 2), (1, 1))
