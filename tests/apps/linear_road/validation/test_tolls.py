"""Tolls: what vehicles are told on entering a segment, and charged on leaving it."""

from pathlib import Path

import numpy as np
import pytest

from australis.apps.linear_road.feed import feed
from australis.apps.linear_road.validation.reports import read
from australis.apps.linear_road.validation.tolls import toll, tolls
from tests.oracles.linear_road import report, write


@pytest.mark.parametrize(
    ("lav", "cars", "amount"),
    [
        (39, 51, 2),
        (40, 51, 0),
        (39, 50, 0),
        (-1, 51, 2),
        (39.5, 52.5, 12.5),
        (np.nan, 99, 0),
        (0, 250_050, 125 * 10**9),
    ],
)
def test_many_slow_cars_cost(lav: float, cars: float, amount: float) -> None:
    assert toll(np.array([lav]), np.array([cars])).tolist() == [amount]


@pytest.mark.parametrize(("exits", "charged"), [(False, [(1, 120, 2)]), (True, [])])
def test_what_was_told_is_charged_on_leaving_but_not_by_the_ramp(
    exits: bool, charged: list[tuple[int, ...]], tmp_path: Path
) -> None:
    crowd = [report(car % 30, 1000 + car, 5, spd=30) for car in range(51)]
    trip = [report(60, 1, 5), report(90, 1, 5, lane=4 if exits else 1), report(120, 1, 6)]
    file = write(tmp_path / "feed.arrow", crowd + trip)
    found = tolls(read(feed(file), file)[0], file)
    mine = [row for row in zip(*(each.tolist() for each in found.notified), strict=True) if row[0] == 1]
    assert mine == [(1, 60, 30, 2), (1, 120, -1, 0)]
    assert list(zip(*(each.tolist() for each in found.charged), strict=True)) == charged
    assert [len(each) for each in found.alerted] == [0, 0, 0]
