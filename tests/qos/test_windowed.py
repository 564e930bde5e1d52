"""Boxes with windows: which can do with whole windows or with samples, and plans that would do harm are refused."""

import numpy as np
import pytest

import australis as au
from australis.engine.local import Local
from australis.errors import RunError
from australis.qos.ranks import NumberRank, WindowPart
from australis.qos.shedding import ShedPlan, shed_plan
from australis.qos.windowed import SampleKeep, followed_by_windows, sampled, windowed
from australis.testing import train

REPORTS = au.stream("reports", "t int, seg int, mph int")
WHOLE = REPORTS.aggregate(on="t", size=10, by="seg", n="count(*)", box="whole")
SOME = REPORTS.aggregate(on="t", size=10, by="seg", n="count(*)", shed="sample", box="some")
PART = WindowPart((0,), (0.5,))


def test_windows_are_shed_as_their_author_asks_unless_windows_follow():
    network = au.network(
        whole=WHOLE, some=SOME,
        hours=WHOLE.filter("n > 1", box="busy").aggregate(on="t", size=100, n="sum(n)", box="hours"),
        days=SOME.map(t="t", n="n", box="m").aggregate(on="t", size=1000, n="sum(n)", shed="sample", box="days"),
    )  # fmt: skip
    assert windowed(network) == {"hours"}
    assert sampled(network) == {"days"}
    assert followed_by_windows(network) == {"whole", "some"}
    assert windowed(au.network(whole=WHOLE, some=SOME)) == {"whole"}
    assert sampled(au.network(whole=WHOLE, some=SOME)) == {"some"}


def test_a_plan_for_windows_before_windows_is_refused():
    network = au.network(hours=WHOLE.aggregate(on="t", size=100, n="sum(n)", box="hours"))
    with pytest.raises(RunError, match=r"whole windows cannot be left out of box `whole`: its results go on to other"):
        Local(network).leave_out(shed_plan(network, {}, {"whole": PART}))
    Local(network).leave_out(shed_plan(network, {}, {"hours": PART}))
    network = au.network(hours=SOME.aggregate(on="t", size=100, n="sum(n)", box="hours"))
    with pytest.raises(RunError, match=r"samples cannot be taken for box `some`: its results go on to other windows"):
        Local(network).leave_out(shed_plan(network, {}, samples={"some": 0.5}))


def test_a_plan_for_windows_that_are_not_there_is_refused():
    network = au.network(whole=WHOLE, some=SOME, fast=REPORTS.filter("mph > 3", box="fast"))
    shed_plan(network, {}, {"whole": PART}, samples={"some": 0.5}).check(network)
    with pytest.raises(RunError, match="samples cannot be taken for box `whole`: it does not ask for `shed: sample`"):
        shed_plan(network, {}, samples={"whole": 0.5}).check(network)
    with pytest.raises(RunError, match="whole windows cannot be left out of box `some`: it has no such windows"):
        ShedPlan(results={"some": PART}).check(network)
    with pytest.raises(RunError, match="this one has no box none"):
        ShedPlan({("box", "none"): (SampleKeep("none", 0.5),)}).check(network)


def test_a_sample_is_by_chance_and_the_same_again():
    network = au.network(some=SOME)
    tuples = train("t int, seg int, mph int", t=np.arange(3000) // 100, seg=np.zeros(3000), mph=np.arange(3000))
    weights = SampleKeep("some", 0.3).weights(network, tuples)
    assert (weights == SampleKeep("some", 0.3).weights(network, tuples)).all()
    assert ((weights > 0) == (NumberRank().of(tuples) < 0.3)).all()
    assert np.abs(weights).sum() == 3000
    assert (weights != SampleKeep("some", 0.3, NumberRank(7)).weights(network, tuples)).any()
    wanted = SampleKeep("some", 0.3).weights(network, tuples, np.arange(3000) % 2 == 0)
    assert (wanted[::2] != 0).all()
    assert ((wanted > 0) == (weights > 0)).all()
