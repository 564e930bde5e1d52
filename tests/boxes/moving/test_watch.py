"""Watch (SOLE 5): answers as all is recomputed after every train, whatever the cuts, restarts and partitions."""

from typing import Any

import pyarrow as pa
import shapely
from hypothesis import given
from hypothesis import strategies as st

import australis as au
from australis.boxes.moving import Watch
from australis.expressions import expr
from australis.model.train import Train
from australis.netfile import netfile
from australis.plan import plan
from australis.testing import Cut, cuts, train
from tests.oracles.moving import Ledger, World, steps, told
from tests.oracles.running import partitioned, run
from tests.oracles.tuples import Stream, Tuple, interleaved, stream_of, streams
from tests.planned import Step, check

OBJECTS = "id int, x double, y double, time int, type string"
QUERIES = (
    "query int, action string, kind string, x double, y double, width double, height double, radius double, k int,"
    " shape string, focal bigint, condition string"
)
STILL = QUERIES.replace(" k int,", "").replace(" focal bigint,", "")
TRUCKS = (("trucks", expr("type = 'truck'")),)
BOX = Watch(conditions=TRUCKS)
PLACES = st.integers(0, 16).map(lambda n: n / 2)
SIZES = st.integers(0, 8).map(lambda n: n / 2)
SHAPES = [
    "POLYGON ((0 0, 6 0, 6 6, 0 6, 0 0), (2 2, 4 2, 4 4, 2 4, 2 2))",
    "MULTIPOLYGON (((0 0, 2 0, 0 2, 0 0)), ((3 3, 7 4, 5 7, 3 3)))",
    "POLYGON ((1 0, 8 3, 2 4, 7 8, 0 7, 1 0))",
]


@st.composite
def asked(draw: st.DrawFn, kinds: tuple[str, ...], focal: bool) -> dict[str, Any]:
    kind = draw(st.sampled_from(kinds))
    bound = focal and draw(st.booleans())
    whole = {name.split()[0]: None for name in QUERIES.split(",")}
    place = {"x": draw(PLACES), "y": draw(PLACES)}
    if kind == "polygon" or bound:
        place = {"x": draw(st.sampled_from([None, 0.0, -1.5])), "y": draw(st.sampled_from([None, 0.0, 1.0]))}
    sizes: dict[str, Any] = {
        "rectangle": {"width": draw(SIZES), "height": draw(SIZES)},
        "circle": {"radius": draw(SIZES)},
        "knn": {"k": draw(st.integers(1, 4))},
        "polygon": {"shape": draw(st.sampled_from(SHAPES))},
    }[kind]
    return {
        **whole, "query": draw(st.integers(0, 3)),
        "action": draw(st.sampled_from([None, "register", "update", "remove"])),
        "kind": kind, **place, **sizes, "focal": draw(st.integers(0, 4)) if bound else None,
        "condition": draw(st.sampled_from([None, None, "trucks"])),
    }  # fmt: skip


@st.composite
def worlds(
    draw: st.DrawFn, kinds: tuple[str, ...] = ("rectangle", "circle", "polygon", "knn"), focal: bool = True
) -> Any:
    reports = draw(
        streams(
            most=24,
            id=st.none() | st.integers(0, 5),
            x=st.none() | PLACES,
            y=PLACES,
            time=st.integers(0, 9),
            type=st.sampled_from([None, "truck", "car"]),
        )
    )
    wanted = [Tuple(draw(asked(kinds, focal)), draw(st.integers(0, 12)), 0) for _ in range(draw(st.integers(0, 10)))]
    ordered: list[Tuple] = []
    for each in reports:  # a time that now and then falls
        late = each.row["time"] if each.row["time"] == 0 else 3
        ordered.append(each._replace(row={**each.row, "time": max(0, len(ordered) - late)}))
    return draw(interleaved(ordered, wanted))


def trains(world: tuple[Stream, Stream], queries: str = QUERIES) -> list[Train]:
    return [stream_of(OBJECTS, world[0]), stream_of(queries, world[1])]


def follow(box: Watch, streams: list[Train], cut: Cut, world: World, restart: bool = False) -> None:
    """Compare the answers after every step with those recomputed."""
    ledger = Ledger()
    for (reports, wanted), (updates, refused, impossible), _ in steps(box, streams, cut, restart):
        assert not len(refused)
        count = len(world.refused)
        for _, row in told(reports):
            world.report(row)
        for _, row in told(wanted):
            world.ask(row)
        assert str([row for _, row in told(impossible)]) == str(world.refused[count:])  # where nan is nan
        ledger.add(updates)
        assert ledger.answers(world.queries) == world.answers()


