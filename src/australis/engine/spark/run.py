"""Runs on Spark: one Structured Streaming query, which owns offsets, retries and the commit log."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Condition, Lock, Thread
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from australis.arrow.schema import text
from australis.connectors import dead_letters as letters
from australis.connectors.binding import bind_sinks, bind_sources, check_names, place_sources, unordered
from australis.connectors.sink import Parted, Sink
from australis.disk.temporary import TemporaryFolder
from australis.engine import measures
from australis.engine.batch import Batch
from australis.engine.checkpoint import Checkpoint
from australis.engine.exchange import in_order
from australis.engine.idle import PATIENCE
from australis.engine.job import LETTERS, MEASURES, PARTS, Job
from australis.engine.ledger import Ledger
from australis.engine.merging import merging
from australis.engine.outlet import OpenSink, outlet
from australis.engine.spark import alive
from australis.engine.spark.control import Control, Directive, first_limit, paced
from australis.engine.spark.failures import reason
from australis.engine.spark.frame_source import FrameFeed
from australis.engine.spark.hook import Hook
from australis.engine.spark.jvm import ended, forget
from australis.engine.spark.prefork import room
from australis.engine.spark.rounds import opened, task_of
from australis.engine.spark.session import apart
from australis.engine.spark.shipping import Sent, send
from australis.engine.spark.stream_source import COLUMNS, NAME, aside
from australis.engine.succession import successor
from australis.engine.totals import Totals
from australis.errors import RunError
from australis.model.network import Network
from australis.model.train import Train

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_BLINK = 0.02
_GRACE = 10.0  # seconds for a process that does not answer to be seen to have ended
_REMEMBERED = 1000  # batches
_PLANNER = "PythonStreamingSourceRunner"  # where Spark talks to the process that plans batches
AIM = 1.0
"""How many seconds a batch should take where there is more input than it needs."""

Progress = dict[str, Any]


class Lost(RunError):  # noqa: N818 (as its root)
    """Spark's process is gone."""


