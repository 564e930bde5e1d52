"""The streaming source through which Spark drives a job: one for all inputs, which runs their first boxes as well."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from australis.connectors.source import Offset, Releasing, Ringing, Split
from australis.engine.batch import Batch, batch, room
from australis.engine.idle import PATIENCE, Look, Wait
from australis.engine.job import Job
from australis.engine.log import sealed
from australis.engine.parcels import COLUMNS
from australis.engine.positions import Positions, advance, arrived, readings_apart
from australis.engine.spark.control import Control, Directive
from australis.engine.spark.failures import carried, reason
from australis.engine.spark.hook import Hook
from australis.engine.spark.shipping import ShippedJob
from australis.engine.task import ReadingSplits, read_splits
from australis.errors import RunError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

NAME = "australis"


@dataclass(frozen=True)
class TaskInput(InputPartition):
    """What one task of a batch reads: a split an input, and the same for branches that read by themselves."""

    batch: Batch
    place: int
    splits: Mapping[str, Split]
    shipped: ShippedJob
    apart: tuple[ReadingSplits, ...] = ()


class StreamReader(DataSourceStreamReader):
    """Plans batches and reads them. An offset has all that tasks know of the batch it ends: a replay is the same."""

    def __init__(self, control: Control, patience: float = 0.0) -> None:
        self.control = control
        self._shipped: dict[int, ShippedJob] = {}
        self._wait = Wait(patience)

    @carried()
    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 (Spark's name)
        job = self._job(self.control.read().network)
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

    @carried()
    def latestOffset(self, start: dict[str, Any], limit: object = None) -> dict[str, Any]:  # noqa: N802 (Spark's name)
        """How far the next batch goes, and under which network; waits where there is nothing yet."""
        return self._wait.until(lambda: self._next(start))

    def _next(self, start: dict[str, Any]) -> Look[dict[str, Any]]:
        """How far the next batch goes now; `start` again where there is nothing yet."""
        directive = self.control.read()
        if directive.stop:
            return Look(start, done=True)
        if start["end"]:
            return Look(start, bells=(self.control.folder,))
        job = self._job(directive.network)
        clock = time.time_ns() // 1000  # before the sources are asked: what they do not tell of yet came after it
        early = start["clock"] / 1e6 + directive.interval - clock / 1e6
        if 0 < early <= directive.interval:  # else the clock was set
            return Look(start, bells=(self.control.folder,), within=early)
        job, before, directive = self._before(start, job, directive)
        moved = advance(job, before, directive.limit, directive.takes)
        inputs = moved.after.front
        ended = [name for name in inputs if job.sources[name].finished(moved.after.last(name, job.sources[name]))]
        end = len(ended) == len(inputs)
        same = directive.network == start["network"]
        still = moved.after == Positions.of(start)
        if still and not end and (same or not (start["version"] or directive.begin)):
            awaited = [job.sources[name] for name in inputs if name not in ended]
            bells = tuple(source.bell for source in awaited if isinstance(source, Ringing))
            return Look(start, bells=(self.control.folder, *bells), seen=len(bells) < len(awaited))
        version = start["version"] + 1
        plan = {
            "version": version,
            "first": start["first"] + start["room"],
            "room": room(job.partitions, job.wide),
            "clock": clock,
            "until": min([clock, *arrived(job, inputs)]),
            "end": end,
            "ended": ended,
            "network": directive.network,
            "began": start["began"] if same else version,
            "inputs": inputs,
            "shed": directive.shed,
            **({"behind": moved.after.behind} if moved.after.behind else {}),
            **({"apart": readings_apart(job, before, moved, clock)} if moved.own else {}),
        }
        return Look(sealed(plan), done=True)

    def _before(self, start: dict[str, Any], job: Job, directive: Directive) -> tuple[Job, Positions, Directive]:
        """Where the branches of a job are before the next batch.

        Where a change of the network joins branches that are at different positions, batches of the network before come
        first, in which those catch up that are behind, and the others wait. They leave out what the last batch did.
        """
        positions = Positions.of(start)
        if positions.behind and start["network"] != directive.network:
            old = self._job(start["network"])
            following = positions.followed_by(old, job)
            if following is None:
                ahead = [branch for branch in old.branches if branch.name not in positions.behind]
                takes = {branch.name: dict.fromkeys(branch.inputs, 0) for branch in ahead}
                first = replace(directive, network=start["network"], takes=takes, shed=start.get("shed"))
                return old, positions.of_job(old), first
            positions = following
        return job, positions.of_job(job), directive

    @carried()
    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        if start["version"] == end["version"]:
            return []
        job = self._job(end["network"])
        shipped = self._shipped[end["network"]]
        before, own = Positions.of(start).of_job(job).front, end.get("apart", ())
        elsewhere = {name for each in own for name in each["first"]}
        front = {name: offset for name, offset in end["inputs"].items() if name not in elsewhere}
        splits = _splits(job, before, front)
        apart = [_splits(job, each["from"], each["to"]) for each in own]
        firsts = [frozenset(each["first"]) for each in own]
        return [
            TaskInput(
                batch(end), place, splits[place], shipped,
                tuple(ReadingSplits(each[place], first) for each, first in zip(apart, firsts, strict=True)),
            )
            for place in range(job.partitions)
        ]  # fmt: skip

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, TaskInput)
        with carried():
            job, place = partition.shipped.job, partition.place
            yield read_splits(job, partition.batch, place, partition.splits, partition.apart)

    @carried()
    def commit(self, end: dict[str, Any]) -> None:
        """Let sources forget what is before the end of a batch that is done: it is not read again."""
        if not end["version"]:
            return
        job, positions = self._job(end["network"]), Positions.of(end)
        for name in end["inputs"]:
            source = job.sources[name]
            if isinstance(source, Releasing):
                source.release(positions.last(name, source))

    def _job(self, number: int) -> Job:
        if number not in self._shipped:
            self._shipped[number] = self.control.read_job(number)
        return self._shipped[number].job


def _splits(job: Job, before: Mapping[str, Offset], after: Mapping[str, Offset]) -> list[dict[str, Split]]:
    """What each task reads between offsets of inputs."""
    splits: list[dict[str, Split]] = [{} for _ in range(job.partitions)]
    for name, end in after.items():
        if before[name] != end:
            for place, split in enumerate(job.sources[name].splits(before[name], end, job.partitions)):
                splits[place][name] = split
    return splits


class JobSource(DataSource):
    """The source of a run, as Spark finds it by name; its options say where the run's control is."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> str:
        return COLUMNS

    def streamReader(self, schema: object) -> DataSourceStreamReader:  # noqa: N802 (Spark's name)
        return StreamReader(Control(self.options["control"]), float(self.options["patience"]))


def start_query(spark: SparkSession, control: str, hook: Hook, folder: Path, trigger: str | None) -> StreamingQuery:
    """Start the query that calls a hook with each batch; Spark keeps its logs in a folder."""
    try:
        # A source that waits takes what comes at once, which would be too soon where batches are timed.
        timed = trigger is not None and not trigger.startswith("0 ")
        stream = spark.readStream.format(NAME).option("patience", 0 if timed else PATIENCE).load(control=control)
        writer = stream.writeStream.foreachBatch(hook).option("checkpointLocation", str(folder))
        return (writer.trigger(processingTime=trigger) if trigger else writer).start()
    except Exception as error:
        raise RunError(f"Spark does not start the run: {reason(error)}") from error
