"""Moving objects: the shared operator on Spark, compared with plain Spark and with a tree of rectangles."""

from __future__ import annotations

import json as json_
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import shapely  # type: ignore[import-untyped]
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Sheet

from australis.bench import moving_paper
from australis.bench.machine import machine
from australis.bench.moving_load import Load, corners, network, run_box
from australis.bench.spark.moving import plain
from australis.boxes.moving import Watch
from australis.boxes.moving.grid import grid
from australis.boxes.moving.nearest import limit
from australis.boxes.moving.placing import regions
from australis.boxes.moving.regions import NEAREST, Points
from australis.boxes.moving.updates import updates
from australis.engine.spark.session import session

if TYPE_CHECKING:
    from australis.engine.spark.session import SparkSession

_WIDE = 180


def main(
    objects: int = 100_000,
    queries: int = 50_000,
    nearest: int = 10_000,
    batches: int = 8,
    json: Path | None = None,
    plots: Path | None = None,
    quick: bool = False,
    paper: bool = True,
) -> None:
    """Measure, print the tables, and write JSON to `json` if it is given."""
    if quick:
        objects, queries, nearest, batches = objects // 20, queries // 20, nearest // 20, min(batches, 3)
    load = Load(objects, queries, nearest=nearest)
    console = Console(width=None if sys.stdout.isatty() else _WIDE)
    report: dict[str, Any] = {"objects": objects, "queries": queries, "nearest": nearest, "batches": batches}
    with console.status("the kernel") as status:
        report["kernel"] = kernel(load, batches)
        status.update("the box")
        report["box"] = box(load, batches)
        status.update("Spark")
        spark, own_session = session(master="local[2,4]")
        with tempfile.TemporaryDirectory() as folder:
            report["spark"] = run(spark, load, batches, Path(folder))
            report["plain spark"] = _summary(plain(spark, load, Path(folder)))
            report["machine"] = machine(spark)
        if own_session:
            spark.stop()
        status.update("STRtree")
        report["tree"] = tree(load)
        show(report, console)
        if paper:
            report["paper"] = moving_paper.main(objects, plots, console, status.update)
    if json is not None:
        json.write_text(json_.dumps(report, indent=2))


def kernel(load: Load, batches: int) -> dict[str, Any]:
    """The kernels alone, over arrays: regions, a grid of the objects, the nearest, and the updates."""
    *_, (_, tables, _) = run_box(Watch(every="train"), load, 1)
    queries, before, ticks = tables["queries"], None, []
    none = np.zeros(load.objects, np.int64)
    for tick in load.ticks(batches + 1):
        start, used = time.perf_counter(), time.process_time()
        here = Points(tick["x"].to_numpy(), tick["y"].to_numpy(), none, tick["id"].to_numpy())
        after = regions(queries, queries.alive, here, queries["focal"], False)
        there, last = before or (here._replace(x=np.full(load.objects, np.nan)), after)
        whole = grid(here, there, np.arange(load.objects))
        limit(whole, after, np.flatnonzero((after.kind == NEAREST) & queries.alive), queries["k"])
        changes = updates(there, here, last, after, np.ones(len(after.kind), np.bool_), whole)
        ticks.append((time.perf_counter() - start, time.process_time() - used, len(changes.queries)))
        before = (here, after)
    return _summary(ticks)


def box(load: Load, batches: int) -> dict[str, Any]:
    """The box alone, in this process: seconds of each train of all objects, after the train with all queries."""
    return _summary(
        [(seconds, 0.0, len(updates)) for seconds, _, updates in run_box(Watch(every="train"), load, batches + 1)]
    )


def run(spark: SparkSession, load: Load, batches: int, folder: Path) -> dict[str, Any]:
    """The network on Spark, all objects in every batch; the updates go to files."""
    (folder / "objects").mkdir()
    for tick, reports in enumerate(load.ticks(batches + 1)):
        pq.write_table(pa.table(reports), folder / "objects" / f"{tick:05}.parquet")
    pq.write_table(pa.table(load.query_rows()), folder / "queries.parquet")
    connectors = {
        "objects": f"{folder}/objects/*.parquet",
        "queries": f"{folder}/queries.parquet",
        "updates": f"{folder}/out/",
    }
    finished = network().run(
        connectors, spark=spark, checkpoint=f"{folder}/checkpoint", partitions=1, train=load.objects
    )
    return _summary([(each["seconds"], each["seconds"], each["given"]["updates"]) for each in finished.progress])


def tree(load: Load) -> dict[str, Any]:
    """shapely's STRtree over the queries, searched for all objects: whole answers. It is rebuilt since queries move."""
    ticks, queries = [], load.query_rows()
    for tick in load.ticks(3):
        west, south, east, north = corners(queries, tick)
        start = time.perf_counter()
        boxes = shapely.box(west, south, east, north)
        points = shapely.points(tick["x"].to_numpy(), tick["y"].to_numpy())
        pairs = shapely.STRtree(boxes).query(points, predicate="intersects")
        ticks.append((time.perf_counter() - start, 0.0, pairs.shape[1]))
    return _summary(ticks)


def show(report: dict[str, Any], console: Console) -> None:
    sheet = Sheet("", "first", "median", "worst", "results", "times Spark's", box=SIMPLE_HEAD)
    kinds = f"{report['queries']:,} squares, {report['nearest']:,} for the 10 nearest"
    sheet.title = f"{report['objects']:,} objects a batch; {kinds}: seconds"
    names = {
        "kernel": "the kernels alone, updates",
        "box": "the box, updates",
        "spark": "Australis on Spark, updates",
        "plain spark": "plain Spark, whole answers of squares",
        "tree": "STRtree, whole answers of squares",
    }
    for name, label in names.items():
        if name in report:
            each = report[name]
            times = (f"{each[key]:.2f}" for key in ("first", "median", "worst"))
            ratio = each["median"] / report["spark"]["median"]
            sheet.add_row(label, *times, f"{each['results']:,}", f"{ratio:.2g}")
    console.print(sheet)


def _summary(ticks: list[tuple[float, float, int]]) -> dict[str, Any]:
    """Statistics of the seconds after the first tick, and the number of results of the last."""
    later = [seconds for seconds, _, _ in ticks[1:]]
    return {
        "first": ticks[0][0],
        "median": statistics.median(later),
        "worst": max(later),
        "processor": statistics.median(used for _, used, _ in ticks[1:]),
        "results": ticks[-1][2],
        "all": [seconds for seconds, _, _ in ticks],
    }
