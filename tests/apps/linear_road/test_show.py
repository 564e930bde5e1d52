"""Pictures of traffic: what they show is what an oracle counts, and a page holds them."""

import base64
import re
import struct
from collections import Counter, defaultdict
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyarrow import ipc

from australis.apps.linear_road.feed import feed
from australis.apps.linear_road.half_minute import half_minutes
from australis.apps.linear_road.record import INPUT
from australis.apps.linear_road.show import show
from australis.apps.linear_road.survey import SeenAccident, survey
from australis.errors import RunError

Row = dict[str, int]
NAMES = (
    "speeds-east", "speeds-west", "tolls-east", "tolls-west", "reports", "vehicles", "lanes", "histogram", "entries",
    "index",
)  # fmt: skip


def report(time: int, vid: int, pos: int, spd: int = 50, lane: int = 1, dir: int = 0, xway: int = 0) -> Row:
    where = {"xway": xway, "lane": lane, "dir": dir, "seg": pos // 5280, "pos": pos}
    return {"type": 0, "time": time, "vid": vid, "spd": spd} | where


def written(folder: Path, rows: list[Row], name: str = "one.arrow") -> Path:
    rows = sorted(rows, key=lambda row: row["time"])
    columns = [pa.array([row.get(column.name, -1) for row in rows], column.type) for column in INPUT]
    with ipc.new_file(folder / name, INPUT) as file:
        file.write_batch(pa.record_batch(columns, schema=INPUT))
    return folder / name


def crowd(seed: int, cars: int, seconds: int = 480) -> list[Row]:
    """Slow cars in two segments; some stop, leave by the ramp, come back later or change to another road."""
    chance = np.random.default_rng(seed)
    rows = []
    for vid in range(cars):
        time, pos = int(chance.integers(0, 200)), int(chance.integers(0, 2 * 5280))
        dir, spd, lane = int(chance.integers(0, 2)), int(chance.integers(15, 60)), int(chance.integers(0, 4))
        while time < seconds:
            rows.append(report(time, vid, pos, spd, lane, dir, xway=int(chance.random() < 0.02)))
            if chance.random() < 0.1:
                asked = {"sinit": 1, "send": 2, "dow": 1, "tod": 1, "day": 1}
                rows.append({"type": int(chance.choice([2, 3, 4])), "time": time, "vid": vid, "qid": len(rows)} | asked)
            event = chance.random()
            time += 30 if event > 0.05 else int(chance.choice([40, 90]))
            spd = int(np.clip(spd + chance.integers(-6, 8), 0, 99))
            pos = pos if event < 0.3 else int(np.clip(pos + (1 - 2 * dir) * spd * 3, 0, 527_999))
            lane = 4 if event > 0.95 else lane
    return rows


def tolls(rows: list[Row]) -> dict[tuple[int, int, int], int]:
    """Tolls by table 2, without accidents, one segment at a time."""
    cars: dict[tuple[int, int, int], dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        cars[row["time"] // 60, row["dir"], row["seg"]][row["vid"]].append(row["spd"])
    found = {}
    for minute, dir, seg in {(m + 1, d, s) for m, d, s in cars}:
        before = [
            mean(map(mean, cars[m, dir, seg].values())) for m in range(minute - 5, minute) if (m, dir, seg) in cars
        ]
        count = len(cars[minute - 1, dir, seg])
        if int(mean(before)) < 40 and count > 50:
            found[minute, dir, seg] = 2 * (count - 50) ** 2
    return found


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.integers(1, 400))
@example(1, 400)
def test_a_survey_counts_what_an_oracle_counts(seed: int, cars: int) -> None:
    rows = [report(0, cars, 0, 30), *crowd(seed, cars)]
    with TemporaryDirectory() as folder:
        found = survey(feed(written(Path(folder), rows)))
    mine = [row for row in rows if row["type"] == 0 and row["xway"] == 0]
    before = {(row["vid"], row["time"] + 30): row for row in mine}
    first = [row for row in mine if (row["vid"], row["time"]) not in before]
    crossed = [row for row in mine if row in first or before[row["vid"], row["time"]]["seg"] != row["seg"]]
    start = {row["vid"]: row["time"] for row in sorted(first, key=lambda row: row["time"], reverse=True)}
    asked = Counter(
        row["type"] for row in rows if row["type"] and start.get(row["vid"], 10_000) // 30 <= row["time"] // 30
    )
    assert found.totals["reports"] == len(mine)
    assert found.totals["vehicles"] == len({row["vid"] for row in mine})
    assert found.totals["notifications"] == sum(row["lane"] != 4 for row in crossed)
    assert [found.totals[name] for name in ("balance", "expenditure", "travel")] == [asked[type] for type in (2, 3, 4)]
    spell, second, lane = (Counter(map(key, mine)) for key in (
        lambda row: row["time"] // 30, lambda row: row["time"], lambda row: (row["lane"], row["spd"])))  # fmt: skip
    assert found.road.tolist() == [spell[number] for number in range(len(found.road))]
    assert found.reports.tolist() == [second[number] for number in range(len(found.reports))]
    assert {(int(a), int(b)): int(found.lanes[a, b]) for a, b in np.argwhere(found.lanes)} == dict(lane)
    early = Counter((row["lane"], row["spd"]) for row in mine if row["time"] < 300)
    assert {(int(a), int(b)): int(found.early[a, b]) for a, b in np.argwhere(found.early)} == dict(early)
    assert found.entries.sum() == len(first)
    begun = Counter((row["dir"], row["seg"]) for row in first)
    assert {(int(a), int(b)): int(found.begun[a, b]) for a, b in np.argwhere(found.begun)} == dict(begun)
    parts: Counter[tuple[int, int, int]] = Counter()
    for row in mine:
        if 0 < row["lane"] < 4:
            parts[row["time"] // 30, row["dir"], row["pos"] // 1320] += row["spd"]
    assert {tuple(map(int, at)): int(found.speeds[tuple(at)]) for at in np.argwhere(found.speeds)} == {
        at: sum_ for at, sum_ in parts.items() if sum_
    }
    if not found.accidents:
        charged = {at: toll for at, toll in tolls(mine).items() if at[0] < len(found.tolls)}
        assert {tuple(map(int, at)): int(found.tolls[tuple(at)]) for at in np.argwhere(found.tolls)} == charged


def test_a_crowd_that_crawls_is_charged(tmp_path: Path) -> None:
    rows = [report(t + vid % 30, vid, 5280 + 50 * vid + t, spd=20) for t in range(0, 300, 30) for vid in range(60)]
    found = survey(feed(written(tmp_path, rows)))
    assert found.tolls[:, 0, 1].tolist() == [0, 200, 200, 200, 200]
    assert found.tolls.sum() == 800


def stopped(vid: int, since: int, until: int, pos: int, **at: int) -> list[Row]:
    return [report(time, vid, pos, 0, **at) for time in range(since, until, 30)]


def test_two_vehicles_that_stand_are_an_accident(tmp_path: Path) -> None:
    mile = 5280
    rows = [
        *stopped(1, 0, 300, 40 * mile + 7, dir=1),
        *stopped(2, 35, 300, 40 * mile + 7, dir=1),
        *stopped(3, 0, 300, 60 * mile, dir=1),  # alone
        *(row for vid in (4, 5) for row in stopped(vid, 0, 300, 70 * mile, lane=4)),  # on a ramp
        *(row for vid in (6, 7) for row in stopped(vid, 0, 90, 80 * mile)),  # three reports
        *(report(240, vid, seg * mile, dir=1) for vid, seg in ((10, 39), (11, 40), (12, 44), (13, 45))),
        report(241, 14, 44 * mile, lane=4, dir=1),
        report(242, 15, 40 * mile, dir=0),
    ]
    found = survey(feed(written(tmp_path, rows)))
    assert found.accidents == (SeenAccident(dir=1, feet=40 * mile + 7, start=120, end=300),)
    assert found.totals["accidents"] == 1
    assert found.totals["alerts"] == 2, "of the segment itself and of the fourth before it"


def test_spells_have_no_gap(tmp_path: Path) -> None:
    file = written(tmp_path, [report(5, 1, 0), report(155, 1, 0), report(185, 1, 0)])
    found = list(half_minutes(feed(file), 0))
    assert [len(spell.vid) for spell in found] == [1, 0, 0, 0, 0, 1, 1]
    assert [spell.first.tolist() for spell in found if len(spell.vid)] == [[True], [True], [False]]
    assert found[-1].still.tolist() == [2]


def test_pictures_are_written_and_the_page_holds_them(tmp_path: Path) -> None:
    road = tmp_path / "road"
    road.mkdir()
    rows = crowd(1, 300) + [row for vid in (900, 901) for row in stopped(vid, 0, 480, 9000)]
    written(road, rows)
    told: list[int] = []
    files = show(feed(road), tmp_path / "out", on_progress=told.append)
    assert told == list(range(30, 481, 30))
    assert [file.stem for file in files] == list(NAMES)
    page = files[-1].read_text()
    for file in files[:-1]:
        png = file.read_bytes()
        assert png.startswith(b"\x89PNG")
        width, height = struct.unpack(">II", png[16:24])
        assert width == 1320
        assert 300 < height < 800
        assert f'<figure id="{file.stem}">' in page
        assert base64.b64encode(png).decode() in page
    assert not re.search(r'(src|href)="(?!data:)', page), "the page needs no other file"
    assert "<p>Expressway 0, 8 minutes, from one.arrow</p>" in page
    assert "<td>12,000,000</td>" in page
    assert re.search(r"deviation of speeds in lane 2 \(mph\)</th><td>[\d.]+</td><td>12.5</td>", page)
    assert re.search(r"below 40 mph in travel lanes</th><td>[\d.]+%</td><td>13.0%</td>", page)
    assert "with the fewest, beside the mean of ten</th><td>0%</td><td>100%</td>" in page
    assert f"<td>{survey(feed(road)).totals['vehicles']:,}</td><td>150,000</td>" in page


def test_an_expressway_is_chosen(tmp_path: Path) -> None:
    for xway in (4, 6):
        written(tmp_path, [report(9, xway * 10, 0, xway=xway)] * xway, f"xway-{xway}.arrow")
    assert survey(feed(tmp_path)).totals["reports"] == 4
    assert survey(feed(tmp_path), 6).totals["reports"] == 6
    with pytest.raises(RunError, match="no file is of expressway 5; they are of 4, 6"):
        survey(feed(tmp_path), 5)


def test_mistakes_are_told(tmp_path: Path) -> None:
    asked = feed(written(tmp_path, [{"type": 2, "time": 3, "vid": 1, "qid": 1}]))
    with pytest.raises(RunError, match="no position report in the input"):
        show(asked, tmp_path / "out")
    driven = feed(written(tmp_path, [report(0, 1, 0)]))
    with pytest.raises(RunError, match="no vehicle reports from expressway 3"):
        show(driven, tmp_path / "out", xway=3)
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match="file: cannot be written"):
        show(driven, tmp_path / "file")
    assert not (tmp_path / "out").exists()
