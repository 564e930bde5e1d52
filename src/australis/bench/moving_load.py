"""A load of moving objects and queries about them: positions in the unit square, and rectangles of mixed sizes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import australis as au
from australis.api.network import Network
from australis.arrow.compute import pc
from australis.arrow.schema import schema
from australis.boxes.moving import Watch
from australis.model.box import Moment, Tables
from australis.model.train import Train, empty

Floats = npt.NDArray[np.float64]
OBJECTS = "id bigint, x double, y double, time bigint"
QUERIES = (
    "query bigint, kind string, x double, y double, width double, height double, focal bigint,"
    " accuracy double, k bigint"
)

_K = 10


@dataclass(frozen=True)
class Load:
    """Objects that move up to `speed` between two reports, and queries that are squares, half of them moving.

    There are also `nearest` queries for the ten nearest, half of which move too.
    """

    objects: int = 100_000
    queries: int = 50_000
    smallest: float = 1e-4
    """The least and the largest fraction of the space that a query covers. Sizes are even on a logarithmic scale."""
    largest: float = 1e-2
    moving: float = 0.5
    speed: float = 0.001
    accuracy: float = 1.0
    nearest: int = 0
    seed: int = 1

    def ticks(self, count: int) -> Iterator[pa.RecordBatch]:
        """The positions of all objects at each tick. They go straight on, and turn back at the edge of the space."""
        chance = np.random.default_rng(self.seed)
        place = chance.random((2, self.objects))
        step = chance.uniform(-self.speed, self.speed, (2, self.objects)) / np.sqrt(2)
        for tick in range(count):
            if tick:
                place += step
                step[(place < 0) | (place > 1)] *= -1
                place = np.clip(place, 0, 1)
            yield pa.RecordBatch.from_pydict(
                {
                    "id": np.arange(self.objects),
                    "x": place[0].copy(),
                    "y": place[1].copy(),
                    "time": np.full(self.objects, tick),
                }
            )

    def query_rows(self) -> pa.RecordBatch:
        """All queries, the squares first."""
        chance, count = np.random.default_rng(self.seed + 1), self.queries + self.nearest
        powers = chance.uniform(np.log(self.smallest), np.log(self.largest), count)
        sides = np.sqrt(np.exp(powers))
        bound = chance.random(count) < self.moving
        place = np.where(bound, 0.0, chance.random((2, count)))
        nearest = np.arange(count) >= self.queries
        return pa.RecordBatch.from_pydict(
            {
                "query": np.arange(count),
                "kind": pa.array(np.where(nearest, "knn", "rectangle").tolist()),
                "x": place[0],
                "y": place[1],
                "width": sides,
                "height": sides,
                "focal": pa.array(chance.integers(0, self.objects, count), mask=~bound),
                "accuracy": np.full(count, self.accuracy),
                "k": np.full(count, _K),
            }
        )


def train(tuples: pa.RecordBatch) -> Train:
    return Train(tuples, np.zeros(len(tuples), np.int64), np.arange(len(tuples)))


def run_box(box: Watch, load: Load, ticks: int) -> Iterator[tuple[float, Tables, Train]]:
    """Run a box over the ticks of a load, and yield its seconds, tables and updates."""
    queries = load.query_rows()
    tables = box.tables(schema(OBJECTS), queries.schema)
    for tick, reports in enumerate(load.ticks(ticks)):
        trains = (train(reports), empty(queries.schema) if tick else train(queries))
        start = time.perf_counter()
        updates, *_ = box.step(tables, trains, Moment(tick))
        yield time.perf_counter() - start, tables, updates


def network(cache: float | None = None, speed: float | None = None) -> Network:
    """A network of one `watch` box."""
    queries = au.stream("queries", QUERIES)
    options = {} if cache is None else {"time": "time", "timeout": 1, "cache": cache, "speed": speed}
    updates = au.stream("objects", OBJECTS).moving.watch(queries, every="train", **options)  # type: ignore[arg-type]
    return au.network(updates=updates)


def corners(queries: pa.RecordBatch, tick: pa.RecordBatch) -> tuple[Floats, Floats, Floats, Floats]:
    """West, south, east and north of the squares at a moment."""
    queries = queries.filter(pc.equal(queries["kind"], "rectangle"))
    focal = queries["focal"].fill_null(-1).to_numpy(zero_copy_only=False)
    sides = queries["width"].to_numpy() / 2
    x, y = (
        np.where(focal < 0, queries[name].to_numpy(), tick[name].to_numpy()[np.maximum(focal, 0)])
        for name in ("x", "y")
    )
    return x - sides, y - sides, x + sides, y + sides
