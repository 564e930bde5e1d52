"""A load of moving objects and queries."""

from itertools import pairwise

import numpy as np
import pytest

from australis.bench.moving_load import Load, corners, run_box
from australis.boxes.moving import Watch

LOAD = Load(objects=200, queries=100, nearest=7, smallest=1e-3, largest=1e-2, speed=0.2)


def test_objects_stay_in_the_space_and_within_their_speed() -> None:
    ticks = [np.stack([tick["x"].to_numpy(), tick["y"].to_numpy()]) for tick in LOAD.ticks(20)]
    assert all(((tick >= 0) & (tick <= 1)).all() for tick in ticks)
    for before, after in pairwise(ticks):
        assert np.hypot(*(after - before)).max() <= LOAD.speed + 1e-12
    assert [tick["time"][0].as_py() for tick in LOAD.ticks(3)] == [0, 1, 2]


def test_a_seed_says_all() -> None:
    again, other = (list(Load(objects=9, queries=3, seed=seed).ticks(2)) for seed in (1, 2))
    assert again == list(Load(objects=9, queries=3).ticks(2)) != other


def test_queries_have_their_sizes_and_the_nearest_come_last() -> None:
    rows = LOAD.query_rows()
    assert rows["kind"].to_pylist() == ["rectangle"] * 100 + ["knn"] * 7
    sizes = rows["width"].to_numpy() ** 2
    assert (sizes >= 1e-3 * (1 - 1e-9)).all()
    assert (sizes <= 1e-2 * (1 + 1e-9)).all()


@pytest.mark.parametrize("moving", [0.0, 0.5, 1.0])
def test_corners_lie_around_the_focal_objects(moving: float) -> None:
    load = Load(objects=20, queries=30, nearest=4, moving=moving)
    (tick,) = load.ticks(1)
    sides = corners(load.query_rows(), tick)
    assert all(len(side) == 30 for side in sides)
    for query, (west, south, east, north) in zip(load.query_rows().to_pylist(), zip(*sides, strict=True), strict=False):
        x, y = query["x"], query["y"]
        if query["focal"] is not None:
            x, y = tick["x"][query["focal"]].as_py(), tick["y"][query["focal"]].as_py()
        assert ((west + east) / 2, (south + north) / 2) == pytest.approx((x, y))
        assert (east - west, north - south) == pytest.approx((query["width"],) * 2)


def test_a_box_runs_over_all_ticks() -> None:
    """What squares contain at the last tick is what updates add up to."""
    load = Load(objects=60, queries=20)
    total = sum(int(updates["sign"].to_numpy().sum()) for _, _, updates in run_box(Watch(every="train"), load, 3))
    *_, tick = load.ticks(3)
    x, y = tick["x"].to_numpy(), tick["y"].to_numpy()
    west, south, east, north = (side[:, None] for side in corners(load.query_rows(), tick))
    assert total == np.count_nonzero((west <= x) & (x <= east) & (south <= y) & (y <= north)) > 0
