"""What the reports of an expressway add up to, beside an oracle."""

from collections import Counter, defaultdict
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from australis.apps.linear_road.feed import feed
from australis.apps.linear_road.survey import SeenAccident, survey
from tests.apps.linear_road.test_show import Row, crowd, report, stopped, written


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


@pytest.mark.slow
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
