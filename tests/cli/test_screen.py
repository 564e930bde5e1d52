"""The screen: the progress of a run in the terminal."""

import io
import time

import pyarrow as pa
import pytest
from rich.console import Console

import australis as au
from australis.cli.screen import Screen
from australis.connectors.sinks.console import Console as ConsoleSink
from australis.engine.service import OutputService, Service
from tests.cli.standin import FAST, REPORTS, StandIn


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return StandIn(tmp_path / "road")


@pytest.fixture
def screen(run):
    console = Console(file=io.StringIO(), force_terminal=True, width=80, color_system=None)
    screen = Screen(run, "jams.yaml", console, resumable=True)
    yield screen
    screen.close()


def drawn(screen, now, note=""):
    console = Console(file=io.StringIO(), width=80)
    console.print(screen.draw(now, note))
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_the_screen(run, screen):
    since = screen._since
    assert "waiting for the first batch" in drawn(screen, since)[0]
    for _ in range(2):
        run.batch(taken=1_000_000, given=40)
    screen.backlog = {"reports": 1234}
    head, names, taken, given = drawn(screen, since + 83)
    assert head == "jams.yaml  1:23  2 batches, the last in 0.25 s"
    assert names.split() == ["tuples", "a", "second", "waiting", "delay"]
    assert taken.split() == ["in", "reports", "2,000,000", "24,096", "1,234"]
    assert given.split() == ["out", "fast", "80", "1.0", "0.50", "s"]


def test_what_outputs_are_worth(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fast = REPORTS.filter("mph > 60", box="speeding").output(latency={1: 1, 2: 0}, delivered={0: 0, 1: 1})
    run = StandIn(tmp_path / "road", au.network(fast=fast))
    run.service = Service({"fast": OutputService(0.75, 0.25)}, used=1.5, state="shed")
    run.batch(taken=10, given=4)
    screen = Screen(run, "", Console(file=io.StringIO(), force_terminal=True, width=80), resumable=True)
    _, names, _, given, busy = drawn(screen, time.monotonic() + 1)
    screen.close()
    assert names.split()[-2:] == ["utility", "shed"]
    assert given.split()[-2:] == ["0.75", "25%"]
    assert busy == "150% of the headroom, shedding"


def test_dead_letters_and_notes_are_beneath(run, screen):
    run.batch(taken=10, given=4, letters=3)
    *_, dead, note = drawn(screen, time.monotonic() + 1, "stopping")
    assert (dead, note) == ("3 dead letters in road/letters", "stopping")
    (text,) = [line for line in screen.draw(0).renderables if "dead" in str(line)]
    assert text.style == "red"


def test_the_backlog_is_asked_by_a_thread_and_may_fail(run, screen, monkeypatch):
    monkeypatch.setattr("australis.cli.screen._PAUSE", 0.01)
    another = Screen(run, "", Console(file=io.StringIO(), force_terminal=True), resumable=False)
    _until(lambda: another.backlog == {"reports": 5})
    run.waiting = OSError("gone")
    _until(lambda: another.backlog == {})
    another.close()


def test_results_come_above_the_screen(run, capsys):
    console = Console(file=io.StringIO(), force_terminal=True, width=80)
    screen = Screen(run, "", console, resumable=False)
    screen._live._redirect_stdout = True
    screen._live.stop()
    screen._live.start()
    ConsoleSink(name="fast").open(FAST.inputs[0].schema).write(1, [_report()])
    screen.close()
    assert "fast, batch 1: 1 tuple\n" in console.file.getvalue()
    assert capsys.readouterr().out == ""


def _report():
    return pa.RecordBatch.from_pylist([{"time": 1, "vid": 2, "mph": 70}], FAST.inputs[0].schema)


def _until(true, seconds=600):
    limit = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < limit
        time.sleep(0.01)
