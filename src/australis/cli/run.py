"""The command `australis run` on Spark: a run from its start to its end, or until somebody stops it."""

from __future__ import annotations

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
from australis.cli.lines import Notes, Objects, Teller, write
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

if TYPE_CHECKING:
    from australis.engine.metrics import Server
    from australis.engine.spark.session import SparkSession

_TICK = 0.1
_GRACE = 10.0  # seconds for a run that is to stop at once
_STOPPING = "stopping after the batch under way; once more stops at once, which loses nothing either"
_AT_ONCE = "stopping at once"


@dataclass(frozen=True)
class Telling:
    """How a run is told of, and what about it."""

    title: str
    again: str
    """The command line that goes on with it."""
    json: bool = False
    quiet: bool = False
    kept: bool = False
    """Whether its checkpoint is there after it."""
    sinks: Mapping[str, str] = field(default_factory=dict)
    slack: str = ""
    """How people give slack, where that is not to a box."""
    console: Console = field(default_factory=lambda: Console(stderr=True, highlight=False))

    @property
    def on_screen(self) -> bool:
        return self.console.is_terminal and not self.quiet and not self.json

    def teller(self, run: Run) -> Teller:
        if self.on_screen:
            return Screen(run, self.title, self.console, self.kept, self.slack)
        return Objects(run) if self.json else Notes(self.console, self.quiet)

    def say(self, text: str) -> None:
        """A line for people."""
        if not self.quiet:
            self.pass_on(text)

    def pass_on(self, text: str) -> None:
        """A line that is told in any case."""
        self.console.print(text, markup=False, soft_wrap=True)


def main(
    network: Network,
    sources: Mapping[str, Source],
    sinks: Mapping[str, Sink],
    telling: Telling,
    *,
    checkpoint: Path | None = None,
    master: str | None = None,
    partitions: int | None = None,
    train: int | None = None,
    trigger: float | None = None,
    strict: bool = False,
    change: bool = False,
    metrics: tuple[str, int] | None = None,
    started: Callable[[Run], None] | None = None,
) -> int:
    """Run a network, tell how it goes, and give the status to end with; `started` is given the run."""
    for output in network.outputs:
        if output.name not in sinks:
            telling.say(f"output {output.name} has no --sink: its tuples are counted, and not kept")
    with ExitStack() as stack:
        asked = stack.enter_context(Interrupts())
        heard = MessagePipe(telling.pass_on)
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
                trigger=trigger, strict=strict, change=change,
            )  # fmt: skip
            if started is not None:
                started(run)
            return run, since

        beginning = Beginning(begin)
        with telling.console.status("starting Spark") if telling.on_screen else nullcontext():
            begun = beginning.wait(asked)
        if begun is None:
            heard.hush()
            telling.say("stopped before the run began")
            beginning.drop(asked)
            return asked.status
        run, since = begun
        if server is not None:
            server.run = run
            telling.say(f"metrics at {server.url}")
        return _to_its_end(run, asked, telling, since, heard.hush)


def _serve_metrics(host: str, port: int) -> Server:
    from australis.engine.metrics import Server  # few runs are watched so, and it loads what others do not need

    return Server(port, host)


def _to_its_end(run: Run, asked: Interrupts, telling: Telling, since: float, hush: Callable[[], None]) -> int:
    over = telling.kept and not run.totals.batches and run.checkpoint.log.done()
    teller = telling.teller(run)
    watched = Watched(run, asked, teller.show, hush)
    ended = "failure"
    try:
        stopped = watched.to_its_end()
        ended = "interrupt" if asked.times else "end"
    finally:
        teller.close()
        took = time.monotonic() - since
        if telling.json:
            write(progress.total_object(run, took, telling.kept, ended))
    if over:
        telling.say(f"{progress.short(run.checkpoint.path)}: this run came to the end of its inputs before; to run it"
                    " again, choose an empty folder")  # fmt: skip
    elif not telling.json:
        telling.say(progress.summary(run, took, telling.kept, telling.sinks) + watched.first_letter)
    for each in progress.lost(run, telling.slack):
        telling.say(each)
    if not asked.times:
        return 0
    telling.say(_how_to_go_on(telling))
    if not stopped:  # a batch that cannot be interrupted holds threads that would keep this process alive
        sys.stdout.flush()
        os._exit(asked.status)
    return asked.status


