"""The simulator: tuples are neither lost nor made, and time goes on."""

from itertools import pairwise

import pytest

from australis.qos.control import Controller
from australis.qos.simulate import simulate
from tests.qos.test_control import INPUT, bench, capacity, constant, step


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
