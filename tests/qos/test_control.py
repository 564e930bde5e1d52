"""The controller on simulated machines: random networks, load that rises, falls and bursts, and wrong costs."""

import random
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import australis as au
from australis.model.qos import BoxCost, Costs
from australis.plan import plan
from australis.qos.control import EXACT, SHED, Controller, Waiting
from australis.qos.load import LONGEST, LoadModel, Machine
from australis.qos.road_map import road_map
from australis.qos.simulate import Curve, Noise, SimulatedBatch, no_noise, simulate
from australis.qos.utility import total

CONCAVE = [{0: 0, 1: 1}, {0: 0, 0.5: 0.9, 1: 1}, {0: 0, 0.2: 0.95, 1: 1}, {0.3: 0, 0.6: 0.8, 1: 1}]
INPUT = "reports"


def modelled(outputs, costs: Costs, headroom: float) -> LoadModel:
    network = au.network(**outputs)
    return LoadModel(network, plan(network, {INPUT: ()}), costs, Machine(headroom=headroom))


def bench(headroom: float = 1.0, batch: float = 0.05) -> LoadModel:
    """The network of the benchmark: alerts that are exact and urgent, a dashboard, and an archive that can wait."""
    first = au.stream(INPUT, "x int").filter("x > 0", box="first")
    outputs = {
        "alerts": first.filter("x > 1", box="a").output(latency={0.5: 1, 2: 0}),
        "dashboard": first.filter("x > 2", box="d").output(latency={2: 1, 10: 0}, delivered={0: 0, 0.5: 0.9, 1: 1}),
        "archive": first.filter("x > 3", box="r").output(latency={10: 1, 60: 0}, delivered={0: 0, 0.2: 0.95, 1: 1}),
    }
    parts = {"first": 0.05, "a": 0.1, "d": 0.35, "r": 0.5}
    return modelled(outputs, Costs({n: BoxCost(p * 1e-5, {"out": 1}) for n, p in parts.items()}, batch=batch), headroom)


@st.composite
def models(draw):
    """A shared first box, then branches with graphs of their own; what is exact takes less than the machine has."""
    first = au.stream(INPUT, "x int").filter("x > 0", box="first")
    outputs, costs = {}, {"first": BoxCost(draw(st.floats(1e-8, 1e-6)), {"out": draw(st.floats(0.5, 1))})}
    for number in range(draw(st.integers(1, 5))):
        name = f"b{number}"
        bend = draw(st.sampled_from([0.3, 1.0, 5.0]))
        outputs[f"o{number}"] = first.filter(f"x > {number}", box=name).output(
            latency={bend: 1, bend * 4: 0},
            delivered=draw(st.sampled_from([*CONCAVE, None])) if number else draw(st.sampled_from(CONCAVE)),
            weight=draw(st.sampled_from([0.5, 1.0, 3.0])),
        )
        costs[name] = BoxCost(draw(st.floats(1e-6, 1e-5)), {"out": draw(st.floats(0.1, 1))})
    batch = draw(st.floats(0.01, 0.05))
    return modelled(outputs, Costs(costs, batch=batch), draw(st.sampled_from([0.8, 1.0])))


def capacity(model: LoadModel) -> dict[str, float]:
    return {INPUT: model.most / model.load({INPUT: 1.0})}


def constant(times: float) -> Curve:
    return lambda now: times * now


def step(times: float, start: float, end: float, before: float = 0.5) -> Curve:
    """So many times the usual rates from one moment to another, and half of them before and after."""
    return lambda now: before * now + (times - before) * (min(max(now, start), end) - start)


def noise(seed: int, spread: float = 0.2) -> Noise:
    """Batches of the same load that differ by a fifth, as they do on machines that others use as well."""
    numbers = random.Random(seed)
    return lambda: numbers.lognormvariate(0, spread)


def run(
    model: LoadModel,
    curve: Curve,
    seconds: float,
    believed: float = 1.0,
    noise: Noise = no_noise,
    floors: Mapping[str, float] | None = None,
) -> list[SimulatedBatch]:
    """A run whose controller believes in costs that are wrong by a factor."""
    boxes = {name: replace(box, seconds=box.seconds * believed) for name, box in model.costs.boxes.items()}
    wrong = replace(model, costs=replace(model.costs, boxes=boxes))
    return list(simulate(model, Controller(wrong), capacity(model), curve, seconds, noise, floors or {}))


def within(batches: list[SimulatedBatch], start: float, end: float) -> list[SimulatedBatch]:
    return [batch for batch in batches if start <= batch.start < end]


def mean(batches: list[SimulatedBatch]) -> float:
    return sum(batch.utility * batch.amount for batch in batches) / sum(batch.amount for batch in batches)


