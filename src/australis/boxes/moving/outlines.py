"""Outlines: polygons as people write them, made into edges that a kernel can go along."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from australis.arrow.columns import Values
from australis.boxes.moving.regions import Floats
from australis.model.train import Bools, Ints

_EDGE = 4 * 8


def outlines(texts: Values, wanted: Bools) -> tuple[Values, Bools]:
    """The edges (x1, y1, x2, y2) of polygons in WKT, as bytes, and whether a polygon could be read where one is wanted.

    Polygons with holes and several parts are one outline: who crosses an odd number of its edges comes from inside.
    """
    contents = np.full(len(texts), b"", object)
    if not wanted.any():
        return contents, ~wanted
    import shapely  # type: ignore[import-untyped]

    shapes = shapely.from_wkt(np.where(wanted, texts, np.array(None, object)), on_invalid="ignore")
    area = np.isin(shapely.get_type_id(shapes), (3, 6))
    good = area & shapely.is_valid(shapes) & ~shapely.is_empty(shapes)
    parts, whose = shapely.get_parts(shapes[good], return_index=True)
    rings, part = shapely.get_rings(parts, return_index=True)
    points, ring = shapely.get_coordinates(rings, return_index=True)
    along = np.flatnonzero(ring[1:] == ring[:-1])
    edges = np.column_stack([points[along], points[along + 1]])
    ends = np.searchsorted(whose[part[ring[along]]], np.arange(np.count_nonzero(good) + 1))
    content = edges.tobytes()
    contents[good] = [content[start * _EDGE : end * _EDGE] for start, end in pairwise(ends)]
    return contents, good | ~wanted


def edges_of(kept: Values) -> tuple[Ints, Floats]:
    """Where the edges of each outline begin, one longer than the outlines, and all edges."""
    content = [outline or b"" for outline in kept]
    starts = np.zeros(len(content) + 1, np.int64)
    np.cumsum([len(outline) // _EDGE for outline in content], out=starts[1:])
    return starts, np.frombuffer(b"".join(content), np.float64).reshape(-1, 4)
