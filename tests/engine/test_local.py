"""The local runner: steps of a whole network, checked inputs, counts, errors that name the box."""

from dataclasses import dataclass
from typing import ClassVar

import pandas
import polars
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import australis as au
from australis.api.network import Network
from australis.arrow.schema import schema
from australis.model.box import Box
from australis.model.network import Arrow, Input, Node, Output
from australis.testing import rows

REPORTS = au.stream("reports", "time int, mph int")
FAST = REPORTS.filter("mph > 60", box="fast")
STATS = REPORTS.aggregate(on="time", size=10, n="count(*)", box="stats")
BEATS = au.stream("beats", "time int")


def reports(*tuples):
    return [{"time": time, "mph": mph} for time, mph in tuples]


@dataclass(frozen=True)
class Probe(Box):
    """A box that keeps what it is given, and fails when it is told to."""

    seen: list
    error: Exception | None = None
    kind: ClassVar[str] = "probe"
    arity: ClassVar[int] = 1

    def outputs(self, *inputs):
        return {"out": inputs[0]}

    def keys(self, *inputs):
        return None

    def tables(self, *inputs):
        return {}

    def holds(self, *inputs):
        return ""

    def step(self, tables, trains, moment):
        self.seen.append((trains, moment))
        if self.error and len(trains[0]):
            raise self.error
        return trains


def probed(error=None):
    probe = Probe([], error)
    net = Network(
        (Input("a", schema("x int")), Input("b", schema("x int"))),
        (Node("one", probe, (Arrow("a"),)), Node("two", probe, (Arrow("b"),))),
        (Output("out", Arrow("one")), Output("more", Arrow("two"))),
    )
    return probe, net


def test_each_push_is_a_step_of_the_whole_network():
    run = au.Local(au.network(fast=FAST, slow=FAST.rest))
    found = run.push(reports=reports((1, 70), (2, 50)))
    assert {name: rows(batch) for name, batch in found.items()} == {"fast": [(1, 70)], "slow": [(2, 50)]}
    assert rows(run.push(reports=reports((3, 90)))["fast"]) == [(3, 90)]


def test_the_end_flows_through_boxes_in_order():
    totals = STATS.aggregate(on="time", size=100, total="sum(n)")
    run = au.Local(au.network(totals=totals))
    assert rows(run.push(reports=reports((1, 1), (12, 1), (13, 1)))["totals"]) == []
    assert rows(run.end()["totals"]) == [(0, 3)]
    with pytest.raises(au.RunError, match="the run has ended"):
        run.push(reports=[])


def test_tuples_are_numbered_over_all_inputs_and_stamped():
    probe, net = probed()
    run = au.Local(net)
    run.push(b=[{"x": 1}, {"x": 2}], a=[{"x": 3}], ts=77, clock=5)
    run.push(a=[{"x": 4}])
    run.end()
    (first,), moment = probe.seen[0]
    (second,), _ = probe.seen[1]
    (third,), later = probe.seen[2]
    assert (second.number.tolist(), first.number.tolist(), third.number.tolist()) == ([1, 2], [3], [4])
    assert first.ts.tolist() == [77]
    assert third.ts[0] > 1e15
    assert (moment.number, moment.clock, moment.end) == (3, 5, False)
    assert (later.number, later.clock) == (4, None)
    assert probe.seen[-1][1].end
    assert run.arrived == 4


def test_windows_time_out_by_the_clock():
    slow = REPORTS.aggregate(on="time", size=10, n="count(*)", timeout="2 s")
    run = au.Local(au.network(out=slow))
    assert rows(run.push(reports=reports((1, 1)), clock=1_000_000)["out"]) == []
    assert rows(run.tick(2_000_000)["out"]) == []
    assert rows(run.tick(3_500_000)["out"]) == [(0, 1)]


def test_single_steps_show_every_box():
    run = au.Local(au.network(out=FAST.map(kph="mph * 2", box="kph")))
    steps = run.steps(reports=reports((1, 70), (2, 50)))
    event = next(steps)
    assert (event.node.name, rows(event.inputs[0])) == ("fast", [(1, 70), (2, 50)])
    assert {port: rows(part) for port, part in event.outputs.items()} == {"out": [(1, 70)], "rest": [(2, 50)]}
    with pytest.raises(au.RunError, match="a step is under way"):
        run.push(reports=[])
    assert rows(next(steps).outputs["out"]) == [(140,)]
    with pytest.raises(StopIteration) as stop:
        next(steps)
    assert rows(stop.value.value["out"]) == [(140,)]
    run.push(reports=[])


def test_counts():
    run = au.Local(au.network(fast=FAST, stats=STATS, late=STATS.late))
    run.push(reports=reports((1, 70), (25, 50), (3, 80)))
    assert run.counts["reports"].given == {"out": 3}
    assert (run.counts["fast"].taken, run.counts["fast"].given) == ([3], {"out": 2, "rest": 1})
    assert run.counts["stats"].late == 1


