"""Accidents, and the segments that are warned of them."""

from pathlib import Path

import numpy as np
import pytest

from australis.apps.linear_road.feed import feed
from australis.apps.linear_road.validation.accidents import accidents, nearest
from australis.apps.linear_road.validation.reports import read
from tests.oracles.linear_road import Row, report, write


def marks(folder: Path, rows: list[Row]) -> set[tuple[int, int]]:
    """The minutes and places that have an accident."""
    file = write(folder / "feed.arrow", rows)
    found = accidents(read(feed(file), file)[0])
    return set(zip(*(each.tolist() for each in np.nonzero(found)), strict=True))


def stopped(vid: int, since: int, count: int = 4, **where: int) -> list[Row]:
    return [report(since + 30 * at, vid, 5, spd=0, **where) for at in range(count)]


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (stopped(1, 0) + stopped(2, 0), {(2, 5)}),  # from 90 s to 119 s
        (stopped(1, 1) + stopped(2, 1), {(2, 5), (3, 5)}),  # up to 120 s
        (stopped(1, 0) + stopped(2, 29), {(2, 5)}),
        (stopped(1, 0) + stopped(2, 30), set()),
        (stopped(1, 0, 3) + stopped(2, 0), set()),
        (stopped(1, 0) + stopped(2, 0, feet=1), set()),
        (stopped(1, 0, lane=4) + stopped(2, 0, lane=4), set()),
        (stopped(1, 0, way=1) + stopped(2, 0, way=1), {(2, 105)}),
        (stopped(1, 0) + stopped(2, 0, xway=1), set()),
        ([], set()),
    ],
)
def test_two_that_stand_together_are_an_accident(rows: list[Row], found: set[tuple[int, int]], tmp_path: Path) -> None:
    assert marks(tmp_path, rows) == found


@pytest.mark.parametrize("way", [0, 1])
@pytest.mark.parametrize("crashes", [[0], [99], [50], [10, 12], []])
def test_the_nearest_within_four_segments_is_told_in_the_minute_after(way: int, crashes: list[int]) -> None:
    happened = np.zeros((3, 400), bool)
    happened[1, [200 + 100 * way + seg for seg in crashes]] = True  # on the second of two expressways
    found = nearest(happened).reshape(3, 2, 2, 100)
    step = -1 if way else 1
    for seg in range(100):
        ahead = [seg + step * far for far in range(5) if seg + step * far in crashes]
        assert found[2, 1, way, seg] == (ahead[0] if ahead else -1)
    found[2, 1, way] = -1
    assert (found == -1).all()
