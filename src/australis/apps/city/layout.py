"""Layout: an artificial city, dense in the middle, with arterials, a ring and radial highways (SOLE 7)."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from australis.apps.city.roads import CLASSES, Longs, Reals, Roads, roads

SIDE = 45_000.0
"""Metres: the 28 miles of the paper's map."""
_LINES = 61
_ARTERIAL = 6
"""Every sixth line of the grid is an arterial."""
_RING = 0.22
"""The ring's radius, as a fraction of the side."""
_RADIALS = 8
_ARC = 6
"""Pieces of the ring between two radials."""
_HIGHWAY, _ARTERY, _STREET, _LANE = range(len(CLASSES))
_GONE = 0.18
"""The fraction of minor roads that is left out."""


def layout(seed: int = 1, lines: int = _LINES, side: float = SIDE) -> Roads:
    """The roads of a city: a grid of `lines` by `lines` streets, closer in the middle, and highways over it."""
    rng = np.random.default_rng((seed, 1))
    x, y = _nodes(rng, lines, side)
    begins, ends, kind = _grid(rng, lines, x, y, side)
    far_x, far_y, more_begins, more_ends = _highways(side)
    more_begins, more_ends = more_begins + len(x), more_ends + len(x)
    # Every node of a highway has a ramp to the nearest crossing of the grid, an arterial's if one is near.
    _, exits = cKDTree(np.column_stack([x, y])).query(np.column_stack([far_x, far_y]))
    ramps = np.arange(len(far_x)) + len(x)
    begins = np.concatenate([begins, more_begins, ramps])
    ends = np.concatenate([ends, more_ends, exits])
    kind = np.concatenate([kind, np.full(len(more_begins), _HIGHWAY), np.full(len(ramps), _ARTERY)])
    both = np.concatenate([begins, ends]), np.concatenate([ends, begins])
    return roads(
        np.concatenate([x, far_x]), np.concatenate([y, far_y]), *both, np.concatenate([kind, kind]).astype(np.uint8)
    )


def _nodes(rng: np.random.Generator, lines: int, side: float) -> tuple[Reals, Reals]:
    """The crossings, not quite on straight lines."""
    t = np.linspace(-1.0, 1.0, lines)
    place = side / 2 * (1.0 + np.sinh(2.2 * t) / np.sinh(2.2))
    gap = np.gradient(place)
    x, y = (part.ravel() for part in np.meshgrid(place, place))
    loose_x, loose_y = (part.ravel() for part in np.meshgrid(gap, gap))
    inner = ((x > 0) & (x < side) & (y > 0) & (y < side)).astype(np.float64)
    x = x + inner * rng.uniform(-0.18, 0.18, len(x)) * loose_x
    y = y + inner * rng.uniform(-0.18, 0.18, len(y)) * loose_y
    return x, y


def _grid(rng: np.random.Generator, lines: int, x: Reals, y: Reals, side: float) -> tuple[Longs, Longs, Longs]:
    number = np.arange(lines * lines).reshape(lines, lines)
    begins = np.concatenate([number[:, :-1].ravel(), number[:-1].ravel()])
    ends = np.concatenate([number[:, 1:].ravel(), number[1:].ravel()])
    # The line that an edge lies on: its row, or its column.
    line = np.concatenate([np.repeat(np.arange(lines), lines - 1), np.tile(np.arange(lines), lines - 1)])
    middle = np.hypot((x[begins] + x[ends]) / 2 - side / 2, (y[begins] + y[ends]) / 2 - side / 2)
    inner, even = middle < _RING * side, line % 2 == 0
    kind = np.where(line % _ARTERIAL == 0, _ARTERY, np.where(even | ~inner, _STREET, _LANE))
    # The lines lie close together all along the axes of the city; outside the ring fewer of them are built.
    left_out = np.where(inner, _GONE, np.where(even, 2 * _GONE, 5 * _GONE))
    built = (kind == _ARTERY) | (rng.random(len(kind)) > left_out)
    return begins[built], ends[built], kind[built]


def _highways(side: float) -> tuple[Reals, Reals, Longs, Longs]:
    """The nodes of the ring and of the radials outward and inward from it, and the edges between them."""
    around = _RADIALS * _ARC
    angle = 2 * np.pi * (np.arange(around) / around + 0.5 / _RADIALS)
    radius = np.full(around, _RING * side)
    begins, ends = [np.arange(around)], [(np.arange(around) + 1) % around]
    angles, radii, count = [angle], [radius], around
    for radial in range(_RADIALS):
        way = angle[radial * _ARC]
        border = side / 2 / max(abs(np.cos(way)), abs(np.sin(way)))
        for end, pieces in ((0.25 * _RING * side, 4), (border, 7)):
            there = np.linspace(_RING * side, end, pieces + 1)[1:]
            nodes = np.arange(count, count + pieces)
            begins.append(np.concatenate([[radial * _ARC], nodes[:-1]]))
            ends.append(nodes)
            angles.append(np.full(pieces, way))
            radii.append(there)
            count += pieces
    way, far = np.concatenate(angles), np.concatenate(radii)
    x, y = side / 2 + far * np.cos(way), side / 2 + far * np.sin(way)
    return np.clip(x, 0, side), np.clip(y, 0, side), np.concatenate(begins), np.concatenate(ends)
