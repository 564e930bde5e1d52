"""Pictures of a city: they show what the streams say, and the page needs nothing else."""

import base64
import json
import re
import shutil
import struct
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from typer.testing import CliRunner

from australis.apps.city.frames import CityFrames, frames
from australis.apps.city.layout import layout
from australis.apps.city.page import page
from australis.apps.city.picture import circles_at, members_at, regions_at, show
from australis.apps.city.queries import Mix
from australis.apps.city.simulate import City, simulate
from australis.cli.main import app
from australis.errors import RunError

SECONDS = 60


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("pictures") / "city"
    mix = Mix(12, nearest=0.2, smallest=0.02, largest=0.2, renewed=0.01)
    simulate(out, City(80, SECONDS, mix=mix), layout(lines=9, side=3000.0))
    return out


def table(city: Path, name: str) -> list[dict[str, Any]]:
    return pa.ipc.open_file(city / f"{name}.arrow").read_all().to_pylist()


@pytest.fixture(scope="module")
def answers(city: Path) -> Path:
    """What a recomputation at every second gives, as changes."""
    seen: dict[int, dict[int, tuple[float, float]]] = defaultdict(dict)
    for row in table(city, "objects"):
        seen[row["time"]][row["id"]] = (row["x"], row["y"])
    asked, before, changes = {}, defaultdict(set), []
    for time in range(SECONDS):
        for row in table(city, "queries"):
            if row["time"] == time:
                asked[row["query"]] = row if row["action"] == "register" else None
        for query, row in asked.items():
            now = inside(row, seen[time])
            changes += [(query, 1, each, time) for each in sorted(now - before[query])]
            changes += [(query, -1, each, time) for each in sorted(before[query] - now)]
            before[query] = now
    path = city.parent / "answers.csv"
    columns = dict(zip(("query", "sign", "object", "time"), map(list, zip(*changes, strict=True)), strict=True))
    pa.csv.write_csv(pa.table(columns), path)
    return path


def inside(row: dict[str, Any] | None, seen: dict[int, tuple[float, float]]) -> set[int]:
    if row is None or row["kind"] != "rectangle" or (row["focal"] is not None and row["focal"] not in seen):
        return set()
    around = (0.0, 0.0) if row["focal"] is None else seen[row["focal"]]
    return {
        each
        for each, (x, y) in seen.items()
        if abs(x - around[0] - row["x"]) <= row["width"] / 2 and abs(y - around[1] - row["y"]) <= row["height"] / 2
    }


@pytest.fixture(scope="module")
def whole(city: Path, answers: Path) -> CityFrames:
    return frames(city, answers)


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


def test_without_a_file_answers_are_what_a_watch_box_gives(city: Path, whole: CityFrames) -> None:
    found = frames(city)
    squares = found.neighbours == 0
    assert np.array_equal(found.sizes[:, squares], whole.sizes[:, squares])
    assert 0 < squares.sum() < len(squares)
    for row in range(0, SECONDS, 7):
        circles = circles_at(found, row)
        there = ~np.isnan(found.x[row])
        assert len(circles) == int(((found.lives[:, 0] <= row) & (row < found.lives[:, 1]) & ~squares).sum())
        inside = set()
        for x, y, reach, _ in circles:
            far = np.where(there, np.hypot(found.x[row] - x, found.y[row] - y), np.inf)
            inside |= set(np.argsort(far)[:10].tolist())
            np.testing.assert_allclose(reach, np.sort(far)[9])
        for x1, y1, x2, y2 in regions_at(found, row)[0]:
            within = (found.x[row] >= x1) & (found.x[row] <= x2) & (found.y[row] >= y1) & (found.y[row] <= y2)
            inside |= set(np.flatnonzero(within).tolist())
        assert set(members_at(found, row).tolist()) == inside


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


def data(text: str) -> dict[str, Any]:
    found = re.search(r"const city = (\{.*\});\n", text)
    assert found
    return dict(json.loads(found[1].replace("<\\/", "</")))


def test_the_page_holds_all_it_needs(whole: CityFrames) -> None:
    text = page(whole)
    assert "__CITY__" not in text
    assert not re.findall(r"https?:|<link|src=|@import|fetch\(|XMLHttpRequest", text)
    assert "prefers-color-scheme" in text
    city = data(text)
    x1, _, x2, _ = city["space"]
    packed = np.frombuffer(base64.b64decode(city["x"]), "<u2").reshape(whole.x.shape)
    there = ~np.isnan(whole.x)
    assert ((packed == 65535) == ~there).all()
    np.testing.assert_allclose(x1 + packed[there] / 65534 * (x2 - x1), whole.x[there], atol=(x2 - x1) / 65534)


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_script_draws_and_seeks(whole: CityFrames, tmp_path: Path) -> None:
    """The page's script in a stand-in for a browser: what it counts at moments that are sought to and fro."""
    script = page(whole).partition("<script>")[2].partition("</script>")[0]
    (tmp_path / "page.js").write_text(
        """
        const made = {};
        const element = () => ({ style: {}, dataset: {}, classList: {}, checked: true, value: "1", listeners: {},
          append() {}, setAttribute() {}, addEventListener(kind, f) { this.listeners[kind] = f; },
          getBoundingClientRect: () => ({ width: 800, height: 600, left: 0, top: 0 }),
          getContext: () => new Proxy({}, { get: () => () => 0, set: () => true }) });
        globalThis.document = { documentElement: element(), getElementById: id => made[id] ??= element(),
          createElement: element };
        globalThis.getComputedStyle = () => ({ getPropertyValue: () => "#000" });
        globalThis.matchMedia = () => ({ matches: false });
        globalThis.addEventListener = () => {};
        globalThis.devicePixelRatio = 1;
        """
        + script
        + """
        const told = [];
        for (const time of [0, 59, 30, 7, 59]) {
          made.seek.listeners.input({ target: { value: time } });
          told.push([made.clock.textContent, made.told.textContent, members.map(each => each.size)]);
        }
        console.log(JSON.stringify(told));
        """
    )
    done = subprocess.run(["node", str(tmp_path / "page.js")], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    for (clock, told, sizes), row in zip(json.loads(done.stdout), [0, 59, 30, 7, 59], strict=True):
        assert clock == f"0:{row:02d}"
        assert told.startswith(f"{(~np.isnan(whole.x[row])).sum()} of 80 objects, 12 of 12 queries")
        assert told.endswith(f", {whole.sizes[row].sum():,} in their answers")
        assert sizes == whole.sizes[row].tolist()


def test_the_command_draws(city: Path, answers: Path) -> None:
    result = CliRunner().invoke(app, ["moving", "show", str(city), "--answers", str(answers), "--at", "10"])
    assert result.exit_code == 0, result.output
    assert result.stdout.split() == [str(city / "show" / name) for name in ("index.html", "roads.png", "moment.png")]
    for name in ("roads.png", "moment.png"):
        png = (city / "show" / name).read_bytes()
        assert png.startswith(b"\x89PNG")
        width, height = struct.unpack(">II", png[16:24])
        assert min(width, height) > 800


def test_what_cannot_be_drawn_is_told(city: Path, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="is no simulated city"):
        frames(tmp_path)
    with pytest.raises(RunError, match="--at 99: the city was simulated for 60 seconds"):
        show(city, tmp_path / "show", at=99)
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot be written"):
        show(city, tmp_path / "file")
    simulate(tmp_path / "empty", City(0, 3), layout(lines=9))
    with pytest.raises(RunError, match="there is no object to show"):
        frames(tmp_path / "empty")
