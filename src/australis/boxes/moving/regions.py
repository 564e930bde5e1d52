"""Regions: the spatial area that each query covers, and which points lie in it (SOLE 3.2)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from australis.kernels.jit import inner
from australis.model.train import Ints

Floats = npt.NDArray[np.float64]

RECTANGLE, CIRCLE, POLYGON, NEAREST = range(4)
KINDS = ("rectangle", "circle", "polygon", "knn")
"""The kinds of queries as people write them, by their numbers."""

LAST = np.iinfo(np.int64).max
EARTH = 6_371_008.8
"""The earth's mean radius in metres."""
_HALF = 180.0
"""The longitude of the antimeridian, in degrees; bounds that go on beyond it reach over it."""
_PAD = 1e-9
_LEAST, _MOST = 1e-270, 1e300
"""Squares between which a length is their root; beyond, they may have lost digits."""


class Regions(NamedTuple):
    """The regions of queries, by slot. One without a place has bounds that nothing lies between.

    `limit` and `tie` bound a circle: a point belongs to it if its distance, as `apart` tells it, is below the limit, or
    equal to it and the object's identifier is no larger than the tie. So a circle can end at any one of several objects
    that are equally far, as that of a kNN query does. `need` holds the bit of the query's condition.
    """

    kind: npt.NDArray[np.int8]
    west: Floats
    east: Floats
    south: Floats
    north: Floats
    x: Floats
    y: Floats
    limit: Floats
    tie: Ints
    need: Ints
    starts: Ints
    """Where the edges of each polygon begin; one longer than the others."""
    edges: Floats
    """From x, y to x, y."""
    earth: bool


class Points(NamedTuple):
    """Where objects are, by slot, and the bits of the conditions that they satisfy; one that is nowhere has no x."""

    x: Floats
    y: Floats
    mask: Ints
    id: Ints


@inner
def apart(x: float, y: float, u: float, v: float, earth: bool) -> float:
    """A measure of distance that grows with it: itself in the plane, the haversine on the earth."""
    if not earth:
        return length(x - u, y - v)
    north = math.sin(math.radians(y - v) / 2)
    east = math.sin(math.radians(x - u) / 2)
    haversine = north * north + math.cos(math.radians(y)) * math.cos(math.radians(v)) * east * east
    return min(haversine, 1.0)  # what is opposite may come out a digit beyond


@inner
def length(wide: float, high: float) -> float:
    """How long a way is, whose square may be too large for a number, or too small."""
    square = wide * wide + high * high
    if _LEAST < square < _MOST:
        return math.sqrt(square)
    most = max(abs(wide), abs(high))
    if most == 0 or math.isinf(most):
        return most
    # By a power of two, which leaves all digits as they are.
    scale = 2.0**600 if most < 1 else 2.0**-600
    wide, high = wide * scale, high * scale
    return math.sqrt(wide * wide + high * high) / scale


@inner
def measured(radius: float, earth: bool) -> float:
    """The measure of a distance."""
    if not earth:
        return radius
    return math.sin(min(radius / EARTH / 2, math.pi / 2)) ** 2


@inner
def distance(measure: float, earth: bool) -> float:
    """The distance of a measure."""
    if not earth:
        return measure
    return 2 * EARTH * math.asin(math.sqrt(min(measure, 1.0)))


@inner
def reach(x: float, y: float, radius: float, earth: bool) -> tuple[float, float, float, float]:
    """Bounds of a circle, a little wide, so that rounding leaves no point of it outside."""
    if math.isinf(radius) or (earth and abs(y) > 90):  # beyond a pole, where an object may lead a query
        return -math.inf, math.inf, -math.inf, math.inf
    if not earth:
        wide, high = radius + _PAD * (radius + abs(x)), radius + _PAD * (radius + abs(y))
        return x - wide, x + wide, y - high, y + high
    angle = radius / EARTH * (1 + _PAD) + _PAD * _PAD
    south, north = y - math.degrees(angle) - _PAD, y + math.degrees(angle) + _PAD
    if south <= -90 or north >= 90:  # a pole lies in it, and with it every meridian
        return -math.inf, math.inf, south, north
    turn = math.degrees(math.asin(min(1.0, math.sin(angle) / math.cos(math.radians(y))))) + _PAD
    if x - turn < -180 or x + turn > 180:
        return -math.inf, math.inf, south, north
    return x - turn, x + turn, south, north


