"""When answers are told: after every report, after a span of the objects' time, or after every train."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import australis as au
from australis.boxes.moving import Watch
from australis.netfile import netfile
from australis.plan import plan
from australis.testing import Cut, cuts, train
from tests.boxes.moving.test_spread import ASKED, PARTITIONS
from tests.boxes.moving.test_watch import CONDITIONS, OBJECTS, QUERIES, TRUCKS, trains, worlds
from tests.oracles.moving import World, spans, stepwise
from tests.oracles.running import SINGLY, WHOLE, run
from tests.planned import Planned, Step


def numbered(out: Any) -> list[tuple[int, Any]]:
    return sorted((number, row[:3]) for row, _, number in out)


@pytest.mark.slow
@settings(max_examples=60)
@given(worlds(), cuts(), st.none() | st.integers(0, 5), st.booleans())
def test_every_report_is_told_of_however_the_stream_is_cut(
    world: Any, cut: Cut, timeout: int | None, restart: bool
) -> None:
    box = Watch(conditions=TRUCKS, time=None if timeout is None else "time", timeout=timeout)
    streams = trains(world)
    out = run(box, streams, cut, restart=restart)[0]
    assert numbered(out) == stepwise(World(CONDITIONS, timeout), streams)


@pytest.mark.slow
@settings(max_examples=30)
@given(worlds(), cuts(), st.booleans())
def test_what_updates_carry_does_not_depend_on_the_cut_either(world: Any, cut: Cut, revise: bool) -> None:
    box, streams = Watch(conditions=TRUCKS, carry=("type", "time"), revise=revise), trains(world)

    def whole(out: Any) -> list[tuple[int, str]]:
        return sorted((number, str(row)) for row, _, number in out)

    assert whole(run(box, streams, cut)[0]) == whole(run(box, streams, SINGLY)[0])


KINDS = st.sampled_from([("knn",), ("rectangle", "circle", "polygon")])
"""A query that turns from one of these into another leaves by one box and enters by another."""


@pytest.mark.slow
@settings(max_examples=25)
@given(
    KINDS.flatmap(lambda kinds: worlds(kinds=kinds)), cuts(), PARTITIONS, st.none() | st.integers(0, 5),
    st.sampled_from([None, "report", 3]),
)  # fmt: skip
def test_partitions_tell_the_same(
    world: Any, cut: Cut, partitions: int, timeout: int | None, every: int | str | None
) -> None:
    streams = trains(world)
    objects, queries = (au.stream(name, each.schema) for name, each in zip(("o", "q"), streams, strict=True))
    options: Any = {"time": "time", "timeout": timeout, "every": every, "where": dict(TRUCKS)}
    alone = au.network(seen=objects.moving.watch(queries, **options))
    several = au.network(seen=objects.moving.watch(queries, **options, spread=partitions))
    expected = Counter(found(alone, ("o", "q"), streams, cut, 1))
    assert Counter(found(several, ("o", "q"), streams, cut, partitions)) == expected


@pytest.mark.slow
@settings(max_examples=25)
@given(worlds(), cuts(), PARTITIONS, st.sampled_from([None, 3]))
def test_so_do_queries_that_are_part_of_the_network(world: Any, cut: Cut, partitions: int, every: int | None) -> None:
    reports = trains(world)[0]
    net = au.network(seen=au.stream("o", OBJECTS).moving.ask(ASKED, time="time", every=every))
    everything = World()
    everything.queries = {name: {"query": name, **query} for name, query in ASKED.items()}
    expected = Counter(row for _, row in stepwise(everything, [reports], spans([reports], every) if every else None))
    assert Counter(found(net, ("o",), [reports], cut, partitions)) == expected


def found(net: Any, names: Any, streams: Any, cut: Cut, partitions: int) -> list[Any]:
    planned = Planned(net, plan(net), partitions, exact=False)
    for given_ in cut(*streams):
        planned.step(Step({name: each.tuples for name, each in zip(names, given_, strict=True) if len(each)}))
    planned.step(Step(end=True))
    return [row[:3] for row in planned.found["seen"]]


def test_who_comes_and_goes_within_a_train_is_told_of() -> None:
    wanted = train(
        "query int, kind string, x int, y int, radius int", query=[1], kind=["circle"], x=[0], y=[0], radius=[5]
    )
    reports = train(OBJECTS, id=[7, 7, 7], x=[1, 2, 9], y=[0, 0, 0], time=[0, 1, 2], type=[None] * 3, first=2)
    told = [(number, row) for row, _, number in run(Watch(), [reports, wanted], WHOLE)[0]]
    assert told == [(2, (1, 1, 7)), (4, (1, -1, 7))]
    assert run(Watch(every="train"), [reports, wanted], WHOLE)[0] == []


def test_network_files_keep_the_choice() -> None:
    objects, queries = au.stream("o", OBJECTS), au.stream("q", QUERIES)
    for every in ("report", "train", 5):
        seen = objects.moving.watch(queries, time="time", timeout=4, every=every, ahead=99, spread=2)
        asked = objects.moving.ask(ASKED, time="time", timeout=4, every=every, ahead=99)
        net = au.network(seen=seen, asked=asked)
        assert netfile.loads(netfile.dumps(net)) == net
