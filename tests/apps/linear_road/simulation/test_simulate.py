"""Simulations: the traffic is what the paper says of it, and a seed says all."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from australis.apps.linear_road.feed import NOTE, feed
from australis.apps.linear_road.half_minute import half_minutes
from australis.apps.linear_road.record import (
    BALANCE,
    EAST,
    ENTRY,
    EVERY,
    EXIT,
    EXPENDITURE,
    FEET,
    INPUT,
    REPORT,
    TRAVEL,
)
from australis.apps.linear_road.simulation.simulate import simulate
from australis.apps.linear_road.speed_spread import ORIGINAL, spread
from australis.apps.linear_road.survey import survey
from australis.errors import RunError

SECONDS = 1700


def read(out: Path) -> pd.DataFrame:
    return pa.Table.from_batches(feed(out).merge(), INPUT).to_pandas()


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("road") / "new"
    simulate(folder, seconds=SECONDS)
    return folder


@pytest.fixture(scope="module")
def note(out: Path) -> dict[str, Any]:
    return dict(json.loads((out / NOTE).read_text()))


@pytest.fixture(scope="module")
def tuples(out: Path) -> pd.DataFrame:
    return read(out)


@pytest.fixture(scope="module")
def trips(tuples: pd.DataFrame) -> pd.DataFrame:
    """Reports in order of vehicle and time, with the number of their trip and how many feet they are from the last."""
    reports = tuples[tuples.type == REPORT].sort_values(["vid", "time"], kind="stable").reset_index(drop=True)
    begins = (reports.vid.diff() != 0) | (reports.time.diff() != EVERY)
    driven = reports.pos.diff() * np.where(reports.dir == EAST, 1, -1)
    return reports.assign(trip=begins.cumsum(), driven=driven.where(~begins))


def stopped(reports: pd.DataFrame) -> pd.DataFrame:
    """Runs of four or more reports of one position in a travel lane, with the times between which they are stops."""
    where = ["trip", "vid", "dir", "lane", "pos"]
    travel = reports[reports.lane.between(1, 3)]
    run = (reports[["trip", "dir", "lane", "pos"]].diff() != 0).any(axis=1).cumsum()
    runs = travel.groupby([*where, run.rename("run")]).time.agg(["min", "max"]).reset_index()
    runs = runs[runs["max"] - runs["min"] >= 3 * EVERY]
    return runs.assign(since=runs["min"] + 3 * EVERY, until=runs["max"] + EVERY - 1)


def test_it_is_numbered_and_noted(tuples: pd.DataFrame, note: dict[str, Any]) -> None:
    assert tuples.time.is_monotonic_increasing
    assert tuples.time.between(0, SECONDS - 1).all()
    assert sorted(tuples.vid.unique()) == list(range(note["vehicles"]))
    assert sorted(tuples.qid[tuples.type != REPORT]) == list(range(note["queries"]))
    counts = tuples.type.value_counts()
    assert note["reports"] == counts[REPORT]
    assert note["requests"] == {str(kind): counts[kind] for kind in (BALANCE, EXPENDITURE, TRAVEL)}
    assert {"seed": 1, "seconds": SECONDS, "xways": 1, "copies": 1, "form": "arrow"}.items() <= note.items()


def test_reports_are_within_their_bounds(trips: pd.DataFrame) -> None:
    assert trips.spd.between(0, 100).all()
    assert trips.pos.between(0, 100 * FEET - 1).all()
    assert (trips.seg == trips.pos // FEET).all()
    assert set(trips.lane) == {0, 1, 2, 3, 4}
    assert set(trips.xway) == {0}
    assert (trips[["qid", "sinit", "send", "dow", "tod", "day"]] == -1).all(axis=None)


def test_trips_begin_and_end_on_ramps(trips: pd.DataFrame) -> None:
    by = trips.groupby("trip")
    assert (by.lane.first() == ENTRY).all()
    over = by.time.last() < SECONDS - EVERY
    assert (by.lane.last()[over] == EXIT).all()
    assert not trips.lane[by.cumcount(ascending=False) > 0].eq(EXIT).any()
    assert (by.dir.nunique() == 1).all()
    # Once in the travel lanes, no vehicle is on an entrance ramp again.
    assert (trips.lane.eq(ENTRY) <= by.lane.cummax().eq(ENTRY)).all()


def test_vehicles_drive_forward_through_every_segment(trips: pd.DataFrame) -> None:
    assert trips.driven.dropna().between(0, EVERY * 100 * FEET / 3600).all()
    assert trips.groupby("trip").seg.diff().dropna().abs().max() == 1


def test_pauses_between_trips_are_long(trips: pd.DataFrame) -> None:
    ends = trips.groupby("trip").agg({"vid": "first", "time": ["first", "last"]})
    pause = ends["time"]["first"] - ends["time"]["last"].shift()
    again = pause[ends["vid"]["first"].diff() == 0]
    assert len(again) > 0
    assert again.min() >= 600


def test_reports_are_spread_over_seconds_entries_over_ramps_and_exits_around_the_middle(trips: pd.DataFrame) -> None:
    late = trips[trips.time >= SECONDS - 60].groupby("time").size()
    assert late.min() > late.mean() / 2
    assert late.max() < late.mean() * 2
    entries = trips[trips.driven.isna()]
    tenths = np.histogram(entries.seg, 10, (0, 100))[0]
    assert tenths.min() > 0.85 * tenths.mean()
    assert tenths.max() < 1.15 * tenths.mean()
    exits = trips[trips.lane == EXIT]
    assert 45 < exits.seg.mean() < 55
    assert exits.groupby("dir").size().min() > 0.4 * len(exits)


def test_it_begins_as_measured(trips: pd.DataFrame) -> None:
    minutes = trips.groupby(trips.time // 60).size()[:5]
    assert np.allclose(minutes, [1087, 2467, 3670, 4685, 5677], rtol=0.15)
    early = trips[trips.time < 300]
    assert np.allclose(early.lane.value_counts(normalize=True).sort_index() * 100, [16, 21, 42, 21, 0.5], atol=7)
    assert np.allclose(early.groupby("lane").spd.mean()[:4], [26, 54, 52, 53], rtol=0.1)
    assert early.spd.max() <= 75


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_free_speeds_lie_as_far_apart_as_measured(tmp_path: Path, seed: int) -> None:
    simulate(tmp_path, seconds=300, seed=seed)
    found = spread(survey(feed(tmp_path)))
    assert found.deviations[1:4] == pytest.approx(ORIGINAL.deviations[1:4], rel=0.2)
    assert found.slow == pytest.approx(ORIGINAL.slow, rel=0.35)
    assert found.fast == pytest.approx(ORIGINAL.fast, rel=0.4)


@pytest.mark.slow
def test_ramps_let_in_as_many_where_jams_end_as_elsewhere(tmp_path: Path) -> None:
    note = simulate(tmp_path, seconds=6000)
    late = [*half_minutes(feed(tmp_path), 0)][-1200 // EVERY :]
    tenths = sum(np.histogram(spell.seg[spell.first], 10, (0, 100))[0] for spell in late)
    assert min(tenths) > 0.88 * np.mean(tenths)
    assert note["waiting"] < 0.01 * note["vehicles"]


def test_no_two_vehicles_are_in_one_place(trips: pd.DataFrame, note: dict[str, Any]) -> None:
    planned = {vid for accident in note["accidents"] for vid in accident["vids"]}
    others = trips[trips.lane.between(1, 3) & ~trips.vid.isin(planned)].sort_values(["time", "dir", "lane", "pos"])
    assert others.groupby(["time", "dir", "lane"]).pos.diff().min() >= 15  # a vehicle's length


def test_the_accidents_are_those_that_are_planned(trips: pd.DataFrame, note: dict[str, Any]) -> None:
    stops = stopped(trips)
    pairs = stops.merge(stops, on=["dir", "lane", "pos"])
    pairs = pairs[(pairs.vid_x < pairs.vid_y) & (pairs.since_x <= pairs.until_y) & (pairs.since_y <= pairs.until_x)]
    found = {
        (pair.dir, pair.lane, pair.pos, pair.vid_x, pair.vid_y, max(pair.since_x, pair.since_y))
        for pair in pairs.itertuples()
    }
    planned = note["accidents"]
    assert found == {(a["dir"], a["lane"], a["pos"], *sorted(a["vids"]), a["detected"]) for a in planned}
    assert len(planned) == 2


def test_accidents_last_ten_to_twenty_minutes(trips: pd.DataFrame, note: dict[str, Any]) -> None:
    for accident in note["accidents"]:
        assert accident["seg"] == accident["pos"] // FEET
        both = trips[trips.vid.isin(accident["vids"])]
        at = both[(both.pos == accident["pos"]) & (both.lane == accident["lane"])]
        assert at.time.min() == accident["first"]
        assert 90 <= accident["detected"] - accident["first"] < 240
        if accident["cleared"] is not None:
            assert 600 <= accident["cleared"] - accident["detected"] <= 1200
            moved = both[(both.time > accident["detected"]) & (both.pos != accident["pos"])]
            assert moved.time.min() == accident["cleared"]
    assert any(accident["cleared"] for accident in note["accidents"])


def test_requests_follow_reports(tuples: pd.DataFrame, note: dict[str, Any]) -> None:
    requests = tuples[tuples.type != REPORT]
    before = tuples.iloc[requests.index - 1]
    assert (before.type == REPORT).all()
    assert (before[["time", "vid"]].to_numpy() == requests[["time", "vid"]].to_numpy()).all()
    assert len(requests) == pytest.approx(0.01 * note["reports"], rel=0.15)
    shares = requests.type.value_counts(normalize=True)
    assert shares.to_dict() == pytest.approx({BALANCE: 0.5, EXPENDITURE: 0.1, TRAVEL: 0.4}, abs=0.05)


@pytest.mark.parametrize(
    ("kind", "bounds"),
    [
        (BALANCE, {}),
        (EXPENDITURE, {"xway": (0, 0), "day": (1, 69)}),
        (TRAVEL, {"xway": (0, 0), "sinit": (0, 99), "send": (0, 99), "dow": (1, 7), "tod": (1, 1440)}),
    ],
)
def test_requests_hold_what_they_need(tuples: pd.DataFrame, kind: int, bounds: dict[str, tuple[int, int]]) -> None:
    requests = tuples[tuples.type == kind]
    for name in INPUT.names[3:]:
        if name == "qid":
            continue
        assert requests[name].between(*bounds.get(name, (-1, -1))).all(), name
    if kind == TRAVEL:
        assert (requests.sinit != requests.send).all()


@pytest.mark.slow
def test_expressways_share_vehicles_and_numbers(tmp_path: Path) -> None:
    note = simulate(tmp_path, xways=2, seconds=900, copies=3)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["simulation.json", "xway-000.arrow", "xway-001.arrow"]
    tuples = pa.Table.from_batches(feed(tmp_path, copies=1).merge(), INPUT).to_pandas()
    reports = tuples[tuples.type == REPORT]
    assert sorted(reports.vid.unique()) == list(range(note["vehicles"]))
    assert sorted(tuples.qid[tuples.type != REPORT]) == list(range(note["queries"]))
    assert {accident["xway"] for accident in note["accidents"]} == {0, 1}
    assert not reports.duplicated(["time", "vid"]).any()
    assert (reports.groupby("vid").xway.nunique() == 2).any()
    assert (tuples[tuples.type == TRAVEL].xway == 1).any()
    assert feed(tmp_path).copies == 3


def test_a_seed_says_all(tmp_path: Path) -> None:
    def written(name: str, **options: Any) -> bytes:
        simulate(tmp_path / name, seconds=120, **options)
        return (tmp_path / name / "xway-000.arrow").read_bytes()

    first = written("first", seed=7)
    assert written("again", seed=7) == first
    assert written("other", seed=8) != first


@pytest.mark.parametrize("xways", [1, 2])
def test_all_forms_hold_the_same(tmp_path: Path, xways: int) -> None:
    notes = {
        form: simulate(tmp_path / form, xways=xways, seconds=90, form=form) for form in ("arrow", "parquet", "csv")
    }
    whole = read(tmp_path / "arrow")
    assert read(tmp_path / "parquet").equals(whole)
    assert read(tmp_path / "csv").equals(whole)
    assert [path.name for path in sorted((tmp_path / "csv").iterdir())] == ["input.csv", "simulation.json"]
    line = (tmp_path / "csv" / "input.csv").read_text().splitlines()[0]
    assert list(map(int, line.split(","))) == whole.iloc[0].tolist()
    assert all({**note, "form": "arrow"} == notes["arrow"] for note in notes.values())


def test_how_far_it_is_gets_told(tmp_path: Path) -> None:
    told: list[int] = []
    simulate(tmp_path, seconds=45, on_progress=told.append)
    assert told == [10, 20, 30, 40]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"xways": 0}, "0 expressways: give 1 to 32767"),
        ({"seconds": 0}, "0 seconds: give 1 to"),
        ({"copies": -1}, "-1 copies: give 1 to"),
        ({"xways": 200, "copies": 200}, "200 expressways in 200 copies: that is more than the 32767"),
        ({"seed": -1}, "seed -1: give 0 or more"),
        ({"form": "parket"}, "form `parket`: give arrow, csv, parquet; did you mean `parquet`"),
    ],
)
def test_impossible_options_are_told(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(RunError, match=message):
        simulate(tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def interrupted(second: int) -> Callable[[int], None]:
    def told(now: int) -> None:
        if now >= second:
            raise KeyboardInterrupt

    return told


def test_what_is_interrupted_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        simulate(tmp_path / "out", seconds=60, on_progress=interrupted(20))
    assert not (tmp_path / "out").exists()


def test_an_earlier_simulation_is_replaced_once_the_new_one_is_whole(tmp_path: Path) -> None:
    simulate(tmp_path, xways=2, seconds=30)
    with pytest.raises(KeyboardInterrupt):
        simulate(tmp_path, seconds=60, on_progress=interrupted(20), replace=True)
    assert json.loads((tmp_path / NOTE).read_text())["xways"] == 2
    simulate(tmp_path, seconds=30, form="csv", replace=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["input.csv", NOTE]