CONDITIONS = {"trucks": lambda row: row["type"] == "truck"}


@given(worlds(), cuts(), st.booleans())
def test_answers_are_what_all_objects_give_after_every_train(world, cut: Cut, restart: bool) -> None:
    follow(BOX, trains(world), cut, World(CONDITIONS), restart)


@given(worlds(), cuts(), st.booleans(), st.integers(0, 5))
def test_silent_objects_are_in_no_answer(world, cut: Cut, restart: bool, timeout: int) -> None:
    box = Watch(conditions=TRUCKS, time="time", timeout=timeout)
    follow(box, trains(world), cut, World(CONDITIONS, timeout), restart)


@given(worlds(kinds=("circle", "knn", "rectangle")), cuts())
def test_distances_on_the_earth(world, cut: Cut) -> None:
    # Half degrees, a prime number of metres apart from nothing, so that no distance is a radius by chance.
    for each in world[1]:
        each.row["radius"] = None if each.row["radius"] is None else each.row["radius"] * 111_317 + 17
    follow(Watch(conditions=TRUCKS, earth=True), trains(world), cut, World(CONDITIONS, earth=True))


@given(worlds(kinds=("rectangle", "circle", "polygon"), focal=False), st.integers(1, 3))
def test_still_regions_are_answered_in_any_partition_of_the_objects(world, partitions: int) -> None:
    streams = trains(world, STILL)
    assert BOX.keys(*(stream.schema for stream in streams)) == (("id",), ("*",))
    (whole, *_), (parts, *_) = run(BOX, streams), partitioned(BOX, streams, partitions)
    assert sorted(each[:2] for each in parts) == sorted(each[:2] for each in whole)


@given(worlds(), cuts(), st.booleans())
def test_with_a_cache_answers_are_complete_once_all_objects_have_reported(world, cut: Cut, restart: bool) -> None:
    """Here objects stand still but for their last reports, which is as fast as nothing."""
    box = Watch(conditions=TRUCKS, cache=1, speed=0, time="time", timeout=1000)
    reports, wanted = trains(world)
    told_of, ledger, everything = World(CONDITIONS), Ledger(), World(CONDITIONS)
    number = 100
    again: list[Tuple] = []
    for _, row in told(reports):
        told_of.report(row)
    for row in told_of.objects.values():
        number += 1
        again.append(Tuple(row, 0, number))
    more = trains((world[0] + again, world[1]))
    for (reported, wanted), (updates, *_), tables in steps(box, more, cut, restart):
        for _, row in told(reported):
            everything.report(row)
        for _, row in told(wanted):
            everything.ask(row)
        ledger.add(updates)
        kept = set(tables["objects"]["id"][tables["objects"].slots].tolist())
        assert kept == significant(everything, kept), "only significant objects are kept"
    assert ledger.answers(everything.queries) == everything.answers()


