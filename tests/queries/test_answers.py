"""Spatial queries in SQL: what their updates add up to is what all objects give after every train (SOLE 3.3, 3.4)."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import australis as au
from australis.plan import plan
from australis.queries import Inside, Moving, sql, sql_network
from australis.testing import Cut, cuts, rows
from tests.oracles.answers import Query, Sums, among, where
from tests.oracles.moving import World, told
from tests.oracles.tuples import stream_of, streams
from tests.planned import Planned, Step

pytestmark = pytest.mark.slow

CARS = "id int, x double, y double, time int, type string, speed int"
OWNERS = "id int, owner string"
OWNED = [(0, "ann"), (1, "bob"), (1, "ann"), (3, "bob"), (None, "cyd")]
TABLES: dict[str, Any] = {"cars": CARS, "owners": au.static("owners", OWNERS)}
BOX = {"kind": "rectangle", "x": 4, "y": 4, "width": 4, "height": 4}


def fast(world: World) -> World:
    return where([row for row in world.known().values() if row["speed"] is not None and row["speed"] > 1], world)


def owned(rows: list[dict[str, Any]]) -> list[tuple[dict[str, Any], str]]:
    return [(row, owner) for row in rows for each, owner in OWNED if each == row["id"]]


def totals(rows: list[dict[str, Any]]) -> tuple[Any, ...]:
    speeds = [row["speed"] for row in rows if row["speed"] is not None]
    whole = (sum(speeds), sum(speeds) / len(speeds), min(speeds), max(speeds)) if speeds else (None,) * 4
    return (len(rows), len(speeds), *whole, len({row["type"] for row in rows} - {None}))


def by_type(rows: list[dict[str, Any]]) -> dict[Any, list[dict[str, Any]]]:
    return {kind: [row for row in rows if row["type"] == kind] for kind in {row["type"] for row in rows}}


INSIDE, AROUND = "INSIDE (2, 6, 6, 2)", "INSIDE ('M', 1, 5, 3)"
NEAR, NEARBY = "kNN (2, 4, 4)", "kNN ('M', 2, 1)"
ALL = (
    "count(*) AS n, count(speed) AS k, sum(speed) AS s, avg(speed) AS a, min(speed) AS l, max(speed) AS m,"
    " count(DISTINCT type) AS t"
)


def clause(text: str, world: World) -> list[dict[str, Any]]:
    match text:
        case "INSIDE (2, 6, 6, 2)":
            return among(world, **BOX)
        case "INSIDE ('M', 1, 5, 3)":
            return among(world, "rectangle", focal=1, width=5, height=3)
        case "kNN (2, 4, 4)":
            return among(world, "knn", x=4, y=4, k=2)
    return among(world, "knn", focal=1, k=2)


@st.composite
def reports(draw: st.DrawFn) -> Any:
    half = st.integers(0, 16).map(lambda n: n / 2)
    return draw(
        streams(
            most=20,
            id=st.integers(0, 4),
            x=st.none() | half,
            y=half,
            time=st.integers(0, 9),
            type=st.sampled_from([None, "truck", "car"]),
            speed=st.none() | st.integers(0, 3),
        )
    )


def follow(
    text: str, expected: Query, cars: Any, cut: Cut, partitions: int = 1, restart: bool = False, **options: Any
) -> None:
    """Compare what updates have added up to after every step of a plan with what is recomputed."""
    net = sql_network(text, TABLES, **options)
    moving = options.get("moving", Moving())
    run, sums, seen = Planned(net, plan(net), partitions, exact=False, restart=restart), Sums(), 0
    world = World(timeout=moving.timeout)
    if any(input.name == "owners" for input in net.inputs):
        run.step(Step({"owners": [dict(zip(("id", "owner"), each, strict=True)) for each in OWNED]}))
    any_told = False
    for (given_,) in cut(stream_of(CARS, cars)):
        run.step(Step({"cars": given_.tuples}))
        for _, row in told(given_):
            world.report(row)
        any_told |= len(run.found["out"]) > 0
        sums.add(run.found["out"][seen:])
        seen = len(run.found["out"])
        if any_told or "count(*)" not in text:
            assert sums.rows() == Counter(expected(world)), text


FIRST = st.sampled_from([None, "selection", "inside"])
PARTITIONS = st.sampled_from([1, 2, 4])


@pytest.mark.parametrize("text", [INSIDE, AROUND, NEAR, NEARBY])
@settings(max_examples=15)
@given(reports(), cuts(), PARTITIONS, FIRST, st.booleans())
def test_a_clause_with_a_selection(
    text: str, cars: Any, cut: Cut, partitions: int, first: str | None, restart: bool
) -> None:
    def expected(world: World) -> Any:
        return [(row["id"], row["speed"] * 2, row["x"]) for row in clause(text, fast(world))]

    query = f"SELECT id, speed * 2 AS v, x FROM cars WHERE speed > 1 {text}"
    follow(query, expected, cars, cut, partitions, restart, moving=Moving(first=first))


@settings(max_examples=15)
@given(reports(), cuts(), PARTITIONS, st.sampled_from([INSIDE, AROUND]), st.sampled_from([NEAR, NEARBY]))
def test_the_nearest_of_those_inside(cars: Any, cut: Cut, partitions: int, inside: str, near: str) -> None:
    def expected(world: World) -> Any:
        return [(row["id"], row["type"]) for row in clause(near, where(clause(inside, fast(world)), world))]

    follow(f"SELECT id, type FROM cars WHERE speed > 1 {inside} {near}", expected, cars, cut, partitions)


@settings(max_examples=15)
@given(reports(), cuts(), PARTITIONS, st.sampled_from([INSIDE, AROUND, NEAR]), FIRST)
def test_joins_and_conditions_on_joined_tables(
    cars: Any, cut: Cut, partitions: int, text: str, first: str | None
) -> None:
    def expected(world: World) -> Any:
        found = owned(clause(text, fast(world)))
        return [(owner, row["id"], row["type"]) for row, owner in found if owner != "cyd" and row["type"] != owner]

    for joined in ("FROM cars c JOIN owners o USING (id) WHERE", "FROM owners o, cars c WHERE c.id = o.id AND"):
        query = (
            f"SELECT owner, c.id, type {joined} o.owner <> 'cyd' AND coalesce(type, '') <> owner AND speed > 1 {text}"
        )
        follow(query, expected, cars, cut, partitions, moving=Moving(first=first))


@settings(max_examples=15)
@given(reports(), cuts(), PARTITIONS, st.sampled_from([INSIDE, AROUND, NEARBY]), st.booleans())
def test_aggregates_take_out_what_leaves(cars: Any, cut: Cut, partitions: int, text: str, restart: bool) -> None:
    def whole(world: World) -> Any:
        return [totals(clause(text, world))]

    def groups(world: World) -> Any:
        found = by_type(clause(text, fast(world)))
        return [(kind, *totals(rows), len(rows) + 1) for kind, rows in found.items() if len(rows) > 1]

    def owners(world: World) -> Any:
        found = Counter(owner for _, owner in owned(clause(text, world)))
        return [(owner.upper(), count) for owner, count in found.items()]

    follow(f"SELECT {ALL} FROM cars {text}", whole, cars, cut, partitions, restart)
    grouped = f"SELECT type, {ALL}, count(*) + 1 AS more FROM cars WHERE speed > 1 {text} GROUP BY type HAVING n > 1"
    follow(grouped, groups, cars, cut, partitions, restart)
    query = f"SELECT upper(owner) AS who, count(*) AS n FROM cars JOIN owners USING (id) {text} GROUP BY who"
    follow(query, owners, cars, cut, partitions)


@settings(max_examples=15)
@given(reports(), cuts(), PARTITIONS)
def test_what_is_left_of_sql(cars: Any, cut: Cut, partitions: int) -> None:
    def types(world: World) -> Any:
        return {(row["type"],) for row in clause(INSIDE, world)}

    def both(world: World) -> Any:
        return [(row["id"], 1) for row in clause(AROUND, world)] + [(row["id"], 2) for row in clause(NEAR, world)]

    def nested(world: World) -> Any:
        return [(row["id"],) for row in clause(INSIDE, world) if row["type"] == "car"]

    follow(f"SELECT DISTINCT type FROM cars {INSIDE}", types, cars, cut, partitions)
    follow(f"SELECT type FROM cars {INSIDE} GROUP BY type", types, cars, cut, partitions)
    united = f"SELECT id, 1 AS n FROM cars {AROUND} UNION ALL SELECT id, 2 FROM cars {NEAR}"
    follow(united, both, cars, cut, partitions)
    view = f"WITH seen AS (SELECT * FROM cars {INSIDE}) SELECT id FROM seen WHERE type = 'car'"
    follow(view, nested, cars, cut, partitions)


@settings(max_examples=15)
@given(reports(), cuts(), PARTITIONS, st.integers(0, 4), st.sampled_from([INSIDE, AROUND, NEAR, NEARBY]))
def test_silent_objects_are_gone(cars: Any, cut: Cut, partitions: int, timeout: int, text: str) -> None:
    def expected(world: World) -> Any:
        return [(row["id"],) for row in clause(text, fast(world))]

    moving = Moving(time="time", timeout=timeout)
    follow(f"SELECT id FROM cars WHERE speed > 1 {text}", expected, cars, cut, partitions, moving=moving)
    query = f"SELECT id FROM cars WHERE speed > 1 {INSIDE} {NEARBY}"
    inside = lambda world: [(row["id"],) for row in clause(NEARBY, where(clause(INSIDE, fast(world)), world))]  # noqa: E731
    follow(query, inside, cars, cut, partitions, moving=moving)


@pytest.mark.slow
@settings(max_examples=15)
@given(reports(), cuts(), PARTITIONS, st.sampled_from([INSIDE, NEAR]), st.sampled_from([AROUND, NEARBY]), st.booleans())
def test_answers_are_joined_with_answers(
    cars: Any, cut: Cut, partitions: int, one: str, other: str, restart: bool
) -> None:
    def pairs(world: World) -> Any:
        return [
            (a["id"], b["id"], a["speed"])
            for a in clause(one, world)
            for b in clause(other, world)
            if a["type"] is not None and a["type"] == b["type"] and a["id"] != b["id"]
        ]

    def count(world: World) -> Any:
        return [(left, number) for left, number in Counter(left for left, _, _ in pairs(world)).items()]

    joined = (
        f"FROM (SELECT id, type, speed FROM cars {one}) a JOIN (SELECT * FROM cars {other}) b"
        " ON a.type = b.type AND a.id <> b.id"
    )
    follow(f"SELECT a.id, b.id AS other, a.speed {joined}", pairs, cars, cut, partitions, restart)
    follow(f"SELECT a.id, count(*) AS n {joined} GROUP BY a.id", count, cars, cut, partitions, restart)


@settings(max_examples=15)
@given(reports(), cuts(), st.sampled_from([INSIDE, AROUND]))
def test_a_clause_below_a_join_and_on_top_of_it_give_the_same(cars: Any, cut: Cut, text: str) -> None:
    """On top, every report is joined, and those without a partner are seen nowhere (SOLE 7.3)."""
    names = au.static("names", "id int, name string")
    stream = au.stream("cars", CARS)
    query = f"SELECT cars.id, name FROM cars JOIN names USING (id) {text}"
    below = sql(query, {"cars": stream, "names": names})
    asked = Inside(2, 2, 6, 6) if text == INSIDE else Inside(-2.5, -1.5, 2.5, 1.5, focal=1)
    top = stream.join(names, "left.id = right.id").moving.ask(
        {"q": asked.question}, carry="name", revise=True, focal=stream
    )
    run = au.Local(au.network(below=below, top=top.map(sign="sign", id="id", name="name")))
    run.push(names=[{"id": each, "name": f"no. {each}"} for each in range(4)])
    sums = Sums(), Sums()
    for (given_,) in cut(stream_of(CARS, cars)):
        found = run.push(cars=given_.tuples)
        for each, name in zip(sums, ("below", "top"), strict=True):
            each.add(rows(found[name]))
        assert sums[0].rows() == sums[1].rows()
