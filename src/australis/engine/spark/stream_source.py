"""The streaming source through which Spark drives a job: one for all inputs, which runs their first boxes as well."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from australis.connectors.source import Offset, Releasing, Ringing, Split
from australis.engine.batch import Batch, batch, room
from australis.engine.exchange import rows
from australis.engine.idle import Look, Wait
from australis.engine.job import Job
from australis.engine.spark.control import Control
from australis.engine.spark.shipping import Sent

NAME = "australis"
COLUMNS = "arrow int, bucket int, train binary"


@dataclass(frozen=True)
class TaskInput(InputPartition):
    """What one task of a batch reads."""

    batch: Batch
    place: int
    splits: Mapping[str, Split]
    sent: Sent


class StreamReader(DataSourceStreamReader):
    """Offsets carry the version, the clock and the network of the batch that they end: a replay has the same."""

    def __init__(self, control: Control, patience: float = 0.0) -> None:
        self.control = control
        self._sent: dict[int, Sent] = {}
        self._wait = Wait(patience)

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 (Spark's name)
        job = self._job(self.control.order().network)
        return {
            "version": 0,
            "first": 0,
            "room": room(0, wide=True),
            "clock": 0,
            "end": False,
            "network": 0,
            "began": 0,
            "inputs": dict(job.starts),
        }

    def latestOffset(self, start: dict[str, Any], limit: object = None) -> dict[str, Any]:  # noqa: N802 (Spark's name)
        """Admission control: how far the next batch goes, under which network. Where there is nothing yet, it waits."""
        return self._wait.until(lambda: self._next(start))

    def _next(self, start: dict[str, Any]) -> Look[dict[str, Any]]:
        """How far the next batch goes now."""
        order = self.control.order()
        if order.stop:
            return Look(start, done=True)
        if start["end"]:
            return Look(start, bells=(self.control.folder,))
        job = self._job(order.network)
        inputs = {
            input.name: job.sources[input.name].latest(_before(job, start, input.name), order.limit)
            for input in job.streams
        }
        ended = [name for name, offset in inputs.items() if job.sources[name].finished(offset)]
        end = len(ended) == len(inputs)
        same = order.network == start["network"]
        if inputs == start["inputs"] and not end and (same or not (start["version"] or order.begin)):
            awaited = [job.sources[name] for name in inputs if name not in ended]
            bells = tuple(source.bell for source in awaited if isinstance(source, Ringing))
            return Look(start, bells=(self.control.folder, *bells), seen=len(bells) < len(awaited))
        version = start["version"] + 1
        return Look(
            {
                "version": version,
                "first": start["first"] + start["room"],
                "room": room(job.partitions, job.wide),
                "clock": time.time_ns() // 1000,
                "end": end,
                "ended": ended,
                "network": order.network,
                "began": start["began"] if same else version,
                "inputs": inputs,
            },
            done=True,
        )

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        if start["version"] == end["version"]:
            return []
        job = self._job(end["network"])
        splits: dict[str, list[Split]] = {}
        for name, after in end["inputs"].items():
            before = _before(job, start, name)
            splits[name] = [] if before == after else job.sources[name].splits(before, after, job.partitions)
        sent = self._sent[end["network"]]
        return [
            TaskInput(batch(end), place, {name: its[place] for name, its in splits.items() if place < len(its)}, sent)
            for place in range(job.partitions)
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, TaskInput)
        job = partition.sent.job
        yield rows(job.read(partition.batch, partition.place, partition.splits), aside(job, partition.batch))

    def commit(self, end: dict[str, Any]) -> None:
        """What lies before the end of a batch that is done will not be read again."""
        if not end["version"]:
            return
        job = self._job(end["network"])
        for name, offset in end["inputs"].items():
            source = job.sources[name]
            if isinstance(source, Releasing):
                source.release(offset)

    def _job(self, number: int) -> Job:
        if number not in self._sent:
            self._sent[number] = self.control.job(number)
        return self._sent[number].job


def _before(job: Job, start: dict[str, Any], name: str) -> Offset:
    """Where an input stands: one that came with a change of the network is at its beginning."""
    found: Offset = start["inputs"].get(name) or job.starts[name]
    return found


def aside(job: Job, batch: Batch) -> str:
    """Where the trains of a batch may be laid."""
    return job.aside and f"{job.aside}/{batch.version}"


class JobSource(DataSource):
    """The source of a run, which is told where its control is."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> str:
        return COLUMNS

    def streamReader(self, schema: object) -> DataSourceStreamReader:  # noqa: N802 (Spark's name)
        return StreamReader(Control(self.options["control"]), float(self.options["patience"]))
