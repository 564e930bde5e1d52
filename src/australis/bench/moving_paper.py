"""The experiments of the SOLE paper (7.1 to 7.8), as far as one box in one process shows them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Sheet

from australis.bench.moving_load import OBJECTS, Load, corners
from australis.box import Moment, Tables
from australis.moving import Watch
from australis.schema import schema
from australis.train import Train, empty

_TICKS = 12
_TURNS = 4
_ALONE = 40
"""How many queries are answered by a box each, to tell what all would take."""


@dataclass(frozen=True)
class Chart:
    """A table of the paper's, and a plot of it: a first column along the axis, a line for each of the others."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[float, ...]]


def main(objects: int = 20_000, queries: int = 2_000, plots: Path | None = None) -> dict[str, Any]:
    """Measure, show, and draw if there is a folder for it."""
    load = Load(objects, queries)
    charts = [sharing(load), queries_at_once(load), caches(load), shedding(load)]
    for chart in charts:
        sheet = Sheet(*chart.columns, box=SIMPLE_HEAD, title=chart.title)
        for row in chart.rows:
            sheet.add_row(*(f"{value:,.3g}" if value < 1000 else f"{value:,.0f}" for value in row))
        Console().print(sheet)
        if plots is not None:
            draw(chart, plots)
    return {chart.name: {"columns": chart.columns, "rows": chart.rows} for chart in charts}


def ran(box: Watch, load: Load, ticks: int = _TICKS) -> Iterator[tuple[float, Tables, pa.RecordBatch]]:
    """A box over the ticks of a load: seconds, tables, and where all objects are."""
    asked = load.asked()
    tables = box.tables(schema(OBJECTS), asked.schema)
    for tick, reports in enumerate(load.ticks(ticks)):
        trains = (_train(reports), empty(asked.schema) if tick else _train(asked))
        start = time.perf_counter()
        box.step(tables, trains, Moment(tick))
        yield time.perf_counter() - start, tables, reports


def sharing(load: Load) -> Chart:
    """Figures 19 and 20: what one shared box keeps and takes, and what a box for each query would."""
    rows = []
    for size in (1e-4, 1e-3, 1e-2):
        each = replace(load, smallest=size, largest=size)
        box = Watch(time="time", timeout=1, cache=0.25, speed=load.speed)
        *_, (_, tables, reports) = ran(box, each)
        together = statistics.median(seconds for seconds, *_ in list(ran(box, each))[1:])
        kept = len(tables["objects"])
        apart = sum(_inside(each, reports))
        alone = sum(
            statistics.median(seconds for seconds, *_ in list(ran(box, replace(each, queries=1, seed=seed), 4))[1:])
            for seed in range(_ALONE)
        )
        rows.append((100 * size, kept, apart, apart / kept, together, alone * load.queries / _ALONE))
    names = ("% of space", "kept shared", "kept apart", "ratio", "s shared", "s apart")
    return Chart("sharing", f"{load.queries:,} queries together and apart", names, rows)


