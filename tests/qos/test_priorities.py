"""Priorities: who can wait does so before anything is shed, and for no longer than its outputs bear it."""

from math import inf

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import australis as au
from australis.model.qos import BoxCost, Costs
from australis.qos.control import EXACT, SHED, Controller, Waiting
from australis.qos.load import LoadModel
from australis.qos.priorities import FEEDBACK, GAIN, LEAST, MOST, PATIENCE, STATE, WAYS, Queue, Ranking, Schedule
from australis.qos.road_map import road_map
from australis.qos.simulate import SimulatedBatch, simulate
from tests.qos.test_control import CONCAVE, INPUT, capacity, constant, mean, modelled, run, step, within

REPORTS = au.stream(INPUT, "x int")
SOME = {0: 0, 0.2: 0.95, 1: 1}


def branched(costs: dict[str, float], batch: float = 0.02, headroom: float = 1.0, **outputs) -> LoadModel:
    """A branch an output, of one box."""
    boxes = {name: REPORTS.filter(f"x > {at}", box=f"box_{name}") for at, name in enumerate(costs)}
    made = {name: boxes[name].output(**outputs.get(name, {})) for name in costs}
    known = {f"box_{name}": BoxCost(seconds, {"out": 1}) for name, seconds in costs.items()}
    return modelled(made, Costs(known, batch=batch), headroom)


def two(headroom: float = 1.0, bend: float = 60.0, **archive) -> LoadModel:
    """Alerts that are soon due, and an archive that can wait."""
    return branched(
        {"alerts": 3e-6, "archive": 7e-6},
        headroom=headroom,
        alerts={"latency": {0.5: 1, 2: 0}},
        archive={"latency": {bend: 1, 10 * bend: 0}, "delivered": SOME} | archive,
    )


def behind(batch: SimulatedBatch, name: str) -> float:
    return batch.start - batch.taken[name]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("headroom", [0.8, 1.0])
@pytest.mark.parametrize("believed", [0.5, 1.0, 2.0])
def test_one_waits_for_a_minute_of_overload_and_nothing_is_shed(way, headroom, believed):
    model = two(headroom)
    boxes = {name: BoxCost(box.seconds * believed, box.selectivity) for name, box in model.costs.boxes.items()}
    wrong = LoadModel(model.network, model.plan, Costs(boxes, batch=model.costs.batch), model.machine)
    controller = Controller(wrong, ranking=Ranking(way))
    batches = list(simulate(model, controller, capacity(model), step(1.3, 10, 70), 200))
    assert not any(batch.order.state for batch in batches)
    assert max(batch.delays["alerts"] for batch in within(batches, 20, 200)) <= 0.5 * 1.1
    waited = within(batches, 60, 70)
    assert all(10 < behind(batch, "archive") < 30 for batch in waited)
    # As much as the machine has: what was left over at 1.3 times is worked off at half the load.
    caught_up = max(batch.end for batch in batches if behind(batch, "archive") > 0.01)
    assert 70 + 0.3 * 60 / 0.5 * 0.9 < caught_up < 70 + 0.3 * 60 / 0.5 * 1.2
    assert not any(batch.order.takes for batch in within(batches, caught_up + 1, 200))


def test_lasting_overload_sheds_what_comes_and_not_what_has_waited():
    model = two(bend=10)
    batches = list(simulate(model, Controller(model), capacity(model), step(1.3, 10, 110), 200))
    assert not any(batch.order.state for batch in within(batches, 0, 30))
    steady = within(batches, 60, 110)
    assert all(batch.order.state == SHED and batch.order.kept["alerts"] == 1 for batch in steady)
    assert max(batch.delays["alerts"] for batch in steady) <= 0.5 * 1.01
    assert min(batch.delays["archive"] for batch in steady) > 9
    assert max(batch.delays["archive"] for batch in steady) <= 10 * 1.01
    # Alerts take 3 parts of 13 that come, and 10 are what the machine holds: 7 of 9.1 are left for the archive.
    assert all(batch.order.kept["archive"] == pytest.approx((10 - 3.9) / 9.1, abs=0.01) for batch in steady)
    assert not any(batch.order.state or behind(batch, "archive") for batch in within(batches, 150, 200))


