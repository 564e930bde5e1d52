"""Results as Spark DataFrames, for what people do next: Delta, JDBC, Kafka, a table of a catalog."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from australis.engine.spark.session import active
from australis.errors import RunError


@dataclass(frozen=True)
class FrameSink:
    """A function `call(frame, batch_id)` as a sink, called for every batch with tuples, as by Spark's `foreachBatch`.

    It is called at least once for each.
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
        table = pa.Table.from_batches(tuples, self.schema)
        if not table.num_rows:
            return
        spark = active()
        if spark is None:
            raise RunError(
                "a `FrameSink` makes frames of Spark, and no session is active; run the network on Spark, or make a"
                " session first (SparkSession.builder.getOrCreate())"
            )
        self.call(spark.createDataFrame(table), batch_id)

    def close(self) -> None:
        """Nothing is held open."""
