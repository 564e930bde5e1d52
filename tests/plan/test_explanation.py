"""A plan explained as text."""

from typer.testing import CliRunner

import australis as au
from australis.cli.main import app

REPORTS = au.stream("reports", "time int, vid int, mph int, xway int, seg int")
BEATS = au.stream("beats", "time int")
CARS = au.static("cars", "vid int, plate string")


def counted(stream, by, box):
    return stream.aggregate(on="time", size=60, by=by, n="count(*)", box=box)


def test_a_plan_in_words():
    orders = ["time", au.order("time", by="vid")]
    steady = BEATS.resample(REPORTS.filter("mph > 0", box="moving"), on=orders, size=5, mph="avg(mph)", box="steady")
    named = steady.join(CARS, "left.vid = right.vid", box="named")
    every = counted(named.map(time="time", plate="plate", box="plates"), (), "every")
    text = au.network(named=named, late=steady.late_left, every=every, beats_=BEATS).explain(plan=True)
    assert (
        text[text.index("\nplan, ") + 1 :]
        == """\
plan, 3 exchanges
  stage 0, in partitions
    takes reports, as it comes
    runs moving
    gives moving
    holds nothing
  stage 1, in partitions
    takes beats, exchanged: all of it in each partition
    takes moving from stage 0, exchanged: by vid
    takes cars (static), by vid
    runs steady, named, plates_every_columns
    gives plates_every_columns
    makes the outputs named, late
    has in each partition, and gives from one: steady.late_left
    holds for steady: left: everything, since a new vid may begin anywhere; right: what lies within 5 of the left's latest and twice that of its own
    holds for named: left: nothing; right: all of the static table
  stage 2, in one partition
    takes plates_every_columns from stage 1, exchanged: all of it in one partition
    runs every
    makes the output every
    holds for every: at most 1 open window
  outputs that are inputs: beats_
"""  # noqa: E501
    )


def test_the_command_line_shows_a_plan(tmp_path):
    au.dump(au.network(out=counted(REPORTS, "vid", "vids")), tmp_path / "net.yaml")
    told = CliRunner().invoke(app, ["explain", str(tmp_path / "net.yaml"), "--plan"])
    assert told.stdout.endswith("""\
plan, 1 exchange
  stage 0, in partitions
    takes reports, as it comes
    runs vids_columns
    gives vids_columns
    holds nothing
  stage 1, in partitions
    takes vids_columns from stage 0, exchanged: by vid
    runs vids
    makes the output out
    holds for vids: at most 1 open window for each vid
""")
