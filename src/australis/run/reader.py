"""The streaming source through which Spark drives a job: one for all inputs, which runs their first boxes as well."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from australis.run.job import Batch, Job
from australis.run.source import Split
from australis.run.wire import rows

NAME = "australis"
COLUMNS = "arrow int, bucket int, train binary"


@dataclass(frozen=True)
class Piece(InputPartition):
    """What one task of a batch reads."""

    batch: Batch
    place: int
    splits: Mapping[str, Split]


class Reader(DataSourceStreamReader):
    """Offsets carry the version and the clock of the batch that they end, so that a replay has the same."""

    def __init__(self, job: Job, limit: int) -> None:
        self.job = job
        self.limit = limit
        self.streams = [input.name for input in job.network.inputs if not input.static]

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 (Spark's name)
        inputs = {name: self.job.sources[name].start() for name in self.streams}
        return {"version": 0, "clock": 0, "end": False, "inputs": inputs}

    def latestOffset(self, start: dict[str, Any], limit: object = None) -> dict[str, Any]:  # noqa: N802 (Spark's name)
        """Admission control: how far the next batch goes. After the last tuple comes a batch that says so."""
        if start["end"]:
            return start
        sources = self.job.sources
        inputs = {name: sources[name].latest(start["inputs"][name], self.limit) for name in self.streams}
        end = inputs == start["inputs"] and all(sources[name].finished(inputs[name]) for name in self.streams)
        if inputs == start["inputs"] and not end:
            return start
        return {"version": start["version"] + 1, "clock": time.time_ns() // 1000, "end": end, "inputs": inputs}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        if start["version"] == end["version"]:
            return []
        count = self.job.partitions
        batch = Batch(end["version"], end["clock"], end["end"])
        splits: dict[str, list[Split]] = {}
        for name in self.streams:
            before, after = start["inputs"][name], end["inputs"][name]
            splits[name] = [] if before == after else self.job.sources[name].splits(before, after, count)
        return [
            Piece(batch, place, {name: its[place] for name, its in splits.items() if place < len(its)})
            for place in range(count)
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Piece)
        yield rows(self.job.read(partition.batch, partition.place, partition.splits))


def streaming(job: Job, limit: int) -> type[DataSource]:
    """A source class for a job. It is made anew, so that Spark sends the job along with it."""

    class JobSource(DataSource):
        @classmethod
        def name(cls) -> str:
            return NAME

        def schema(self) -> str:
            return COLUMNS

        def streamReader(self, schema: object) -> DataSourceStreamReader:  # noqa: N802 (Spark's name)
            return Reader(job, limit)

    return JobSource
