"""Points and regions in the plane for the tests of kernels, and who lies in which, one by one."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from australis.boxes.moving.regions import CIRCLE, LAST, NEAREST, RECTANGLE, Points, Regions

Place = tuple[float, float] | None
Shape = tuple[float, ...]
"""West, east, south and north of a rectangle; or x, y and radius of a circle."""

LINE = st.integers(0, 6).map(float)
PLACES = st.lists(st.none() | st.tuples(LINE, LINE), min_size=1, max_size=12)
RECTANGLES = st.tuples(LINE, LINE, LINE, LINE).map(lambda s: (min(s[:2]), max(s[:2]), min(s[2:]), max(s[2:])))
SHAPES = st.lists(RECTANGLES | st.tuples(LINE, LINE, st.sampled_from([0.0, 1.0, 2.5])), min_size=1, max_size=5)


def points(places: Sequence[Place], masks: Sequence[int] | None = None) -> Points:
    """Objects that go by their slots; who has no place is nowhere."""
    x, y = ([math.nan if place is None else place[axis] for place in places] for axis in (0, 1))
    mask = np.zeros(len(places), np.int64) if masks is None else np.array(masks, np.int64)
    return Points(np.array(x, float), np.array(y, float), mask, np.arange(len(places)))


def regions(shapes: Sequence[Shape], need: int = 0) -> Regions:
    """The regions of queries; a circle has bounds that are as large as it."""
    circles = [len(shape) == 3 for shape in shapes]
    bounds = [(s[0] - s[2], s[0] + s[2], s[1] - s[2], s[1] + s[2]) if len(s) == 3 else s for s in shapes]
    west, east, south, north = np.array(bounds, float).reshape(-1, 4).T.copy()
    size = len(shapes)
    x = np.array([s[0] if len(s) == 3 else (s[0] + s[1]) / 2 for s in shapes], float)
    y = np.array([s[1] if len(s) == 3 else (s[2] + s[3]) / 2 for s in shapes], float)
    limit = np.array([s[2] if len(s) == 3 else 0.0 for s in shapes], float)
    kind = np.where(circles, CIRCLE, RECTANGLE).astype(np.int8)
    return Regions(
        kind, west, east, south, north, x, y, limit, np.full(size, LAST), np.full(size, need),
        np.zeros(size + 1, np.int64), np.empty((0, 4)), False,
    )  # fmt: skip


def nearest(centres: Sequence[tuple[float, float]]) -> Regions:
    """The regions of kNN queries, before they have reached anybody."""
    made = regions([(x, y, 0.0) for x, y in centres])
    return made._replace(kind=np.full(len(centres), NEAREST, np.int8))


def inside(shape: Shape, place: Place) -> bool:
    if place is None:
        return False
    if len(shape) == 3:
        return math.hypot(place[0] - shape[0], place[1] - shape[1]) <= shape[2]
    return shape[0] <= place[0] <= shape[1] and shape[2] <= place[1] <= shape[3]


def pairs(queries: Any, objects: Any) -> set[tuple[int, int]]:
    """Slots of queries and objects as pairs, none of which may be told twice."""
    told = list(zip(queries.tolist(), objects.tolist(), strict=True))
    assert len(told) == len(set(told))
    return set(told)