@given(models(), st.sampled_from([1.5, 2.0, 3.0, 5.0]), st.sampled_from([0.5, 1.0, 2.0]))
def test_under_overload_it_gets_what_the_best_plan_gets(model, times, believed):
    inputs = {INPUT: capacity(model)[INPUT] * times}
    road = road_map(model, inputs)
    assume(road.plans[-1].load <= model.most * 0.95)
    batches = run(model, step(times, 10, 40), 70, believed)
    # A graph that bends after many seconds is left late: the batches until then take all that comes.
    steady = within(batches, 20 if model.reach() <= LONGEST else 28, 40)
    assert all(batch.order.state == SHED for batch in steady)
    assert max(batch.delay for batch in steady) <= model.reach() * (1.1 if believed == 1 else 1.2)
    assert mean(steady) >= 0.95 * road.at(model.most).utility
    assert not any(batch.order.state for batch in within(batches, 60, 70))  # 20 s after the load fell


@pytest.mark.slow
@settings(max_examples=20)
@given(models(), st.sampled_from([1.5, 2.0, 3.0]), st.sampled_from([0.3, 0.8, 1.0]), st.sampled_from([0.5, 1.0, 2.0]))
def test_where_a_box_leaves_out_less_than_it_is_told_to_others_bear_no_more_than_they_must(
    model, times, floor, believed
):
    floors = {"o0": floor}
    inputs = {INPUT: capacity(model)[INPUT] * times}
    best = road_map(model, inputs, floors)
    assume(best.plans[-1].load <= model.most * 0.9)
    batches = run(model, step(times, 10, 60), 90, believed, floors=floors)
    steady, plan = within(batches, 35, 60), best.at(model.most)
    assert mean(steady) >= 0.95 * plan.utility
    assert sum(batch.delay for batch in steady) / len(steady) <= model.reach() * 1.1
    for name, part in plan.kept.items():
        kept = [batch.order.kept[name] for batch in steady]
        assert min(kept) >= part - 0.05
    assert not any(batch.order.state for batch in within(batches, 80, 90))  # nothing has wound up


def test_where_boxes_keep_more_than_the_machine_holds_others_are_not_shed_in_vain():
    first = au.stream(INPUT, "x int").filter("x > 0", box="first")
    outputs = {name: first.filter("x > 1", box=name).output(delivered={0: 0, 1: 1}) for name in ("held", "other")}
    costs = {"first": BoxCost(1e-7, {"out": 1}), "held": BoxCost(1e-5, {"out": 1}), "other": BoxCost(1e-6)}
    model = modelled(outputs, Costs(costs, batch=0.01), 1.0)
    batches = run(model, step(3, 10, 60), 60, floors={"held": 0.9})
    late = within(batches, 40, 60)
    assert all(batch.order.state == EXACT for batch in late)
    assert all(batch.order.kept["other"] == 1 for batch in late)
    assert all(batch.order.asked["held"] < 0.5 for batch in late)  # it may have become possible


@given(models(), st.floats(0.05, 0.9), st.sampled_from([0.5, 1.0, 2.0]))
def test_below_capacity_nothing_is_shed(model, times, believed):
    batches = run(model, constant(times), 30, believed)
    steady = within(batches, 10, 30)  # wrong costs have corrected themselves by then
    assert not any(batch.order.state for batch in steady)
    assert max(batch.delay for batch in steady) <= model.reach() * 1.01


@given(models(), st.sampled_from([1.5, 3.0, 5.0]))
def test_exact_outputs_are_never_touched(model, times):
    exact = [output.name for output in model.network.outputs if output.qos.exact]
    for batch in run(model, step(times, 5, 15), 20):
        assert all(batch.order.kept[name] == 1 for name in exact)


@pytest.mark.parametrize("batch", [0.05, 0.1, 0.15, 0.18])
@pytest.mark.parametrize("seed", range(5))
def test_batches_that_differ_are_not_taken_for_overload(batch, seed):
    batches = run(bench(batch=batch), step(0.9, 10, 50), 60, noise=noise(seed))
    assert not any(batch.order.state for batch in within(batches, 10, 60))


