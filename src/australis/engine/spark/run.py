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

from australis.connectors import dead_letters
from australis.connectors.binding import bind_sinks, bind_sources, check_names, place_sources, unordered
from australis.connectors.sink import Parted
from australis.disk.temporary import TemporaryFolder
from australis.engine import measures
from australis.engine.addresses import DEAD_LETTERS
from australis.engine.batch import Batch
from australis.engine.checkpoint import Checkpoint
from australis.engine.exchange import batch_folder
from australis.engine.job import Job
from australis.engine.ledger import Ledger
from australis.engine.merging import merging
from australis.engine.optimizing import Optimizer, follow
from australis.engine.outlet import OpenSink, deliver, followed_by
from australis.engine.positions import backlogs
from australis.engine.service import Service
from australis.engine.spark import alive
from australis.engine.spark.control import Control, Directive, first_limit, paced
from australis.engine.spark.failures import SparkEndedError, carried, failure, query_failure, reason
from australis.engine.spark.frame_source import FrameFeed
from australis.engine.spark.hook import Hook
from australis.engine.spark.jvm import forget
from australis.engine.spark.prefork import room
from australis.engine.spark.rounds import run_rounds, unpack_outputs
from australis.engine.spark.session import apart
from australis.engine.spark.shipping import ShippedJob, ship
from australis.engine.spark.stream_source import start_query
from australis.engine.steering import Steering
from australis.engine.totals import Totals, read_totals
from australis.errors import AustralisError, RunError
from australis.model.network import Network
from australis.plan.rules import Firing
from australis.qos.load import HEADROOM
from australis.qos.shedding import ShedPlan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_BLINK = 0.02
_GRACE = 10.0  # seconds for a process that does not answer to be seen to have ended
_REMEMBERED = 1000  # batches
AIM = 1.0
"""How many seconds a batch should take where there is more input than it needs."""