def test_readers_share_the_table_of_its_writer():
    accounts = au.table("accounts", "vid int, balance bigint", key="vid")
    charged = au.stream("tolls", "vid int, toll int").write(accounts, balance="coalesce(old.balance, 0) + toll")
    asked = au.stream("asked", "vid int").read(accounts, "balance")
    run = au.Local(au.network(charged, answers=asked))
    assert rows(run.push(tolls={"vid": [7], "toll": [2]}, asked={"vid": [7, 8]})["answers"]) == [(7, 2), (8, None)]
    run.push(tolls={"vid": [7], "toll": [5]})
    assert rows(run.push(asked={"vid": [7]})["answers"]) == [(7, 7)]


CARS = au.static("cars", "vid int, plate string")
SEEN = au.stream("seen", "time int, vid int")
PLATES = au.network(plates=SEEN.join(CARS, "left.vid = right.vid", on="time").map(plate="plate"))
TABLE = {"vid": [1, 2], "plate": ["AU 1", "AU 2"]}


def test_static_tables_come_first():
    opened = au.Local(PLATES, cars=TABLE)
    assert rows(opened.push(seen={"time": [1, 2, 3], "vid": [2, 9, 1]})["plates"]) == [("AU 2",), ("AU 1",)]
    with pytest.raises(au.RunError, match="static input cars: push a static table by itself, before any stream"):
        opened.push(cars=TABLE)
    pushed = au.Local(PLATES)
    with pytest.raises(au.RunError, match="static input cars: push it first"):
        pushed.push(seen={"time": [1], "vid": [2]})
    with pytest.raises(au.RunError, match="static input cars: push a static table by itself"):
        pushed.push(seen={"time": [1], "vid": [2]}, cars=TABLE)
    pushed.push(cars=TABLE)
    assert rows(pushed.push(seen={"time": [1], "vid": [2]})["plates"]) == [("AU 2",)]


def test_run_local_reads_static_tables_whole():
    cars = pa.table({"vid": pa.array([1, 2], pa.int32()), "plate": ["AU 1", "AU 2"]})
    found = PLATES.run_local(seen={"time": [1], "vid": [2]}, cars=iter([cars.slice(0, 1), cars.slice(1)]))
    assert rows(found["plates"]) == [("AU 2",)]


@pytest.mark.parametrize(
    "given",
    [
        [{"time": 1, "mph": 70}, {"time": 2}],
        {"mph": [70, None], "time": [1, 2]},
        pa.table({"time": [1, 2], "mph": [70, None]}),
        pa.record_batch({"time": pa.array([1, 2], pa.int8()), "mph": pa.array([70.0, None])}),
        pa.table({"time": pa.chunked_array([[1], [2]]), "mph": pa.chunked_array([[70], pa.array([None], pa.int64())])}),
        polars.DataFrame({"time": [1, 2], "mph": [70, None]}),
        iter([{"time": [1], "mph": [70]}, [{"time": 2, "mph": None}]]),
    ],
    ids=["rows", "columns", "table", "batch", "chunks", "frame", "parts"],
)
def test_inputs_in_every_form(given):
    assert rows(au.network(out=REPORTS).run_local(reports=given)["out"]) == [(1, 70), (2, None)]


FRAME = pandas.DataFrame({"time": [0, 1, 2], "mph": [None, 70, None], "odd": [1, "b", None]})


@pytest.mark.parametrize(
    "given",
    [
        FRAME[FRAME.time > 0],
        FRAME[FRAME.time > 0].set_index("time"),
        FRAME[FRAME.time > 0].set_index("odd"),
        [{"time": 1, "mph": 70, "lane": 1}, {"time": 2, "odd": object()}],
        {"mph": [70, None], "time": [1, 2], "lane": [1], 5: [6]},
        pa.table({"lane": [1, 2], "time": [1, 2], "mph": [70, None]}),
        polars.DataFrame({"lane": [1, 2], "time": [1, 2], "mph": [70, None]}),
    ],
    ids=["filtered", "index", "other index", "rows", "columns", "table", "frame"],
)
def test_columns_are_found_by_name_and_others_passed_over(given):
    """As in files."""
    assert rows(au.network(out=REPORTS).run_local(reports=given)["out"]) == [(1, 70), (2, None)]


