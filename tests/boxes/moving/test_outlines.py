"""Outlines: polygons as people write them, and their edges."""

import numpy as np
import pytest

from australis.boxes.moving.outlines import edges_of, outlines

SQUARE = "POLYGON ((0 0, 2 0, 2 2, 0 2, 0 0))"
HOLED = "POLYGON ((0 0, 9 0, 0 9, 0 0), (1 1, 2 1, 1 2, 1 1))"
PARTS = "MULTIPOLYGON (((0 0, 1 0, 0 1, 0 0)), ((5 5, 6 5, 5 6, 5 5)))"


def read(*texts: str | None, wanted: list[bool] | None = None) -> tuple[list[int], list[list[float]], list[bool]]:
    """How many edges each polygon has, all edges, and which could be read."""
    asked = np.array([True] * len(texts) if wanted is None else wanted, bool)
    kept, fine = outlines(np.array([*texts, None], object)[:-1], asked)
    starts, edges = edges_of(kept)
    return np.diff(starts).tolist(), edges.tolist(), fine.tolist()


def test_edges_go_around() -> None:
    counts, edges, fine = read(SQUARE)
    assert edges == [[0, 0, 2, 0], [2, 0, 2, 2], [2, 2, 0, 2], [0, 2, 0, 0]]
    assert (counts, fine) == ([4], [True])


def test_holes_and_parts_are_one_outline() -> None:
    counts, edges, _ = read(PARTS, SQUARE, HOLED)
    assert counts == [6, 4, 6]
    assert edges[3] == [5, 5, 6, 5]
    assert edges[13] == [1, 1, 2, 1]


@pytest.mark.parametrize(
    "text", [None, "", "POLYGON EMPTY", "POINT (0 0)", "POLYGON ((0 0", "POLYGON ((0 0, 2 2, 2 0, 0 2, 0 0))"]
)
def test_what_is_no_polygon_is_refused_alone(text: str | None) -> None:
    assert read(text, SQUARE)[::2] == ([0, 4], [False, True])
    assert read(text, SQUARE, wanted=[False, True])[::2] == ([0, 4], [True, True])


def test_where_none_is_wanted_none_is_read() -> None:
    assert read(SQUARE, None, wanted=[False, False]) == ([0, 0], [], [True, True])
    assert read() == ([], [], [])
