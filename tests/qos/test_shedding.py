"""Plans of shedding: carried to the inputs, sheds what was promised, leaves exact outputs alone, and windows whole."""

import json
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import australis as au
from australis.engine.local import Local
from australis.engine.shedding import Shedding
from australis.errors import RunError
from australis.qos.ranks import BINS, WindowPart
from australis.qos.shedding import ShedPlan, shed_plan
from australis.testing import rows

REPORTS = au.stream("reports", "t int, seg int, mph int")
SHARED = REPORTS.filter("mph >= 0", box="shared")
COUNTS = tuple([1] * BINS)


def reports(count: int, seed: int = 0, disorder: int = 3) -> pa.RecordBatch:
    chance = np.random.default_rng(seed)
    times = np.arange(count) // 20 + chance.integers(-disorder, max(disorder, 1), count)
    columns = {"t": times, "seg": chance.integers(0, 5, count), "mph": chance.integers(-10, 100, count)}
    return pa.record_batch({name: pa.array(values, pa.int32()) for name, values in columns.items()})


def run(network: au.Network, plan: ShedPlan | None, tuples: pa.RecordBatch, cuts: int = 3):
    """The rows of outputs, cut in trains, and what was left out where."""
    local, found = Local(network), {output.name: Counter() for output in network.outputs}
    shed = Shedding(network, ShedPlan()) if plan is None else local.leave_out(plan)
    length = -(-tuples.num_rows // cuts)
    for results in [
        *(local.push(reports=tuples.slice(at, length)) for at in range(0, tuples.num_rows, length)),
        local.end(),
    ]:
        for name, table in results.items():
            found[name].update(rows(table))
    return found, shed


def part_kept(shed: Shedding, *place: str) -> float:
    return shed.kept[place] / (shed.kept[place] + shed.dropped[place])


def compared(network: au.Network, plan: ShedPlan, tuples: pa.RecordBatch):
    exact, _ = run(network, None, tuples)
    found, shed = run(network, plan, tuples)
    for name, counts in found.items():
        assert counts <= exact[name], name
    parts = {name: sum(found[name].values()) / max(sum(exact[name].values()), 1) for name in exact}
    return parts, shed


def test_what_all_outputs_give_up_is_left_out_as_it_enters():
    network = au.network(a=SHARED.filter("mph > 50", box="a"), b=SHARED.map(box="b", x="mph + 1"))
    plan = shed_plan(network, {"a": 0.5, "b": 0.3})
    parts, shed = compared(network, plan, reports(20_000))
    assert parts["a"] == pytest.approx(0.5, abs=0.03)
    assert parts["b"] == pytest.approx(0.3, abs=0.03)
    assert set(plan.places) == {("input", "reports"), ("box", "b")}
    assert part_kept(shed, "input", "reports") == pytest.approx(0.5, abs=0.02)


def test_an_exact_output_keeps_all_and_others_are_shed_behind_the_split():
    network = au.network(exact=SHARED, b=SHARED.filter("mph > 10", box="f").map(box="b", x="mph"))
    plan = shed_plan(network, {"b": 0.25})
    parts, _ = compared(network, plan, reports(5000))
    assert parts["exact"] == 1
    assert parts["b"] == pytest.approx(0.25, abs=0.03)
    assert set(plan.places) == {("box", "f")}


def test_ports_that_keep_different_parts_are_shed_apart():
    fast, slow = SHARED.route("mph > 50", "mph <= 50", box="r")[:2]
    network = au.network(fast=fast, slow=slow)
    parts, _ = compared(network, shed_plan(network, {"fast": 0.2, "slow": 0.7}), reports(20_000))
    assert parts["fast"] == pytest.approx(0.2, abs=0.03)
    assert parts["slow"] == pytest.approx(0.7, abs=0.03)


def test_the_least_worth_is_shed_first_through_maps_and_filters():
    made = SHARED.map(box="m", kph="mph * 2", t="t").filter("kph > 0", box="f")
    network = au.network(out=made.output(value={"kph": {0: 0, 200: 1}}, delivered={0: 0, 1: 1}))
    exact, _ = run(network, None, reports(20_000))
    worth = np.array([row[0] / 200 for row, n in exact["out"].items() for _ in range(n)])
    counts = np.bincount(np.minimum((worth * BINS).astype(int), BINS - 1), minlength=BINS)
    plan = shed_plan(network, {"out": 0.4}, worth={"out": counts.tolist()})
    parts, _ = compared(network, plan, reports(20_000))
    found, _ = run(network, plan, reports(20_000))
    assert parts["out"] == pytest.approx(0.4, abs=0.03)
    assert min(row[0] for row in found["out"]) > 100
    assert list(plan.places) == [("input", "reports")]
    kept = sum(row[0] * n for row, n in found["out"].items()) / sum(row[0] * n for row, n in exact["out"].items())
    assert kept > 1.4 * parts["out"]


def test_a_value_that_may_fail_is_not_computed_upstream():
    made = SHARED.map(box="m", big="cast(mph as tinyint)").filter("big > 0", box="f")
    network = au.network(out=made.output(value={"big": {0: 0, 100: 1}}, delivered={0: 0, 1: 1}))
    assert set(shed_plan(network, {"out": 0.4}, worth={"out": COUNTS}).places) == {("box", "f")}


@given(st.integers(0, 5), st.integers(1, 6), st.floats(0, 1), st.integers(0, 3))
def test_whole_windows_are_left_out_and_others_are_exact(seed, cuts, part, slack):
    stats = SHARED.aggregate(on="t", size=10, by="seg", slack=slack, n="count(*)", s="sum(mph)", box="stats")
    network = au.network(stats=stats)
    plan = shed_plan(network, {"stats": 1.0}, {"stats": WindowPart((3,), (part,))})
    tuples = reports(2000, seed)
    exact, _ = run(network, None, tuples, cuts)
    found, shed = run(network, plan, tuples, cuts)
    assert found["stats"] <= exact["stats"]
    assert all(found["stats"][row] == n for row, n in exact["stats"].items() if row[0] < 30)
    assert set(plan.places) == {("box", "stats")}  # the filter could remove tuples that other windows must notice
    if part == 0:
        assert not any(row[0] >= 30 for row in found["stats"])
        assert part_kept(shed, "box", "stats") < 0.9


def test_a_mix_of_windows_and_tuples_keeps_what_any_wants():
    every = REPORTS.map(box="every", t="t", seg="seg", x="mph * 2")
    stats = every.aggregate(on="t", size=10, by="seg", n="count(*)", box="stats")
    network = au.network(stats=stats, archive=every.map(box="a", x="x + 1"))
    plan = shed_plan(network, {"archive": 0.2}, {"stats": WindowPart((-100,), (0.5,))})
    parts, shed = compared(network, plan, reports(40_000))
    assert parts["archive"] == pytest.approx(0.2, abs=0.03)
    assert parts["stats"] == pytest.approx(0.5, abs=0.08)
    assert part_kept(shed, "input", "reports") == pytest.approx(0.6, abs=0.08)


def sampled(**more: object) -> au.Stream:
    every = REPORTS.map(box="every", t="t", seg="seg", x="mph * 2")
    return every.aggregate(on="t", size=10, by="seg", n="count(*)", s="sum(x)", shed="sample", **more)


def by_window(found: Counter) -> dict[tuple[int, int], tuple]:
    assert set(found.values()) <= {1}
    return {row[:2]: row[2:] for row in found}


@given(st.integers(0, 5), st.integers(1, 6), st.sampled_from([0.0, 0.3, 0.8, 1.0]))
def test_a_sample_is_taken_where_tuples_enter_and_every_window_tells_what_it_saw(seed, cuts, part):
    network = au.network(stats=sampled(box="stats"), archive=REPORTS.filter("mph > 50", box="a"))
    plan = shed_plan(network, {"archive": 0.1}, samples={"stats": part})
    assert set(plan.places) == ({("input", "reports"), ("box", "every"), ("box", "a")} if part < 1 else {("box", "a")})
    tuples = reports(3000, seed, disorder=0)
    exact, found = (by_window(run(network, each, tuples, cuts)[0]["stats"]) for each in (None, plan))
    assert found.keys() == exact.keys()
    for window, (n, s, seen) in found.items():
        assert seen * exact[window][0] == pytest.approx(n)
        assert exact[window][2] == 1.0
        assert (n, s) == exact[window][:2] if seen == 1 else (s is None) == (n == 0)
    assert sum(n for n, _, _ in found.values()) == pytest.approx(3000 * part, abs=120)
    _, shed = run(network, plan, tuples, cuts)
    if part < 1:
        counts = shed.samples["stats"]
        assert (counts.came, counts.seen) == (3000, sum(n for n, _, _ in found.values()))
        assert counts.passed < 3000 * (part + (1 - part) * 0.5)
        assert counts.passed + shed.dropped["input", "reports"] + shed.dropped["box", "every"] == 3000


def test_samples_of_boxes_with_other_windows_are_taken_behind_the_split():
    every = REPORTS.map(box="every", t="t", seg="seg", x="mph * 2")
    one = every.aggregate(on="t", size=10, by="seg", n="count(*)", shed="sample", box="one")
    other = every.aggregate(on="t", size=20, advance=5, n="count(*)", shed="sample", box="other")
    network = au.network(one=one, other=other.filter("n > 0", box="some"))
    plan = shed_plan(network, {"one": 0.2, "other": 0.5}, samples={"one": 0.2, "other": 0.5})
    assert set(plan.places) == {("box", "one"), ("box", "other")}
    tuples = reports(4000, disorder=0)
    exact, _ = run(network, None, tuples)
    found, shed = run(network, plan, tuples)
    for name, part in (("one", 0.2), ("other", 0.5)):
        size = 2 if name == "one" else 1
        whole, some = ({row[:size]: row[size:] for row in each[name]} for each in (exact, found))
        assert some.keys() == whole.keys() if part == 0.2 else some.keys() <= whole.keys()
        assert all(seen * whole[window][0] == pytest.approx(n) for window, (n, seen) in some.items())
        assert shed.samples[name].seen / shed.samples[name].came == pytest.approx(part, abs=0.03)


def test_nothing_is_left_out_before_tables_and_joins():
    table = au.table("seen", "seg int, last int", key=["seg"])
    network = au.network(out=SHARED.write(table, box="w", last="mph").map(box="m", x="mph"))
    assert set(shed_plan(network, {"out": 0.5}).places) == {("box", "m")}


def test_a_plan_is_the_same_after_an_offset():
    stats = SHARED.aggregate(on="t", size=10, by="seg", n="count(*)", box="stats")
    network = au.network(
        stats=stats, a=SHARED.map(box="a", v="mph * 2").output(value={"v": {0: 0, 1: 1}}, delivered={0: 0, 1: 1}),
        b=SHARED.filter("mph > 3", box="b"), some=sampled(box="some"),
    )  # fmt: skip
    windows, kept = {"stats": WindowPart((-3, 7), (0.5, 1.0))}, {"a": 0.2, "b": 0.3}
    plan = shed_plan(network, kept, windows, {"a": COUNTS}, seed=9, samples={"some": 0.25})
    assert ShedPlan.parse(json.loads(json.dumps(plan.render()))) == plan


def test_a_batch_that_is_run_again_sheds_the_same():
    network = au.network(b=SHARED.filter("mph > 3", box="b"))
    plan = shed_plan(network, {"b": 0.3})
    once, again = (run(network, plan, reports(1000))[0] for _ in range(2))
    assert once == again


def test_a_plan_for_another_network_is_refused():
    fast = REPORTS.map(seg="seg", kmh="mph * 2", box="metric").filter("kmh > 3", box="fast")
    worth = {"kmh": {0: 0.1, 100: 1.0}}
    net = au.network(fast=fast.output(delivered={0: 0, 1: 1}, value=worth), all=REPORTS.map(t="t", box="exact"))
    plan = shed_plan(net, {"fast": 0.5}, worth={"fast": COUNTS})
    assert plan.places
    plan.check(net)
    with pytest.raises(RunError, match="the plan is for another network: this one has no box metric"):
        plan.check(au.network(fast=REPORTS.filter("mph > 3", box="fast")))
    unlike = au.network(fast=au.stream("reports", "t int, seg int, kmh int").filter("kmh > 3", box="metric"))
    with pytest.raises(RunError, match="no column mph before box metric"):
        Local(unlike).leave_out(plan)


def test_where_branches_are_apart_nothing_is_left_out_before_they_part():
    network = au.network(a=REPORTS.filter("mph > 50", box="first").filter("mph > 60", box="a"), b=REPORTS)
    kept = {"a": 0.5, "b": 0.3}
    assert set(shed_plan(network, kept).places) == {("input", "reports"), ("output", "b")}
    plan = shed_plan(network, kept, apart=True)
    assert set(plan.places) == {("box", "first"), ("output", "b")}
    parts, _ = compared(network, plan, reports(20_000))
    assert parts == {"a": pytest.approx(0.5, abs=0.03), "b": pytest.approx(0.3, abs=0.03)}
