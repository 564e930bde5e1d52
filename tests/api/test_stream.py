"""The fluent API: one method a box, mistakes told at the line that made them."""

from datetime import timedelta

import pytest

import australis as au
from australis.boxes import Aggregate, BSort, Join, Map, Read, Resample, Route, Union, Write
from australis.testing import rows

REPORTS = au.stream("reports", "time int, vid int, mph int, xway int, seg int")
EVENTS = au.stream("events", "at timestamp, sid int, pos int")
CARS = au.static("cars", "vid int, plate string")
ACCOUNTS = au.table("accounts", "vid int, balance bigint", key="vid")


def box(stream):
    """The one box that a stream comes from."""
    *_, node = au.network(out=stream).nodes
    return node.box


def test_the_example_of_the_design():
    jams = REPORTS.aggregate(on="time", size=60, by=["xway", "seg"], cars="count(distinct vid)", mph="avg(mph)").filter(
        "cars > 1 and mph < 40"
    )
    net = au.network(jams=jams.output(latency={2: 1.0, 10: 0.0}))
    reports = {"time": [0, 10, 20, 70], "vid": [1, 2, 2, 3], "mph": [20, 30, 40, 90], "xway": [0] * 4, "seg": [5] * 4}
    assert rows(net.run_local(reports=reports)["jams"]) == [(0, 0, 5, 2, 30.0)]


def test_one_predicate_gives_a_stream_with_its_rest():
    fast = REPORTS.filter("mph > 60")
    assert (fast.at, fast.rest.at) == ("out", "rest")
    assert fast.rest.origin is fast.origin


def test_several_predicates_of_a_filter_all_hold():
    fast = REPORTS.filter("mph > 60", au.col("vid") < 20, "xway = 0 or seg = 0")
    assert box(fast) == box(REPORTS.filter("mph > 60 and vid < 20 and (xway = 0 or seg = 0)"))
    with pytest.raises(au.NetworkError, match=r"^filter: a filter takes at least one predicate"):
        REPORTS.filter()


def test_several_predicates_of_a_route_give_a_stream_each_and_the_rest():
    fast, slow, rest = REPORTS.route("mph > 60", au.col("mph") < 20)
    assert [stream.at for stream in (fast, slow, rest)] == ["1", "2", "rest"]
    assert box(fast) == Route((au.expr("mph > 60"), au.expr("mph < 20")))


def test_columns_are_kept_added_renamed_and_dropped_by_a_map():
    stream = au.stream("cars", 'vid int, mph int, "odd name" string')
    assert box(stream.select("mph", "vid", kph="mph * 1.6")) == box(stream.map(mph="mph", vid="vid", kph="mph * 1.6"))
    assert stream.select("odd name").schema.names == ["odd name"]
    assert stream.with_columns(mph="mph + 1", fast="mph > 60").schema.names == ["vid", "mph", "odd name", "fast"]
    assert box(stream.with_columns(mph="mph + 1")) == box(
        stream.map({"vid": "vid", "mph": "mph + 1", "odd name": '"odd name"'})
    )
    assert stream.rename({"odd name": "name"}, vid="car").schema.names == ["car", "mph", "name"]
    assert stream.rename(vid="mph", mph="vid").schema.names == ["mph", "vid", "odd name"]
    assert stream.drop("mph", "odd name", box="few").schema.names == ["vid"]


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda: REPORTS.select("mhp"), "select: there is no column mhp; .* did you mean `mph`"),
        (lambda: REPORTS.select("mph", x="mhp"), "select: .*mhp"),
        (lambda: REPORTS.rename(mhp="x"), "rename: there is no column mhp"),
        (lambda: REPORTS.rename(vid="mph"), "rename: two columns would be named mph"),
        (lambda: REPORTS.drop("mhp"), "drop: there is no column mhp"),
        (lambda: REPORTS.drop(*REPORTS.schema.names), "drop: no column would be left"),
    ],
)
def test_columns_that_are_not_there_are_told(made, told):
    with pytest.raises(au.AustralisError, match=told):
        made()