@st.composite
def journeys(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Reports of six objects that go along a line, at most 2 in a unit of time, and are silent for at most 4."""
    reports, silent = [], dict.fromkeys(range(6), 9)
    places = {each: draw(st.integers(0, 24)) for each in silent}
    speeds = {each: draw(st.sampled_from([-2, -1, 0, 1, 2])) for each in silent}
    for time in range(draw(st.integers(4, 10))):
        for each in draw(st.permutations(list(silent))):
            places[each] += speeds[each] if time else 0
            if silent[each] >= 4 or draw(st.integers(0, 3)) == 0:
                reports.append({"id": each, "x": places[each], "y": 1, "time": time, "type": "truck"})
                silent[each] = 0
            silent[each] += 1
    return reports


@given(journeys(), st.lists(asked(("rectangle", "circle", "polygon", "knn"), True), min_size=2, max_size=6), cuts(20))
def test_a_cache_of_one_leaves_nothing_uncertain(reports: list[dict[str, Any]], wanted: Any, cut: Cut) -> None:
    """But for the start: queries are there first, and a query that follows an object knows the others as they report.

    So answers are compared once all objects have reported since all of them were known.
    """
    for number, row in enumerate(wanted):
        row |= {"action": None, "query": number}
    first = [Tuple(row, 0, 1) for row in wanted]
    streams = trains(([Tuple(row, 0, number) for number, row in enumerate(reports, 2)], first))
    box = Watch(conditions=TRUCKS, cache=1, speed=2, time="time", timeout=4)
    world, ledger = World(CONDITIONS, timeout=4), Ledger()
    since: set[int] = set()
    for (reported, asking), (updates, *_), _ in steps(box, streams, cut):
        known = len(world.objects) == 6
        for _, row in told(reported):
            world.report(row)
            since |= {row["id"]} if known else set()
        for _, row in told(asking):
            world.ask(row)
        ledger.add(updates)
        if len(since) == 6:
            assert ledger.answers(world.queries) == world.answers()


def significant(world: World, kept: set[int]) -> set[int]:
    """Those among the kept objects that some query has an interest in, when nothing moves."""
    known = World(CONDITIONS)
    known.objects = {key: row for key, row in world.objects.items() if key in kept}
    known.queries = world.queries
    led = {query["focal"] for query in world.queries.values()} & kept
    around = [key for query in world.queries.values() for key in bounds(known, query)]
    return led | set(around)


def bounds(world: World, query: dict[str, Any]) -> set[int]:
    """The answer of a query, that of a polygon by its bounds, around which a cache lies."""
    if query["kind"] != "polygon":
        return set(world.answer(query))
    west, south, east, north = shapely.from_wkt(query["shape"]).bounds
    box = {
        **query, "kind": "rectangle", "x": (query["x"] or 0) + (west + east) / 2,
        "y": (query["y"] or 0) + (south + north) / 2, "width": east - west, "height": north - south,
    }  # fmt: skip
    return set(world.answer(box))


def test_the_focal_object_of_a_query_that_goes_is_not_kept_for_it() -> None:
    wanted = train(
        "query int, action string, kind string, radius int, focal int",
        query=[1, 1],
        action=[None, "remove"],
        kind=["circle", None],
        radius=[3, None],
        focal=[1, None],
        number=[1, 3],
    )
    reports = train(OBJECTS, id=[1], x=[1], y=[1], time=[0], type=["car"], number=[2])
    box = Watch(cache=0)
    assert [len(tables["objects"]) for _, _, tables in steps(box, [reports, wanted], Cut((2,)))] == [1, 0]


def test_updates_carry_columns_of_the_object() -> None:
    box = Watch(carry=("type", "x"))
    reports = train(OBJECTS, id=[1, 1], x=[1, 9], y=[1, 1], time=[0, 1], type=["car", None], number=[2, 3])
    wanted = train(
        "query string, kind string, x int, y int, radius int", query=["q"], kind=["circle"], x=[0], y=[0], radius=[5]
    )
    ports = run(box, [reports, wanted], Cut((2,)))
    assert [row for row, _, _ in ports[0]] == [("q", 1, 1, "car", 1), ("q", -1, 1, None, 9)]


@given(worlds(kinds=("rectangle", "circle", "polygon"), focal=False), st.integers(1, 3), st.booleans())
def test_a_plan_gives_what_one_process_does(world, partitions: int, still: bool) -> None:
    """Still regions in many partitions, with what is refused told once; others in one."""
    reports, wanted = trains(world, STILL if still else QUERIES)
    seen = au.stream("objects", OBJECTS).moving.watch(au.stream("queries", wanted.schema), where=dict(TRUCKS))
    net = au.network(seen=seen, refused=seen.port("refused"), types=seen.moving.distinct("id"))
    made = plan(net)
    assert (made.stages[0].one, made.stages[0].entries[0].by) == ((False, ("id",)) if still else (True, ()))
    spoilt = {name: [*column, *column] for name, column in wanted.tuples.to_pydict().items()}
    spoilt["kind"] = [*wanted["kind"].to_pylist(), *["square"] * len(wanted)]
    halves = [reports.slice(0, len(reports) // 2), reports.slice(len(reports) // 2, len(reports))]
    steps = [Step({"objects": halves[0].tuples}), Step({"queries": pa.RecordBatch.from_pydict(spoilt, wanted.schema)})]
    check(net, made, [*steps, Step({"objects": halves[1].tuples}), Step(end=True)], partitions)


def test_a_network_file_keeps_all_of_a_watch() -> None:
    objects, queries = au.stream("objects", OBJECTS), au.stream("queries", f"{QUERIES}, accuracy double")
    made = objects.moving.watch(
        queries, time="time", timeout=4, where={"truck": "type = 'truck'"}, carry="type", cache=1.0, speed=2.0,
        budget=100, shed="queries",
    )  # fmt: skip
    net = au.network(out=made)
    assert netfile.loads(netfile.dumps(net)) == net
