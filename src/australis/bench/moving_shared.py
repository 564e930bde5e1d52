"""SOLE 7.4 to 7.6: the grid, how many queries fit in a memory with and without sharing, and how fast they are."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from australis.bench.moving_chart import Chart, Panel
from australis.bench.moving_load import Floats, Load, corners, run_box
from australis.boxes.moving import Watch, placing
from australis.boxes.moving.differences import differences
from australis.boxes.moving.grid import grid
from australis.boxes.moving.regions import Points
from australis.model.table import Table

CACHE = 0.25
"""The cache of all experiments after 7.1 in the paper."""
_CELLS = 30
"""The columns and rows of the paper's grid."""
_OBJECT, _QUERY, _REGISTERED = 40, 40, 16
"""Bytes of the paper's entries: an object (identifier, place, reference count, list of queries that follow it, hash
table), a region, and a query in a cell (identifier and link)."""


def watch(load: Load) -> Watch:
    return Watch(time="time", timeout=1, cache=CACHE, speed=load.speed)


@dataclass(frozen=True)
class Bytes:
    """The bytes of an object and of a query, and how many objects a query needs by itself, with its cache."""

    object: float
    query: float
    alone: float

    def shared(self, queries: float, objects: float) -> float:
        return queries * self.query + objects * self.object

    def apart(self, queries: float) -> float:
        return queries * (self.query + self.alone * self.object)


def sharing(load: Load, anchor: int) -> Chart:
    """Figures 19 and 20: how many queries fit in the memory in which the shared box has `anchor` queries of 0.01%.

    Apart, each query has a buffer of the objects in its region and cache (SOLE 5.1). Memory is counted twice: as the
    paper's entries, where a query is registered in all cells that it touches, and as the bytes that our tables hold for
    a row, where it is registered nowhere.
    """
    rows: list[list[float]] = []
    memory: list[float] = []
    row_bytes = _row_bytes(load)
    for size in (1e-4, 3e-4, 1e-3, 3e-3, 1e-2):
        each = replace(load, smallest=size, largest=size)
        alone, cells = _needs(replace(each, queries=200))
        ways = [
            Bytes(_OBJECT, _QUERY + cells * _REGISTERED, alone),
            Bytes(*row_bytes, alone),
        ]
        objects_kept = _measure_objects_kept(each)
        memory = memory or [way.shared(anchor, objects_kept(anchor)) for way in ways]
        row = [100 * size, alone]
        for way, whole in zip(ways, memory, strict=True):
            together, apart = _most_queries(way, objects_kept, whole), whole / way.apart(1)
            row += [together, apart, together / apart]
        few = 1000 if load.objects > 50_000 else 100
        rows.append([*row, objects_kept(few), few * alone, few * alone / objects_kept(few)])
    ways_ = ["paper's entries", "bytes of tables"]
    counts = [f"{what}, {way}" for way in ways_ for what in ("shared", "apart", "ratio")]
    columns = ["% of space", "objects of one", *counts, "objects of 1K, shared", "of 1K, apart", "ratio of objects"]
    panels = [
        Panel("queries, paper's entries", counts[:2], scale="xy"),
        Panel("ratio", [counts[2], counts[5]], scale="xy"),
        Panel("objects kept for 1K queries", columns[-3:-1], scale="xy"),
    ]
    title = f"Queries that fit, with and without sharing, in {memory[0] / 1e6:.1f} and {memory[1] / 1e6:.1f} MB"
    return Chart("sharing", "19, 20", title, columns, rows, panels)


