"""The simulator: tuples are neither lost nor made, and time goes on."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import australis as au
from australis.model.qos import BoxCost, Costs, WorthHistogram
from australis.qos.control import Controller
from australis.qos.load import LoadModel
from australis.qos.simulate import simulate
from tests.qos.test_control import INPUT, bench, capacity, constant, modelled, step


def test_all_that_comes_is_taken_once():
    model = bench()
    usual = capacity(model)
    batches = list(simulate(model, Controller(model), usual, step(3.0, 2, 4), 10))
    assert all(batch.start < batch.end for batch in batches)
    assert all(before.end <= after.start for before, after in pairwise(batches))
    last = batches[-1].start
    assert sum(batch.amount for batch in batches) == pytest.approx(0.5 * (last - 2) + 3 * 2, rel=0.02)


def test_a_batch_takes_what_its_tuples_cost():
    model = bench()
    batch = list(simulate(model, Controller(model), capacity(model), constant(0.5), 5))[-1]
    tuples = capacity(model)[INPUT] * batch.amount
    assert batch.end - batch.start == pytest.approx(model.costs.batch + tuples * 1e-5)
    assert batch.delay >= batch.end - batch.start


def valued(worth: dict[str, WorthHistogram]) -> LoadModel:
    """A dashboard, and an archive that values its tuples, as dear as each other."""
    first = au.stream(INPUT, "x int").filter("x > 0", box="first")
    outputs = {
        "dashboard": first.filter("x > 2", box="d").output(latency={2: 1, 10: 0}, delivered={0: 0, 0.5: 0.8, 1: 1}),
        "archive": first.filter("x > 3", box="r").output(
            latency={10: 1, 60: 0}, delivered={0: 0, 0.5: 0.7, 1: 1}, value={"x": {0: 0, 9: 1}}
        ),
    }
    costs = {"first": BoxCost(1e-6, {"out": 1}), "d": BoxCost(5e-6, {"out": 1}), "r": BoxCost(5e-6, {"out": 1})}
    return modelled(outputs, Costs(costs, batch=0.05, worth=worth), 1.0)


SPREADS = st.lists(st.integers(0, 100), min_size=32, max_size=32)


@given(SPREADS, st.sampled_from([1.3, 2.0, 4.0]))
@example([100, *[0] * 30, 5], 2.0)
def test_knowing_what_tuples_are_worth_is_never_worth_less(counts, times):
    worths = tuple(count * (place + 0.5) / 32 for place, count in enumerate(counts))
    truth = valued({"archive": WorthHistogram(tuple(counts), worths)})
    steady = []
    for believed in (truth, valued({})):
        batches = list(simulate(truth, Controller(believed), capacity(truth), step(times, 5, 40), 40))
        steady.append([batch for batch in batches if batch.start >= 20])
    knowing, blind = (sum(b.utility * b.amount for b in each) / sum(b.amount for b in each) for each in steady)
    assert knowing >= blind - 0.005
    if counts == [100, *[0] * 30, 5]:  # few tuples that are worth much more than all others
        assert knowing > blind + 0.05
