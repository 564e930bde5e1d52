"""Simulations: objects keep to the roads and their speeds, queries to their sizes, and a seed says all."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from australis.apps.city import driving
from australis.apps.city.folder import NOTE
from australis.apps.city.layout import layout
from australis.apps.city.queries import Mix
from australis.apps.city.roads import Roads
from australis.apps.city.routes import Routes, routes
from australis.apps.city.simulate import OBJECTS, QUERIES, City, moments, simulate
from australis.apps.city.vehicles import CLASSES, FASTEST, Vehicles, vehicles
from australis.cli.main import app
from australis.errors import RunError
from australis.kernels.random import chance
from tests.oracles.city import Journey, moved

MIX = Mix(60, nearest=0.3, renewed=0.02)


@pytest.fixture(scope="module")
def ground() -> Roads:
    return layout(lines=15, side=6000.0)


@pytest.fixture(scope="module")
def ways(ground: Roads) -> Routes:
    return routes(ground, 1)


def tuples(city: City, ground: Roads) -> tuple[pd.DataFrame, pd.DataFrame]:
    found = list(moments(city, ground))
    objects = pa.Table.from_batches([moment.objects for moment in found], OBJECTS).to_pandas()
    return objects, pa.Table.from_batches([part for each in found for part in each.queries], QUERIES).to_pandas()


@pytest.fixture(scope="module")
def told(ground: Roads) -> tuple[pd.DataFrame, pd.DataFrame]:
    return tuples(City(300, 200, mix=MIX), ground)


def test_a_seed_says_all(ground: Roads, told: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    for mine, again in zip(told, tuples(City(300, 200, mix=MIX), ground), strict=True):
        pd.testing.assert_frame_equal(mine, again)
    other, _ = tuples(City(300, 200, seed=2, mix=MIX), ground)
    assert not other.equals(told[0])


def test_objects_report_at_every_moment_and_keep_to_the_roads(
    ground: Roads, told: tuple[pd.DataFrame, pd.DataFrame]
) -> None:
    objects, _ = told
    assert objects.groupby("time").id.nunique().tolist() == [300] * 200
    assert objects.time.is_monotonic_increasing
    here, there = np.column_stack([ground.x, ground.y])[[ground.begins, ground.ends]]
    for x, y in objects.sample(200, random_state=1)[["x", "y"]].to_numpy():
        # On some edge: as far from both of its ends as these are from each other.
        around = np.hypot(*(here - (x, y)).T) + np.hypot(*(there - (x, y)).T) - np.hypot(*(here - there).T)
        assert around.min() == pytest.approx(0, abs=1e-6)


def test_nothing_is_faster_than_the_fastest(told: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    objects = told[0].sort_values(["id", "time"], kind="stable")
    steps = objects.groupby("id")[["x", "y", "time"]].diff()
    # A road may bend at a crossing, but no object gets further than its speed allows.
    far = np.hypot(steps.x, steps.y) / steps.time
    limit = objects["class"].map({each.name: each.speed * 1.1 / 3.6 for each in CLASSES})
    assert (far[steps.time.notna()] <= limit[steps.time.notna()] + 1e-6).all()
    assert objects.speed.between(0, FASTEST).all()
    assert far.mean() > 5


def test_objects_that_arrive_vanish_and_others_begin(ground: Roads, told: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    lives = told[0].groupby("id").time.agg(["min", "max", "count"])
    assert len(lives) > 310
    assert (lives["count"] == lives["max"] - lives["min"] + 1).all()
    assert sorted(lives.index) == list(range(len(lives)))
    stay, _ = tuples(City(300, 200, vanish=False, mix=MIX), ground)
    assert stay.id.nunique() == 300


def test_more_objects_begin_at_each_moment(ground: Roads) -> None:
    objects, queries = tuples(City(40, 30, new=3, mix=Mix(10)), ground)
    assert objects.groupby("time").id.nunique().tolist() == [40 + 3 * tick for tick in range(30)]
    assert queries.focal.max() < 60
    none, _ = tuples(City(0, 5, new=2), ground)
    assert none.groupby("time").id.count().to_dict() == {1: 2, 2: 4, 3: 6, 4: 8}


def test_a_share_of_the_objects_reports_in_turn(ground: Roads) -> None:
    objects, _ = tuples(City(300, 100, every=5, share=0.3, vanish=False), ground)
    assert objects.groupby("time").id.count().between(80, 100).all()
    gaps = objects.sort_values(["id", "time"]).groupby("id").time.diff().dropna()
    assert set(gaps) <= {15, 20}  # every 10/3 moments of 5 seconds


def test_queries_are_registered_once_and_removed_once(told: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    objects, queries = told
    new, old = (queries[queries.action == action] for action in ("register", "remove"))
    assert new["query"].tolist() == list(range(len(new)))
    assert old["query"].is_unique
    assert (old.time.to_numpy() > new.set_index("query").time[old["query"]].to_numpy()).all()
    change = np.where(queries.action == "register", 1, -1)
    assert set(pd.Series(change).groupby(queries.time).sum().cumsum()) == {60}
    last = objects.groupby("id").time.max()
    ends = old.set_index("query").time.reindex(new["query"]).fillna(objects.time.max() + 1)
    focal = new.focal.notna().to_numpy()
    # A focal object is on the roads for as long as its query is.
    assert (ends.to_numpy()[focal] <= last[new.focal[focal]].to_numpy() + 1).all()


def test_queries_have_their_sizes_and_shares(ground: Roads) -> None:
    mix = Mix(4000, moving=0.25, nearest=0.5, smallest=0.001, largest=0.1, k=7)
    _, queries = tuples(City(50, 1, mix=mix), ground)
    x1, y1, x2, y2 = ground.space
    assert queries.focal.notna().mean() == pytest.approx(0.25, abs=0.03)
    assert (queries.kind == "knn").mean() == pytest.approx(0.5, abs=0.03)
    assert (queries.k.dropna() == 7).all()
    ranges = queries[queries.kind == "rectangle"]
    part = ranges.width * ranges.height / ((x2 - x1) * (y2 - y1))
    assert part.between(0.001 - 1e-9, 0.1 + 1e-9).all()
    assert (part < 0.01).mean() == pytest.approx(0.5, abs=0.05)
    still, around = ranges[ranges.focal.isna()], ranges[ranges.focal.notna()]
    assert (still.x - still.width / 2 >= x1 - 1e-9).all()
    assert (still.x + still.width / 2 <= x2 + 1e-9).all()
    assert (still.y + still.height / 2 <= y2 + 1e-9).all()
    assert (around[["x", "y"]] == 0).all(axis=None)
    assert queries[queries.kind == "knn"][["width", "height"]].isna().all(axis=None)


def test_full_roads_are_slow(ground: Roads) -> None:
    free, _ = tuples(City(20000, 20), ground)
    full, _ = tuples(City(20000, 20, crowded=True), ground)
    assert full.speed[full.time == 19].mean() < 0.8 * free.speed[free.time == 19].mean()


@given(st.integers(0, 50), st.floats(0.1, 300), st.integers(1, 9))
def test_driving_agrees_with_an_oracle(ground: Roads, ways: Routes, slot: int, seconds: float, seed: int) -> None:
    moving, draws, flow = vehicles(51), chance(seed, 0), np.ones(len(ground.ends))
    driving.begin(moving, ground, ways, driving.SPEEDS, driving.SHARES, draws)
    before = Vehicles(*(part.copy() for part in moving))
    arrived = driving.drive(seconds, moving, ground, ways, flow, driving.SPEEDS, driving.SHARES, True, draws)
    kind, place = before.kind[slot], before.place[slot]
    target = ways.places[place]
    speeds = np.minimum(ground.limit, driving.SPEEDS[kind]) * before.manner[slot]
    turn = {
        edge: None if end == target else int(ground.starts[end] + ways.turns[kind, place, end])
        for edge, end in enumerate(ground.ends)
    }
    there, done = moved(
        Journey(int(before.edge[slot]), before.along[slot]), seconds, ground.length.tolist(), speeds.tolist(), turn
    )
    assert done == (moving.number[slot] != before.number[slot])
    assert arrived == (moving.number != before.number).sum()
    if not done:
        assert (moving.edge[slot], moving.along[slot]) == (there.edge, pytest.approx(there.along))


@given(st.integers(1, 40), st.integers(1, 6))
def test_moments_may_be_as_long_as_one_likes(ground: Roads, ways: Routes, seconds: int, parts: int) -> None:
    """Two ways to the same moment, for objects that do not arrive meanwhile."""
    ends = []
    for steps in (1, parts):
        moving, draws, flow = vehicles(80), chance(5, 0), np.ones(len(ground.ends))
        driving.begin(moving, ground, ways, driving.SPEEDS, driving.SHARES, draws)
        for _ in range(steps):
            driving.drive(seconds / steps, moving, ground, ways, flow, driving.SPEEDS, driving.SHARES, True, draws)
        ends.append(moving)
    same = ends[0].number < 80
    same &= ends[1].number < 80
    x, y, kind = np.empty((2, 80)), np.empty((2, 80)), np.empty(80, np.uint8)
    for i, moving in enumerate(ends):
        driving.places(moving, ground, np.arange(80), x[i], y[i], kind)
    np.testing.assert_allclose(x[0][same], x[1][same], atol=1e-6)
    np.testing.assert_allclose(y[0][same], y[1][same], atol=1e-6)


def read(folder: Path, name: str, form: str) -> pa.Table:
    path = folder / f"{name}.{form}"
    schema = OBJECTS if name == "objects" else QUERIES
    if form == "arrow":
        return pa.ipc.open_file(path).read_all()
    if form == "parquet":
        return pa.parquet.read_table(path)
    nulls = pa.csv.ConvertOptions(column_types=schema, strings_can_be_null=True)
    return pa.csv.read_csv(path, convert_options=nulls)


def test_every_form_has_the_same_tuples(tmp_path: Path, ground: Roads) -> None:
    city = City(40, 30, mix=Mix(20, renewed=0.1))
    for form in ("arrow", "csv", "parquet"):
        note = simulate(tmp_path / form, city, ground, form)
        assert json.loads((tmp_path / form / NOTE).read_text()) == json.loads(json.dumps(note))
        assert note["reports"] == 1200
    for name in ("objects", "queries"):
        arrow, csv, parquet = (read(tmp_path / form, name, form) for form in ("arrow", "csv", "parquet"))
        assert arrow.equals(parquet)
        assert arrow.to_pylist() == csv.to_pylist()


def test_the_command_makes_a_city_from_the_roads_of_another(tmp_path: Path, ground: Roads) -> None:
    simulate(tmp_path / "first", City(10, 5), ground)
    roads = ["--nodes", f"{tmp_path}/first/nodes.csv", "--edges", f"{tmp_path}/first/edges.csv"]
    options = ["--objects", "10", "--queries", "0", "--seconds", "5"]
    result = CliRunner().invoke(app, ["moving", "simulate", "--out", f"{tmp_path}/second", *options, *roads])
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{tmp_path}/second: 50 reports, and 0 rows about queries\n"
    assert (tmp_path / "first/objects.arrow").read_bytes() == (tmp_path / "second/objects.arrow").read_bytes()
    result = CliRunner().invoke(app, ["moving", "simulate", "--out", f"{tmp_path}/third", *roads[:2]])
    assert result.exit_code == 1
    assert "--edges: is missing" in result.stderr


@pytest.mark.parametrize(
    ("city", "said"),
    [
        (City(-1), "-1 objects"),
        (City(10, 1000, new=1 << 24), "new ones a moment"),
        (City(share=0), "a share of 0"),
        (City(every=0), "every 0"),
        (City(seed=-1), "seed -1"),
        (City(mix=Mix(1, moving=2)), "moving 2: give a part"),
        (City(mix=Mix(1, smallest=0.5, largest=0.1)), "the smaller first"),
        (City(mix=Mix(1, k=0)), "1 queries of 0 neighbours"),
    ],
)
def test_what_makes_no_city_is_told(city: City, said: str, tmp_path: Path) -> None:
    with pytest.raises(RunError, match=said):
        simulate(tmp_path / "city", city)
    assert not (tmp_path / "city").exists()


def test_other_files_are_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("")
    with pytest.raises(RunError, match=r"holds mine\.txt and no city\.json"):
        simulate(tmp_path, City())
    with pytest.raises(RunError, match="is a file"):
        simulate(tmp_path / "mine.txt", City())
    with pytest.raises(RunError, match="format `xml`"):
        simulate(tmp_path / "new", City(), form="xml")
