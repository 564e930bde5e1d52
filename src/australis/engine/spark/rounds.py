"""Rounds: the later stages of a job as tasks of Spark, with what goes between them, and to outputs, as rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from australis.arrow.columns import plain
from australis.arrow.compute import pc
from australis.engine.batch import Batch
from australis.engine.exchange import Parcel, rows, unpack
from australis.engine.job import Job
from australis.engine.spark.failures import carried
from australis.engine.spark.shipping import Sent
from australis.engine.spark.stream_source import aside
from australis.engine.spark.task_context import partition
from australis.model.train import Train


def opened(job: Job, table: pa.Table) -> dict[str, list[Train]]:
    """The trains that have come to outputs, by name; none is for a stage."""
    trains: dict[str, list[Train]] = {}
    for batch in table.to_batches():
        for parcel in _parcels(job, batch):
            trains.setdefault(str(job.addresses[parcel.arrow]), []).extend(parcel.trains)
    return trains


def _parcels(job: Job, batch: pa.RecordBatch) -> Iterator[Parcel]:
    """Parcels of rows; there are as many as partitions and arrows, not as tuples."""
    arrows, buckets = (plain(batch.column(name))[0].tolist() for name in ("arrow", "bucket"))
    for arrow, bucket, blob in zip(arrows, buckets, batch.column("train"), strict=True):
        yield Parcel(arrow, bucket, list(unpack(blob.as_buffer(), job.schema(arrow))))


def task_of(sent: Sent, at: int, batch: Batch) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A partition of the stages of a round: takes what is addressed to them, and passes on what is not."""

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with carried():
            yield from run_round(sent.job, at, batch, partition(), batches)

    return task


def run_round(
    job: Job, at: int, batch: Batch, partition: int, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """What such a task does, wherever it runs."""
    indices = [stage.index for stage in job.rounds[at]]
    mine = [
        address for address, where in enumerate(job.addresses) if not isinstance(where, str) and where[0] in indices
    ]
    taken: list[Parcel] = []
    for each in batches:
        wanted = pc.is_in(each.column("arrow"), pa.array(mine, pa.int32()))
        others = each.filter(pc.invert(wanted))
        if others.num_rows:
            yield others
        taken += _parcels(job, each.filter(wanted))
    for stage in job.rounds[at]:
        if partition < job.width(stage):
            yield rows(job.take(stage, batch, partition, taken), aside(job, batch))
