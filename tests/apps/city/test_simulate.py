"""Simulations: objects keep to the roads and their speeds, queries to their sizes, and a seed says all."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from australis.apps.city.queries import Mix
from australis.apps.city.roads import Roads
from australis.apps.city.simulate import City, simulate
from australis.apps.city.vehicles import CLASSES, FASTEST
from australis.cli.main import app
from australis.errors import RunError
from tests.apps.city.simulated import MIX, tuples


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
