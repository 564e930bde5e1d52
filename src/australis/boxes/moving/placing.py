"""Where queries lie at a moment: their regions, from what they ask for and where their focal objects are (SOLE 3.2)."""

from __future__ import annotations

import math

import numpy as np

from australis.boxes.moving.outlines import edges_of
from australis.boxes.moving.regions import (
    CIRCLE,
    LAST,
    NEAREST,
    POLYGON,
    Floats,
    Points,
    Regions,
    distance,
    measured,
    reach,
)
from australis.kernels.jit import inner
from australis.model.table import Table
from australis.model.train import Bools, Ints


def regions(queries: Table, there: Bools, points: Points, leaders: Ints, earth: bool) -> Regions:
    """The regions of the queries that are there; one whose focal object is nowhere has no place.

    `leaders` holds the slot of each query's focal object, -1 where there is none.
    """
    size, far = len(there), np.full(len(there), math.inf)
    any_outline = bool((queries["kind"][there] == POLYGON).any())
    starts, edges = edges_of(queries["outline"]) if any_outline else (np.zeros(size + 1, np.int64), np.empty((0, 4)))
    placed = Regions(
        queries["kind"].copy(), far.copy(), -far, far.copy(), -far,
        queries["x"].copy(), queries["y"].copy(), queries["limit"].copy(), queries["tie"].copy(),
        queries["need"].copy(), starts, edges, earth,
    )  # fmt: skip
    across, along = queries["across"], queries["along"]
    _place(placed, np.flatnonzero(there), queries["bound"], across, along, points.x, points.y, leaders)
    return placed


def regions_of(queries: Table, which: Ints, x: Floats, y: Floats, earth: bool) -> Regions:
    """The regions of queries in some slots, each as often as it is named, with their focal objects at x, y."""
    size, far = len(which), np.full(len(which), math.inf)
    names = ("kind", "x", "y", "limit", "tie", "need", "bound", "across", "along")
    columns = {name: queries[name][which] for name in names}
    any_outline = bool((columns["kind"] == POLYGON).any())
    none = np.zeros(size + 1, np.int64), np.empty((0, 4))
    starts, edges = edges_of(queries["outline"][which]) if any_outline else none
    placed = Regions(
        columns["kind"], far.copy(), -far, far.copy(), -far, columns["x"], columns["y"], columns["limit"],
        columns["tie"], columns["need"], starts, edges, earth,
    )  # fmt: skip
    own = np.arange(size)
    _place(placed, own, columns["bound"], columns["across"], columns["along"], x, y, own)
    return placed


@inner
def _place(
    placed: Regions, slots: Ints, bound: Bools, across: Floats, along: Floats, x: Floats, y: Floats, leaders: Ints
) -> None:
    for query in slots:
        if bound[query]:
            leader = leaders[query]
            if leader < 0 or math.isnan(x[leader]):
                continue
            placed.x[query] += x[leader]
            placed.y[query] += y[leader]
        kind, here_x, here_y = placed.kind[query], placed.x[query], placed.y[query]
        wide, high = across[query], along[query]
        west, east, south, north = here_x - wide, here_x + wide, here_y - high, here_y + high
        if kind == CIRCLE:
            placed.limit[query], placed.tie[query] = measured(wide, placed.earth), LAST
            west, east, south, north = reach(here_x, here_y, wide, placed.earth)
        elif kind == NEAREST:
            west, east, south, north = reach(here_x, here_y, distance(placed.limit[query], placed.earth), placed.earth)
        elif kind == POLYGON:
            west, east, south, north = _around(placed, query)
        placed.west[query], placed.east[query], placed.south[query], placed.north[query] = west, east, south, north


@inner
def _around(placed: Regions, query: int) -> tuple[float, float, float, float]:
    """The bounds of a polygon, a little wide, where it has been moved to."""
    west, east, south, north = math.inf, -math.inf, math.inf, -math.inf
    for edge in range(placed.starts[query], placed.starts[query + 1]):  # every corner is the first of an edge
        west, east = min(west, placed.edges[edge, 0]), max(east, placed.edges[edge, 0])
        south, north = min(south, placed.edges[edge, 1]), max(north, placed.edges[edge, 1])
    x, y = placed.x[query], placed.y[query]
    pad = 1e-9 * (abs(x) + abs(y) + east - west + north - south)
    return x + west - pad, x + east + pad, y + south - pad, y + north + pad


def moved(before: Regions, after: Regions) -> Bools:
    """Which queries have another region than before."""
    changed = np.zeros(len(before.kind), np.bool_)
    for name in ("west", "east", "south", "north", "x", "y", "limit", "tie"):
        changed |= getattr(before, name) != getattr(after, name)
    return changed