def queries_at_once(load: Load) -> Chart:
    """Figure 21: seconds a train by the number of queries, still and moving."""
    rows = []
    for count in (load.queries // 4, load.queries, 4 * load.queries, 16 * load.queries):
        row: list[float] = [count]
        for moving in (0.0, 1.0):
            each = replace(load, queries=count, moving=moving, smallest=1e-4, largest=1e-4)
            times = [seconds for seconds, *_ in ran(Watch(), each, 6)]
            row.append(statistics.median(times[1:]))
        rows.append(tuple(row))
    return Chart("queries", f"seconds a train of {load.objects:,} objects", ("queries", "still", "moving"), rows)


def caches(load: Load) -> Chart:
    """Figure 12: what moving queries have of their answers where objects report by turns, and what a cache keeps."""
    each = replace(load, moving=1.0, smallest=5e-3, largest=5e-3, queries=load.queries // 20)
    full = [len(answers) for answers, _ in _by_turns(Watch(), each)]
    rows = []
    for part in (0.0, 0.25, 0.5, 1.0):
        box = Watch(time="time", timeout=_TURNS, cache=part, speed=load.speed)
        found = [(len(answers), kept) for answers, kept in _by_turns(box, each)]
        had = [100 * got / there for (got, _), there in zip(found, full, strict=True)][2 * _TURNS :]
        rows.append((100 * part, min(had), statistics.mean(had), found[-1][1]))
    names = ("% cache", "worst %", "mean %", "kept")
    return Chart("caches", f"accuracy of {each.queries:,} moving queries, and what is kept", names, rows)


def shedding(load: Load) -> Chart:
    """Figures 22 and 23: how little can be kept at an accuracy, by shedding objects or by shrinking queries."""
    plain = Watch(time="time", timeout=1, cache=0.25, speed=load.speed)
    *_, (_, tables, _) = ran(plain, load, 3)
    whole = len(tables["objects"])
    rows = []
    for accuracy in (0.9, 0.7, 0.5, 0.3):
        row = [100 * accuracy]
        for way in ("objects", "queries"):
            *_, (_, tables, _) = ran(replace(plain, budget=1, shed=way), replace(load, accuracy=accuracy), 3)
            objects = tables["objects"]
            row.append(100 * np.count_nonzero(objects.alive & ~objects["#shed"]) / whole)
        rows.append(tuple(row))
    names = ("% accuracy", "% kept, objects shed", "% kept, queries shrunk")
    return Chart("shedding", f"load at an accuracy, {load.queries:,} queries", names, rows)


def draw(chart: Chart, folder: Path) -> None:
    """A plot of a chart."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    folder.mkdir(parents=True, exist_ok=True)
    along, *lines = chart.columns
    figure, axes = pyplot.subplots(1, len(lines), figsize=(3.2 * len(lines), 2.8), layout="constrained", squeeze=False)
    for place, name in enumerate(lines):
        axes[0, place].plot([row[0] for row in chart.rows], [row[place + 1] for row in chart.rows], marker="o")
        axes[0, place].set(xlabel=along, title=name)
        axes[0, place].set_ylim(bottom=0)
    figure.suptitle(chart.title)
    figure.savefig(folder / f"moving_{chart.name}.png", dpi=110)
    pyplot.close(figure)


def _by_turns(box: Watch, load: Load) -> Iterator[tuple[set[tuple[int, int]], int]]:
    """Answers and objects kept where a part of the objects reports in each train: what else moves is seen later."""
    asked = load.asked()
    tables, answers = box.tables(schema(OBJECTS), asked.schema), set[tuple[int, int]]()
    for tick, reports in enumerate(load.ticks(8 * _TURNS)):
        turn = pa.array(np.arange(load.objects) % _TURNS == tick % _TURNS) if tick else None
        some = reports if turn is None else reports.filter(turn)
        (out, *_) = box.step(tables, (_train(some), empty(asked.schema) if tick else _train(asked)), Moment(tick))
        pairs = np.column_stack([out["query"].to_numpy(), out["id"].to_numpy()]).tolist()
        for pair, sign in zip(map(tuple, pairs), out["sign"].to_numpy().tolist(), strict=True):
            (answers.add if sign > 0 else answers.discard)(pair)
        yield answers, len(tables["objects"])


def _inside(load: Load, reports: pa.RecordBatch) -> list[int]:
    """How many objects lie in the region of each query, and in the cache of a moving one."""
    asked = load.asked()
    west, south, east, north = corners(asked, reports)
    wide = np.where(asked["focal"].is_valid().to_numpy(zero_copy_only=False), 2 * 0.25 * load.speed, 0.0)
    x, y = (reports[name].to_numpy() for name in ("x", "y"))
    return [
        int(np.count_nonzero((x >= w - more) & (x <= e + more) & (y >= s - more) & (y <= n + more)))
        for w, s, e, n, more in zip(west, south, east, north, wide, strict=True)
    ]


def _train(tuples: pa.RecordBatch) -> Train:
    return Train(tuples, np.zeros(len(tuples), np.int64), np.arange(len(tuples)))