@inner
def contains(regions: Regions, query: int, x: float, y: float, mask: int, identifier: int) -> bool:
    """Whether a point lies in a region, its edge included, and satisfies the query's condition."""
    if regions.earth:
        x = turned(regions.west[query], regions.east[query], x)
    if not (regions.west[query] <= x <= regions.east[query] and regions.south[query] <= y <= regions.north[query]):
        return False
    if regions.need[query] & ~mask:
        return False
    kind = regions.kind[query]
    if kind == RECTANGLE:
        return True
    if kind == POLYGON:
        return _enclosed(regions, query, x - regions.x[query], y - regions.y[query])
    far = apart(x, y, regions.x[query], regions.y[query], regions.earth)
    limit = regions.limit[query]
    return bool(far < limit or (far == limit and identifier <= regions.tie[query]))


@inner
def turned(west: float, east: float, x: float) -> float:
    """A longitude as it is told from the other side of the antimeridian, where bounds reach over it."""
    if x < west and east >= _HALF:
        return x + 2 * _HALF
    return x - 2 * _HALF if x > east and west <= -_HALF else x


@inner
def wraps(regions: Regions, query: int) -> bool:
    """Whether a region reaches over the antimeridian."""
    return bool(regions.earth and (regions.west[query] <= -_HALF or regions.east[query] >= _HALF))


@inner
def covers(regions: Regions, query: int, west: float, east: float, south: float, north: float) -> bool:
    """Whether all points between bounds surely lie in a region; conditions aside."""
    if not (regions.west[query] <= west and east <= regions.east[query]):
        return False
    if not (regions.south[query] <= south and north <= regions.north[query]):
        return False
    kind = regions.kind[query]
    if kind == RECTANGLE:
        return True
    if kind == POLYGON or regions.earth:
        return False
    wide = max(regions.x[query] - west, east - regions.x[query])
    high = max(regions.y[query] - south, north - regions.y[query])
    return bool(length(wide, high) * (1 + _PAD) < regions.limit[query])


@inner
def _enclosed(regions: Regions, query: int, x: float, y: float) -> bool:
    """Whether a point lies on an edge of a polygon, or crosses an odd number of them on its way out."""
    inside = False
    for edge in range(regions.starts[query], regions.starts[query + 1]):
        x1, y1, x2, y2 = regions.edges[edge, 0], regions.edges[edge, 1], regions.edges[edge, 2], regions.edges[edge, 3]
        side = (x2 - x1) * (y - y1) - (x - x1) * (y2 - y1)
        if side == 0 or not math.isfinite(side):  # products may be too large for a number, or too small
            along, across = _scale(x2 - x1, y2 - y1), _scale(x - x1, y - y1)
            side = (x2 - x1) * along * ((y - y1) * across) - (x - x1) * across * ((y2 - y1) * along)
        if side == 0 and min(x1, x2) <= x <= max(x1, x2) and min(y1, y2) <= y <= max(y1, y2):
            return True
        if (y1 <= y) != (y2 <= y) and (side > 0) == (y2 > y1):
            inside = not inside
    return inside


@inner
def _scale(wide: float, high: float) -> float:
    """A power of two that brings the larger of two numbers near 1."""
    most = max(abs(wide), abs(high))
    if most == 0 or not math.isfinite(most):
        return 1.0
    return math.ldexp(1.0, min(max(-math.frexp(most)[1], -1000), 1000))
