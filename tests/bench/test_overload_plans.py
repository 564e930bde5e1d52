"""Plans that shedding is compared with: the search finds what the road map finds, and random drops leave their load."""

import numpy as np
import pytest

from australis.bench.overload_plans import best_plan, part_at_input, processor_time, random_at_input
from australis.model.qos import Costs, WorthHistogram
from australis.model.train import Train
from australis.qos.road_map import road_map
from tests.qos.test_control import INPUT, bench, capacity
from tests.qos.test_simulate import valued


@pytest.mark.parametrize("factor", [0.5, 1.0, 1.5, 2.0, 3.0, 5.0])
def test_the_search_finds_no_less_than_the_road_map_but_for_its_grid(factor: float) -> None:
    model = bench()
    inputs = {INPUT: factor * capacity(model)[INPUT]}
    found = best_plan(model, inputs, model.most)
    assert found is not None
    assert found.load <= model.most + 1e-9
    walked = road_map(model, inputs).at(model.most)
    assert found.utility == pytest.approx(walked.utility, abs=0.03)


@pytest.mark.parametrize("factor", [1.5, 3.0])
def test_the_search_goes_by_the_worth_that_is_kept_as_the_road_map_does(factor: float) -> None:
    truth = valued({"archive": WorthHistogram((70, 20, 10), (7.0, 10.0, 9.0))})
    inputs = {INPUT: factor * capacity(truth)[INPUT]}
    found, blind = (best_plan(model, inputs, truth.most) for model in (truth, valued({})))
    assert found is not None
    assert blind is not None
    assert found.utility == pytest.approx(road_map(truth, inputs).at(truth.most).utility, abs=0.03)
    assert found.utility > blind.utility + 0.03


def test_no_plan_fits_if_exact_outputs_are_too_much() -> None:
    model = bench()
    assert best_plan(model, {INPUT: 20 * capacity(model)[INPUT]}, model.most, steps=4) is None


def test_random_drops_at_the_input_leave_the_load_that_is_asked_for() -> None:
    model = bench()
    costs = Costs(model.costs.boxes, sources={INPUT: 1e-6}, batch=model.costs.batch)
    model = type(model)(model.network, model.plan, costs, model.machine)
    inputs = {INPUT: 2 * capacity(model)[INPUT]}
    part = part_at_input(model, inputs, model.most)
    shares = model.shares(inputs)
    left = sum(share.busy * (1 if share.work.kind == "source" else part) for share in shares)
    assert left == pytest.approx(model.most)
    assert part_at_input(model, inputs, 1e9) == 1.0
    assert part_at_input(model, inputs, 0.0) == 0.0


def test_random_drops_keep_their_part_and_the_same_again() -> None:
    plan = random_at_input(INPUT, 0.3)
    assert plan is not None
    (keeps,) = plan.places.values()
    numbers = np.arange(1, 10_001)
    mask = keeps[0].mask(bench().network, _numbered(numbers))
    assert mask.mean() == pytest.approx(0.3, abs=0.02)
    assert (mask == keeps[0].mask(bench().network, _numbered(numbers))).all()
    assert random_at_input(INPUT, 1.0) is None


def _numbered(numbers: np.ndarray) -> Train:
    from australis.testing import train

    return train("x int", x=[0] * len(numbers), number=numbers.tolist())


def test_processor_time_is_what_all_that_is_kept_costs() -> None:
    model = bench()
    whole = {"alerts": 1.0, "dashboard": 1.0, "archive": 1.0}
    assert processor_time(model, {INPUT: 1000.0}, whole) == pytest.approx(1000 * 1e-5)
    assert processor_time(model, {INPUT: 1000.0}, whole | {"archive": 0.0}) == pytest.approx(1000 * 0.5e-5)
