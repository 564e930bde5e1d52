"""What people and programs see of a run."""

import io
import time
from contextlib import closing

import pytest
from rich.console import Console

import australis as au
from australis.cli import progress
from australis.cli.progress import Rates, Row
from australis.cli.screen import Screen
from australis.connectors import dead_letters as letters
from australis.connectors.dead_letters import Letter
from australis.engine.service import BranchWait, OutputService, Service
from australis.engine.totals import BoxTotals
from tests.cli.standin import REPORTS, StandIn


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return StandIn(tmp_path / "road")


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


def test_what_was_shed_is_told_by_output(run):
    run.service = Service({"fast": OutputService(0.9, 0.25), "slow": OutputService()})
    assert progress.shed_outputs(run) == ["output fast: 25% shed in the last minute, utility 0.90"]
    assert progress.load(run) == ""
    run.service = Service(used=1.2, state="exact")
    assert progress.load(run) == "120% of the headroom, and exact outputs alone are too much"
    run.service = Service(used=1.3, behind={"fast": BranchWait(120_000, 7.6)})
    assert progress.load(run) == "130% of the headroom, nothing shed; fast is 8 s behind"


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
