"""A Spark DataFrame as an input: Kafka, Delta, Kinesis and all else that Spark reads.

A query of its own writes each of the frame's batches to a folder of the spool, one Arrow file a task, and the run
reads them from there. The folder of a batch gets its name when all its files are written: it is there whole or not at
all, and a batch that Spark runs again is passed over. What the run has done with is removed.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from australis.connectors.origin import kept_in
from australis.connectors.source import Offset, Part, Split
from australis.connectors.sources.files import Files
from australis.disk.durable import sync_folder
from australis.disk.wakeup import ring
from australis.engine.spark.hook import Hook
from australis.engine.spark.task_context import attempt, partition
from australis.errors import RunError, Subject, listing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

_BATCH = re.compile(r"\d{12}")
_END = "end"


@dataclass(frozen=True)
class Frame:
    """The tuples of a frame, as they are in the spool. Its order is that of its batches, and in them of its partitions.

    A frame that is no stream is one batch, and then the input is finished.
    """

    schema: pa.Schema
    spool: str

    @property
    def bell(self) -> str:
        return self.spool

    @property
    def _files(self) -> Files:
        return Files(f"{self.spool}/*/*.arrows", self.schema, follow=True)

    def origin(self, checkpoint: Path) -> str:
        return f"a frame of Spark{kept_in(self.spool, checkpoint)}"

    @property
    def finite(self) -> bool:
        return False

    @property
    def timed(self) -> bool:
        return True

    def placed(self, spool: Path) -> Frame:
        return replace(self, spool=str(Path(self.spool).absolute() if self.spool else spool))

    def start(self) -> Offset:
        return self._files.start()

    def latest(self, offset: Offset, limit_rows: int) -> Offset:
        return self._files.latest(offset, limit_rows)

    def splits(self, start: Offset, end: Offset, count: int) -> list[Split]:
        return self._files.splits(start, end, count)

    def read(self, split: Split) -> Iterator[Part]:
        return self._files.read(split)

    def finished(self, offset: Offset) -> bool:
        return (Path(self.spool) / _END).exists() and self._files.latest(offset, 1) == offset

    def backlog(self, offset: Offset) -> int:
        return self._files.backlog(offset)

    def release(self, offset: Offset) -> None:
        """Remove the batches before the one that an offset is in."""
        if offset["files"]:
            now = Path(offset["files"][-1][0]).parent
            for folder in Path(self.spool).iterdir():
                if _BATCH.fullmatch(folder.name) and folder.name < now.name:
                    shutil.rmtree(folder, ignore_errors=True)


class FrameFeed:
    """The query that writes a frame to a spool."""

    def __init__(self, name: str, frame: DataFrame, source: Frame, log: Path) -> None:
        missing = [column for column in source.schema.names if column not in frame.columns]
        if missing:
            raise RunError(
                f"the frame has no column {listing(missing)}; it has {listing(frame.columns)}", Subject("input", name)
            )
        self.spool = Path(source.spool)
        self.spool.mkdir(parents=True, exist_ok=True)
        columns = frame.select(*source.schema.names)
        self.query: StreamingQuery | None = None
        self._hook = Hook(frame.sparkSession.sparkContext._gateway, self._batch)
        if frame.isStreaming:
            writer = columns.writeStream.foreachBatch(self._hook).option("checkpointLocation", str(log))
            self.query = writer.start()
        elif not (self.spool / _END).exists():
            self._batch(columns, 0)
            (self.spool / _END).touch()
            ring(self.spool)

    @property
    def failure(self) -> Exception | None:
        """What has stopped it, if anything has; of Spark's process, if that is gone, the run tells."""
        try:
            return None if self.query is None else self.query.exception()
        except Exception:
            return None

    def close(self) -> None:
        if self.query is not None:
            with suppress(Exception):  # if it is gone, it has stopped
                self.query.stop()
        self._hook.close()

    def _batch(self, frame: DataFrame, number: int) -> None:
        """Write a batch under a hidden name, and then give it its own."""
        done = self.spool / f"{number:012}"
        if number <= self._last():
            return
        making = self.spool / f".{number:012}"
        shutil.rmtree(making, ignore_errors=True)
        making.mkdir()
        for _ in frame.mapInArrow(_written(str(making)), "file string").toLocalIterator():
            pass
        if any(making.iterdir()):
            sync_folder(making)
            making.rename(done)
            sync_folder(self.spool)
            ring(self.spool)
        else:
            with suppress(OSError):
                making.rmdir()

    def _last(self) -> int:
        """The last batch that was written; the newest is never removed before a later one is there."""
        return max((int(path.name) for path in self.spool.iterdir() if _BATCH.fullmatch(path.name)), default=-1)


def _written(folder: str) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        first = next((batch for batch in batches if batch.num_rows), None)
        if first is None:
            return
        path = f"{folder}/{partition():06}.arrows"
        temporary = f"{path}.{attempt()}.tmp"
        with pa.OSFile(temporary, "wb") as file, pa.ipc.new_stream(file, first.schema) as stream:
            stream.write_batch(first)
            for batch in batches:
                stream.write_batch(batch)
        with Path(temporary).open("rb") as written:
            os.fsync(written.fileno())
        Path(temporary).replace(path)
        yield pa.record_batch({"file": [path]})

    return write