def test_map_takes_expressions_constants_and_a_mapping():
    made = REPORTS.map({"box": "vid"}, kph=au.col("mph") * 1.6, one=1, yes=True)
    assert box(made) == Map(
        (("box", au.expr("vid")), ("kph", au.expr("mph * 1.6")), ("one", au.expr("1")), ("yes", au.expr("true")))
    )
    assert made.schema.names == ["box", "kph", "one", "yes"]


def test_union_takes_any_number_of_streams():
    fast, slow, rest = REPORTS.route("mph > 60", "mph < 20")
    assert box(fast.union(slow, rest)) == Union(3)


def test_bsort_and_orders():
    assert box(REPORTS.bsort("time", slack=2, by="vid")) == BSort(au.Order("time", 2, ("vid",)))
    assert box(REPORTS.bsort(au.order("time", by=["vid", "xway"]))) == BSort(au.Order("time", 0, ("vid", "xway")))


def test_aggregate_advances_by_its_size_by_a_span_or_by_a_predicate():
    def made(**arguments):
        found = box(REPORTS.aggregate(on="time", cars="count(*)", **arguments))
        assert isinstance(found, Aggregate)
        return found.size, found.advance, found.timeout

    assert made(size=60) == (60, 60, None)
    assert made(size=60, advance=10) == (60, 10, None)
    assert made(advance="mph = 0") == (None, au.expr("mph = 0"), None)
    assert made(size=60, advance=au.col("mph") == 0, timeout="5 s") == (60, au.expr("mph = 0"), "5 s")
    pairs = [box(REPORTS.aggregate(on="tup#", size=2, n="count(*)", partial=asked)) for asked in (False, True)]
    assert [found.partial for found in pairs] == [False, True]
    timed = box(EVENTS.aggregate(on="at", size="1 hour", advance=timedelta(minutes=10), n="count(*)"))
    assert (timed.size, timed.advance) == ("1 hour", "600 s")


def test_a_duration_counts_seconds_on_whole_numbers():
    """As in SQL."""
    minutes, numbers = (
        au.network(out=REPORTS.aggregate(on="time", size=size, advance=step, n="count(*)"))
        for size, step in (("1 minute", timedelta(seconds=20)), (60, 20))
    )
    given = [{"time": time, "vid": 1, "mph": 1, "xway": 0, "seg": 0} for time in range(0, 200, 7)]
    assert rows(minutes.run_local(reports=given)["out"]) == rows(numbers.run_local(reports=given)["out"])
    joined = REPORTS.join(REPORTS.filter("mph > 1"), on="time", size="1 minute")
    assert joined.origin.box.size == "1 minute"
    assert au.loads(au.dumps(au.network(out=joined))) == au.network(out=joined)


def test_aggregate_takes_functions_whose_names_are_arguments():
    made = REPORTS.aggregate({"size": "count(*)"}, on="time", size=60, cars="count(vid)")
    assert made.schema.names == ["time", "size", "cars"]


def test_join_takes_one_order_a_pair_or_a_static_side():
    fast, slow, _ = REPORTS.route("mph > 60", "mph < 20")
    one = au.Order("time")
    assert box(fast.join(slow, "left.vid = right.vid", on="time", size=5)) == Join(
        one, one, 5, au.expr("left.vid = right.vid")
    )
    pair = box(fast.join(slow, on=("time", au.order("time", slack=2)), size=5))
    assert (pair.left, pair.right, pair.predicate) == (one, au.Order("time", 2), None)
    fixed = box(fast.join(CARS, "left.vid = right.vid", on="time"))
    assert (fixed.left, fixed.right, fixed.size) == (one, None, None)
    turned = box(CARS.filter("vid > 0").join(fast, "left.vid = right.vid", on=[None, "time"]))
    assert (turned.left, turned.right) == (None, one)


def test_resample():
    beats = au.stream("beats", "time int")
    made = box(beats.resample(REPORTS, on=("time", au.order("time", by="vid")), size=10, mph="avg(mph)"))
    assert isinstance(made, Resample)
    assert (made.left, made.right, made.size) == (au.Order("time"), au.Order("time", 0, ("vid",)), 10)


