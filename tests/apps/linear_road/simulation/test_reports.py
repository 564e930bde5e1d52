"""Reports of a simulated road."""

from collections import Counter

import numpy as np

from australis.apps.linear_road.record import BALANCE, EAST, EXPENDITURE, INPUT, REPORT, TRAVEL, WEST
from australis.apps.linear_road.simulation.ramps import idle
from australis.apps.linear_road.simulation.reports import batch, position, report, rows
from australis.apps.linear_road.simulation.road import DRIVING, MPH, Road, road

FEET = 100 * 5280


def driven(count: int) -> Road:
    """Vehicles that drive in lane 1, each of which reports in the second of its number."""
    here = road(1, 0, slots=count)
    here.state[:], here.lane[:], here.vid[:] = DRIVING, 1, np.arange(count) + 100
    here.phase[:], here.place[:], here.speed[:] = np.arange(count) % 30, 5280.0 * 2 + 0.9, 49.6 * MPH
    here.way[1::2] = WEST
    return here


def test_positions_count_from_the_west() -> None:
    here = driven(2)
    here.place[:] = 0.0
    assert (position(here, 0), position(here, 1)) == (0, FEET - 1)
    assert (here.way[0], here.way[1]) == (EAST, WEST)


def test_each_vehicle_reports_in_its_second() -> None:
    here, out, totals = driven(30), rows(60), np.zeros(5, np.int64)
    for now in range(60, 62):
        report(here, idle(), out, totals, now, 7, 9)
    made = [row for row in batch(out).to_pylist() if row["type"] == REPORT]
    assert [(row["time"], row["vid"], row["dir"], row["seg"], row["pos"]) for row in made] == [
        (60, 100, EAST, 2, 10560), (61, 101, WEST, 97, FEET - 1 - 10560),
    ]  # fmt: skip
    assert {(row["spd"], row["xway"], row["lane"]) for row in made} == {(50, 7, 1)}
    assert totals[REPORT] == 2


def test_requests_are_within_their_bounds_and_numbered() -> None:
    here, out, totals = driven(30_000), rows(40_000), np.zeros(5, np.int64)
    for now in range(30):
        report(here, idle(), out, totals, now, 0, 3)
    made = batch(out)
    assert made.schema == INPUT
    requests = [row for row in made.to_pylist() if row["type"] != REPORT]
    assert [row["qid"] for row in requests] == list(range(len(requests)))
    assert Counter(row["type"] for row in requests) == {kind: totals[kind] for kind in (BALANCE, EXPENDITURE, TRAVEL)}
    assert {row["xway"] for row in requests if row["type"] == BALANCE} == {-1}
    assert {row["xway"] for row in requests if row["type"] != BALANCE} == {0, 1, 2}
    assert all(1 <= row["day"] <= 69 for row in requests if row["type"] == EXPENDITURE)
    for row in requests:
        if row["type"] == TRAVEL:
            assert row["sinit"] != row["send"]
            assert 0 <= min(row["sinit"], row["send"]) <= max(row["sinit"], row["send"]) < 100
            assert (1 <= row["dow"] <= 7, 1 <= row["tod"] <= 1440) == (True, True)
