"""Watch and Ask in many partitions: answers after every train do not depend on how many there are."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import australis as au
from australis.plan import plan
from australis.testing import Cut, cuts
from tests.moving.test_watch import CONDITIONS, TRUCKS, trains, worlds
from tests.oracles.moving import Ledger, World, told
from tests.planned import Planned, Step

PARTITIONS = st.sampled_from([1, 2, 4])


def follow(net: Any, streams: Any, cut: Cut, partitions: int, world: World) -> None:
    """Compare the answers after every step of a plan with those recomputed."""
    run, ledger, seen = Planned(net, plan(net), partitions, exact=False), Ledger(), 0
    names = [input.name for input in net.inputs]
    for given_ in cut(*streams):
        run.step(Step({name: each.tuples for name, each in zip(names, given_, strict=True) if len(each)}))
        for _, row in told(given_[0]):
            world.report(row)
        for _, row in told(given_[1]) if len(given_) > 1 else ():
            world.ask(row)
        for query, sign, identifier, *_ in run.found["seen"][seen:]:
            ledger.put(query, sign, identifier)
        seen = len(run.found["seen"])
        assert ledger.answers(world.queries) == world.answers()


@given(worlds(), cuts(), PARTITIONS)
def test_answers_do_not_depend_on_partitions(world: Any, cut: Cut, partitions: int) -> None:
    streams = trains(world)
    objects, queries = (au.stream(name, each.schema) for name, each in zip(("o", "q"), streams, strict=True))
    net = au.network(seen=objects.watch(queries, where=dict(TRUCKS), spread=partitions))
    assert not any(stage.one for stage in plan(net).stages)
    follow(net, streams, cut, partitions, World(CONDITIONS))


@given(worlds(), cuts(), PARTITIONS, st.integers(0, 5))
def test_neither_do_timeouts(world: Any, cut: Cut, partitions: int, timeout: int) -> None:
    streams = trains(world)
    objects, queries = (au.stream(name, each.schema) for name, each in zip(("o", "q"), streams, strict=True))
    seen = objects.watch(queries, where=dict(TRUCKS), time="time", timeout=timeout, spread=partitions)
    follow(au.network(seen=seen), streams, cut, partitions, World(CONDITIONS, timeout))