class Run:
    """A network under way on Spark.

    `progress` has an entry for each of the last batches; `measures()` is a table of what was measured in them.
    """

    def __init__(
        self,
        spark: SparkSession,
        checkpoint: Checkpoint,
        jobs: Mapping[int, Job],
        outlets: Mapping[str, OpenSink],
        *,
        current: int = 1,
        train: int | None = None,
        trigger: str | None = None,
        local: bool = True,
        feeds: Sequence[FrameFeed] = (),
        closing: ExitStack | None = None,
    ) -> None:
        self.checkpoint = checkpoint
        self.progress: deque[Progress] = deque(maxlen=_REMEMBERED)
        self.letters = 0
        """How many tuples could not be read."""
        self.totals = Totals()
        """What was done since the start."""
        self._spark = apart(spark)
        self._fixed = train is not None
        self._order = Directive(current, train or first_limit(input.schema for input in jobs[current].streams))
        self._feeds = feeds
        self._closing, self._close_once = closing or ExitStack(), Lock()
        self._failure: RunError | None = None
        self._over = False
        ours = room()
        # A task that is still under way when the run fails may write there; the rest goes with the session then.
        inside = partial(tempfile.TemporaryDirectory, prefix="run-", ignore_cleanup_errors=True)
        folder = TemporaryFolder() if ours is None else inside(dir=ours.path)
        self._control = Control(self._closing.enter_context(folder))
        Path(self._control.aside).mkdir()
        self._closing.enter_context(alive.hold(self._control.aside))
        self._aside = self._control.aside if local else ""
        self._jobs: dict[int, Job] = {}
        self._outlets: dict[int, dict[str, OpenSink]] = {}
        self._sent: dict[int, Sent] = {}
        self._began: dict[int, int] = {}
        self._ledger = Ledger(checkpoint.path)
        self._closing.callback(self._ledger.close)
        self._dead = letters.writer(checkpoint.path, checkpoint.run)
        self._closing.callback(self._dead.close)
        self._dead.agree(checkpoint.log.planned, checkpoint.log.committed)
        self._state = Condition()
        self._ended = checkpoint.log.done()
        last = checkpoint.log.last()
        if last is not None:
            self._began[last.network] = last.began
        for job in jobs.values():
            self._lay(job, outlets)
        self._control.give(self._order)
        self._gateway = self._spark.sparkContext._gateway
        self._hook = Hook(self._gateway, self._batch)
        self._closing.callback(self._hook.close)
        self.query = self._started(trigger)
        self._watching = Thread(target=self._watch, name="watching", daemon=True)
        self._watching.start()

    def _started(self, trigger: str | None) -> StreamingQuery:
        query = self.checkpoint.log.folder
        self.checkpoint.log.make()
        try:
            # What comes while the source waits is taken at once, which would be too soon where batches are timed.
            timed = trigger is not None and not trigger.startswith("0 ")
            source = self._spark.readStream.format(NAME).option("patience", 0 if timed else PATIENCE)
            stream = source.load(control=self._control.folder)
            writer = stream.writeStream.foreachBatch(self._hook).option("checkpointLocation", str(query))
            return (writer.trigger(processingTime=trigger) if trigger else writer).start()
        except Exception as error:
            raise RunError(f"Spark does not start the run: {reason(error)}") from error

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def network(self) -> Network:
        """The one that the next batch runs."""
        return self._jobs[self._order.network].network

    @property
    def active(self) -> bool:
        """Whether batches are still to come."""
        return not self._ended and not self._over and not any(feed.failure for feed in self._feeds)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end of finite inputs, or for so many seconds; whether the end has come."""
        limit = None if timeout is None else time.monotonic() + timeout
        while self.active:
            left = _BLINK * 10 if limit is None else min(_BLINK * 10, limit - time.monotonic())
            if left <= 0:
                return False
            with self._state:
                self._state.wait(left)
        self.stop()
        return True

    def stop(self) -> None:
        """Stop after the batch that is under way; what stopped it before that is raised."""
        self._tell(stop=True)
        with suppress(Exception):  # told below
            if self.query.isActive:
                self.query.processAllAvailable()
        unheard: Exception | None = None
        try:
            self.query.stop()
        except Exception as error:
            unheard = error
        self._watching.join(2 * _GRACE)
        fed = next(filter(None, (feed.failure for feed in self._feeds)), None)
        self._close()
        if self._failure is not None:
            raise self._failure
        if fed is not None:
            raise RunError(reason(fed)) from fed
        if unheard is not None and not self._over:
            raise RunError(f"Spark does not stop the run: {reason(unheard)}") from unheard

    def _watch(self) -> None:
        """Wait until the query is over. If that is by itself, close what the run holds: nobody may come to stop it."""
        failure: RunError | None = None
        try:
            self.query.awaitTermination()
        except Exception as error:
            failure = self._failed(error)
            failure.__cause__ = error
        with self._state:
            self._failure, self._over = failure, True
            self._state.notify_all()
        if failure is not None:
            self._close()
        if isinstance(failure, Lost):
            forget(self._gateway)

    def _failed(self, error: Exception) -> RunError:
        """What ended the query: a failure of its own, a missing checkpoint, or the end of one of Spark's processes."""
        from pyspark.errors import StreamingQueryException

        try:
            self.checkpoint.check()
        except RunError as missing:
            return missing
        if not isinstance(error, StreamingQueryException):
            how = ended(self._gateway, _GRACE)
            return Lost(f"Spark's process {how}; {_again(self.checkpoint)}") if how else RunError(reason(error))
        if _PLANNER in str(getattr(error, "_stackTrace", "")) and "Traceback" not in str(error):
            return RunError(f"the process that plans batches was killed, or ended; {_again(self.checkpoint)}")
        return RunError(reason(self.query.exception() or error))

    def _close(self) -> None:
        """Let go of everything, whatever happens to one of it. Whoever comes second waits."""
        with self._close_once:
            self._hook.close()
            self._closing.close()

    def change(self, network: Network, given: Mapping[str, Any] | None = None, /, **more: Any) -> int:
        """Go on with another network from the next batch on; gives the number of that batch.

        Boxes that stay as they are keep their state; others start empty, or go. Sources and sinks of inputs and outputs
        that are new are given by name.
        """
        named = {**(given or {}), **more}
        check_names(network, named)
        now = self._order.network
        if now not in self._began:
            self._tell(begin=True)
        if not self._comes(now):
            raise RunError("the run has ended before its network began")
        job = self._jobs[now]
        sources = place_sources(bind_sources(network, named, job.sources), self.checkpoint.path)
        self.checkpoint.check_sources(sources)
        network = merging(network, unordered(sources))
        number = self.checkpoint.last_number() + 1
        after = successor(job, self._began[now], network, sources, number)
        with ExitStack() as opened:
            outlets = self._changed(network, bind_sinks(network, named), opened)
            self.checkpoint.keep(after)
            self._lay(after, outlets)
            self._closing.push(opened.pop_all())
        self._tell(network=number)
        if not self._comes(number):
            raise RunError("the run has ended; the network was not changed")
        self.checkpoint.sweep({home.name for each in (job, after) for home in each.homes})
        for name, old in self._outlets[now].items():
            if outlets.get(name) is not old:
                old.writer.close()
        return self._began[number]

    def _changed(self, network: Network, sinks: Mapping[str, Sink], opened: ExitStack) -> dict[str, OpenSink]:
        """Where the outputs of another network go: as before, or where they are told to."""
        before, outlets = self._outlets[self._order.network], {}
        for output in network.outputs:
            schema, known = network.schema(output.arrow), before.get(output.name)
            sink = sinks.get(output.name)
            if sink is not None and (known is None or sink != known.sink):
                known = outlet(output.name, sink, schema, self.checkpoint)
                opened.callback(known.writer.close)
            if known is None:
                continue
            if not known.schema.equals(schema):
                raise RunError(
                    f"output {output.name}: has the columns {text(known.schema)} now, and would have {text(schema)};"
                    " give it another sink by its name"
                )
            outlets[output.name] = known
        return outlets

    def measures(self) -> pa.Table:
        """What was measured in the last batches; see `australis.engine.measures`."""
        return self._ledger.table()

    def backlog(self) -> dict[str, int]:
        """About how many tuples wait in each source."""
        job = self._jobs[self._order.network]
        offsets = self.checkpoint.log.inputs() or job.starts
        return {i.name: job.sources[i.name].backlog(offsets.get(i.name, job.starts[i.name])) for i in job.streams}

    def _comes(self, number: int) -> bool:
        """Wait until a network has begun; false if the run ends first."""
        with self._state:
            while number not in self._began and self.active:
                self._state.wait(_BLINK * 10)
        return number in self._began

    def _tell(self, **news: Any) -> None:
        with self._state:
            order = replace(self._order, **news)
            if order != self._order:
                self._order = order
                with suppress(FileNotFoundError):  # all is closed: nobody asks any more
                    self._control.give(order)

    def _lay(self, job: Job, outlets: Mapping[str, OpenSink]) -> None:
        mine = {output.name: outlets[output.name] for output in job.network.outputs if output.name in outlets}
        parted = {name: each.writer for name, each in mine.items() if isinstance(each.writer, Parted)}
        job = replace(job, aside=self._aside, parted=parted)
        self._outlets[job.number] = mine
        self._jobs[job.number], self._sent[job.number] = job, send(job)
        self._control.put(job.number, self._sent[job.number])

    def _batch(self, frame: DataFrame, number: int) -> None:
        start = time.perf_counter()
        self.checkpoint.check()
        self.checkpoint.log.sync(number)
        batch = self.checkpoint.log.batch(number)
        if not batch.version:  # Spark runs a first batch even where there is nothing yet
            return
        job = self._jobs[batch.network]
        for at in range(len(job.rounds)):
            task = task_of(self._sent[batch.network], at, batch)
            frame = frame.repartitionById(job.partitions, frame["bucket"]).mapInArrow(task, COLUMNS)
        trains = opened(job, frame.toArrow())
        tables = self._delivered(job, batch, trains)
        if job.aside:
            shutil.rmtree(aside(job, batch), ignore_errors=True)
        self._done(job, batch, tables, time.perf_counter() - start)

    def _delivered(self, job: Job, batch: Batch, trains: Mapping[str, list[Train]]) -> list[pa.RecordBatch]:
        """Give outputs to their sinks, and letters to theirs; what was measured of the batch."""
        found = [train.tuples for train in trains.get(MEASURES, [])]
        parts = list(measures.rows_of(train.tuples for train in trains.get(PARTS, [])))
        for output in job.network.outputs:
            some = in_order(job.network.schema(output.arrow), trains.get(output.name, []))
            made = [part for part in parts if part["output"] == output.name]
            known = self._outlets[job.number].get(output.name)
            if known is not None:
                if isinstance(known.writer, Parted) and made:
                    known.writer.take([part["file"] for part in made])
                known.writer.write(batch.version, [train.tuples for train in some])
            made += measures.rows_of([measures.part(output.name, "", some)])
            found.append(measures.output(batch.version, output.name, made, time.time_ns() // 1000))
        bad = [train.tuples for train in trains.get(LETTERS, [])]
        if bad:
            self._dead.write(batch.version, bad)
            self.letters += sum(table.num_rows for table in bad)
        return found

    def _done(self, job: Job, batch: Batch, tables: list[pa.RecordBatch], seconds: float) -> None:
        progress = measures.progress(job.network, batch.version, tables) | {"seconds": seconds, "letters": self.letters}
        self._ledger.write(batch.version, tables)
        with self._state:
            self.progress.append(progress)
            self.totals.add(progress, tables)
            self._began.setdefault(batch.network, batch.began)
            self._ended |= batch.end
            if not self._fixed:
                taken = max(progress["taken"].values(), default=0)
                self._tell(limit=paced(self._order.limit, taken, seconds, AIM))
            self._state.notify_all()


def _again(checkpoint: Checkpoint) -> str:
    """What to do after a failure that is none of the network's."""
    return f"start the network again: it {f'goes on from {checkpoint.path}' if checkpoint.lasting else 'begins anew'}"
