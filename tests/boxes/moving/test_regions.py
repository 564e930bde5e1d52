"""Places and times that cannot be, that lie far away, or on the other side of the antimeridian."""

import math
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.boxes.moving import Watch
from australis.boxes.moving.regions import apart
from australis.testing import Cut, cuts, train
from tests.boxes.moving.test_watch import CONDITIONS, TRUCKS, asked, follow, trains, worlds
from tests.oracles.moving import World
from tests.oracles.running import run
from tests.oracles.tuples import Tuple, interleaved

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


@pytest.mark.parametrize("north", [89.75, 90.0, 90.75, 91.25, -90.5])
def test_nothing_on_the_earth_is_further_off_than_its_other_side(north: float) -> None:
    for west in range(-180, 181, 7):
        assert 0 <= apart(float(west), -north, -180.0, north, True) <= 1
        assert 0 <= apart(-180.0, -90.0, float(west), north, True) <= 1
