"""The networks of `workloads` in plain Spark, as fast as its usual means allow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial, reduce
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa

from australis.arrow.compute import Datum, pc
from australis.bench.workloads import CHAIN, SCHEMA, WINDOW
from australis.model.box import Box, Moment
from australis.model.train import Train

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.state import GroupState
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

Frames: TypeAlias = Iterator[Any]
"""Frames of pandas, which has no types."""
Step: TypeAlias = Callable[[pa.RecordBatch], pa.RecordBatch]

_STATE = "spark.sql.streaming.stateStore"
_SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    # A batch after the last tuples, in which windows close.
    "spark.sql.streaming.noDataMicroBatches.enabled": "true",
}
_DEFAULTS = {
    "spark.sql.shuffle.partitions": "200",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileContextBasedCheckpointFileManager"
    ),
}
"""Spark's own defaults. Our sessions set some of them for everyone."""
_ROCKSDB = {
    f"{_STATE}.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    f"{_STATE}.rocksdb.changelogCheckpointing.enabled": "true",
}
_LONG_BATCHES = {"spark.sql.execution.arrow.maxRecordsPerBatch": "65536"}
_CHANGES = "number bigint, item int, status int"
_CHAIN = "time bigint, key int, value bigint"


@dataclass(frozen=True)
class Peer:
    """A query on Spark, with the settings it is fastest with, and the module that it needs, if any."""

    name: str
    query: Callable[[DataFrame], DataFrame]
    settings: Mapping[str, str] = field(default_factory=dict)
    needs: str = ""
    files: int | None = None
    """How many files a batch has; None for all."""

    @property
    def ready(self) -> bool:
        """Whether the module that it needs is installed."""
        with suppress(ModuleNotFoundError):
            return not self.needs or find_spec(self.needs) is not None
        return False

    def run(self, spark: SparkSession, source: Path, out: Path, checkpoint: Path) -> None:
        """Read all files of a folder, and write Parquet files to another."""
        with _set(spark, {**_SETTINGS, **self.settings}):
            reader = spark.readStream.schema(SCHEMA)
            if self.files is not None:
                reader = reader.option("maxFilesPerTrigger", self.files)
            results = self.query(reader.parquet(str(source)))
            writer = results.writeStream.format("parquet").option("checkpointLocation", str(checkpoint))
            writer.trigger(availableNow=True).start(str(out)).awaitTermination()


