"""Runs that are watched to their end, without Spark."""

import io
import os
import signal
import threading
import time
from functools import partial

import pytest
from rich.console import Console

from australis import RunError
from australis.cli import run as command
from australis.cli.interrupts import Interrupts
from australis.cli.run import RunReporter, StartingRun, WatchedRun
from australis.engine.service import OutputService, Service
from australis.plan.rules import Firing
from tests.cli.standin import StandIn


class Slow(StandIn):
    """A run whose batch under way takes until `finish`, or until its query is stopped."""

    def __init__(self, path, failure=None, stuck=False):
        super().__init__(path)
        self.failure, self.stuck = failure, stuck
        self.active, self.finish, self.query = True, threading.Event(), Query(self)

    def stop(self):
        self.finish.wait()
        if self.failure:
            raise self.failure


class Query:
    def __init__(self, run):
        self.run = run

    def stop(self):
        if not self.run.stuck:
            self.run.finish.set()


@pytest.fixture
def slow(tmp_path):
    return partial(Slow, tmp_path)


@pytest.fixture
def asked():
    with Interrupts() as asked:
        yield asked


def telling(**options):
    return RunReporter("net.yaml", "australis run", console=Console(file=io.StringIO(), width=200), **options)


def test_the_end_of_the_inputs(slow, asked):
    run, notes = slow(), []
    threading.Timer(0.2, lambda: (setattr(run, "active", False), run.finish.set())).start()
    assert WatchedRun(run, asked, notes.append, print).wait_for_end()
    assert set(notes) == {""}


def test_rules_that_fire_are_told_once(slow, asked):
    run, told = slow(), []
    run.firings.append((1, Firing("share", ("a", "b"), None)))
    threading.Timer(0.2, lambda: run.firings.append((7, Firing("reorder", ("f", "g"), 0.25)))).start()
    threading.Timer(0.5, lambda: (setattr(run, "active", False), run.finish.set())).start()
    assert WatchedRun(run, asked, lambda note: None, print, told.append).wait_for_end()
    assert told == ["from batch 1 on: rule share a, b", "from batch 7 on: rule reorder f, g: 25% less for these"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_waits_for_the_batch_under_way(slow, asked, number):
    run, notes = slow(), []
    run.batch(taken=10, given=4)

    def show(note):
        notes.append(note)
        if len(notes) == 1:
            os.kill(os.getpid(), number)
        if notes.count(command._STOPPING) == 3:
            run.finish.set()

    assert WatchedRun(run, asked, show, lambda: notes.append("hush")).wait_for_end()
    assert notes[0] == ""
    assert notes[1:4] == [command._STOPPING] * 3
    assert asked.status == 128 + number


def test_a_second_signal_stops_at_once_and_what_that_breaks_is_no_failure(slow, asked):
    run = slow(failure=RunError("job was cancelled"))
    notes = []

    def show(note):
        notes.append(note)
        if len(notes) in (1, 8):
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)

    assert WatchedRun(run, asked, show, lambda: notes.append("hush")).wait_for_end()
    assert notes[1:8] == [command._STOPPING] * 7, "one that comes twice at once is one"
    assert notes[8:10] == ["hush", command._AT_ONCE]


def test_a_run_that_does_not_stop_is_left(slow, asked, monkeypatch):
    monkeypatch.setattr(command, "_GRACE", 0.3)
    run = slow(stuck=True)
    asked.times = 2
    assert not WatchedRun(run, asked, lambda note: None, print).wait_for_end()
    run.finish.set()


def test_a_failure_is_raised_in_one_line(slow, asked):
    pages = "org.apache.spark.SparkException: Job aborted\n\tat org.apache\nKeyError: 'vid'\n\n=== Streaming Query ==="
    run = slow(failure=Exception(pages))
    run.active = False
    run.finish.set()
    with pytest.raises(RunError, match=r"^KeyError: 'vid'$"):
        WatchedRun(run, asked, lambda note: None, print).wait_for_end()


@pytest.mark.parametrize(
    ("kept", "said"),
    [(True, "the same command goes on from here: australis run"), (False, "without --checkpoint the run cannot go on")],
)
def test_who_stops_a_run_is_told_how_to_go_on(slow, asked, kept, said):
    run = slow()
    asked.times, asked.number = 1, signal.SIGINT
    run.finish.set()
    told = telling(resumable=kept)
    assert command._finish(run, asked, told, time.monotonic(), print) == 130
    summary, how = told.console.file.getvalue().splitlines()
    assert summary.startswith("in: reports 0; out: fast 0; 0 batches")
    assert said in how


def test_quiet_says_nothing(slow, asked):
    run = slow()
    asked.times = 1
    run.finish.set()
    told = telling(quiet=True)
    assert command._finish(run, asked, told, time.monotonic(), print) == 130
    assert told.console.file.getvalue() == ""


@pytest.mark.parametrize("options", [{}, {"json": True}])
def test_lines_about_shedding_are_told_once_and_what_was_shed_at_the_end(slow, asked, options, capsys):
    run, reporter = slow(), telling(**options)
    run.notices = ((7, "shedding since 12:00:00: fast keeps 50%"),)
    run.service = Service({"fast": OutputService(0.5, 0.25)})

    def end():
        run.notices = (*run.notices, (8, "shedding ended at 12:00:09"))
        run.active = False
        run.finish.set()

    threading.Timer(0.5, end).start()
    command._finish(run, asked, reporter, time.monotonic(), lambda: None)
    told = reporter.console.file.getvalue().splitlines()
    assert [line for line in told if line.startswith("shedding")] == [line for _, line in run.notices]
    assert told[-1] == "output fast: 25% shed in the last minute, utility 0.50"


def test_a_failure_has_a_last_object_too(slow, asked, capsys):
    run = slow(failure=RunError("disk full"))
    run.active = False
    run.finish.set()
    with pytest.raises(RunError, match="disk full"):
        command._finish(run, asked, telling(json=True), time.monotonic(), print)
    assert '"ended": "failure"' in capsys.readouterr().out


def test_a_signal_before_the_run_is_heard_while_it_is_started_and_handlers_come_back():
    before, go_on = signal.getsignal(signal.SIGTERM), threading.Event()
    with Interrupts() as asked:
        beginning = StartingRun(lambda: go_on.wait() and None)
        os.kill(os.getpid(), signal.SIGTERM)
        assert beginning.wait(asked) is None
        assert asked.status == 143
        go_on.set()
        beginning._thread.join()  # else Spark's process, which other tests share, would be ended
        beginning.drop(asked)
    assert signal.getsignal(signal.SIGTERM) is before


def test_what_goes_wrong_at_the_start_is_raised():
    def fail():
        raise RunError("no such road")

    with Interrupts() as asked, pytest.raises(RunError, match="no such road"):
        StartingRun(fail).wait(asked)