WRONG = {
    "a missing column": (
        [{"time": 1, "mhp": 2}],
        "input reports: no column mph; given are time, mhp; did you mean `mhp`",
    ),
    "a column twice": (
        pa.Table.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], names=["time", "mph", "mph"]),
        "input reports: there are 2 columns mph; give each once",
    ),
    "a frame of no such columns": (pandas.DataFrame({"time": [1], "mhp": [2]}), "no column mph.*did you mean `mhp`"),
    "a text for a number": ([{"time": 1, "mph": "fast"}], "input reports: column mph is int32, given string"),
    "a number in a text": (pa.table({"time": [1], "mph": ["12"]}), "column mph is int32, given string"),
    "a broken number": ([{"time": 1, "mph": 3.7}], "column mph is int32, given double: .*truncated"),
    "a number too large": ([{"time": 1, "mph": 2**40}], "column mph is int32, given int64: .*not in range"),
    "a truth for a number": ([{"time": True, "mph": 1}], "column time is int32, given bool"),
    "mixed values": ([{"time": 1, "mph": 1}, {"time": "x", "mph": 1}], "column time is int32"),
    "columns of different lengths": ({"time": [1, 2], "mph": [1]}, "different lengths: time 2, mph 1"),
    "rows that are no mappings": ([(1, 2)], "a list of mappings"),
    "something else": (7, "cannot read tuples from int"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_tuples_are_told(what):
    given, told = WRONG[what]
    run = au.Local(au.network(out=REPORTS))
    with pytest.raises(au.RunError, match=told):
        run.push(reports=given)
    assert run.arrived == 0
    run.push(reports=[])


def test_wrong_names_are_told():
    net = au.network(fast=FAST)
    with pytest.raises(au.RunError, match="there is no input report; there are reports; did you mean `reports`"):
        au.Local(net).push(report=[])
    with pytest.raises(
        au.RunError, match="no input or output reprots; there are reports, fast; did you mean `reports`"
    ):
        net.run_local(reprots=[])
    with pytest.raises(au.RunError, match="input reports: not given"):
        net.run_local()
    with pytest.raises(au.RunError, match="output fast: give a path or a sink"):
        net.run_local(reports=[], fast=7)


@pytest.mark.parametrize(
    ("error", "told"), [(KeyError("lane"), "probe one: 'lane'"), (ValueError(), "one: ValueError")]
)
def test_an_exception_names_its_box_and_ends_the_run(error, told):
    _, net = probed(error)
    run = au.Local(net)
    with pytest.raises(au.RunError, match=told) as caught:
        run.push(a=[{"x": 1}])
    assert caught.value.__cause__ is error
    with pytest.raises(au.RunError, match=r"the run failed \(probe one: .*open another"):
        run.push(a=[])


@given(st.lists(st.integers(0, 99)), st.integers(1, 20))
def test_results_do_not_depend_on_the_length_of_trains(times, train):
    times = sorted(times)
    net = au.network(stats=STATS, fast=FAST)
    given_ = {"time": times, "mph": [time * 7 % 100 for time in times]}
    whole, cut = net.run_local(reports=given_), net.run_local(reports=given_, train=train)
    assert {name: rows(table) for name, table in whole.items()} == {name: rows(table) for name, table in cut.items()}


@given(st.lists(st.integers(0, 40)), st.lists(st.integers(0, 40)), st.integers(1, 9))
def test_streams_take_turns_and_joins_do_not_mind(left, right, train):
    net = au.network(pairs=REPORTS.join(BEATS, on="time", size=2))
    inputs = {"reports": {"time": sorted(left), "mph": [1] * len(left)}, "beats": {"time": sorted(right)}}
    expected = sorted((a, 1, b) for a in left for b in right if abs(a - b) <= 2)
    assert sorted(rows(net.run_local(inputs, train=train)["pairs"])) == expected


def test_trains_are_no_longer_than_asked():
    probe, net = probed()
    net.run_local(a={"x": list(range(5))}, b={"x": [1]}, train=2)
    lengths = [len(trains[0]) for trains, moment in probe.seen]
    assert [n for n in lengths if n] == [2, 1, 2, 1]


def test_without_a_clock_results_do_not_depend_on_how_fast_the_machine_is(monkeypatch):
    net = au.network(out=REPORTS.aggregate(on="time", slack=1, size=10, n="count(*)", timeout="1 s"))
    given_ = reports((1, 1), (2, 1), (3, 1))
    quick = rows(net.run_local(reports=given_, train=1)["out"])
    hours = iter(range(0, 10**18, 3600 * 10**9))
    monkeypatch.setattr("time.time_ns", lambda: next(hours))
    assert rows(net.run_local(reports=given_, train=1)["out"]) == quick == [(0, 3)]


def test_pushed_tuples_time_windows_out_by_their_own_ts():
    run = au.Local(au.network(out=REPORTS.aggregate(on="time", slack=1, size=10, n="count(*)", timeout="1 s")))
    run.push(reports=reports((1, 1)), ts=0)
    assert rows(run.push(reports=reports((2, 1)), ts=2_000_000)["out"]) == [(0, 1)]


def test_a_clock_for_the_whole_run():
    slow = REPORTS.aggregate(on="time", size=10, n="count(*)", timeout="1 s")
    ticks = iter(range(0, 10_000_000, 2_000_000))
    parts = [reports((1, 1)), [], reports((2, 1))]
    found = au.network(out=slow).run_local(reports=(part for part in parts), clock=lambda: next(ticks))
    assert rows(found["out"]) == [(0, 1)]
