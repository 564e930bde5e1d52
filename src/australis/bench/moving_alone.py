"""SOLE 7.1 to 7.3: how complete answers are, what caches cost, and where `watch` is best in a network."""

from __future__ import annotations

import functools
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

import australis as au
from australis.arrow.schema import schema
from australis.bench.moving_chart import Chart, Panel
from australis.bench.moving_load import OBJECTS, QUERIES, Floats, Load, run_box, train
from australis.boxes.moving import Watch
from australis.model.box import Moment
from australis.model.train import empty

CACHES = (0.0, 0.25, 0.5, 1.0)
_TURNS = 4
"""Each object reports in one of so many trains. In between, its movement is not known."""
_MILES, _HOUR = 28.0, 3600.0
_SPEEDS = (1, 5, 10, 20, 30, 45, 60)


def caches(load: Load, ticks: int) -> Chart:
    """Figures 12a to d: how complete the answers of moving queries are if objects report in turn."""
    names = [f"{100 * part:g}% cache" for part in CACHES]
    accuracies = [_run_cached(load, ticks, part)[0] for part in CACHES]
    rows = [[tick, *(float(each[tick].min()) for each in accuracies)] for tick in range(_TURNS, ticks)]
    title = "The least of what moving queries of 0.5% of the space have"
    return Chart("caches", "12a-d", title, ["train", *names], rows, [Panel("% of their answers", names)])


def cache_memory(load: Load, ticks: int) -> Chart:
    """Figure 12f: how many more objects are kept with a cache, and how complete answers are then."""
    rows = []
    for part in CACHES:
        accuracies, objects = _run_cached(load, ticks, part)
        more = 100 * (objects / _run_cached(load, ticks, 0.0)[1] - 1)
        rows.append([100 * part, more, float(accuracies[_TURNS:].min()), float(accuracies[_TURNS:].mean())])
    names = ["% cache", "% more objects", "least accuracy", "mean accuracy"]
    panels = [Panel("objects kept, % more than without", names[1:2]), Panel("accuracy, %", names[2:])]
    return Chart("cache_memory", "12f", "Caches of moving queries of 0.5% of the space", names, rows, panels)


@functools.cache
def _run_cached(load: Load, ticks: int, cache: float) -> tuple[Floats, int]:
    """How complete answers are with a cache, by train and query, in percent, and how many objects are kept."""
    each = replace(load, moving=1.0, smallest=5e-3, largest=5e-3, queries=20, speed=load.speed / _TURNS)
    full = np.array([sizes for sizes, _ in _by_turns(Watch(every="train"), each, ticks)])
    box = Watch(time="time", timeout=_TURNS, cache=cache, speed=each.speed)
    cached = list(_by_turns(box, each, ticks))
    return 100 * np.array([sizes for sizes, _ in cached]) / np.maximum(full, 1), cached[-1][1]


def _by_turns(box: Watch, load: Load, ticks: int) -> Iterator[tuple[Floats, int]]:
    """The sizes of answers, and the objects kept, if a part of the objects reports in each train."""
    queries, sizes = load.query_rows(), np.zeros(load.queries)
    tables = box.tables(schema(OBJECTS), queries.schema)
    for tick, reports in enumerate(load.ticks(ticks)):
        turn = np.arange(load.objects) % _TURNS == tick % _TURNS
        some = reports.filter(pa.array(turn)) if tick else reports
        (out, *_) = box.step(tables, (train(some), empty(queries.schema) if tick else train(queries)), Moment(tick))
        np.add.at(sizes, out["query"].to_numpy(), out["sign"].to_numpy())
        yield sizes.copy(), len(tables["objects"])


def overhead(load: Load) -> Chart:
    """Figure 13: what caches add to the objects kept, by speed, size of the cache, and time between reports."""
    rows = []
    for mph in _SPEEDS:
        by_cache = [_more(load, mph, part, 30, 2.0) for part in (0.25, 0.5, 0.75, 1.0)]
        rows.append([mph, *by_cache, *(_more(load, mph, 0.5, seconds, 2.0) for seconds in (10, 60, 90))])
    caches = [f"{part}% cache" for part in (25, 50, 75, 100)]
    times = [f"{seconds} s" for seconds in (10, 60, 90)]
    panels = [Panel("a report every 30 s", caches), Panel("50% cache, a report every", times)]
    return Chart(
        "overhead", "13", "Memory for caches, % of that without", ["miles/hour", *caches, *times], rows, panels
    )