@pytest.mark.parametrize("batch", [0.05, 0.1, 0.15])
@pytest.mark.parametrize("times", [1.5, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_under_overload_batches_that_differ_cost_little(batch, times, seed):
    model = bench(batch=batch)
    batches = run(model, step(times, 10, 50), 80, noise=noise(seed))
    best = road_map(model, {INPUT: capacity(model)[INPUT] * times}).at(model.most).utility
    assert mean(within(batches, 20, 50)) >= 0.9 * best
    assert not any(batch.order.state for batch in within(batches, 70, 80))


def test_a_burst_that_is_worked_off_in_time_sheds_nothing():
    model = bench(batch=0.01)
    batches = run(model, step(1.5, 10, 10.1), 20)
    assert not any(batch.order.state for batch in batches)
    assert max(batch.delay for batch in batches) <= model.reach()


def test_when_exact_outputs_alone_are_too_much_nothing_is_dropped_and_it_is_said():
    first = au.stream(INPUT, "x int").filter("x > 0", box="first")
    outputs = {"exact": first.output(), "more": first.filter("x > 1", box="more").output(delivered={0: 0, 1: 1})}
    model = modelled(outputs, Costs({"first": BoxCost(1e-5, {"out": 1}), "more": BoxCost(1e-6)}, batch=0.01), 1.0)
    batches = run(model, step(3, 10, 30), 30)
    assert all(batch.order.state == EXACT and not batch.order.drops for batch in within(batches, 20, 30))


def test_exact_outputs_that_are_too_much_are_known_before_any_rate_is():
    first = au.stream(INPUT, "x int").filter("x > 0", box="first")
    more = first.filter("x > 1", box="more").output(delivered={0: 0, 1: 1})
    outputs = {"exact": first.output(latency={4: 1, 5: 0}), "more": more}
    model = modelled(outputs, Costs({"first": BoxCost(1e-5, {"out": 1}), "more": BoxCost(1e-6)}, batch=0.01), 1.0)
    for tuples, oldest, state in ((600_000, 4.0, EXACT), (390_000, 4.0, SHED), (190_000, 2.5, SHED)):
        order, known = Controller(model).order(Waiting({INPUT: tuples}, oldest))
        assert known.rates is None
        assert order.state == state
    behind = Controller(model, rates={INPUT: 70_000.0})  # as fast as it works, beside what batches take
    for tuples, oldest, state in ((1_200_000, 8.0, EXACT), (600_000, 8.0, SHED), (450_000, 3.0, SHED)):
        assert behind.order(Waiting({INPUT: tuples}, oldest))[0].state == state


def test_a_lightly_loaded_run_gets_short_batches_and_a_busy_one_long_ones():
    model = bench()
    idle, busy = (run(model, constant(times), 20)[-1].order.interval for times in (0.05, 0.9))
    assert idle < 0.06
    assert 0.15 < busy <= model.longest()


def test_a_graph_that_no_batch_can_reach_does_not_shed_all():
    model = bench(batch=0.3)  # alerts bend at 0.5 s
    assert model.reach() == 2
    batches = run(model, constant(0.8), 30)
    assert not any(batch.order.state for batch in within(batches, 10, 30))


@pytest.mark.parametrize("times", [0.3, 0.7])
def test_time_that_batches_take_by_themselves_is_not_blamed_on_work(times):
    # On a busy machine most batches take longer than the shortest ones, by which the controller knows them: alerts,
    # which bend at 0.5 s, cannot be in time then, whatever is shed.
    model = bench(batch=0.35)
    wrong = replace(model, costs=replace(model.costs, batch=0.2))
    batches = list(simulate(model, Controller(wrong), capacity(model), constant(times), 60))
    steady = within(batches, 30, 60)
    assert not any(batch.order.state for batch in steady)
    assert max(batch.delay for batch in steady) <= model.reach()


@pytest.mark.parametrize(("batch", "load"), [(0.24, 0.3), (0.24, 0.5), (0.22, 0.7), (0.95, 0.5), (0.95, 1.2)])
def test_where_there_is_hardly_room_for_work_outputs_are_late_rather_than_shed(batch, load):
    model = bench(batch=batch)  # alerts bend at 0.5 s, the dashboard at 2 s
    usual = {INPUT: load / model.load({INPUT: 1.0})}
    road = road_map(model, usual)
    best = 0.0
    for interval in (0.1 * 1.05**step for step in range(62)):
        kept = road.at(max(1 - batch / interval, 0.0)).kept
        best = max(best, total(model.network.outputs, dict.fromkeys(kept, 2 * interval), kept))
    batches = list(simulate(model, Controller(model), usual, constant(1.0), 60))
    assert mean(within(batches, 30, 60)) >= 0.75 * best
    assert all(batch.order.kept["alerts"] == 1 for batch in batches)


def test_the_road_map_is_drawn_again_only_when_the_mix_of_inputs_changes():
    model = bench()
    crowd = Waiting({INPUT: 1e6}, 1.0)
    _, first = Controller(model).order(crowd)
    _, second = first.order(Waiting({INPUT: 3e6}, 1.0))
    assert first.road is not None
    assert second.road is first.road


def test_orders_do_not_flap_at_a_constant_load():
    steady = within(run(bench(), constant(2.0), 60), 20, 60)
    kept = [batch.order.kept["dashboard"] for batch in steady]
    assert max(abs(after - before) for before, after in pairwise(kept)) < 0.02
    assert mean(steady) == pytest.approx(2.893, abs=0.005)