def test_write_and_read():
    tolls = au.stream("tolls", "vid int, toll int")
    charged = tolls.write(ACCOUNTS, balance="coalesce(old.balance, 0) + toll")
    assert box(charged) == Write(ACCOUNTS, (("balance", au.expr("coalesce(old.balance, 0) + toll")),))
    asked = au.stream("asked", "vid int").read(ACCOUNTS, "balance")
    net = au.network(charged, answers=asked)
    assert [node.box.kind for node in net.nodes] == ["write", "read"]
    assert net.named["read_1"].box == Read(ACCOUNTS, ("balance",))


def test_late_ports():
    stats = REPORTS.aggregate(on="time", size=60, n="count(*)")
    assert stats.late.schema == REPORTS.schema
    joined = REPORTS.join(REPORTS.filter("mph > 1"), on="time", size=1)
    assert (joined.late_left.at, joined.late_right.at) == ("late_left", "late_right")
    assert stats.port("late").at == "late"


def test_groups_nest():
    with au.group("statistics"):
        stats = REPORTS.aggregate(on="time", size=60, n="count(*)")
        with au.group("alarms"):
            many = stats.filter("n > 9")
    out = many.map(n="n")
    assert [node.group for node in au.network(out=out).nodes] == [("statistics",), ("statistics", "alarms"), ()]


