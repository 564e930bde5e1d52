"""Places and times that cannot be, that lie far away, or on the other side of the antimeridian."""

import math
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import australis as au
from australis.arrow.schema import schema
from australis.boxes.moving import Ask, Question, Watch
from australis.boxes.moving.differences import members
from australis.boxes.moving.grid import cells_of, grid, rows_of
from australis.boxes.moving.regions import RECTANGLE, Points, Regions, apart
from australis.errors import AustralisError
from australis.testing import Cut, cuts, train
from tests.boxes.moving.test_watch import CONDITIONS, OBJECTS, QUERIES, TRUCKS, asked, follow, trains, worlds
from tests.oracles.moving import World
from tests.oracles.running import run
from tests.oracles.tuples import Tuple, interleaved, stream_of

FAR = st.sampled_from(
    [0.0, -0.0, 1e-320, 1e-200, 1.5, 1e155, 1e200, -1e200, 1e300, sys.float_info.max, -sys.float_info.max]
)
NONE = st.sampled_from([math.nan, math.inf, -math.inf])
LONGITUDES = st.sampled_from([-180.0, -179.75, -179.0, 0.0, 178.5, 179.5, 180.0, 181.0, 350.0, math.nan])
LATITUDES = st.sampled_from([-90.0, -89.5, -0.5, 0.0, 1.0, 89.75, 90.0, 91.0, math.inf])


def reports_of(draw: st.DrawFn, xs: st.SearchStrategy[Any], ys: st.SearchStrategy[Any]) -> list[Tuple]:
    made = []
    for number in range(draw(st.integers(0, 16))):
        place = {"x": draw(st.none() | xs), "y": draw(ys)}
        made.append(Tuple({"id": draw(st.integers(0, 5)), **place, "time": number, "type": "truck"}, 0, 0))
    return made


@st.composite
def far_worlds(draw: st.DrawFn) -> Any:
    wanted = []
    for _ in range(draw(st.integers(1, 4))):
        row = draw(asked(("rectangle", "circle", "knn"), True))
        place = {"x": draw(FAR), "y": draw(FAR)} if row["focal"] is None else {}
        sizes = {name: abs(draw(FAR)) for name in ("width", "height", "radius") if row[name] is not None}
        wanted.append(Tuple({**row, **place, **sizes, "condition": None}, 0, 0))
    return draw(interleaved(reports_of(draw, FAR | NONE, FAR | NONE), wanted))


@given(far_worlds(), cuts(), st.booleans())
def test_no_coordinate_is_too_large_or_too_small(world: Any, cut: Cut, restart: bool) -> None:
    follow(Watch(conditions=TRUCKS), trains(world), cut, World(CONDITIONS), restart)


@given(worlds(), st.sampled_from([-900, -700, -300, 400, 660, 900]))
def test_answers_do_not_depend_on_the_unit_of_length(world: Any, power: int) -> None:
    """Powers of two leave all digits as they are."""
    scaled = []
    for stream in world:
        rows = []
        for each in stream:
            row = dict(each.row)
            for name in ("x", "y", "width", "height", "radius"):
                if row.get(name) is not None:
                    row[name] = math.ldexp(row[name], power)
            if row.get("kind") == "polygon":
                row |= {"kind": "circle", "radius": row["radius"] or 0.0}
            rows.append(each._replace(row=row))
        scaled.append(rows)
    plain = [[each._replace(row=_unscaled(each.row, power)) for each in rows] for rows in scaled]
    assert (
        run(Watch(conditions=TRUCKS), trains(tuple(scaled)))[0]
        == run(Watch(conditions=TRUCKS), trains(tuple(plain)))[0]
    )


def _unscaled(row: dict[str, Any], power: int) -> dict[str, Any]:
    lengths = ("x", "y", "width", "height", "radius")
    return {
        name: math.ldexp(value, -power) if name in lengths and value is not None else value
        for name, value in row.items()
    }


@st.composite
def earthly_worlds(draw: st.DrawFn) -> Any:
    wanted = []
    for _ in range(draw(st.integers(1, 4))):
        row = draw(asked(("rectangle", "circle", "knn"), True))
        if row["focal"] is None:
            row |= {
                "x": draw(LONGITUDES.filter(lambda x: abs(x) <= 180)),
                "y": draw(LATITUDES.filter(lambda y: abs(y) <= 90)),
            }
        sizes = {
            "width": draw(st.sampled_from([0.0, 1.5, 3.0, 400.0])),
            "height": 2.5,
            "radius": draw(st.sampled_from([17, 222_017, 2e7])),
        }
        row |= {name: value for name, value in sizes.items() if row[name] is not None}
        wanted.append(Tuple({**row, "condition": None}, 0, 0))
    return draw(interleaved(reports_of(draw, LONGITUDES, LATITUDES), wanted))


