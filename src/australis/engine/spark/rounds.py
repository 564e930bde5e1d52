"""Rounds: the later stages of a job as tasks of Spark, and the results that come out of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from australis.arrow.compute import pc
from australis.engine.addresses import StageEntry
from australis.engine.batch import Batch
from australis.engine.job import Job
from australis.engine.parcels import COLUMNS, Parcel, decode
from australis.engine.spark.failures import carried
from australis.engine.spark.shipping import ShippedJob
from australis.engine.spark.task_context import partition
from australis.engine.task import run_stage
from australis.model.train import Train

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def unpack_outputs(job: Job, table: pa.Table, seconds: dict[str, float] | None = None) -> dict[str, list[Train]]:
    """The trains that have come to outputs, and to the other addresses that are no stage, by name.

    The seconds that it takes are added to `seconds`, by name.
    """
    trains: dict[str, list[Train]] = {}
    for rows in table.to_batches():
        for parcel in decode(rows, job.schema):
            name = str(job.addresses[parcel.address])
            trains.setdefault(name, []).extend(parcel.trains)
            if seconds is not None:
                seconds[name] = seconds.get(name, 0.0) + parcel.seconds
    return trains


def run_rounds(frame: DataFrame, job: Job, shipped: ShippedJob, batch: Batch) -> pa.Table:
    """Run all rounds of a batch on what its first stages gave; what comes out of the last."""
    for number in range(len(job.rounds)):
        task = round_task(shipped, number, batch)
        frame = frame.repartitionById(job.partitions, frame["bucket"]).mapInArrow(task, COLUMNS)
    return frame.toArrow()


def round_task(shipped: ShippedJob, number: int, batch: Batch) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What Spark runs for each partition in a round of a job."""

    def task(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with carried():
            yield from run_round(shipped.job, number, batch, partition(), rows)

    return task


def run_round(
    job: Job, number: int, batch: Batch, partition: int, rows: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Run a partition of the stages of a round on the parcels addressed to them, and pass on all others."""
    stages = job.rounds[number]
    indices = {stage.index for stage in stages}
    numbers = [n for n, where in enumerate(job.addresses) if isinstance(where, StageEntry) and where.stage in indices]
    ours = pa.array(numbers, pa.int32())
    parcels: list[Parcel] = []
    for each in rows:
        wanted = pc.is_in(each.column("address"), ours)
        others = each.filter(pc.invert(wanted))
        if others.num_rows:
            yield others
        parcels += decode(each.filter(wanted), job.schema)
    for stage in stages:
        if partition < job.width(stage):
            yield run_stage(job, stage, batch, partition, parcels)
