"""Watch and Ask in many partitions: answers after every train do not depend on how many there are."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import australis as au
from australis.arrow.schema import schema
from australis.boxes.moving import Ask, Lead, Question, Tally, Watch
from australis.errors import AustralisError
from australis.expressions import aggregation, expr
from australis.model.box import Moment
from australis.netfile import netfile
from australis.plan import plan
from australis.testing import Cut, cuts, rows, train
from tests.boxes.moving.test_watch import CONDITIONS, OBJECTS, QUERIES, SHAPES, TRUCKS, trains, worlds
from tests.oracles.answers import Sums
from tests.oracles.moving import World, told
from tests.oracles.running import run
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


@given(worlds(), cuts(), st.booleans())
def test_what_leaves_is_what_entered_if_it_is_revised(world: Any, cut: Cut, restart: bool) -> None:
    """A law of one box, in one partition: every row that leaves is there."""
    box, sums = Watch(conditions=TRUCKS, carry=("type", "time"), revise=True), Sums()
    for (query, sign, *row), _, _ in run(box, trains(world), cut, restart=restart)[0]:
        sums.add([(sign, query, *row)])


def test_each_partition_keeps_its_part_of_a_budget() -> None:
    """One query that wants all objects, and needs a quarter of them."""
    wanted = "query int, kind string, x double, y double, radius double, k int, accuracy double"
    objects, queries = au.stream("o", "id int, x double, y double"), au.stream("q", wanted)
    seen = objects.moving.watch(queries, cache=0, budget=8, spread=2, box="watch")
    net = au.network(seen=seen, refused=seen.port("refused"), accuracy=seen.port("accuracy"))
    planned, sums = Planned(net, plan(net), 2, exact=False), Sums()
    query = {"query": 1, "kind": "circle", "x": 0.0, "y": 0.0, "radius": 9.0, "k": None, "accuracy": 0.25}
    planned.step(Step({"q": [query]}))
    planned.step(Step({"o": [{"id": each, "x": 1.0, "y": 0.0} for each in range(20)]}))
    held = [tables["watch"] for tables in planned.tables[planned.plan.stage_of("watch").index]]
    kept = [len(each["objects"]) for each in held]
    known = [len(each["objects"]) + len(each["shadows"]) for each in held]
    assert sum(known) == 20
    assert all(known)
    assert all(count <= max(4, whole / 4 + 1) for count, whole in zip(kept, known, strict=True))
    sums.add((sign, each) for _, sign, each in planned.found["seen"])
    assert len(sums.rows()) == sum(kept) < 20
    assert [round(part * whole) for (_, part), whole in zip(planned.found["accuracy"], known, strict=True)] == kept


@pytest.mark.parametrize("partitions", [2, 4])
def test_partitions_tell_again_of_candidates_that_stay(partitions: int) -> None:
    """A centre moves, or k changes, and no partition has other candidates than before."""
    queries = "query int, kind string, x double, y double, k int, focal int"
    net = au.network(
        seen=au.stream("o", OBJECTS).moving.watch(au.stream("q", queries), carry="type", spread=partitions)
    )
    place = {"y": 0.0, "time": 0, "type": None}
    for focal in range(3, 9):
        world = [{"id": 1, "x": 0.0, **place}, {"id": 2, "x": 10.0, **place}, {"id": focal, "x": 1.0, **place}]
        asked = {"query": 7, "kind": "knn", "x": None, "y": None, "k": 2, "focal": focal}
        planned, sums = Planned(net, plan(net), partitions, exact=False), Sums()
        for given_, nearest in (
            ({"q": [asked], "o": world}, {1, focal}), ({"o": [{**world[2], "x": 9.0}]}, {2, focal}),
            ({"q": [{**asked, "k": 3}]}, {1, 2, focal}), ({"q": [{**asked, "k": 1}]}, {focal}),
        ):  # fmt: skip
            seen = len(planned.found["seen"])
            planned.step(Step(given_))
            sums.add((sign, each) for _, sign, each, _ in planned.found["seen"][seen:])
            assert sums.rows() == Counter((each,) for each in nearest)


def test_lead_tells_of_a_focal_object_when_it_reports_and_when_a_query_comes() -> None:
    reports = train("id int, x double, y double, time int", id=[1, 2, 1], x=[1, 2, 3], y=[0] * 3, time=[5, 6, 4],
                    number=[1, 2, 4])  # fmt: skip
    wanted = train("query int, kind string, radius double, focal int", query=[7], kind=["circle"], radius=[1],
                   focal=[2], number=[3])  # fmt: skip
    found = run(Lead(time="time", timeout=9), [reports, wanted], Cut((2, 3)))[0]
    assert [row for row, _, _ in found] == [(None, None, None, 6), (2, 2.0, 0.0, 6), (None, None, None, 4)]
    assert run(Lead(forgets=True), [reports, wanted], Cut((2, 3)))[0] == []


UPDATES = "query int, sign int, type string, tons double"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("first(tons)", r"`first\(tons\)` cannot take values out again.*count, sum, avg, min, max"),
        ("sum(type)", r"`type` is a string, not a number"),
        ("sum(mass)", r"`mass`"),
    ],
)
def test_a_tally_says_what_it_cannot_do(function: str, message: str) -> None:
    with pytest.raises(AustralisError, match=message):
        Tally(("type",), (("x", aggregation(function)),)).outputs(schema(UPDATES))
    with pytest.raises(AustralisError, match="two columns would be named `type`"):
        Tally(("type",), (("type", aggregation("count(*)")),)).outputs(schema(UPDATES))
    with pytest.raises(AustralisError, match=r"`typ` is no column.*type"):
        Tally(("typ",), (("n", aggregation("count(*)")),)).outputs(schema(UPDATES))


def test_aggregates_may_have_any_names() -> None:
    functions = tuple((name, aggregation("count(*)")) for name in ("count", "told", "n 0", "values 0"))
    updates = train(UPDATES, query=[1] * 2, sign=[1, 1], type=["tug"] * 2, tons=[1.0, 2.0])
    assert [row for row, _, _ in run(Tally(("type",), functions), [updates])[0]] == [("tug", 1, 2, 2, 2, 2)]


def test_the_rest_of_rounding_goes_with_the_last_tuple_of_a_sum() -> None:
    box = Tally((), (("s", aggregation("sum(tons)")), ("n", aggregation("count(*)"))))
    updates = train(UPDATES, query=[1] * 4, sign=[1, 1, -1, -1], type=["tug"] * 4, tons=[1e16, 1.0, 1e16, 1.0])
    found = run(box, [updates], Cut((1, 2, 3)))[0]
    assert [row for row, _, _ in found][-1] == (1, None, 0)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"kind": "circle", "x": 1, "y": 1}, "the query q does not read"),
        ({"kind": "circle", "x": 1, "y": 1, "radios": 2}, "the query q has no `radios`.*`radius`"),
        ({"x": 1, "y": 1}, "the query q has no `kind`"),
        ({"kind": "knn", "x": 1, "y": 1, "k": 1.5}, "`k` is a whole number, not 1.5"),
    ],
)
def test_a_query_that_does_not_read_is_refused_when_the_network_is_built(query: Any, message: str) -> None:
    with pytest.raises(AustralisError, match=message):
        au.stream("o", OBJECTS).moving.ask({"q": query})


def test_conditions_and_network_files() -> None:
    objects, queries = au.stream("o", OBJECTS), au.stream("q", QUERIES)
    with pytest.raises(AustralisError, match=r"the condition `time \+ 3` gives a int"):
        objects.moving.ask({"q": ASKED["near"]}, only="time + 3")
    with pytest.raises(AustralisError, match="two columns `away`"):
        au.stream("o", f"{OBJECTS}, away int").moving.watch(queries, carry="away", spread=2)
    with pytest.raises(AustralisError, match="`spread` is a number of partitions"):
        objects.moving.watch(queries, spread=0)
    asked = objects.moving.ask(
        ASKED, only="type = 'truck'", carry=["type", "time"], revise=True, time="time", timeout=4
    )
    tally = asked.moving.tally(by="type", n="count(*)", first="max(time) - min(time)")
    spread = objects.moving.watch(queries, where=dict(TRUCKS), time="time", timeout=4, spread=2)
    with pytest.raises(AustralisError, match="the query q does not read"):
        objects.moving.ask({"q": {**ASKED["near"], "condition": "cars"}}, where=dict(TRUCKS))
    own = objects.moving.ask({"q": {**ASKED["near"], "condition": TRUCKS[0][0]}}, where=dict(TRUCKS))
    net = au.network(tally=tally, seen=asked, spread=spread, own=own)
    assert netfile.loads(netfile.dumps(net)) == net


def test_reports_of_others_go_no_further() -> None:
    box = Ask((("q", Question("circle", 0.0, 0.0, radius=5.0)),), only=expr("type = 'truck'"))
    reports = train(OBJECTS, id=[1, 2, 1], x=[1, 1, 1], y=[1, 1, 1], time=[0, 0, 1], type=["truck", "car", "car"])
    tables = box.tables(reports.schema)
    first, _ = box.step(tables, (reports.slice(0, 2),), Moment(2))
    assert rows(first) == [("q", 1, 1)]
    assert tables["objects"]["id"][tables["objects"].slots].tolist() == [1]
    second, _ = box.step(tables, (reports.slice(2, 3),), Moment(3))
    assert rows(second) == [("q", -1, 1)]
    assert len(tables["objects"]) == 0