@given(earthly_worlds(), cuts())
def test_the_antimeridian_is_no_edge_and_no_place_is_beyond_the_poles(world: Any, cut: Cut) -> None:
    follow(Watch(conditions=TRUCKS, earth=True), trains(world), cut, World(CONDITIONS, earth=True))


def test_a_polygon_may_reach_over_the_antimeridian_and_be_of_any_size() -> None:
    shapes = {"query": ["q"], "kind": ["polygon"], "shape": ["POLYGON ((179 -1, 181 -1, 181 1, 179 1, 179 -1))"]}
    wanted = train("query string, kind string, shape string", **shapes)
    reports = train("id int, x double, y double", id=[1, 2, 3], x=[179.5, -179.5, -178.5], y=[0, 0, 0], first=2)
    assert [row for row, _, _ in run(Watch(earth=True), [reports, wanted])[0]] == [("q", 1, 1), ("q", 1, 2)]
    for scale in (1e-100, 1e200):
        corners = ", ".join(f"{x * scale} {y * scale}" for x, y in ((0, 0), (6, 0), (0, 6), (0, 0)))
        wanted = train(
            "query string, kind string, shape string", query=["q"], kind=["polygon"], shape=[f"POLYGON (({corners}))"]
        )
        places = {"x": [1 * scale, 5 * scale, 3 * scale], "y": [1 * scale, 5 * scale, 3 * scale]}
        reports = train("id int, x double, y double", id=[1, 2, 3], **places, first=2)
        assert [row for row, _, _ in run(Watch(), [reports, wanted])[0]] == [("q", 1, 1), ("q", 1, 3)]


@pytest.mark.parametrize(("x", "y", "fits"), [(180, 90, True), (181, 0, False), (350, 0, False), (0, 90.5, False)])
def test_queries_on_the_earth_lie_there(x: float, y: float, fits: bool) -> None:
    wanted = train(
        "query int, kind string, x double, y double, radius double",
        query=[1],
        kind=["circle"],
        x=[x],
        y=[y],
        radius=[5],
    )
    reports = train("id int, x double, y double", id=[1], x=[0], y=[0], first=2)
    assert len(run(Watch(earth=True), [reports, wanted])[1]) == (not fits)
    if not fits:
        with pytest.raises(AustralisError, match="the query q does not read"):
            au.stream("o", OBJECTS).moving.ask({"q": {"kind": "knn", "k": 1, "x": x, "y": y}}, earth=True)


def test_ask_refuses_what_cannot_be_whether_it_is_looked_at_or_not() -> None:
    box = Ask(
        (("q", Question("circle", 0.0, 0.0, radius=9.0)),),
        only=TRUCKS[0][1],
    )
    reports = train(
        OBJECTS,
        id=[1, 1, 2, 3],
        x=[1, math.nan, 1, 2],
        y=[1, 1, math.inf, 2],
        time=[0] * 4,
        type=["truck", "truck", "car", "truck"],
    )
    out, refused = run(box, [reports])
    assert [row for row, _, _ in out] == [("q", 1, 1), ("q", 1, 3)]
    assert [number for _, _, number in refused] == [2, 3]


@pytest.mark.parametrize("north", [89.75, 90.0, 90.75, 91.25, -90.5])
def test_nothing_on_the_earth_is_further_off_than_its_other_side(north: float) -> None:
    for west in range(-180, 181, 7):
        assert 0 <= apart(float(west), -north, -180.0, north, True) <= 1
        assert 0 <= apart(-180.0, -90.0, float(west), north, True) <= 1


@pytest.mark.parametrize("every", [None, "train"])
def test_a_query_that_is_led_beyond_a_pole_finds_its_nearest(every: str | None) -> None:
    objects = train("id int, x double, y double", id=[0, 1], x=[-180, -180], y=[89.75, -90])
    wanted = train(
        "query int, kind string, x double, y double, k int, focal int",
        query=[1], kind=["knn"], x=[None], y=[1.0], k=[2], focal=[0], first=3,
    )  # fmt: skip
    assert [row for row, _, _ in run(Watch(earth=True, every=every), [objects, wanted])[0]] == [(1, 1, 0), (1, 1, 1)]