def _most_queries(way: Bytes, objects_kept: Callable[[int], int], memory: float) -> float:
    """How many queries fit in a memory that they share."""
    low, high = 1, 2
    while way.shared(high, objects_kept(high)) <= memory:
        low, high = high, 2 * high
    while high - low > max(1, low // 1000):
        middle = (low + high) // 2
        low, high = (middle, high) if way.shared(middle, objects_kept(middle)) <= memory else (low, middle)
    return low


def _measure_objects_kept(load: Load) -> Callable[[int], int]:
    """A function that measures how many objects a box keeps for a number of queries. It stops once it keeps all."""
    counts = {0: 0}

    def objects_kept(queries: int) -> int:
        if queries not in counts:
            most = max(counts.values())
            if most == load.objects and queries > min(count for count, objects in counts.items() if objects == most):
                return most
            *_, (_, tables, _) = run_box(watch(load), replace(load, queries=queries), 1)
            counts[queries] = len(tables["objects"])
        return counts[queries]

    return objects_kept


def _needs(load: Load) -> tuple[float, float]:
    """How many objects a query needs, and how many cells of the paper's grid it touches, on average."""
    queries, (tick, *_) = load.query_rows(), load.ticks(1)
    more = np.where(queries["focal"].is_valid().to_numpy(zero_copy_only=False), 2 * CACHE * load.speed, 0.0)
    west, south, east, north = (
        side + sign * more for side, sign in zip(corners(queries, tick), (-1, -1, 1, 1), strict=True)
    )
    x, y = (tick[name].to_numpy() for name in ("x", "y"))
    inside = [
        np.count_nonzero((x >= w) & (x <= e) & (y >= s) & (y <= n))
        for w, s, e, n in zip(west, south, east, north, strict=True)
    ]

    def columns(low: Floats, high: Floats) -> Floats:
        count: Floats = (
            np.clip(np.floor(high * _CELLS), 0, _CELLS - 1) - np.clip(np.floor(low * _CELLS), 0, _CELLS - 1) + 1
        )
        return count

    return float(np.mean(inside)), float((columns(west, east) * columns(south, north)).mean())


def _row_bytes(load: Load) -> tuple[float, float]:
    """The bytes of a row of objects and of a row of queries in the tables of a box."""
    *_, (_, tables, _) = run_box(watch(load), replace(load, queries=load.objects // 10), 1)
    objects, queries = (tables[name].nbytes / len(tables[name].alive) for name in ("objects", "queries"))
    return objects, queries


def grids(load: Load, ticks: int) -> Chart:
    """Figure 18: seconds of a train by the columns and rows of the grid, and the cells that a query touches."""
    queries, everyone, rows = _query_table(load), np.arange(load.objects), []
    wide = 2 * queries["across"][queries.slots]
    points = _moving(load, ticks)
    regions = [placing.regions(queries, queries.alive, place, queries["focal"], False) for place in points]
    for side in (10, 20, 30, 50, 100, 200, 300):
        times, crowd = [], load.objects / side**2
        for (old, new), (before, after) in zip(pairwise(points), pairwise(regions), strict=True):
            start = time.perf_counter()
            differences(grid(new, old, everyone, crowd), after, before, queries.slots)
            differences(grid(old, new, everyone, crowd), before, after, queries.slots)
            times.append(time.perf_counter() - start)
        rows.append([side, statistics.median(times), float(np.mean((wide * side + 1) ** 2))])
    panels = [
        Panel("seconds a train", ["seconds"], scale="x"),
        Panel("cells that a query touches", ["cells"], scale="xy"),
    ]
    title = f"The grid, {load.queries:,} moving queries (ours has {(load.objects / 6) ** 0.5:.0f} columns)"
    return Chart("grid", "18", title, ["columns", "seconds", "cells"], rows, panels)


def _moving(load: Load, ticks: int) -> list[Points]:
    everywhere = np.zeros(load.objects, np.int64)
    return [
        Points(tick["x"].to_numpy(), tick["y"].to_numpy(), everywhere, tick["id"].to_numpy())
        for tick in load.ticks(ticks)
    ]


def _query_table(load: Load) -> Table:
    *_, (_, tables, _) = run_box(Watch(every="train"), load, 1)
    return tables["queries"]


def responses(load: Load, counts: tuple[int, ...], ticks: int) -> Chart:
    """Figure 21a: seconds of a train by the number of queries of 0.01%, still and moving."""
    rows = []
    for count in counts:
        each = replace(load, queries=count, smallest=1e-4, largest=1e-4)
        rows.append([count, *(_seconds(replace(each, moving=moving), ticks) for moving in (0.0, 1.0))])
    panels = [Panel("seconds a train", ["still", "moving"])]
    title = f"A train of {load.objects:,} objects against queries of 0.01%"
    return Chart("responses", "21a", title, ["queries", "still", "moving"], rows, panels)


def responses_by_size(load: Load, ticks: int) -> Chart:
    """Figure 21b: seconds of a train by the size of queries and the part of them that moves."""
    parts = (0.0, 0.5, 1.0)
    names = [f"{100 * part:g}% moving" for part in parts]
    rows = []
    for size in (1e-4, 1e-3, 3e-3, 1e-2):
        each = replace(load, smallest=size, largest=size)
        rows.append([100 * size, *(_seconds(replace(each, moving=part), ticks) for part in parts)])
    title = f"A train of {load.objects:,} objects against {load.queries:,} queries"
    return Chart(
        "responses_sizes", "21b", title, ["% of space", *names], rows, [Panel("seconds a train", names, scale="x")]
    )


def _seconds(load: Load, ticks: int) -> float:
    return statistics.median([seconds for seconds, *_ in run_box(Watch(every="train"), load, ticks)][1:])
