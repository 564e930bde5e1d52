"""The command `australis run` on Spark: a run from its start to its end, or until somebody stops it."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from rich.console import Console

from australis.api.network import Network
from australis.cli import progress
from australis.cli.interrupts import Interrupts
from australis.cli.lines import Notes, Objects, ProgressView, write
from australis.cli.screen import Screen
from australis.connectors.sink import Sink
from australis.connectors.source import Source
from australis.engine.spark.failures import failure, reason
from australis.engine.spark.jvm import kill
from australis.engine.spark.messages import MessagePipe
from australis.engine.spark.run import Run
from australis.engine.spark.session import Ending, session
from australis.engine.spark.start import start_bound
from australis.errors import AustralisError, RunError
from australis.qos.load import HEADROOM

if TYPE_CHECKING:
    from australis.engine.metrics import Server
    from australis.engine.spark.session import SparkSession

_TICK = 0.1
_GRACE = 10.0  # seconds for a run to stop at once
_STOPPING = "stopping after the batch under way; once more stops at once, which loses nothing either"
_AT_ONCE = "stopping at once"


@dataclass(frozen=True)
class RunReporter:
    """How the progress of a run is reported."""

    title: str
    again: str
    """The command line that resumes the run."""
    json: bool = False
    quiet: bool = False
    resumable: bool = False
    """Whether the checkpoint stays after the run."""
    sinks: Mapping[str, str] = field(default_factory=dict)
    slack: str = ""
    """How people set slack, if not on a box."""
    console: Console = field(default_factory=lambda: Console(stderr=True, highlight=False))

    @property
    def on_screen(self) -> bool:
        return self.console.is_terminal and not self.quiet and not self.json

    def view(self, run: Run) -> ProgressView:
        if self.on_screen:
            return Screen(run, self.title, self.console, self.resumable, self.slack)
        return Objects(run) if self.json else Notes(self.console, self.quiet)

    def say(self, text: str) -> None:
        """Print a line for people, unless quiet."""
        if not self.quiet:
            self.pass_on(text)

    def pass_on(self, text: str) -> None:
        """Print a line even if quiet."""
        self.console.print(text, markup=False, soft_wrap=True)


def main(
    network: Network,
    sources: Mapping[str, Source],
    sinks: Mapping[str, Sink],
    reporter: RunReporter,
    *,
    checkpoint: Path | None = None,
    master: str | None = None,
    partitions: int | None = None,
    train: int | None = None,
    trigger: float | None = None,
    strict: bool = False,
    change: bool = False,
    shed: bool = True,
    headroom: float | None = None,
    optimize: bool = True,
    metrics: tuple[str, int] | None = None,
    started: Callable[[Run], None] | None = None,
) -> int:
    """Run a network, report its progress, and return the exit status. `started` is called with the run."""
    for output in network.outputs:
        if output.name not in sinks:
            reporter.say(f"output {output.name} has no --sink: its tuples are counted, and not kept")
    with ExitStack() as stack:
        interrupts = stack.enter_context(Interrupts())
        heard = MessagePipe(reporter.pass_on)
        server = stack.enter_context(_serve_metrics(*metrics)) if metrics else None

        def begin() -> tuple[Run, float]:
            since = 0.0

            def find_session() -> tuple[SparkSession, bool]:
                nonlocal since
                spark = _session(stack, master, heard)
                since = time.monotonic()
                return spark, False

            run = start_bound(
                network, sources, sinks, find_session, checkpoint=checkpoint, partitions=partitions, train=train,
                trigger=trigger, strict=strict, change=change, shed=shed,
                headroom=HEADROOM if headroom is None else headroom, optimize=optimize,
            )  # fmt: skip
            if started is not None:
                started(run)
            return run, since

        beginning = StartingRun(begin)
        with reporter.console.status("starting Spark") if reporter.on_screen else nullcontext():
            started_run = beginning.wait(interrupts)
        if started_run is None:
            heard.hush()
            reporter.say("stopped before the run began")
            beginning.drop(interrupts)
            return interrupts.status
        run, since = started_run
        if server is not None:
            server.run = run
            reporter.say(f"metrics at {server.url}")
        return _finish(run, interrupts, reporter, since, heard.hush)


def _serve_metrics(host: str, port: int) -> Server:
    from australis.engine.metrics import Server  # few runs serve metrics, and it loads what others do not need

    return Server(port, host)


def _finish(run: Run, interrupts: Interrupts, reporter: RunReporter, since: float, hush: Callable[[], None]) -> int:
    over = reporter.resumable and not run.since_start.batches and run.checkpoint.log.done()
    view = reporter.view(run)
    watched = WatchedRun(run, interrupts, _with_notices(run, view, reporter), hush, reporter.say)
    ended = "failure"
    try:
        stopped = watched.wait_for_end()
        ended = "interrupt" if interrupts.times else "end"
    finally:
        watched.show("")
        view.close()
        took = time.monotonic() - since
        if reporter.json:
            write(progress.total_object(run, took, reporter.resumable, ended))
    if over:
        reporter.say(f"{progress.short(run.checkpoint.path)}: this run came to the end of its inputs before; to run it"
                    " again, choose an empty folder")  # fmt: skip
    elif not reporter.json:
        reporter.say(progress.summary(run, took, reporter.resumable, reporter.sinks) + watched.first_dead_letter)
    for each in [*progress.lost_tuples(run, reporter.slack), *progress.shed_outputs(run)]:
        reporter.say(each)
    if not interrupts.times:
        return 0
    reporter.say(_how_to_go_on(reporter))
    if not stopped:  # a batch that cannot be interrupted holds threads that would keep this process alive
        sys.stdout.flush()
        os._exit(interrupts.status)
    return interrupts.status


def _with_notices(run: Run, view: ProgressView, reporter: RunReporter) -> Callable[[str], None]:
    """What shows a run: lines about shedding are printed once, above the rest, and not by Python's log."""
    log = logging.getLogger("australis")
    if not log.handlers:
        log.addHandler(logging.NullHandler())
    said = 0

    def show(note: str) -> None:
        nonlocal said
        for number, line in run.notices:
            if number > said:
                reporter.say(line)
                said = number
        view.show(note)

    return show