def overhead_by_size(load: Load) -> Chart:
    """Figure 14: the same by speed and by the side of queries."""
    sides = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    names = [f"{side:g} miles" for side in sides]
    rows = [[mph, *(_more(load, mph, 0.5, 30, side) for side in sides)] for mph in _SPEEDS]
    title = "Memory for a cache of 50%, % of that without, by the side of queries"
    return Chart("overhead_sizes", "14", title, ["miles/hour", *names], rows, [Panel("a report every 30 s", names)])


def _more(load: Load, mph: float, cache: float, seconds: float, miles: float) -> float:
    """How many more objects are kept with a cache, in percent, each of a few queries by itself."""
    size, reach = (miles / _MILES) ** 2, cache * mph / _HOUR * seconds / _MILES
    return 100 * (_objects_kept(load, size, round(reach, 9)) / _objects_kept(load, size, 0.0) - 1)


@functools.cache
def _objects_kept(load: Load, size: float, reach: float) -> int:
    objects = 0
    for seed in range(4):
        each = replace(load, queries=1, moving=1.0, smallest=size, largest=size, seed=seed)
        *_, (_, tables, _) = run_box(Watch(time="time", timeout=1, cache=1.0, speed=reach), each, 1)
        objects += len(tables["objects"])
    return objects


def pipelines(load: Load, ticks: int, joined: bool) -> Chart:
    """Figures 16 and 17: `watch` below a filter or a join, against `watch` on top of it.

    It counts the tuples that the filter or the join takes in a train, and measures the seconds of the train.
    """
    rows = []
    for part in (0.02, 0.04, 0.08, 0.16, 0.32, 0.64):
        row = [100 * part]
        for moving in (0.0, 1.0):
            each = replace(load, queries=1, moving=moving, smallest=part, largest=part, seed=5)
            for below in (True, False):
                row += _run_pipeline(each, ticks, joined, below)
        rows.append(row)
    kinds = [f"{where}, {how}" for how in ("still", "moving") for where in ("below", "above")]
    names = [f"{what}: {kind}" for kind in kinds for what in ("tuples", "s")]
    other = "join" if joined else "filter"
    panels = [
        Panel(title, [name for name in names if name.startswith(what)], scale="y")
        for what, title in (("tuples", f"tuples that the {other} takes"), ("s", "seconds a train"))
    ]
    title = f"watch below a {other}, and on top of it"
    figure = "17" if joined else "16"
    return Chart(f"pipelined_{other}", figure, title, ["% selected by watch", *names], rows, panels)


def _run_pipeline(load: Load, ticks: int, joined: bool, below: bool) -> Sequence[float]:
    objects, queries = au.stream("objects", f"{OBJECTS}, type string"), au.stream("queries", QUERIES)
    favourites = au.static("favourites", "name bigint")
    chosen_ids = np.arange(0, load.objects, 20)

    def choose(stream: au.Stream) -> au.Stream:
        if joined:
            return stream.join(favourites, "left.id = right.name", box="choose")
        return stream.filter("type = 'truck'", box="choose")

    if below:
        watched = choose(objects.moving.watch(queries, carry="type", every="train"))
    else:
        watched = choose(objects).moving.watch(queries, every="train")
    statics = {"favourites": pa.table({"name": chosen_ids})} if joined else {}
    run = au.Local(au.network(seen=watched), statics)
    query_rows = load.query_rows()  # its focal object is among the chosen, or it would have no place above the filter
    focal = pa.array([0], mask=query_rows["focal"].is_null().to_numpy(zero_copy_only=False))
    run.push(queries=query_rows.set_column(6, "focal", focal))
    kinds = np.full(load.objects, "car", object)
    kinds[chosen_ids] = "truck"
    times = []
    for tick, reports in enumerate(load.ticks(ticks)):
        if tick == 1:
            taken_before = run.counts["choose"].taken[0]
        typed_reports = pa.table(reports).append_column("type", pa.array(kinds))
        start = time.perf_counter()
        run.push(objects=typed_reports)
        times.append(time.perf_counter() - start)
    return [(run.counts["choose"].taken[0] - taken_before) / (ticks - 1), float(np.median(times[1:]))]
