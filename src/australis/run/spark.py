"""Runs on Spark: one Structured Streaming query, which owns offsets, retries and the commit log."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from australis.columns import plain
from australis.errors import RunError
from australis.plan import Stage
from australis.run import letters
from australis.run.job import LETTERS, Batch, Job
from australis.run.reader import COLUMNS, NAME, streaming
from australis.run.wire import Parcel, merged, rows, unpack
from australis.train import Train

if TYPE_CHECKING:
    from pyspark.core.broadcast import Broadcast
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_BLINK = 0.05

Deliver = Callable[[int, str, pa.RecordBatch], None]
"""Takes the tuples of an output in a batch: the batch's number, the output's name, the tuples in order."""


class Run:
    """A job under way on Spark."""

    def __init__(self, spark: SparkSession, job: Job, deliver: Deliver, limit: int = 1 << 20) -> None:
        self.job = job
        self._deliver = deliver
        self._log = Path(job.checkpoint) / "query"
        self._shared: Broadcast[Job] = spark.sparkContext.broadcast(job)
        self._letters = letters.writer(job.checkpoint)
        self._end = Event()
        spark.dataSource.register(streaming(job, limit))
        stream = spark.readStream.format(NAME).load()
        writer = stream.writeStream.foreachBatch(self._batch).option("checkpointLocation", str(self._log))
        self.query: StreamingQuery = writer.start()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end of finite inputs, or for so many seconds; whether the end has come."""
        limit = None if timeout is None else time.monotonic() + timeout
        while self.query.isActive and not self._end.wait(_BLINK):
            if limit is not None and time.monotonic() > limit:
                return False
        self.stop()
        failure = self.query.exception()
        if failure is not None:
            raise RunError(str(failure)) from failure
        return True

    def stop(self) -> None:
        """Stop after the batch that is under way."""
        self.query.stop()

    def _batch(self, frame: DataFrame, number: int) -> None:
        batch = self._read_batch(number)
        for stage in self.job.later:
            task = _task(self._shared, stage.index, batch)
            frame = frame.repartitionById(self.job.partitions, frame["bucket"]).mapInArrow(task, COLUMNS)
        trains = opened(self.job, frame.toArrow())
        for output in self.job.network.outputs:
            address = self.job.addresses.index(output.name)
            tuples = merged(self.job.schema(address), trains.get(address, [])).tuples
            self._deliver(batch.version, output.name, tuples)
        bad = trains.get(self.job.addresses.index(LETTERS), [])
        if bad:
            self._letters.write(batch.version, [train.tuples for train in bad])
        if batch.end:
            self._end.set()

    def _read_batch(self, number: int) -> Batch:
        """What the source wrote of a batch in its offset, before it ran."""
        text = (self._log / "offsets" / str(number)).read_text().splitlines()[-1]
        offset = json.loads(text)
        return Batch(offset["version"], offset["clock"], offset["end"])


def opened(job: Job, table: pa.Table) -> Mapping[int, list[Train]]:
    trains: dict[int, list[Train]] = {}
    for batch in table.to_batches():
        for parcel in _parcels(job, batch):
            trains.setdefault(parcel.arrow, []).append(parcel.train)
    return trains


def _parcels(job: Job, batch: pa.RecordBatch) -> Iterator[Parcel]:
    """Parcels of rows; there are as many as trains, not as tuples."""
    arrows, buckets = (plain(batch.column(name))[0].tolist() for name in ("arrow", "bucket"))
    for arrow, bucket, blob in zip(arrows, buckets, batch.column("train"), strict=True):
        yield Parcel(arrow, bucket, unpack(blob.as_buffer(), job.schema(arrow)))


def _task(shared: Broadcast[Job], index: int, batch: Batch) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A partition of a later stage: takes what is addressed to it, and passes on what is not."""

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        yield from run_stage(shared.value, shared.value.plan.stages[index], batch, context.partitionId(), batches)

    return task


def run_stage(
    job: Job, stage: Stage, batch: Batch, partition: int, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    mine = [
        address for address, where in enumerate(job.addresses) if not isinstance(where, str) and where[0] == stage.index
    ]
    taken: list[Parcel] = []
    for each in batches:
        wanted = pa.compute.is_in(each.column("arrow"), pa.array(mine, pa.int32()))
        others = each.filter(pa.compute.invert(wanted))
        if others.num_rows:
            yield others
        taken += _parcels(job, each.filter(wanted))
    if partition < job.width(stage):
        yield rows(job.take(stage, batch, partition, taken))