def test_streams_show_themselves():
    assert repr(REPORTS) == "<stream reports: time int, vid int, mph int, xway int, seg int>"
    assert repr(REPORTS.map(kph="mph * 2").map(k="kph", box="last")) == "<stream last.out: k bigint>"


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: REPORTS.filter("mhp > 60"), "^filter: `mhp > 60`.*did you mean `mph`.*time, vid, mph, xway, seg"),
        (lambda: REPORTS.filter("mhp > 60", box="fast"), "^filter fast: .*mhp > 60.*did you mean `mph`"),
        (lambda: REPORTS.filter("mph >", box="fast"), "(?s)^filter fast: .*mph >"),
        (lambda: REPORTS.filter("mph + 1"), "^filter: `mph \\+ 1` is no predicate"),
        (lambda: REPORTS.filter(), "^filter: a filter takes at least one predicate"),
        (lambda: REPORTS.map(), "^map: a map makes at least one column"),
        (lambda: REPORTS.map(x="vidd"), "^map: .*vidd.*did you mean `vid`"),
        (
            lambda: REPORTS.map(x="rondo(mph)"),
            "^map: `rondo\\(mph\\)`: there is no function `rondo`; make one with "
            "@au.function.*--functions.*did you mean `round`",
        ),
        (lambda: REPORTS.union(), "^union: a union takes two streams"),
        (lambda: REPORTS.union(EVENTS), "^union: .*one schema.*time int.*at timestamp"),
        (lambda: REPORTS.bsort("tiem"), "^bsort: .*`tiem`.*did you mean `time`"),
        (lambda: REPORTS.bsort("time", slack=-1), "^bsort: slack"),
        (lambda: REPORTS.aggregate(on="time", n="count(*)"), "^aggregate: give `size`"),
        (lambda: REPORTS.aggregate(size=60, n="count(*)"), "^aggregate: it needs an order: give `on`.*time, vid.*tup#"),
        (
            lambda: REPORTS.join(EVENTS, "left.vid = right.sdi", on=("time", "tup#"), size=1),
            "right side has no column `sdi`.*`sid`",
        ),
        (lambda: REPORTS.aggregate(on="tiem", size=60, n="count(*)"), "^aggregate: .*`tiem`.*did you mean `time`"),
        (
            lambda: REPORTS.aggregate(on="time", size="1 minuet", n="count(*)"),
            "^aggregate: `1 minuet` is not a duration",
        ),
        (
            lambda: REPORTS.aggregate(on="time", size=60, n="cuont(vid)"),
            "^aggregate: `cuont\\(vid\\)`: there is no function `cuont`.*did you mean `count`",
        ),
        (lambda: REPORTS.aggregate(on="time", size=60, n="mph"), "^aggregate: `mph`"),
        (
            lambda: REPORTS.aggregate(on="time", size=True, n="count(*)"),
            "^aggregate: `size` is a number, a text, or a timedelta, not True",
        ),
        (lambda: REPORTS.join(EVENTS, "left.vid = right.sid"), "^join: left side: it needs an order: give `on`"),
        (lambda: REPORTS.join(REPORTS, on=("time",), size=1), "^join: `on` is one order, or a pair.*1"),
        (
            lambda: REPORTS.resample(REPORTS, on=("time", None), size=1, n="avg(mph)"),
            "^resample: both sides need an order: give `on`",
        ),
        (
            lambda: REPORTS.aggregate(on="time", size=float("inf"), n="count(*)"),
            "^aggregate: `size` is a finite number",
        ),
        (
            lambda: REPORTS.aggregate(on="time", size=float("nan"), n="count(*)"),
            "^aggregate: `size` is a finite number",
        ),
        (
            lambda: REPORTS.aggregate(on="time", size=10**30, n="count(*)"),
            "^aggregate: a span is a finite number, up to",
        ),
        (
            lambda: REPORTS.aggregate(on="time", size=60, timeout=float("inf"), n="count(*)"),
            "^aggregate: `timeout` is a finite number, not inf",
        ),
        (
            lambda: REPORTS.aggregate(on="time", size=60, timeout=1e18, n="count(*)"),
            "^aggregate: 1e\\+18 seconds are more",
        ),
        (
            lambda: REPORTS.aggregate(on="time", size=60, slack=10**12, n="count(*)"),
            "^aggregate: slack is a count of tuples from 0 to 1,048,576, not 1000000000000",
        ),
        (
            lambda: REPORTS.aggregate(on="time", size=10**9, advance=1, n="count(*)"),
            "^aggregate: a tuple would lie in 1000000000 windows .*give a larger advance",
        ),
        (
            lambda: REPORTS.aggregate(on="time", size=60, n="count(*)", slak=3),
            "^aggregate: `slak=3` is neither an argument nor a window function.*did you mean `slack`",
        ),
        (
            lambda: REPORTS.aggregate(on="time", size=60, n="count(*)", timeot="5 s"),
            "^aggregate: `s` is not expected here; the arguments are .*did you mean `timeout`",
        ),
        (lambda: REPORTS.map("mph"), "^map: `columns` is a mapping of texts to an expression.*, not 'mph'"),
        (lambda: REPORTS.join("q"), "^join: `other` is a stream, not 'q'"),
        (
            lambda: REPORTS.join(REPORTS, on=[5, "time"], size=1),
            "^join: `on` is a text, an au.order, .* or a list .*, not .5, 'time'",
        ),
        (lambda: CARS.filter('plate = "abc"'), "no column `abc`. The columns are vid, plate; a text .* quotes: 'abc'"),
        (
            lambda: au.table("seen", "k array<int>, n int", key="k"),
            "^table seen: the key k is a list.*, and values of that make no key: give a column of numbers",
        ),
        (
            lambda: REPORTS.aggregate(on="tup#", size="1 minute", n="count(*)"),
            "^aggregate: `1 minute` .* counts tuples",
        ),
        (
            lambda: REPORTS.aggregate(on="time", size="500 ms", n="count(*)"),
            "^aggregate: 500 ms is no whole number of s",
        ),
        (lambda: REPORTS.read(ACCOUNTS, "balanec"), "^read: .*balanec.*accounts.*did you mean `balance`"),
        (lambda: REPORTS.write(ACCOUNTS, balnce="1"), "^write: .*balnce.*accounts.*did you mean `balance`"),
        (
            lambda: REPORTS.filter("mph > 60").port("rset"),
            "there is no port rset; there are out, rest; did you mean `rest`",
        ),
        (lambda: REPORTS.late, "^reports: there is no port late; there are out"),
        (lambda: au.table("accounts", "vid int", key="vidd"), "table accounts: the key vidd.*did you mean `vid`"),
        (lambda: au.table("accounts", "vid int", key=[]), "table accounts: a table has a key"),
        (lambda: au.stream("reports", "time inr"), "inr"),
        (lambda: REPORTS.output(latency={2: 1.0}), "two points"),
        (lambda: au.network(REPORTS.filter("mph > 1")), "has no name: only one that writes a table goes without"),
        (lambda: au.network(out="reports"), "output out: a stream or its `.output"),
        (lambda: au.network("reports"), "made of streams, not of str"),
    ],
)
def test_mistakes_are_told_at_once(make, told):
    with pytest.raises(au.AustralisError, match=told):
        make()