class StartingRun:
    """Starts a run in a thread of its own, so that this thread gets signals and no call to Spark is cut short.

    If a call to Spark is cut short, Spark may never answer the next one.
    """

    def __init__(self, begin: Callable[[], tuple[Run, float]]) -> None:
        self._begin = begin
        self._begun: tuple[Run, float] | None = None
        self._failure: BaseException | None = None
        self._thread = Thread(target=self._work, name="starting", daemon=True)
        self._thread.start()

    def wait(self, interrupts: Interrupts) -> tuple[Run, float] | None:
        """Wait for the run to start. Returns None if this process is interrupted first. Raises what went wrong."""
        while self._thread.is_alive() and not interrupts.times:
            self._thread.join(_TICK)
        if self._thread.is_alive():
            return None
        if self._failure is not None:
            raise self._failure
        return self._begun

    def drop(self, interrupts: Interrupts) -> None:
        """Kill Spark's process, and with it the thread. What the thread holds is freed with this process."""
        limit = time.monotonic() + _GRACE
        while self._thread.is_alive() and time.monotonic() < limit:
            kill()
            self._thread.join(_TICK)
        if self._begun is not None:
            kill()
        if self._thread.is_alive():  # it would keep this process alive
            sys.stdout.flush()
            os._exit(interrupts.status)

    def _work(self) -> None:
        try:
            self._begun = self._begin()
        except BaseException as error:
            self._failure = error


class WatchedRun:
    """Watches a run until it ends, fails or is interrupted."""

    def __init__(
        self,
        run: Run,
        interrupts: Interrupts,
        show: Callable[[str], None],
        hush: Callable[[], None],
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.run, self.interrupts, self.show, self.hush, self.say = run, interrupts, show, hush, say
        self._told = 0
        self.first_dead_letter = ""
        self._failure: Exception | None = None

    def wait_for_end(self) -> bool:
        """Wait for the end of the inputs, or for an interrupt. Returns whether the run has freed all that it held.

        Raises if the run fails.
        """
        while self.run.active and not self.interrupts.times:
            self._tell_rules()
            self.show("")
            time.sleep(_TICK)
        self._tell_rules()
        with suppress(Exception):  # without a checkpoint, the dead letters are removed with the run
            self.first_dead_letter = progress.first_dead_letter(self.run)
        return self._wait_until_stopped()

    def _tell_rules(self) -> None:
        """Tell of rules that have fired since the last time."""
        for batch, firing in self.run.firings[self._told :]:
            self._told += 1
            self.say(f"from batch {batch} on: rule {firing}")

    def _wait_until_stopped(self) -> bool:
        # Another thread waits, so that this one gets signals and no call to Spark is cut short.
        stopping = Thread(target=self._stop, daemon=True)
        stopping.start()
        limit = float("inf")
        while stopping.is_alive() and time.monotonic() < limit:
            if self.interrupts.times > 1 and limit == float("inf"):
                self.hush()  # Spark logs at length about what is cut short
                Thread(target=self.run.query.stop, daemon=True).start()
                limit = time.monotonic() + _GRACE
            self.show(_AT_ONCE if self.interrupts.times > 1 else _STOPPING if self.interrupts.times else "")
            stopping.join(_TICK)
        if self._failure is not None and self.interrupts.times < 2:
            if isinstance(self._failure, AustralisError):
                raise self._failure
            raise failure(self._failure) from self._failure
        return not stopping.is_alive()

    def _stop(self) -> None:
        try:
            self.run.stop()
        except Exception as error:
            self._failure = error


def _session(stack: ExitStack, master: str | None, heard: MessagePipe) -> SparkSession:
    try:
        spark, own_session = session(None, master, heard.descriptor)
    except AustralisError:
        raise
    except Exception as error:
        heard.close_descriptor()
        heard.join()
        raise RunError(f"Spark does not start{f' at {master}' if master else ''}: {reason(error)}") from error
    heard.close_descriptor()
    if own_session:
        stack.enter_context(Ending(spark))
    return spark


def _how_to_go_on(reporter: RunReporter) -> str:
    if reporter.resumable:
        return f"stopped; the same command goes on from here: {reporter.again}"
    return "stopped; the results up to here are final, but without --checkpoint the run cannot go on"