@pytest.mark.parametrize("times", [1.3, 2.0])
def test_branches_that_all_wait_are_shed_before_they_are_late(times):
    graphs = {"latency": {10: 1, 40: 0}, "delivered": {0: 0, 1: 1}}
    model = branched({"b0": 1e-6, "b1": 1e-6}, 0.01, 0.8, b0=graphs, b1=graphs)
    batches = list(simulate(model, Controller(model), capacity(model), step(times, 10, 130), 130))
    assert max(max(batch.delays.values()) for batch in within(batches, 30, 130)) <= 10.01


@st.composite
def models(draw):
    """Branches with graphs of their own, or none; the first can be shed, and no exact one is too much."""
    names = [f"b{number}" for number in range(draw(st.integers(2, 5)))]
    some = st.sampled_from([0.4, 2.0, 10.0])
    bends = [draw(some), *(draw(some | st.none()) for _ in names[1:])]
    shed = [draw(st.sampled_from(CONCAVE)), *(draw(st.sampled_from([*CONCAVE, None])) for _ in names[1:])]
    graphs = {
        name: {"delivered": part, "weight": draw(st.sampled_from([0.5, 1.0, 3.0]))}
        | ({} if bend is None else {"latency": {bend: 1, 4 * bend: 0}})
        for name, bend, part in zip(names, bends, shed, strict=True)
    }
    costs = {name: draw(st.floats(1e-6, 1e-5)) for name in names}
    return branched(costs, draw(st.floats(0.01, 0.04)), draw(st.sampled_from([0.8, 1.0])), **graphs)


def zones(model: LoadModel) -> dict[str, float]:
    queues = {branch.name: Queue({INPUT: 1.0}) for branch in model.branches}
    return Schedule(model, queues, model.longest()).zones


