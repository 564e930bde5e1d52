"""Queries: rectangles and nearest neighbours, still or bound to an object, as a stream of their own (SOLE 3.1, 7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from australis.apps.city.roads import Longs
from australis.apps.city.vehicles import Ints, Vehicles
from australis.arrow.compute import Array
from australis.arrow.schema import schema
from australis.errors import RunError

QUERIES = schema(
    "query int, action string, kind string, x double, y double, width double, height double, k int, focal int, time int"
)
"""The centre is relative to the focal object if there is one. Rectangles have sides, other queries a `k`."""
REGISTER, REMOVE = "register", "remove"
RECTANGLE, NEAREST = "rectangle", "knn"
Space = tuple[float, float, float, float]


@dataclass(frozen=True)
class Mix:
    """The mix of queries: the fractions that move, that ask for neighbours, and that are replaced at each moment."""

    count: int = 0
    moving: float = 0.5
    nearest: float = 0.0
    smallest: float = 0.0001
    """The least fraction of the space that a rectangle covers. Sizes are spread evenly over orders of magnitude."""
    largest: float = 0.01
    k: int = 10
    renewed: float = 0.0

    def check(self) -> None:
        for name in ("moving", "nearest", "renewed"):
            if not 0 <= getattr(self, name) <= 1:
                raise RunError(f"{name} {getattr(self, name)}: give a part of all queries, from 0 to 1")
        if not 0 < self.smallest <= self.largest <= 1:
            raise RunError(f"sizes {self.smallest} to {self.largest}: give parts of the space, the smaller first")
        if self.count < 0 or self.k < 1:
            raise RunError(f"{self.count} queries of {self.k} neighbours: give 0 or more, and 1 or more")


class Queries(NamedTuple):
    """The current queries, by slot."""

    number: Ints
    slot: Longs
    """The slot of the focal object, or -1 for a query that stands still."""
    focal: Ints
    made: Longs


def queries(mix: Mix) -> Queries:
    """Slots for queries, none of which is registered."""
    still = np.full(mix.count, -1, np.int64)
    return Queries(np.full(mix.count, -1, np.int32), still, still.astype(np.int32), np.zeros(1, np.int64))


def ending(all_: Queries, objects: Vehicles, mix: Mix, rng: np.random.Generator) -> Longs:
    """The queries that end at a moment: their focal object is gone, or they are renewed."""
    lost = (all_.slot >= 0) & (objects.number[all_.slot] != all_.focal)
    if mix.renewed:
        lost |= rng.random(len(lost)) < mix.renewed
    return np.flatnonzero(lost)


def remove(all_: Queries, slots: Longs, now: int) -> pa.RecordBatch:
    """The rows that remove queries."""
    columns = {"query": all_.number[slots], "action": _all(REMOVE, len(slots)), "time": np.full(len(slots), now)}
    return _batch(columns, len(slots))


def register(
    all_: Queries, slots: Longs, objects: Vehicles, space: Space, mix: Mix, now: int, rng: np.random.Generator
) -> pa.RecordBatch:
    """Make new queries in some slots, and return the rows that register them."""
    count = len(slots)
    x1, y1, x2, y2 = space
    moves, nearest = (rng.random(count) < share for share in (mix.moving, mix.nearest))
    moves &= len(objects.number) > 0
    size = np.exp(rng.uniform(np.log(mix.smallest), np.log(mix.largest), count)) ** 0.5
    width, height = (np.where(nearest, 0.0, size * side) for side in (x2 - x1, y2 - y1))
    # A rectangle lies within the space; a moving one lies around its focal object.
    x = np.where(moves, 0.0, x1 + width / 2 + rng.random(count) * (x2 - x1 - width))
    y = np.where(moves, 0.0, y1 + height / 2 + rng.random(count) * (y2 - y1 - height))
    focal = rng.integers(0, max(1, len(objects.number)), count)
    all_.number[slots] = all_.made[0] + np.arange(count)
    all_.made[0] += count
    all_.slot[slots] = np.where(moves, focal, -1)
    all_.focal[slots] = np.where(moves, objects.number[focal] if len(objects.number) else -1, -1)
    columns = {
        "query": all_.number[slots],
        "action": _all(REGISTER, count),
        "kind": pa.array([RECTANGLE, NEAREST]).take(nearest.astype(np.int8)),
        "x": pa.array(x),
        "y": pa.array(y),
        "width": pa.array(width, mask=nearest),
        "height": pa.array(height, mask=nearest),
        "k": pa.array(np.full(count, mix.k), mask=~nearest),
        "focal": pa.array(all_.focal[slots], mask=~moves),
        "time": np.full(count, now),
    }
    return _batch(columns, count)


def _all(word: str, count: int) -> Array:
    return pa.repeat(word, count)


def _batch(values: dict[str, Any], count: int) -> pa.RecordBatch:
    arrays = [
        pa.array(values[field.name]).cast(field.type) if field.name in values else pa.nulls(count, field.type)
        for field in QUERIES
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=QUERIES)
