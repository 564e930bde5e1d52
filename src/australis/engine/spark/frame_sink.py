"""Results as Spark DataFrames, for what people do next: Delta, JDBC, Kafka, a table of a catalog."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa


@dataclass(frozen=True)
class FrameSink:
    """At least once: `call(frame, batch_id)` for every batch with tuples, as in Spark's `foreachBatch`.

    A batch that is run again has the same id and the same tuples.
    """

    call: Callable[[Any, int], object]

    def open(self, schema: pa.Schema, run: str = "", replace: bool = False) -> FramesWriter:
        return FramesWriter(self.call, schema)


@dataclass(frozen=True)
class FramesWriter:
    call: Callable[[Any, int], object]
    schema: pa.Schema

    def write(self, batch_id: int, tuples: Iterable[pa.RecordBatch]) -> None:
        from pyspark.sql import SparkSession

        table = pa.Table.from_batches(tuples, self.schema)
        if table.num_rows:
            spark = SparkSession.active()
            self.call(spark.createDataFrame(table), batch_id)

    def close(self) -> None:
        """Nothing is held open."""
