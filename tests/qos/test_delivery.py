"""Delivery: what is worked out of what was left out on the way is what came out, by the exact run."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

import australis as au
from australis.engine.local import Local
from australis.engine.shedding import Shedding
from australis.model.network import OUT, Network
from australis.qos.delivery import RESULTS, Deliveries
from australis.qos.ranks import WindowPart
from australis.qos.shedding import ShedPlan, shed_plan

REPORTS = au.stream("reports", "t int, seg int, mph int")
OTHERS = au.stream("others", "t int, seg int, mph int")
EVERY = REPORTS.map(box="every", t="t", seg="seg", mph="mph * 2")
STATS = EVERY.aggregate(on="t", size=10, by="seg", n="count(*)", box="stats")
ALL = REPORTS.filter("mph > 20", box="some").union(OTHERS.map(box="copy", t="t", seg="seg", mph="mph"), box="all")
NETWORK = au.network(
    stats=STATS,
    busy=STATS.filter("seg > 2", box="busy"),
    archive=EVERY.filter("mph > 100", box="archive").map(box="x", x="mph"),
    exact=EVERY.filter("seg = 1", box="exact"),
    all=ALL,
    few=ALL.filter("seg = 3", box="few"),
)


def tuples(count: int, seed: int) -> pa.RecordBatch:
    chance = np.random.default_rng(seed)
    columns = {"t": np.arange(count) // 20, "seg": chance.integers(0, 7, count), "mph": chance.integers(0, 100, count)}
    return pa.record_batch({name: pa.array(each, pa.int32()) for name, each in columns.items()})


def ran(network: Network, plans: list[ShedPlan]) -> tuple[Counter, Deliveries]:
    """How many tuples outputs got over some steps, each with a plan, and the flows of all of them."""
    local, given = Local(network), Counter()
    sheddings: list[Shedding] = []
    for step, plan in enumerate(plans):
        sheddings.append(local.leave_out(plan))
        parts = {"reports": tuples(4000, step), "others": tuples(2000, -step % 97)}
        first = parts["reports"]["t"].to_numpy() + 200 * step
        parts["reports"] = parts["reports"].set_column(0, "t", pa.array(first, pa.int32()))
        for name, table in local.push(parts).items():
            given[name] += table.num_rows
    for name, table in local.end().items():
        given[name] += table.num_rows
    dropped, results = Counter(), Counter()
    for shedding in sheddings:
        dropped.update(shedding.dropped)
        results.update(shedding.results)
    counts, named = local.counts, network.named
    passed = {("box", name): float(sum(counts[name].taken)) for name in named}
    passed |= {("input", i.name): counts[i.name].given[OUT] - float(dropped["input", i.name]) for i in network.inputs}
    passed |= {("output", output.name): float(given[output.name]) for output in network.outputs}
    places = {place: (passed[place], float(count)) for place, count in dropped.items()}
    places |= {(RESULTS, box): (float(counts[box].given[OUT]), float(count)) for box, count in results.items()}
    arrows = {(name, port): float(n) for name, each in counts.items() for port, n in each.given.items()}
    return given, Deliveries(network, places, arrows)


KEPT = {"archive": 0.3, "all": 0.5, "few": 0.8}
LEAST = -(2**63)


@pytest.mark.parametrize("kept", [KEPT, {}, {"archive": 0.1, "few": 0.4, "all": 0.9, "exact": 0.6}])
@pytest.mark.parametrize("window", [None, 0.25])
def test_the_part_of_each_output_is_that_of_the_exact_run(kept, window):
    windows = {} if window is None else {"stats": WindowPart((LEAST,), (window,))}
    plan = shed_plan(NETWORK, kept, windows)
    exact, _ = ran(NETWORK, [ShedPlan()] * 4)
    found, flows = ran(NETWORK, [ShedPlan(), plan, plan, plan])
    for output in NETWORK.outputs:
        part = found[output.name] / exact[output.name]
        assert flows.delivered(output.name) == pytest.approx(part, abs=0.02), output.name
    if window is not None:  # each window that is left out has a result, which is counted
        assert flows.delivered("stats") == found["stats"] / exact["stats"]


def test_what_changes_from_batch_to_batch_is_weighed_by_its_tuples():
    plans = [shed_plan(NETWORK, {"archive": part, "few": part, "all": part}) for part in (1.0, 0.05, 0.6, 0.0)]
    exact, _ = ran(NETWORK, [ShedPlan()] * 4)
    found, flows = ran(NETWORK, plans)
    for name in ("archive", "few", "all"):
        assert flows.delivered(name) == pytest.approx(found[name] / exact[name], abs=0.02)


def test_nothing_left_out_is_exactly_all_and_all_left_out_nothing():
    assert all(Deliveries(NETWORK).delivered(output.name) == 1.0 for output in NETWORK.outputs)
    flows = Deliveries(NETWORK, {("box", "archive"): (0.0, 10.0), ("box", "some"): (7.0, 0.0)})
    assert flows.delivered("archive") == 0.0
    assert flows.delivered("all") == 1.0


def test_a_way_that_lost_all_counts_like_the_others():
    flows = Deliveries(NETWORK, {("box", "some"): (0.0, 5.0)}, {("copy", "out"): 10.0})
    assert flows.delivered("all") == 0.5


def test_what_is_counted_otherwise_is_not_counted_here():
    flows = Deliveries(
        NETWORK, {("input", "reports"): (50.0, 50.0)}, apart=frozenset({("exact", ("input", "reports"))})
    )
    assert flows.delivered("archive") == 0.5
    assert flows.delivered("exact") == 1.0