Progress = dict[str, Any]


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
        shed: bool = True,
        headroom: float = HEADROOM,
        optimize: bool = True,
        feeds: Sequence[FrameFeed] = (),
        closing: ExitStack | None = None,
    ) -> None:
        self.checkpoint = checkpoint
        self.progress: deque[Progress] = deque(maxlen=_REMEMBERED)
        self.letters = 0
        """How many dead letters there are since this start."""
        self.totals = read_totals(checkpoint.path, checkpoint.log.planned)
        """What the run has done in all, also before this start."""
        self.since_start = Totals()
        """What was done since this start."""
        self._spark = apart(spark)
        self._fixed = train is not None
        self._directive = Directive(current, train or first_limit(input.schema for input in jobs[current].streams))
        self._feeds = feeds
        self._closing, self._close_once = closing or ExitStack(), Lock()
        self._failure: AustralisError | None = None
        self._over = False
        parent = room()
        # A task that is still under way when the run fails may write there; what is left is removed with the parent.
        inside = partial(tempfile.TemporaryDirectory, prefix="run-", ignore_cleanup_errors=True)
        folder = TemporaryFolder() if parent is None else inside(dir=parent.path)
        self._control = Control(self._closing.enter_context(folder))
        Path(self._control.shared_folder).mkdir()
        self._closing.enter_context(alive.hold(self._control.shared_folder))
        self._shared_folder = self._control.shared_folder if local else ""
        self._jobs: dict[int, Job] = {}
        self._outlets: dict[int, dict[str, OpenSink]] = {}
        self._shipped: dict[int, ShippedJob] = {}
        self._began: dict[int, int] = {}
        self._rearranged: dict[int, Job] = {}  # the jobs before those that the optimizer made
        self._ledger = Ledger(checkpoint.path)
        self._closing.callback(self._ledger.close)
        self._dead_letters = dead_letters.writer(checkpoint.path, checkpoint.run)
        self._closing.callback(self._dead_letters.close)
        self._dead_letters.agree(checkpoint.log.planned, checkpoint.log.committed)
        self.firings: list[tuple[int, Firing]] = []
        """The rules of the optimizer that fired since this start, each once, with the first batch of what they made."""
        self.optimizer = Optimizer(jobs[current].network) if optimize else None
        self._state, self._changing = Condition(), Lock()
        self._ended = checkpoint.log.done()
        last = checkpoint.log.last()
        if last is not None:
            self._began[last.network] = last.began
        for job in jobs.values():
            self._prepare(job, outlets)
        cores = self._spark.sparkContext.defaultParallelism
        kept = checkpoint.path if checkpoint.lasting else None
        self._steering = Steering.of(jobs[current], last, cores, shed, headroom, kept)
        self._closing.callback(lambda: self._steering.save())  # a change puts another in its place
        self._directive = replace(self._directive, **self._steering.beginning(checkpoint.log.positions()))
        self._control.write(self._directive)
        self._gateway = self._spark.sparkContext._gateway
        self._hook = Hook(self._gateway, self._batch)
        self._closing.callback(self._hook.close)
        checkpoint.log.make()
        self.query = start_query(self._spark, self._control.folder, self._hook, checkpoint.log.folder, trigger)
        self._watching = Thread(target=self._watch, name="watching", daemon=True)
        self._watching.start()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def network(self) -> Network:
        """The network as it was drawn. What batches run is `optimized`."""
        return self._jobs[self._directive.network].drawn_network

    @property
    def optimized(self) -> Network:
        """The network that the next batch runs: rules of the optimizer may have changed it."""
        return self._jobs[self._directive.network].network

    @property
    def active(self) -> bool:
        """Whether batches are still to come."""
        return not self._ended and not self._over and not any(feed.failure for feed in self._feeds)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end of finite inputs, or for so many seconds; returns whether the end has come."""
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
        """Stop after the batch that is under way. Raises what has stopped the run before that, if anything has."""
        self._direct(stop=True)
        with suppress(Exception):  # raised below
            if self.query.isActive:
                self.query.processAllAvailable()
        refusal: Exception | None = None
        try:
            self.query.stop()
        except Exception as error:
            refusal = error
        self._watching.join(2 * _GRACE)
        feed_failure = next(filter(None, (feed.failure for feed in self._feeds)), None)
        self._close()
        if self._failure is not None:
            raise self._failure
        if feed_failure is not None:
            raise failure(feed_failure) from feed_failure
        if refusal is not None and not self._over:
            raise RunError(f"Spark does not stop the run: {reason(refusal)}") from refusal

    def _watch(self) -> None:
        """Wait until the query is over. If it has failed, close what the run holds: perhaps nobody calls `stop`."""
        failed: AustralisError | None = None
        try:
            self.query.awaitTermination()
        except Exception as error:
            failed = query_failure(error, self.query, self.checkpoint, self._gateway)
            failed.__cause__ = error
        with self._state:
            self._failure, self._over = failed, True
            self._state.notify_all()
        if failed is not None:
            self._close()
        if isinstance(failed, SparkEndedError):
            forget(self._gateway)

    def _close(self) -> None:
        """Close all that the run holds, once; a second caller waits until that is done."""
        with self._close_once:
            self._hook.close()
            self._closing.close()

    def change(self, network: Network, given: Mapping[str, Any] | None = None, /, **more: Any) -> int:
        """Go on with another network from the next batch on; gives the number of that batch.

        Boxes that stay as they are keep their state; others start empty, or go. Sources and sinks of inputs and outputs
        that are new are given by name.
        """
        with self._changing:
            return self._change(network, {**(given or {}), **more})

    def _change(self, network: Network, named: Mapping[str, Any]) -> int:
        check_names(network, named)
        now = self._directive.network
        if now not in self._began:
            self._direct(begin=True)
        if not self._await_network(now):
            raise RunError("the run has ended before its network began")
        job = self._jobs[now]
        sources = place_sources(bind_sources(network, named, job.sources), self.checkpoint.path)
        self.checkpoint.check_sources(sources)
        network = merging(network, unordered(sources))
        number = self.checkpoint.last_number() + 1
        after = follow(job, self._began[now], network, sources, number, rules=self.optimizer is not None)
        with ExitStack() as opened:
            outlets = followed_by(self._outlets[now], network, bind_sinks(network, named), self.checkpoint, opened)
            self.checkpoint.keep(after)
            self._prepare(after, outlets)
            self._closing.push(opened.pop_all())
        with self._state:  # no batch may be steered by the network before in between
            self._steering = self._steering.followed_by(self._jobs[number])
            self._direct(network=number, **self._steering.beginning(self.checkpoint.log.positions()))
        if not self._await_network(number):
            raise RunError("the run has ended; the network was not changed")
        if self.optimizer is not None:
            self.optimizer.follow(after.network)
        self.checkpoint.sweep(job, after)
        for name, old in self._outlets[now].items():
            if outlets.get(name) is not old:
                old.writer.close()
        return self._began[number]

    def leave_out(self, plan: ShedPlan | None) -> None:
        """Shed by a plan from the next batch on; none, or a change of the network, ends it.

        A batch that is run again leaves out the same. A window that has lost tuples does not come out later. The plan
        is for the network that runs, `optimized`. While it is in force, the optimizer leaves that as it is.
        """
        if plan is not None:
            plan.check(self.optimized)
        with self._changing, self._state:
            left_out = self._steering.leave_out(plan)
            self._direct(shed=None if left_out is None else left_out.render())

    @property
    def service(self) -> Service:
        """What outputs are worth of late, and how busy the machine is; see `australis.engine.service`."""
        return self._steering.service

    @property
    def notices(self) -> tuple[tuple[int, str], ...]:
        """What was said of shedding since this start, the last hundred lines by their numbers."""
        return self._steering.notices.lines

    def measures(self) -> pa.Table:
        """What was measured in the last batches; see `australis.engine.measures`."""
        return self._ledger.table()

    def backlog(self) -> dict[str, int]:
        """About how many tuples wait in each source, for the branch that is furthest behind."""
        return backlogs(self._jobs[self._directive.network], self.checkpoint.log.positions())

    def _await_network(self, number: int) -> bool:
        """Wait until a network has begun; returns false if the run ends first."""
        with self._state:
            while number not in self._began and self.active:
                self._state.wait(_BLINK * 10)
        return number in self._began

    def _direct(self, **changes: Any) -> None:
        """Change the directive to the process that plans batches."""
        with self._state:
            directive = replace(self._directive, **changes)
            if directive != self._directive:
                self._directive = directive
                with suppress(FileNotFoundError):  # the run is closed, and nobody reads it any more
                    self._control.write(directive)

    def _prepare(self, job: Job, outlets: Mapping[str, OpenSink]) -> None:
        """Make a job ready for batches: with the sinks of its outputs, and shipped to the process that plans."""
        used = {output.name: outlets[output.name] for output in job.network.outputs if output.name in outlets}
        writers = {name: each.writer for name, each in used.items() if isinstance(each.writer, Parted)}
        job = replace(job, shared_folder=self._shared_folder, part_writers=writers)
        self._outlets[job.number] = used
        self._jobs[job.number], self._shipped[job.number] = job, ship(job)
        self._control.write_job(job.number, self._shipped[job.number])

    @carried()
    def _batch(self, frame: DataFrame, number: int) -> None:
        """Run the later stages of a batch on what its first stages gave, and give the results to sinks."""
        start = time.perf_counter()
        self.checkpoint.check()
        self.checkpoint.log.sync(number)
        batch = self.checkpoint.log.batch(number)
        if not batch.version:  # Spark runs a first batch even where there is nothing yet
            return
        job = self._jobs[batch.network]
        unpacking: dict[str, float] = {}
        trains = unpack_outputs(job, run_rounds(frame, job, self._shipped[batch.network], batch), unpacking)
        tables = deliver(job, batch, trains, unpacking, self._outlets[job.number])
        if letters := [train.tuples for train in trains.get(DEAD_LETTERS, [])]:
            self._dead_letters.write(batch.version, letters)
        if folder := batch_folder(job, batch):
            shutil.rmtree(folder, ignore_errors=True)
        seconds = time.perf_counter() - start
        tables.append(measures.whole_batch(batch.version, seconds, tables))
        if batch.changed and job.firings:
            tables.append(measures.rules(batch.version, job.firings))
        self._record(job, batch, tables, seconds, sum(each.num_rows for each in letters))

    def _record(self, job: Job, batch: Batch, tables: list[pa.RecordBatch], seconds: float, letters: int) -> None:
        """Note that a batch is done, and what was measured of it; one that was done before is not counted again."""
        again = batch.version <= self.since_start.version
        self.letters += 0 if again else letters
        progress = measures.progress(job.network, batch.version, tables) | {"seconds": seconds, "letters": self.letters}
        progress |= self._steering.serve(batch, tables).progress()
        tables.append(self.service.table(batch.version))
        self._ledger.write(batch.version, tables)
        with self._state:
            if batch.changed and batch.version > self.totals.version:  # else they were told, maybe before this start
                self.firings += [(batch.version, firing) for firing in job.firings]
            if again and self.progress and self.progress[-1]["batch"] == batch.version:
                self.progress.pop()
            self.progress.append(progress)
            self.since_start.add(progress, tables, letters)
            self.totals.add(progress, tables, letters)
            self.totals.save(self.checkpoint.path)
            self._began.setdefault(batch.network, batch.began)
            self._ended |= batch.end
            if not self._fixed:
                taken = max(progress["taken"].values(), default=0)
                self._direct(limit=paced(self._directive.limit, taken, seconds, AIM))
            self._state.notify_all()
        if not again:
            self._direct_next(job, batch, progress["taken"], tables)

    def _direct_next(self, job: Job, batch: Batch, taken: Mapping[str, int], tables: list[pa.RecordBatch]) -> None:
        """Direct what the next batch runs, when it may begin, and what it leaves out."""
        with ExitStack() as stack:
            alone = self._changing.acquire(blocking=False)
            if alone:
                stack.callback(self._changing.release)
            changes = self._rearrange(job, batch, tables) if alone else {}
            stack.enter_context(self._state)  # no other network may come in between
            steered = self._steering.after(batch, taken, tables, self.checkpoint.log.positions())
            if steered:
                least = 2 * steered.pop("least")
                changes |= {**steered, "limit": max(self._directive.limit, 0 if self._fixed else least)}
            elif changes:
                changes |= self._steering.beginning()
            self._direct(**changes)

    def _rearrange(self, job: Job, batch: Batch, tables: list[pa.RecordBatch]) -> dict[str, Any]:
        """The directive that lets a better network run, if boxes were measured to cost less in one; else nothing."""
        if batch.changed and job.number in self._rearranged:
            self.checkpoint.sweep(job, self._rearranged.pop(job.number))
        if self.optimizer is None or self._steering.planned or batch.end or batch.network != self._directive.network:
            return {}
        after = self.optimizer.job_after(job, batch.began, measures.rows_of(tables), self.checkpoint)
        if after is None:
            return {}
        self._prepare(after, self._outlets[job.number])
        self._rearranged[after.number] = job
        self._steering = self._steering.rearranged(self._jobs[after.number])
        return {"network": after.number}
