"""Frames: what is drawn is what the streams say."""

from pathlib import Path

import numpy as np

from australis.apps.city.frames import CityFrames, frames
from australis.apps.city.layout import layout
from australis.apps.city.picture import regions_at
from australis.apps.city.queries import Mix
from australis.apps.city.simulate import City, simulate
from tests.apps.city.simulated import SECONDS, table


def test_frames_have_every_report(city: Path, whole: CityFrames) -> None:
    assert whole.times.tolist() == list(range(SECONDS))
    place = {number: slot for slot, number in enumerate(whole.objects.tolist())}
    reports = table(city, "objects")
    for row in reports:
        at = row["time"], place[row["id"]]
        assert (whole.x[at], whole.y[at]) == (row["x"], row["y"])
        assert whole.note["classes"][whole.kinds[at[1]]] == row["class"]
    assert (~np.isnan(whole.x)).sum() == len(reports)


def test_frames_have_every_query_while_it_is_there(city: Path, whole: CityFrames) -> None:
    rows = table(city, "queries")
    for slot, number in enumerate(whole.queries.tolist()):
        mine = [row for row in rows if row["query"] == number]
        ends = mine[1]["time"] if len(mine) > 1 else SECONDS
        assert whole.lives[slot].tolist() == [mine[0]["time"], ends]
        focal = whole.focal[slot]
        assert (None if focal < 0 else whole.objects[focal]) == mine[0]["focal"]
    assert len(whole.queries) == sum(row["action"] == "register" for row in rows)


def test_answers_may_go_by_the_name_of_objects(city: Path, answers: Path, whole: CityFrames, tmp_path: Path) -> None:
    (tmp_path / "seen.csv").write_text(answers.read_text().replace('"object"', '"id"'))
    assert np.array_equal(frames(city, tmp_path / "seen.csv").sizes, whole.sizes)


def test_answers_are_those_of_the_regions(whole: CityFrames) -> None:
    """The sizes of answers are counted again, from the regions and objects of the frames alone."""
    for row in range(0, SECONDS, 7):
        counted = 0
        regions, _ = regions_at(whole, row)
        for x1, y1, x2, y2 in regions:
            counted += int(
                ((whole.x[row] >= x1) & (whole.x[row] <= x2) & (whole.y[row] >= y1) & (whole.y[row] <= y2)).sum()
            )
        assert whole.sizes[row].sum() == counted
    assert whole.sizes.sum() > 100


def test_objects_that_report_in_turn_stay_where_they_were(tmp_path: Path) -> None:
    simulate(tmp_path / "city", City(30, 40, share=0.25, vanish=False), layout(lines=9, side=3000.0))
    found = frames(tmp_path / "city")
    seen: dict[int, tuple[float, float]] = {}
    reports = table(tmp_path / "city", "objects")
    for time in range(40):
        seen |= {row["id"]: (row["x"], row["y"]) for row in reports if row["time"] == time}
        for slot, number in enumerate(found.objects.tolist()):
            x, y = found.x[time, slot], found.y[time, slot]
            last = max(row["time"] for row in reports if row["id"] == number)
            assert np.isnan(x) if number not in seen or time > last else (x, y) == seen[number]


def test_some_of_many_are_shown_and_focal_objects_always(tmp_path: Path) -> None:
    simulate(tmp_path / "city", City(3000, 3, mix=Mix(300)), layout(lines=9, side=3000.0))
    some = frames(tmp_path / "city", objects=300, queries=30)
    assert 200 < len(some.objects) < 450
    assert 15 < len(some.queries) < 50
    rows = {row["query"]: row for row in table(tmp_path / "city", "queries") if row["action"] == "register"}
    for slot, number in enumerate(some.queries.tolist()):
        assert (rows[number]["focal"] is None) == (some.focal[slot] < 0)


def test_pictures_tell_how_many_there_are(tmp_path: Path) -> None:
    simulate(tmp_path / "city", City(30, 20, new=4, every=2), layout(lines=9, side=3000.0))
    found = frames(tmp_path / "city")
    assert found.whole.tolist() == [30 + 4 * tick for tick in range(10)] == (~np.isnan(found.x)).sum(axis=1).tolist()