TIMES = st.sampled_from([0, 1, 2, 3, 4, 10**4, 10**9, 10**9 + 2, -(2**63), 2**63 - 1])


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 3), TIMES), max_size=24), cuts(), st.sampled_from([0, 3]), st.booleans())
@example([(0, 0), (1, 0), (2, 2**63 - 1), (0, 1)], Cut(()), 3, False)
@example([(0, 10**9 + 2), (0, 10**9), (0, 0), (1, 0)], Cut(()), 0, False)
def test_one_wrong_clock_leaves_all_others_as_they_are(said: Any, cut: Cut, timeout: int, restart: bool) -> None:
    rows = [{"id": who, "x": float(who), "y": 0.0, "time": time, "type": "car"} for who, time in said]
    reports = [Tuple(row, 0, number) for number, row in enumerate(rows, 2)]
    wanted = Tuple(
        {
            **dict.fromkeys(part.split()[0] for part in QUERIES.split(", ")),
            "query": 1,
            "kind": "circle",
            "x": 0.0,
            "y": 0.0,
            "radius": 9.0,
        },
        0,
        1,
    )
    objects = OBJECTS.replace("time int", "time bigint")
    streams = [stream_of(objects, reports), stream_of(QUERIES, [wanted])]
    follow(Watch(time="time", timeout=timeout), streams, cut, World(timeout=timeout), restart)


def test_one_report_from_the_far_future_empties_no_answer_in_any_partition() -> None:
    objects = au.stream("o", "id int, x double, y double, time bigint")
    seen = objects.moving.ask({"q": {"kind": "circle", "x": 0, "y": 0, "radius": 9}}, time="time", timeout=60)
    run_ = au.Local(au.network(seen=seen, refused=seen.port("refused")))
    found = run_.push(o=[{"id": each, "x": each, "y": 0, "time": 0} for each in range(3)])
    assert found["seen"]["sign"].to_pylist() == [1, 1, 1]
    found = run_.push(o=[{"id": 1, "x": 99, "y": 0, "time": 10**12}])
    assert (len(found["seen"]), len(found["refused"])) == (0, 1)
    found = run_.push(o=[{"id": 1, "x": 2, "y": 0, "time": 61}])
    assert sorted(tuple(row.values()) for row in found["seen"].to_pylist()) == [("q", -1, 0), ("q", -1, 2)]


def test_how_far_ahead_times_may_be_can_be_said() -> None:
    with pytest.raises(AustralisError, match=r"`ahead`.*give `timeout`"):
        Watch(ahead=5).outputs(schema(OBJECTS), schema(QUERIES))
    with pytest.raises(AustralisError, match=r"`ahead` is how far off"):
        Watch(ahead=0, time="time", timeout=5).outputs(schema(OBJECTS), schema(QUERIES))
    wanted = train(
        "query int, kind string, x double, y double, radius double",
        query=[1],
        kind=["circle"],
        x=[0],
        y=[0],
        radius=[5],
    )
    reports = train(OBJECTS, id=[1, 2], x=[0, 0], y=[0, 0], time=[0, 11], type=[None] * 2, first=2)
    out, _, refused = run(Watch(time="time", timeout=100, ahead=10), [reports, wanted])
    assert ([row for row, _, _ in out], len(refused)) == ([(1, 1, 1)], 1)


@pytest.mark.parametrize(
    "outliers", [[], [(0.0, 0.0)], [(0.0, 0.0), (1e9, -1e300)], [(sys.float_info.max, -sys.float_info.max)]]
)
def test_a_grid_does_not_care_about_objects_far_away(outliers: list[tuple[float, float]]) -> None:
    """Two towns of objects, and squares among them: how many objects are looked at for those that are found."""
    chance = np.random.default_rng(1)
    places = chance.random((2, 4000)) / 2 + np.array([[40.0], [7.0]])
    places[:, :1000] += 100
    far = np.array(outliers, float).reshape(-1, 2).T
    x, y = np.concatenate([places, far], axis=1)
    points = Points(x, y, np.zeros(len(x), np.int64), np.arange(len(x)))
    made = grid(points, points, np.arange(len(x)))
    assert np.array_equal(np.sort(made.slots), np.arange(len(x)))
    west, south = places[:, ::40] - 0.02
    none = np.zeros(len(west))
    regions = Regions(
        np.full(len(west), RECTANGLE, np.int8), west, west + 0.04, south, south + 0.04, none, none, none,
        np.zeros(len(west), np.int64), np.zeros(len(west), np.int64), np.zeros(len(west) + 1, np.int64),
        np.empty((0, 4)), False,
    )  # fmt: skip
    seen = 0
    for query in range(len(west)):
        bottom, top = rows_of(made, regions, query)
        for row in range(bottom, top + 1):
            first, last = cells_of(made, regions, query, row)
            seen += made.starts[last + 1] - made.starts[first]
    found = len(members(made, regions, np.arange(len(west)))[0])
    inside = (x >= west[:, None]) & (x <= west[:, None] + 0.04) & (y >= south[:, None]) & (y <= south[:, None] + 0.04)
    assert found == np.count_nonzero(inside)
    assert seen < 6 * found
    assert np.count_nonzero(np.diff(made.starts)) > len(x) / 40
