"""Pictures of traffic: what they show is what an oracle counts, and a page holds them."""

import base64
import re
import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import ipc

from australis.apps.linear_road.feed import feed
from australis.apps.linear_road.record import INPUT
from australis.apps.linear_road.show import show
from australis.apps.linear_road.survey import survey
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


def stopped(vid: int, since: int, until: int, pos: int, **at: int) -> list[Row]:
    return [report(time, vid, pos, 0, **at) for time in range(since, until, 30)]


@pytest.mark.slow
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


@pytest.mark.slow
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
