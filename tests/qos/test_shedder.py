"""The shedder: over changing parts, every window that comes out is exact, and outputs get about what they were to."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import australis as au
from australis.engine.local import Local
from australis.model.network import Network
from australis.qos.road_map import Demands
from australis.qos.shedder import Shedder
from australis.testing import rows

REPORTS = au.stream("reports", "t int, seg int, mph int")
STATS = REPORTS.aggregate(on="t", size=10, by="seg", slack=1, n="count(*)", s="sum(mph)", box="stats")
NETWORK = au.network(
    stats=STATS.output(delivered={0: 0, 1: 1}),
    busy=STATS.filter("n > 5", box="busy").output(delivered={0: 0, 1: 1}),
    archive=REPORTS.map(box="a", x="mph").output(delivered={0: 0, 1: 1}),
)


def reports(first: int, count: int, chance: np.random.Generator, disorder: int = 4) -> pa.RecordBatch:
    times = (first + np.arange(count)) // 20 + chance.integers(-disorder, max(disorder, 1), count)
    columns = {"t": times, "seg": chance.integers(0, 5, count), "mph": chance.integers(0, 100, count)}
    return pa.record_batch({name: pa.array(each, pa.int32()) for name, each in columns.items()})


def run(
    batches: list[pa.RecordBatch], kept: list[dict[str, float]] | None, network: Network = NETWORK
) -> dict[str, Counter]:
    local, found, shedder = Local(network), {output.name: Counter() for output in network.outputs}, Shedder(network)
    seen: dict[str, int] = {}
    for number, batch in enumerate(batches):
        if kept is not None:
            plan, shedder = shedder.plan(kept[number], seen)
            if plan is not None:
                local.leave_out(plan)
        greatest = max(batch["t"].to_pylist()) // 10
        for node in network.nodes:
            seen[node.name] = max(seen.get(node.name, greatest), greatest)
        for name, table in local.push(reports=batch).items():
            found[name].update(rows(table))
    for name, table in local.end().items():
        found[name].update(rows(table))
    return found


PARTS = st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0])


@given(st.integers(0, 99), st.lists(st.tuples(st.integers(1, 300), PARTS, PARTS), min_size=1, max_size=12))
def test_whatever_changes_what_comes_out_of_windows_is_exact(seed, changes):
    chance, first, batches = np.random.default_rng(seed), 0, []
    for count, *_ in changes:
        batches.append(reports(first, count, chance))
        first += count
    kept = [{"stats": part, "busy": part * 0.5, "archive": other} for _, part, other in changes]
    exact, found = run(batches, None), run(batches, kept)
    for name in exact:
        assert found[name] <= exact[name], name


def test_outputs_get_their_parts():
    chance = np.random.default_rng(1)
    batches = [reports(number * 2000, 2000, chance) for number in range(20)]
    exact = run(batches, None)
    found = run(batches, [{"stats": 0.6, "busy": 0.3, "archive": 0.2}] * 20)
    parts = {name: sum(found[name].values()) / sum(exact[name].values()) for name in exact}
    assert parts["stats"] == pytest.approx(0.6, abs=0.05)
    assert parts["busy"] == pytest.approx(0.3, abs=0.05)
    assert parts["archive"] == pytest.approx(0.2, abs=0.02)


def test_windows_come_back_when_the_load_falls():
    chance = np.random.default_rng(2)
    batches = [reports(number * 2000, 2000, chance) for number in range(9)]
    kept = [dict.fromkeys(("stats", "busy", "archive"), 0.1 if 3 <= number < 6 else 1.0) for number in range(9)]
    exact, found = run(batches, None), run(batches, kept)
    assert all(found["stats"][row] == n for row, n in exact["stats"].items() if row[0] >= 630)
    assert sum(300 <= row[0] < 590 for row in found["stats"]) < 0.3 * sum(300 <= row[0] < 590 for row in exact["stats"])


def test_nothing_is_left_out_when_all_is_kept():
    plan, shedder = Shedder(NETWORK).plan({"stats": 1.0, "busy": 1.0, "archive": 1.0})
    assert plan is None
    assert shedder == Shedder(NETWORK)
    _, shedder = shedder.plan({"stats": 0.5, "busy": 0.5, "archive": 1.0})
    plan, later = shedder.plan({"stats": 1.0, "busy": 1.0, "archive": 1.0})
    assert plan is not None  # it is not known yet which windows have begun
    assert later == shedder


def test_outputs_of_samples_get_all_windows_made_of_their_part():
    some = REPORTS.aggregate(on="t", size=10, by="seg", n="count(*)", shed="sample", box="some")
    both = some.filter("seg < 3", box="few").union(some.filter("seg >= 3", box="many"), box="both")
    graph = {0: 0, 1: 1}
    network = au.network(
        some=some.output(delivered=graph), both=both.output(delivered=graph, value={"n": {0: 0, 99: 1}})
    )
    chance = np.random.default_rng(5)
    batches = [reports(number * 2000, 2000, chance, disorder=0) for number in range(10)]
    kept = {"some": 0.25, "both": 0.1}
    plan, _ = Shedder(network).plan(kept, worth={"both": (1,) * 32})
    assert plan is not None
    assert set(plan.places) == {("input", "reports")}  # and nothing of the results
    exact, found = run(batches, None, network), run(batches, [kept] * 10, network)
    for name in ("some", "both"):
        assert {row[:2] for row in found[name]} == {row[:2] for row in exact[name]}
        assert sum(row[2] for row in found[name]) == pytest.approx(0.25 * 20_000, rel=0.1)
    plan, _ = Shedder(network).plan({"some": 1.0, "both": 1.0})
    assert plan is None


def test_windows_of_windows_are_exact_too():
    hours = STATS.filter("n > 1", box="busy").aggregate(on="t", size=100, by="seg", n="sum(n)", box="hours")
    network = au.network(
        hours=hours.output(delivered={0: 0, 1: 1}), stats=STATS.filter("n > 2", box="n").output(delivered={0: 0, 1: 1})
    )
    assert Demands(network).windowed == {"hours"}
    chance = np.random.default_rng(4)
    batches = [reports(number * 2000, 2000, chance) for number in range(20)]
    exact, found = run(batches, None, network), run(batches, [{"hours": 0.4, "stats": 0.2}] * 20, network)
    for name in exact:
        assert 0 < sum(found[name].values()) < 0.7 * sum(exact[name].values())
        assert found[name] <= exact[name]