@settings(max_examples=max(settings().max_examples // 3, 2))  # each simulates five minutes
@given(models(), st.sampled_from([1.3, 2.0, 5.0]), st.sampled_from(WAYS), st.sampled_from([0.5, 1.0, 2.0]))
def test_no_branch_is_late_and_what_is_shed_is_what_must_be(model, times, way, believed):
    inputs = {INPUT: capacity(model)[INPUT] * times}
    road = road_map(model, inputs)
    assume(road.plans[-1].load <= model.most * 0.9)
    boxes = {name: BoxCost(box.seconds * believed, box.selectivity) for name, box in model.costs.boxes.items()}
    wrong = LoadModel(model.network, model.plan, Costs(boxes, batch=model.costs.batch), model.machine)
    controller = Controller(wrong, ranking=Ranking(way))
    batches = list(simulate(model, controller, capacity(model), step(times, 10, 130), 330))
    good = zones(model)
    for batch in within(batches, 30, 130):
        assert all(delay <= good[name] * 1.1 for name, delay in batch.delays.items())
        assert all(behind(batch, name) <= zone * 1.1 for name, zone in good.items())  # nobody starves
    whole = road.at(model.most).utility  # of the best plan if nobody waits
    assert mean(within(batches, 100, 130)) >= 0.95 * whole
    assert not any(batch.order.state for batch in within(batches, 250, 330))


@given(models(), st.floats(0.05, 0.85))
def test_below_capacity_nobody_waits(model, times):
    steady = within(run(model, constant(times), 30), 10, 30)
    assert not any(batch.order.state or batch.order.takes for batch in steady)
    assert all(set(batch.taken.values()) == {batch.start} for batch in steady)


def test_exact_branches_that_are_too_much_go_by_their_rank_and_none_starves():
    model = two(bend=5, delivered=None)
    batches = list(simulate(model, Controller(model), capacity(model), step(2, 10, 80), 80))
    steady = within(batches, 40, 80)
    assert all(batch.order.state == EXACT for batch in steady)
    assert max(batch.delays["alerts"] for batch in steady) <= 0.5 * 1.3
    first, last = steady[0], steady[-1]
    assert last.taken["archive"] - first.taken["archive"] > LEAST * 0.5 * (last.start - first.start)


def test_a_burst_of_what_cannot_wait_says_nothing_of_too_much():
    model = two()
    crowd = {name: Queue({INPUT: 300_000.0}, 0.4) for name in ("alerts", "archive")}
    rated = Controller(model, rates={INPUT: 90_000.0})
    order, _ = rated.order(Waiting({INPUT: 300_000.0}, 0.4, crowd))
    assert (order.state, set(order.takes), order.takes["archive"]) == ("", {"archive"}, {INPUT: 0})


def test_one_branch_has_no_one_to_wait_for():
    model = branched({"only": 1e-5}, only={"latency": {0.5: 1, 2: 0}, "delivered": SOME})
    for batch in run(model, step(3, 5, 15), 20):
        assert not batch.order.takes
        assert not batch.order.delays


def schedule(model: LoadModel, **queues: Queue) -> Schedule:
    return Schedule(model, queues, 0.25)


def test_only_what_is_too_old_must_go():
    model = two(bend=10)

    def must(archive: Queue) -> float:
        return schedule(model, alerts=Queue({INPUT: 9.0}, 0.25), archive=archive).must()["archive"]

    assert must(Queue({INPUT: 100.0}, 9.5)) == 0
    assert must(Queue({INPUT: 100.0}, 19.0)) == pytest.approx(0.5)  # as if it had come evenly
    assert must(Queue({INPUT: 100.0}, 0.0)) == 0
    assert must(Queue({INPUT: 100.0}, 1.0, patient=False)) == 1
    assert schedule(model, alerts=Queue({INPUT: 9.0}, 0.0)).must() == {"alerts": 1}  # they bend before the next is done


def test_outputs_without_a_graph_wait_but_not_for_ever():
    model = branched({"plain": 1e-6, "urgent": 1e-6}, urgent={"latency": {0.5: 1, 2: 0}})
    assert zones(model) == {"plain": PATIENCE, "urgent": 0.5}
    hopeless = branched({"one": 1e-6, "two": 1e-6}, batch=0.3, one={"latency": {0.5: 1, 2: 0}})
    assert zones(hopeless)["one"] == PATIENCE  # no batch can reach it


def test_room_goes_by_rank_and_what_is_left_waits():
    model = branched(
        {"a": 1e-6, "b": 1e-6, "c": 1e-6},
        **{name: {"latency": {bend: 1, 2 * bend: 0}} for name, bend in (("a", 5.0), ("b", 3.0), ("c", 9.0))},
    )
    queues = {name: Queue({INPUT: 1e5}, 1.0) for name in "abc"}
    made = schedule(model, **queues)
    assert made.ranked(Ranking()) == ["b", "a", "c"]  # nothing is lost yet: by the time that is left
    taken = made.within(0.15, Ranking())
    assert taken == {"b": 1.0, "a": pytest.approx(0.5), "c": 0.0}
    assert made.limits(taken) == {"a": {INPUT: 50_000}, "c": {INPUT: 0}}
    late = schedule(model, **queues | {"c": Queue({INPUT: 1e5}, 12.0)})
    assert late.ranked(Ranking()) == ["c", "b", "a"]  # it loses utility with every second
    dear = schedule(model, **queues | {"c": Queue({INPUT: 1e5}, 12.0), "a": Queue({INPUT: 1e3}, 6.0)})
    assert dear.ranked(Ranking()) == ["a", "c", "b"]  # by what is lost for what it costs


def test_feedback_adds_up_the_time_out_of_the_good_zone():
    ranking = Ranking(FEEDBACK)
    for _ in range(4):
        ranking = ranking.after({"a": 1.5, "b": 0.5, "c": inf}, 1.0)
    assert ranking.late == {"a": 2.0, "b": 0.0, "c": 4.0}
    assert ranking.after({"a": 0.5, "b": 0.5, "c": 0.5}, 2.0).late == {"a": 1.0, "b": 0.0, "c": 3.0}
    assert ranking.after({"a": 2.0}, 100.0).late == {"a": MOST}
    assert Ranking(STATE).after({"a": 2.0}, 1.0) == Ranking(STATE)
    lost, left, cost = {"a": 0.1, "b": 0.2, "c": 0.0}, dict.fromkeys("abc", 1.0), {"a": 1.0, "b": 1.0, "c": 0.0}
    assert Ranking(STATE).order(lost, left, cost) == ["b", "a", "c"]
    assert GAIN * 2 + 0.1 > 0.2
    assert ranking.order(lost, left, cost) == ["c", "a", "b"]
