"""Watch and Ask in many partitions: answers after every train do not depend on how many there are."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import australis as au
from australis.plan import plan
from australis.testing import Cut, cuts
from tests.boxes.moving.test_watch import CONDITIONS, OBJECTS, SHAPES, TRUCKS, trains, worlds
from tests.oracles.answers import Sums
from tests.oracles.moving import World, told
from tests.planned import Planned, Step

PARTITIONS = st.sampled_from([1, 2, 4])


def follow(net: Any, streams: Any, cut: Cut, partitions: int, world: World, restart: bool = False) -> None:
    """Compare what updates have added up to after every step of a plan with the answers recomputed."""
    planned, sums, seen = Planned(net, plan(net), partitions, exact=False, restart=restart), Sums(), 0
    assert not any(stage.one for stage in planned.plan.stages)
    names = [input.name for input in net.inputs]
    for given_ in cut(*streams):
        planned.step(Step({name: each.tuples for name, each in zip(names, given_, strict=True) if len(each)}))
        for _, row in told(given_[0]):
            world.report(row)
        for _, row in told(given_[1]) if len(given_) > 1 else ():
            world.ask(row)
        sums.add((sign, query, each, type_) for query, sign, each, type_ in planned.found["seen"][seen:])
        seen = len(planned.found["seen"])
        answers = [(query, each) for query, answer in world.answers().items() for each in answer]
        assert sums.rows() == Counter((query, each, world.objects[each]["type"]) for query, each in answers)


@pytest.mark.slow
@settings(max_examples=30)
@given(worlds(), cuts(), PARTITIONS, st.booleans())
def test_answers_do_not_depend_on_partitions(world: Any, cut: Cut, partitions: int, restart: bool) -> None:
    streams = trains(world)
    objects, queries = (au.stream(name, each.schema) for name, each in zip(("o", "q"), streams, strict=True))
    seen = objects.moving.watch(queries, where=dict(TRUCKS), carry="type", revise=True, spread=partitions)
    follow(au.network(seen=seen), streams, cut, partitions, World(CONDITIONS), restart)


@pytest.mark.slow
@settings(max_examples=30)
@given(worlds(), cuts(), PARTITIONS, st.integers(0, 5), st.booleans())
def test_neither_do_timeouts(world: Any, cut: Cut, partitions: int, timeout: int, restart: bool) -> None:
    streams = trains(world)
    objects, queries = (au.stream(name, each.schema) for name, each in zip(("o", "q"), streams, strict=True))
    options: Any = {"time": "time", "timeout": timeout, "carry": "type", "revise": True, "where": dict(TRUCKS)}
    seen = objects.moving.watch(queries, **options, spread=partitions)
    follow(au.network(seen=seen), streams, cut, partitions, World(CONDITIONS, timeout), restart)


ASKED: dict[str, dict[str, Any]] = {
    "square": {"kind": "rectangle", "x": 4, "y": 4, "width": 4, "height": 4},
    "around": {"kind": "circle", "radius": 2.5, "focal": 1},
    "shape": {"kind": "polygon", "shape": SHAPES[2]},
    "near": {"kind": "knn", "x": 4, "y": 4, "k": 2},
    "with": {"kind": "knn", "k": 3, "focal": 0},
}


@pytest.mark.slow
@settings(max_examples=30)
@given(worlds(), cuts(), PARTITIONS, st.none() | st.integers(0, 5), st.booleans())
def test_queries_that_are_part_of_the_network(
    world: Any, cut: Cut, partitions: int, timeout: int | None, restart: bool
) -> None:
    reports = trains(world)[0]
    time = None if timeout is None else "time"
    seen = au.stream("o", OBJECTS).moving.ask(ASKED, time=time, timeout=timeout, carry="type", revise=True)
    everything = World(timeout=timeout)
    everything.queries = {name: {"query": name, **query} for name, query in ASKED.items()}
    follow(au.network(seen=seen), [reports], cut, partitions, everything, restart)
