"""Spread: what it says of speeds and entries is what an oracle says, one report at a time."""

import math
from pathlib import Path
from statistics import pstdev

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import ipc

from australis.apps.linear_road.feed import feed
from australis.apps.linear_road.record import INPUT
from australis.apps.linear_road.speed_spread import SpeedSpread, spread
from australis.apps.linear_road.survey import survey

Report = tuple[int, int, int, int, int]
"""Time, vehicle, speed, lane and segment."""


def spread_of(folder: Path, reports: list[Report]) -> SpeedSpread:
    """Of reports of eastbound vehicles."""
    rows = [
        {"type": 0, "time": time, "vid": vid, "spd": spd, "xway": 0, "lane": lane, "dir": 0, "seg": seg}
        | {"pos": seg * 5280}
        for time, vid, spd, lane, seg in sorted(reports)
    ]
    columns = [pa.array([row.get(column.name, -1) for row in rows], column.type) for column in INPUT]
    with ipc.new_file(folder / "one.arrow", INPUT) as file:
        file.write_batch(pa.record_batch(columns, schema=INPUT))
    return spread(survey(feed(folder / "one.arrow")))


def test_it_is_that_of_the_first_five_minutes(tmp_path: Path) -> None:
    chance = np.random.default_rng(3)
    draws = chance.integers([0, 20, 0, 0], [600, 76, 4, 100], (2000, 4)).tolist()
    reports = [(time, vid, spd, lane, seg) for vid, (time, spd, lane, seg) in enumerate(draws)]
    found = spread_of(tmp_path, reports)
    early = [report for report in reports if report[0] < 300]
    for lane in range(4):
        assert found.deviations[lane] == pytest.approx(pstdev(spd for _, _, spd, at, _ in early if at == lane))
    assert math.isnan(found.deviations[4])
    travel = [spd for _, _, spd, lane, _ in early if lane > 0]
    assert found.slow == pytest.approx(sum(spd < 40 for spd in travel) / len(travel))
    assert found.fast == pytest.approx(sum(spd >= 70 for spd in travel) / len(travel))
    tens = [sum(seg // 10 == ten for *_, seg in reports) / 200 for ten in range(10)]
    assert found.entries == pytest.approx(tens)


def test_a_trip_enters_once_and_ramps_are_neither_slow_nor_fast(tmp_path: Path) -> None:
    trip = [(0, 1, 20, 0, 9), (30, 1, 39, 1, 9), (60, 1, 40, 1, 10), (90, 1, 69, 1, 10), (120, 1, 70, 1, 11)]
    found = spread_of(tmp_path, trip)
    assert found.entries == (10.0, *[0.0] * 9)
    assert (found.slow, found.fast) == (0.25, 0.25)
    assert found.deviations[0] == 0.0
