"""A network in words."""

import australis as au

REPORTS = au.stream("reports", "time int, vid int, mph int")


def test_everything_there_is_to_say():
    cars = au.static("cars", "vid int, plate string")
    accounts = au.table("accounts", "vid int, balance bigint", key="vid")
    with au.group("statistics"), au.group("hourly"):
        stats = REPORTS.aggregate(on="time", size=60, by="vid", slack=1, mph="avg(mph)", box="stats")
    fast, slow, _ = REPORTS.route("mph > 80", "mph < 10", box="fan")
    charged = slow.write(accounts, balance="coalesce(old.balance, 0) + 1", box="charge")
    pairs = fast.join(cars, "left.vid = right.vid", box="pairs")
    net = au.network(charged, stats=stats.output(latency={2: 1, 10: 0}), late=stats.late, pairs=pairs)
    assert (
        net.explain()
        == """\
inputs
  reports: time int, vid int, mph int
  cars (static): vid int, plate string
tables
  accounts: vid int, balance bigint, key vid
boxes
  stats: aggregate of reports, in statistics / hourly
    mph = avg(mph)
    on time, slack 1, by vid
    size 60
    advance 60
    gives out: time int, vid int, mph double
    gives late: time int, vid int, mph int
    partitioned by vid
    holds at most 2 open windows for each vid
  fan: route of reports
    1: mph > 80
    2: mph < 10
    gives 1, 2, rest: time int, vid int, mph int
    runs in any partition
    holds nothing
  pairs: join of fan, cars
    left on tup#
    predicate left.vid = right.vid
    gives out: time int, vid int, mph int, vid_right int, plate string
    gives late_left: time int, vid int, mph int
    gives late_right: vid int, plate string
    partitioned by vid
    holds left: nothing; right: all of the static table
  charge: write of fan.2
    table accounts
    balance = coalesce(old.balance, 0) + 1
    gives out: time int, vid int, mph int, balance bigint
    partitioned by vid
    holds a row for each vid
outputs
  stats: stats, latency {2: 1, 10: 0}
  late: stats.late
  pairs: pairs
rules that fire at the start of a run
  project charge_columns, charge
"""
    )


def test_a_box_that_must_run_in_one_place_says_so():
    assert "runs in one partition" in au.network(out=REPORTS.bsort("time", slack=2)).explain()


def test_a_network_without_boxes():
    assert (
        au.network(out=REPORTS).explain() == "inputs\n  reports: time int, vid int, mph int\noutputs\n  out: reports\n"
    )
