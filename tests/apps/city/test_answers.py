"""Answers from a watch box."""

from pathlib import Path

import numpy as np

from australis.apps.city.frames import CityFrames, frames
from australis.apps.city.picture import circles_at, members_at, regions_at
from tests.apps.city.simulated import SECONDS


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
