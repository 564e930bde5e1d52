"""Moving objects: the shared operator on Spark, beside what plain Spark and a tree of rectangles take for the same."""

from __future__ import annotations

import json as json_
import statistics
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
from australis.bench.moving_load import Load, corners, network
from australis.box import Moment
from australis.run.session import session
from australis.train import Train, empty

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CELLS = 50
"""The columns and rows of cells by which plain Spark joins: it has no way to join points and rectangles as such."""


def main(
    objects: int = 100_000,
    queries: int = 50_000,
    batches: int = 8,
    json: Path | None = None,
    plots: Path | None = None,
) -> None:
    """Measure, show and write down."""
    load = Load(objects, queries)
    report: dict[str, Any] = {"objects": objects, "queries": queries, "batches": batches}
    report["box"] = box(load, batches)
    spark, ours = session(master="local[2,4]")
    with tempfile.TemporaryDirectory() as folder:
        report["spark"] = run(spark, load, batches, Path(folder))
        report["plain spark"] = plain(spark, load, Path(folder))
    if ours:
        spark.stop()
    report["tree"] = tree(load)
    show(report)
    if plots is not None:
        report["paper"] = moving_paper.main(objects // 5, queries // 25, plots)
    if json is not None:
        json.write_text(json_.dumps(report, indent=2))


def box(load: Load, batches: int) -> dict[str, Any]:
    """The box by itself, in this process: seconds of each train with all objects, after the one with all queries."""
    (node,) = network().nodes
    asked = load.asked()
    tables, found = None, []
    for tick, reports in enumerate(load.ticks(batches + 1)):
        trains = (_train(reports), empty(asked.schema) if tick else _train(asked))
        tables = tables or node.box.tables(*(each.schema for each in trains))
        start, used = time.perf_counter(), time.process_time()
        out, _ = node.box.step(tables, trains, Moment(tick))
        found.append((time.perf_counter() - start, time.process_time() - used, len(out)))
    return _summary(found)


def run(spark: SparkSession, load: Load, batches: int, folder: Path) -> dict[str, Any]:
    """The network on Spark, all objects in every batch; the updates go to files."""
    (folder / "objects").mkdir()
    for tick, reports in enumerate(load.ticks(batches + 1)):
        pq.write_table(pa.table(reports), folder / "objects" / f"{tick:05}.parquet")
    pq.write_table(pa.table(load.asked()), folder / "queries.parquet")
    given = {
        "objects": f"{folder}/objects/*.parquet",
        "queries": f"{folder}/queries.parquet",
        "updates": f"{folder}/out/",
    }
    done = network().run(given, spark=spark, checkpoint=f"{folder}/checkpoint", partitions=1, train=load.objects)
    return _summary([(each["seconds"], each["seconds"], each["given"]["updates"]) for each in done.progress])


def plain(spark: SparkSession, load: Load, folder: Path) -> dict[str, Any]:
    """A batch joined with all queries, whole answers counted: by cells, since a join needs something that is equal."""
    from pyspark.sql import functions as f

    *_, tick = load.ticks(2)
    west, south, east, north = corners(load.asked(), tick)
    pq.write_table(pa.table({"west": west, "south": south, "east": east, "north": north}), folder / "regions.parquet")
    pq.write_table(pa.table(tick), folder / "tick.parquet")

    def cell(name: str) -> Any:
        return f.least(f.greatest(f.floor(f.col(name) * _CELLS), f.lit(0)), f.lit(_CELLS - 1))

    regions = spark.read.parquet(str(folder / "regions.parquet"))
    regions = regions.withColumn("column", f.explode(f.sequence(cell("west"), cell("east"))))
    regions = regions.withColumn("row", f.explode(f.sequence(cell("south"), cell("north"))))
    reports = spark.read.parquet(str(folder / "tick.parquet")).withColumns({"column": cell("x"), "row": cell("y")})
    inside = "x between west and east and y between south and north"
    joined = reports.join(regions, ["column", "row"]).where(inside)
    found = []
    for _ in range(3):
        start = time.perf_counter()
        count = joined.count()
        found.append((time.perf_counter() - start, 0.0, count))
    return _summary(found)


def tree(load: Load) -> dict[str, Any]:
    """shapely's STRtree over the queries, asked for all objects: whole answers, built anew since queries move."""
    found, asked = [], load.asked()
    for tick in load.ticks(3):
        west, south, east, north = corners(asked, tick)
        start = time.perf_counter()
        boxes = shapely.box(west, south, east, north)
        points = shapely.points(tick["x"].to_numpy(), tick["y"].to_numpy())
        pairs = shapely.STRtree(boxes).query(points, predicate="intersects")
        found.append((time.perf_counter() - start, 0.0, pairs.shape[1]))
    return _summary(found)


def show(report: dict[str, Any]) -> None:
    sheet = Sheet("", "first", "median", "worst", "results", box=SIMPLE_HEAD)
    sheet.title = f"{report['objects']:,} objects, {report['queries']:,} queries: seconds a train"
    names = {
        "box": "the box, updates",
        "spark": "Australis on Spark, updates",
        "plain spark": "plain Spark, whole answers",
        "tree": "STRtree, whole answers",
    }
    for name, label in names.items():
        if name in report:
            each = report[name]
            times = (f"{each[key]:.2f}" for key in ("first", "median", "worst"))
            sheet.add_row(label, *times, f"{each['results']:,}")
    Console().print(sheet)


def _summary(found: list[tuple[float, float, int]]) -> dict[str, Any]:
    """Of the seconds after the first, with the results of the last."""
    later = [seconds for seconds, _, _ in found[1:]]
    return {
        "first": found[0][0],
        "median": statistics.median(later),
        "worst": max(later),
        "processor": statistics.median(used for _, used, _ in found[1:]),
        "results": found[-1][2],
        "all": [seconds for seconds, _, _ in found],
    }


def _train(tuples: pa.RecordBatch) -> Train:
    return Train(tuples, np.zeros(len(tuples), np.int64), np.arange(len(tuples)))