class Beginning:
    """A run that is started by a thread of its own, so that this one hears signals and no call to Spark is cut short.

    Spark that has not heard the end of a call may never answer the next one.
    """

    def __init__(self, begin: Callable[[], tuple[Run, float]]) -> None:
        self._begin = begin
        self._begun: tuple[Run, float] | None = None
        self._failure: BaseException | None = None
        self._thread = Thread(target=self._work, name="starting", daemon=True)
        self._thread.start()

    def wait(self, asked: Interrupts) -> tuple[Run, float] | None:
        """The run; none if this process is asked to stop first. What went wrong is raised."""
        while self._thread.is_alive() and not asked.times:
            self._thread.join(_TICK)
        if self._thread.is_alive():
            return None
        if self._failure is not None:
            raise self._failure
        return self._begun

    def drop(self, asked: Interrupts) -> None:
        """End Spark's process, whatever it is at, and with it the thread: what that holds then goes with this one."""
        limit = time.monotonic() + _GRACE
        while self._thread.is_alive() and time.monotonic() < limit:
            kill()
            self._thread.join(_TICK)
        if self._begun is not None:
            kill()
        if self._thread.is_alive():  # it would keep this process alive
            sys.stdout.flush()
            os._exit(asked.status)

    def _work(self) -> None:
        try:
            self._begun = self._begin()
        except BaseException as error:
            self._failure = error


class Watched:
    """A run that is watched to its end, however that comes."""

    def __init__(self, run: Run, asked: Interrupts, show: Callable[[str], None], hush: Callable[[], None]) -> None:
        self.run, self.asked, self.show, self.hush = run, asked, show, hush
        self.first_letter = ""
        self._failure: Exception | None = None

    def to_its_end(self) -> bool:
        """Wait for the end of its inputs, or until it is asked to stop; whether it has let go of all it held.

        What stopped it otherwise is raised.
        """
        while self.run.active and not self.asked.times:
            self.show("")
            time.sleep(_TICK)
        with suppress(Exception):  # those of a run without a checkpoint folder go with it
            self.first_letter = progress.first_letter(self.run)
        return self._stopped()

    def _stopped(self) -> bool:
        # Another thread waits for it, so that this one hears signals and no call to Spark is cut short.
        stopping = Thread(target=self._stop, daemon=True)
        stopping.start()
        limit = float("inf")
        while stopping.is_alive() and time.monotonic() < limit:
            if self.asked.times > 1 and limit == float("inf"):
                self.hush()  # of what is cut short then, Spark tells at length
                Thread(target=self.run.query.stop, daemon=True).start()
                limit = time.monotonic() + _GRACE
            self.show(_AT_ONCE if self.asked.times > 1 else _STOPPING if self.asked.times else "")
            stopping.join(_TICK)
        if self._failure is not None and self.asked.times < 2:
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
        found, ours = session(None, master, heard.descriptor)
    except AustralisError:
        raise
    except Exception as error:
        heard.close_descriptor()
        heard.join()
        raise RunError(f"Spark does not start{f' at {master}' if master else ''}: {reason(error)}") from error
    heard.close_descriptor()
    if ours:
        stack.enter_context(Ending(found))
    return found


def _how_to_go_on(telling: Telling) -> str:
    if telling.kept:
        return f"stopped; the same command goes on from here: {telling.again}"
    return "stopped; the results up to here are final, but without --checkpoint the run cannot go on"