@contextmanager
def _set(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Set settings of the session within a `with`. A query keeps those that it started with."""
    before = {name: spark.conf.get(name, None) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, old)


def windows(tuples: DataFrame) -> DataFrame:
    """Structured Streaming's own windows. The last ones stay open, because no later tuple moves the watermark."""
    from pyspark.sql import functions as sql

    timed = tuples.where("value > 10").withColumn("at", sql.timestamp_seconds("time")).withWatermark("at", "0 seconds")
    grouped = timed.groupBy(sql.window("at", f"{WINDOW} seconds"), "key")
    aggregated = grouped.agg(sql.count("*").alias("n"), sql.avg("value").alias("mean"))
    return aggregated.select(sql.unix_seconds("window.start").alias("time"), "key", "n", "mean")


def changes(tuples: DataFrame) -> DataFrame:
    """An item's state is its last status."""
    from pyspark.sql.streaming.state import GroupStateTimeout

    groups = tuples.select("number", "item", "status").groupBy("item")
    return groups.applyInPandasWithState(_find_changes, _CHANGES, "status int", "append", GroupStateTimeout.NoTimeout)


def _find_changes(key: tuple[Any, ...], frames: Frames, state: GroupState) -> Frames:
    differing, last = _differing(key, frames, state.get[0] if state.exists else None)
    state.update((last,))
    yield differing


def changes_by_processor(tuples: DataFrame) -> DataFrame:
    """The same with Spark's newer interface to state."""
    groups = tuples.select("number", "item", "status").groupBy("item")
    return groups.transformWithStateInPandas(processor(), _CHANGES, "append", "none")


def processor() -> StatefulProcessor:
    """What `transformWithStateInPandas` calls for each item of a batch."""
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor

    class Changes(StatefulProcessor):
        def init(self, handle: StatefulProcessorHandle) -> None:
            self.last = handle.getValueState("last", "status int")

        def handleInputRows(self, key: Any, rows: Any, timerValues: object) -> Frames:  # noqa: N802, N803 (Spark's)
            before = self.last.get()
            differing, last = _differing(key, rows, before[0] if before else None)
            self.last.update((last,))
            yield differing

    return Changes()


def _differing(key: tuple[Any, ...], frames: Frames, last: int | None) -> tuple[Any, int]:
    """The tuples of an item that differ from the one before, sorted as a shuffle may mix them, and the last status."""
    import pandas as pd  # type: ignore[import-untyped]

    parts = [(frame["number"].to_numpy(), frame["status"].to_numpy()) for frame in frames]
    number, status = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
    order = np.argsort(number)
    number, status = number[order], status[order]
    changed = np.concatenate([[last is None or status[0] != last], status[1:] != status[:-1]])
    differing = pd.DataFrame({"number": number[changed], "item": key[0], "status": status[changed]})
    return differing, int(status[-1])


def chain(tuples: DataFrame) -> DataFrame:
    """Spark's own expressions, which it compiles to one loop."""
    frame = tuples.select("time", "key", "value")
    for box in CHAIN:
        frame = frame.where(box) if isinstance(box, str) else frame.selectExpr("time", "key", f"{box['value']} value")
    return frame


def chain_apart(tuples: DataFrame) -> DataFrame:
    """Each step in a Python process of its own."""
    return _apart(tuples, STEPS)


def _step(box: Box, batch: pa.RecordBatch) -> pa.RecordBatch:
    nothing = np.zeros(batch.num_rows, np.int64)
    (result, *_) = box.step({}, (Train(batch, nothing, nothing),), Moment())
    return result.tuples


def _apart(tuples: DataFrame, steps: tuple[Step, ...]) -> DataFrame:
    def stage(frame: DataFrame, step: Step) -> DataFrame:
        return frame.mapInArrow(partial(_each, step), _CHAIN)

    return reduce(stage, steps, tuples.select("time", "key", "value"))


def _each(step: Step, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return map(step, batches)


def _map_value(value: Callable[[pa.RecordBatch], Datum]) -> Step:
    return lambda batch: batch.set_column(2, "value", value(batch))


def _keep(test: Callable[[pa.RecordBatch], Datum]) -> Step:
    return lambda batch: batch.filter(test(batch))


def _rest(array: Datum, by: int) -> Datum:
    return pc.subtract(array, pc.multiply(pc.divide(array, by), by))


STEPS: tuple[Step, ...] = (
    _map_value(lambda batch: pc.add(pc.multiply(batch["value"], 3), batch["key"])),
    _keep(lambda batch: pc.not_equal(_rest(batch["value"], 10), 3)),
    _map_value(lambda batch: pc.add(batch["value"], _rest(batch["time"], 60))),
    _keep(lambda batch: pc.not_equal(batch["key"], 7)),
    _map_value(lambda batch: pc.multiply(batch["value"], batch["value"])),
    _keep(lambda batch: pc.greater(batch["value"], 1000)),
    _map_value(lambda batch: pc.divide(batch["value"], 2)),
    _keep(lambda batch: pc.not_equal(_rest(batch["value"], 5), 0)),
    _map_value(lambda batch: pc.subtract(batch["value"], batch["key"])),
    _keep(lambda batch: pc.not_equal(_rest(batch["value"], 4), 1)),
)
"""The chain, with Arrow's kernels."""

WINDOWS = Peer("Structured Streaming", windows)
WINDOWS_AS_IT_COMES = Peer("as it comes", windows, _DEFAULTS)
WINDOWS_BY_FILE = Peer("Structured Streaming", windows, files=1)
CHANGES = Peer("applyInPandasWithState", changes, _LONG_BATCHES)
CHANGES_BY_PROCESSOR = Peer("transformWithStateInPandas", changes_by_processor, _ROCKSDB, needs="google.protobuf")
CHAIN_NATIVE = Peer("Structured Streaming", chain)
CHAIN_AS_IT_COMES = Peer("as it comes", chain, _DEFAULTS)
CHAIN_APART = Peer("ten mapInArrow", chain_apart, _LONG_BATCHES)


def boxes_apart(boxes: tuple[Box, ...]) -> Peer:
    """The boxes of a chain, each in a Python process of its own."""
    steps = tuple(partial(_step, box) for box in boxes)
    return Peer("boxes apart", partial(_apart, steps=steps), _LONG_BATCHES)
