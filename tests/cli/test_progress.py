"""What people and programs see of a run."""

import io
import json
import time
from contextlib import closing

import pyarrow as pa
import pytest
from rich.console import Console

import australis as au
from australis.cli import progress
from australis.cli.lines import Notes, Objects
from australis.cli.progress import Rates, Row
from australis.cli.screen import Screen
from australis.connectors import dead_letters as letters
from australis.connectors.dead_letters import Letter
from australis.connectors.sinks.console import Console as ConsoleSink
from australis.engine.totals import BoxTotals
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


def test_rows_tell_of_streams_and_outputs_and_not_of_stored_tables(tmp_path):
    owners = au.static("owners", "vid int, owner string")
    run = StandIn(tmp_path, au.network(fast=REPORTS.join(owners, "left.vid = right.vid")))
    run.batch(taken=100, given=40)
    assert list(progress.rows(run, Rates(), 0, {"reports": 7})) == [
        Row("in", "reports", 100, 0.0, waiting=7),
        Row("out", "fast", 40, 0.0, delay=0.5),
    ]


def test_rates_are_those_of_the_last_seconds(run):
    rates = Rates()
    rates.record(0, run.totals)
    assert rates.of("reports", 0) == 0
    for second in range(1, 21):
        run.batch(taken=100 if second < 10 else 300, given=10)
        rates.record(second, run.totals)
        rates.record(second + 0.1, run.totals)
    assert rates.of("reports", 20) == 300
    assert rates.of("fast", 20) == 10
    assert rates.of("reports", 40) == pytest.approx(300 * 5 / 25), "nothing has come for a while"


def test_rates_of_long_batches_span_several(run):
    rates = Rates()
    rates.record(0, run.totals)
    for minute in range(1, 6):
        run.batch(taken=6000, given=0)
        rates.record(minute * 60, run.totals)
    assert rates.of("reports", 300) == 100


def test_a_delay_stays_until_the_next_tuples_of_an_output(run):
    run.batch(taken=10, given=4, worst=1.5)
    run.batch(taken=10, given=0, worst=None)
    assert [row.delay for row in progress.rows(run, Rates(), 0, {})] == [None, 1.5]


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


def test_dead_letters_and_notes_are_beneath(run, screen):
    run.batch(taken=10, given=4, letters=3)
    *_, dead, note = drawn(screen, time.monotonic() + 1, "stopping")
    assert (dead, note) == ("3 dead letters in road/letters", "stopping")
    (text,) = [line for line in screen.draw(0).renderables if "dead" in str(line)]
    assert text.style == "red"


STATS = REPORTS.aggregate(on="time", size=60, n="count(*)", box="stats")
LATE = "1,234 tuples were late at box `stats`: give it slack, or send its port `late` somewhere"


def late(tmp_path, network, count=1234):
    run = StandIn(tmp_path, network)
    for name in ("stats", "watched"):
        run.totals.boxes[name] = BoxTotals(given={"out": 5, "late": count, "refused": 1})
    return run


def test_lost_tuples_are_told_on_the_screen_and_to_programs(tmp_path):
    run = late(tmp_path, au.network(fast=STATS))
    screen = Screen(run, "jams.yaml", Console(file=io.StringIO(), force_terminal=True, width=200), resumable=True)
    console = Console(file=io.StringIO(), width=200)
    console.print(screen.draw(time.monotonic() + 1))
    screen.close()
    assert console.file.getvalue().splitlines()[-1].rstrip() == LATE
    assert progress.total_object(run, 1.5, True, "end")["late"] == {"stats": 1234, "watched": 1234}
    assert progress.total_object(run, 1.5, True, "end")["refused"] == {"stats": 1, "watched": 1}


def test_only_what_nothing_takes_is_lost(tmp_path):
    wired = au.network(fast=STATS, late=STATS.late)
    assert progress.lost_tuples(late(tmp_path, wired)) == []
    assert progress.lost_tuples(late(tmp_path, au.network(fast=STATS), 0)) == []
    queries = au.stream("queries", "query int, kind string, x double, y double, radius double")
    ships = au.stream("ships", "id int, x double, y double").moving.watch(queries, box="watched")
    assert progress.lost_tuples(late(tmp_path, au.network(out=ships))) == [
        "1 tuple was refused at box `watched`: they are dead letters; to use them, send its port `refused` somewhere"
    ]


