"""Plain Spark on moving objects: a batch of reports joined with all queries."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import functions as f

from australis.bench.moving_load import Load, corners

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CELLS = 50
"""The columns and rows of cells by which plain Spark joins, since it cannot join points with rectangles."""


def plain(spark: SparkSession, load: Load, folder: Path) -> list[tuple[float, float, int]]:
    """Join a batch with all queries by cells, and count whole answers. A join needs equal columns."""
    *_, tick = load.ticks(2)
    west, south, east, north = corners(load.query_rows(), tick)
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
    turns = []
    for _ in range(3):
        start = time.perf_counter()
        count = joined.count()
        turns.append((time.perf_counter() - start, 0.0, count))
    return turns