def test_what_to_do_about_late_tuples_depends_on_the_box(tmp_path):
    slack = REPORTS.aggregate(on="time", size=60, n="count(*)", slack=7, box="stats")
    assert progress.lost_tuples(late(tmp_path, au.network(fast=slack), 2))[0] == (
        "2 tuples were late at box `stats`: give it more slack than 7, or send its port `late` somewhere"
    )
    assert progress.lost_tuples(late(tmp_path, au.network(fast=slack), 2), "say --slack N")[0] == (
        "2 tuples were late at box `stats`: say --slack N"
    )
    window = REPORTS.signal.window("mph", "time", 8, 1, box="stats")
    assert "sort the stream before it, or send" in progress.lost_tuples(late(tmp_path, au.network(fast=window), 2))[0]


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


def test_the_summary_is_one_line(run):
    run.batch(taken=2160, given=2)
    assert progress.summary(run, 3.21, True, {"fast": "fast.csv"}) == (
        "in: reports 2,160; out: fast 2 (fast.csv); 1 batch in 3.2 s; no dead letters"
    )
    run.batch(taken=1, given=0, letters=1)
    assert progress.summary(run, 3.21, True, {}) == (
        "in: reports 2,161; out: fast 2; 2 batches in 3.2 s; 1 dead letter in road/letters"
    )
    assert progress.summary(run, 3.21, False, {}).endswith("; 1 dead letter (give --checkpoint to keep them)")


def test_the_first_dead_letter_is_shown(run):
    assert progress.first_dead_letter(run) == ""
    found = [Letter("2 values for 3 columns", "a.csv", 40, b"1,2"), Letter("", "a.csv", 44, b"3")]
    with closing(letters.writer(run.checkpoint.path)) as writer:
        writer.write(1, [letters.table("reports", found, 1)])
    run.batch(taken=1, given=0, letters=2)
    assert progress.first_dead_letter(run) == "; the first: reports: a.csv: at 40: 2 values for 3 columns, in 1,2"


def test_paths_are_short_where_they_can_be(run, tmp_path):
    assert progress.short(tmp_path / "road" / "letters") == "road/letters"
    assert progress.short(tmp_path.parent) == str(tmp_path.parent)


def test_objects_for_programs_are_one_a_batch_and_one_at_the_end(run, capsys):
    told = Objects(run)
    run.batch(taken=10, given=4, letters=2)
    told.show()
    told.show("a note is for people")
    run.batch(taken=20, given=0, letters=1, worst=None)
    told.close()
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first == {
        "batch": 1, "seconds": 0.25, "taken": {"reports": 10}, "given": {"fast": 4}, "delay": {"fast": 0.5},
        "late": {}, "refused": {}, "letters": 2,
    }  # fmt: skip
    assert (second["batch"], second["delay"], second["letters"]) == (2, {"fast": None}, 1)
    assert progress.total_object(run, 1.5, True, "end") == {
        "batches": 2, "seconds": 1.5, "taken": {"reports": 30}, "given": {"fast": 4}, "late": {}, "refused": {},
        "letters": 3, "letters_in": str(run.checkpoint.path / "letters"), "ended": "end",
    }  # fmt: skip
    assert progress.total_object(run, 1.5, False, "end")["letters_in"] is None


def test_a_log_has_each_note_once():
    console = Console(file=io.StringIO(), width=20)
    for quiet in (False, True):
        told = Notes(console, quiet)
        for note in ("", "a note longer than the screen is wide", "a note longer than the screen is wide", ""):
            told.show(note)
        told.close()
    assert console.file.getvalue() == "a note longer than the screen is wide\n"


def _report():
    return pa.RecordBatch.from_pylist([{"time": 1, "vid": 2, "mph": 70}], FAST.inputs[0].schema)


def _until(true, seconds=600):
    limit = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < limit
        time.sleep(0.01)
