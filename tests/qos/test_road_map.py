"""The road map: the best plan for every load, as a linear program finds it; exact outputs are never touched."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linprog

import australis as au
from australis.model.network import Network
from australis.model.qos import BoxCost, Costs, WorthHistogram
from australis.plan import plan
from australis.qos.load import LoadModel
from australis.qos.road_map import Demands, Mapper, road_map
from australis.qos.utility import total

RATES = {"reports": 1000.0}


def modelled(network: Network, costs: Costs) -> LoadModel:
    return LoadModel(network, plan(network, {input.name: () for input in network.inputs}), costs)


@st.composite
def graphs(draw):
    """A delivered graph, concave or not, or none: the output is exact."""
    if draw(st.integers(0, 5)) == 0:
        return None
    inner = draw(st.dictionaries(st.sampled_from([0.1, 0.25, 0.5, 0.75, 0.9]), st.floats(0, 1), max_size=3))
    heights = sorted(inner.values())
    return {0: 0.0} | dict(zip(sorted(inner), heights, strict=True)) | {1: 1.0}


@st.composite
def worths(draw):
    """How many of an output's tuples are worth how much."""
    counts = draw(st.lists(st.integers(0, 9), min_size=4, max_size=4))
    return WorthHistogram(tuple(counts), tuple(count * (place + 0.5) / 4 for place, count in enumerate(counts)))


@st.composite
def models(draw):
    """Filters as a random tree or, with unions, as a graph, with an output at some of them.

    Some outputs value their tuples; some boxes make the value in a way that cannot be told before them.
    """
    reports = au.stream("reports", "x int")
    streams, costs = [reports], {}
    for number in range(draw(st.integers(1, 7))):
        above = draw(st.sampled_from(streams))
        name = f"b{number}"
        other = draw(st.sampled_from(streams)) if draw(st.integers(0, 3)) == 0 else None
        if other is not None:
            box = above.union(other, box=name)
        elif draw(st.integers(0, 3)) == 0:
            box = above.map(box=name, x=draw(st.sampled_from(["x", "cast(cast(x as tinyint) as int)"])))
        else:
            box = above.filter(f"x > {number}", box=name)
        streams.append(box)
        costs[name] = BoxCost(draw(st.floats(1e-6, 1e-4)), {"out": draw(st.floats(0.1, 2))})
    outputs, worth = {}, {}
    for number, stream in enumerate(streams[1:]):
        if number == len(streams) - 2 or draw(st.booleans()):
            weight = draw(st.sampled_from([0.5, 1.0, 4.0]))
            value = draw(st.sampled_from([None, {"x": {0: 0, 9: 1}}]))
            outputs[f"o{number}"] = stream.output(delivered=draw(graphs()), weight=weight, value=value)
            if value is not None and draw(st.booleans()):
                worth[f"o{number}"] = draw(worths())
    network = au.network(**outputs)
    boxes = {node.name: costs[node.name] for node in network.nodes}
    return modelled(network, Costs(boxes, sources={"reports": 1e-6}, worth=worth))


def best(model: LoadModel, load: float) -> float:
    """The greatest utility, along the hulls of graphs, of all plans with at most this load: a linear program.

    Variables: what each output gets, its utility, and the part that each box works on.
    """
    network, shares = model.network, model.shares(RATES)
    outputs, nodes = network.outputs, network.nodes
    demands = Demands.of(model)
    below = demands.below
    n, m = len(outputs), len(nodes)
    rows, limits = [], []
    bounds = [(1.0, 1.0) if o.qos.exact else (0.0, 1.0) for o in outputs] + [(0.0, 1.0)] * n
    bounds += [(1.0, 1.0) if below[node.name] & demands.protected else (0.0, 1.0) for node in nodes]
    for i, output in enumerate(outputs):
        if output.qos.delivered is None:
            continue
        for (x, u), (y, v) in pairwise(demands.graphs[output.name][1].points):
            row = np.zeros(2 * n + m)
            row[n + i], row[i] = 1, -(v - u) / (y - x)
            rows.append(row)
            limits.append(u - (v - u) / (y - x) * x)
    for j, node in enumerate(nodes):
        for i, output in enumerate(outputs):
            if output.name in below[node.name]:
                row = np.zeros(2 * n + m)
                row[i], row[2 * n + j] = 1, -1
                rows.append(row)
                limits.append(0)
    row = np.zeros(2 * n + m)
    fixed = 0.0
    for share in shares:
        for name in share.work.serves:
            if name in network.named:
                row[2 * n + [node.name for node in nodes].index(name)] += share.busy
        fixed += share.busy if not share.work.serves else 0
    rows.append(row)
    limits.append(load - fixed)
    weights = np.concatenate([np.zeros(n), [-o.qos.weight for o in outputs], np.zeros(m)])
    solved = linprog(weights, A_ub=np.array(rows), b_ub=np.array(limits), bounds=bounds)
    return -solved.fun if solved.success else float("nan")


def hull_utility(model: LoadModel, kept) -> float:
    graphs = Demands.of(model).graphs
    return sum(
        o.qos.weight * (1.0 if o.name not in graphs else graphs[o.name][1].utility(kept[o.name]))
        for o in model.network.outputs
    )


@given(models(), st.floats(0, 1))
def test_plans_are_as_good_as_a_linear_program_finds(model, part):
    road = road_map(model, RATES)
    most, least = road.plans[0].load, road.plans[-1].load
    load = least + (most - least) * part
    expected = best(model, load * (1 + 1e-9))
    assume(not np.isnan(expected))
    found = hull_utility(model, road.at(load).kept)
    # On a tree the walk is the best there is; where boxes share outputs crosswise, it is nearly so.
    crosswise = any(len(node.sources) > 1 for node in model.network.nodes)
    assert found >= expected * (0.95 if crosswise else 1 - 1e-6) - 1e-4


@given(models(), st.floats(0, 1))
def test_drops_leave_each_output_its_part_and_the_load_that_was_promised(model, part):
    road = road_map(model, RATES)
    network = model.network
    load = road.plans[0].load * part
    plan = road.at(load)
    assert plan.load == pytest.approx(max(load, road.plans[-1].load), rel=1e-6, abs=1e-9)
    kept = {(drop.after, drop.before): drop.kept for drop in road.drops(plan.kept)}
    assert all(0 <= each < 1 for each in kept.values())
    entering = kept.get(("", "reports"), 1.0)
    flows = {"reports": entering}
    for node in network.nodes:
        shares = {flows[arrow.source] * kept.get((arrow.source, node.name), 1.0) for arrow in node.sources}
        assert max(shares) == pytest.approx(min(shares))  # whatever way tuples take
        flows[node.name] = shares.pop()
    for output in network.outputs:
        source = output.arrow.source
        assert flows[source] * kept.get((source, output.name), 1.0) == pytest.approx(plan.kept[output.name])
        if output.qos.exact:
            assert plan.kept[output.name] == 1
    busy = sum(share.busy * (flows[share.work.serves[0]] if share.work.serves and share.work.serves[0] in flows else 1)
               for share in model.shares(RATES))  # fmt: skip
    assert busy == pytest.approx(plan.load, rel=1e-6, abs=1e-9)


@given(models())
def test_less_load_is_never_worth_more(model):
    plans = road_map(model, RATES).plans
    for before, after in pairwise(plans):
        assert after.load < before.load
        assert all(after.kept[name] <= kept for name, kept in before.kept.items())
        assert hull_utility(model, after.kept) <= hull_utility(model, before.kept) + 1e-12


def test_a_graph_with_a_flat_part_is_shed_first():
    reports = au.stream("reports", "x int")
    dear, cheap = reports.filter("x > 1", box="dear"), reports.filter("x > 2", box="cheap")
    network = au.network(
        dear=dear.output(delivered={0: 0, 0.5: 0.9, 1: 1}), cheap=cheap.output(delivered={0: 0, 0.2: 0.95, 1: 1})
    )
    each = BoxCost(1e-4, {"out": 1})
    road = road_map(modelled(network, Costs({"dear": each, "cheap": each})), RATES)
    assert [plan.kept for plan in road.plans] == [
        {"dear": 1, "cheap": 1},
        {"dear": 1, "cheap": 0.2},
        {"dear": 0.5, "cheap": 0.2},
        {"dear": 0, "cheap": 0.2},
        {"dear": 0, "cheap": 0},
    ]
    assert [(drop.after, drop.before) for drop in road.drops(road.at(0.15).kept)] == [("reports", "cheap")]


def valued(delivered=None) -> Network:
    """An output that values its tuples, behind a box that can tell their value and one that hides it."""
    reports = au.stream("reports", "x int")
    made = reports.map(box="hides", x="cast(length(cast(x as string)) as tinyint)").map(box="tells", x="x")
    return au.network(
        out=made.filter("x > 0", box="f").output(delivered=delivered or {0: 0, 1: 1}, value={"x": {0: 0, 9: 1}}),
        plain=reports.filter("x > 1", box="plain").output(delivered={0: 0, 1: 1}),
    )


def test_an_output_that_keeps_its_best_tuples_gives_up_more_of_them():
    each = BoxCost(1e-4, {"out": 1})
    worth = {"out": WorthHistogram((50, 40, 0, 10), (5.0, 5.0, 0.0, 10.0))}
    costs = Costs(dict.fromkeys(("hides", "tells", "f", "plain"), each))
    blind, road = (road_map(modelled(valued(), costs=replace(costs, worth=known)), RATES) for known in ({}, worth))
    assert [plan.kept for plan in road.plans] == [
        {"out": 1, "plain": 1}, {"out": 0.5, "plain": 1}, {"out": pytest.approx(0.1), "plain": 1},
        {"out": pytest.approx(0.1), "plain": 0}, {"out": 0, "plain": 0},
    ]  # fmt: skip
    assert road.plans[1].utility == pytest.approx(1.75)
    # What is worth least cannot be told before the box that hides it, so that it is not freed.
    assert road.plans[0].load == blind.plans[0].load == pytest.approx(0.4)
    assert [(drop.after, drop.before) for drop in road.drops(road.plans[1].kept)] == [("hides", "tells")]
    assert road.plans[1].load == pytest.approx(0.1 + 0.05 + 0.05 + 0.1)
    assert [(drop.after, drop.before) for drop in blind.drops({"out": 0.5, "plain": 1})] == [("reports", "hides")]


@given(models(), st.floats(0, 1))
def test_knowing_what_is_worth_least_is_never_worth_less(model, part):
    assume(not any(len(node.sources) > 1 for node in model.network.nodes))  # where the walk is the best there is
    road = road_map(model, RATES)
    blind = road_map(replace(model, costs=replace(model.costs, worth={})), RATES)
    mapper = Mapper(road.demands, tuple(model.shares(RATES)))
    kept = blind.at(blind.plans[0].load * part).kept
    known = road.at(mapper.load(kept))  # the load that the blind plan really leaves
    assert hull_utility(model, known.kept) >= hull_utility(model, kept) - 1e-6


def test_behind_windows_that_are_left_out_tuples_go_by_chance():
    reports = au.stream("reports", "t int, x int")
    stats = reports.aggregate(on="t", size=10, n="count(*)", box="stats").map(box="m", n="n")
    network = au.network(stats=stats.output(delivered={0: 0, 1: 1}, value={"n": {0: 0, 9: 1}}))
    demands = Demands(network, {"stats": WorthHistogram((9, 1), (1.0, 1.0))})
    assert demands.by_worth == frozenset()
    assert demands.delivered({"stats": 0.5}) == {"stats": 0.5}
    assert demands.protected == frozenset()


def test_what_all_outputs_below_a_place_lose_is_dropped_there():
    reports = au.stream("reports", "x int")
    first = reports.filter("x > 0", box="first")
    outputs = {f"o{i}": first.filter(f"x > {i}", box=f"b{i}").output(delivered={0: 0, 1: 1}) for i in (1, 2)}
    network = au.network(**outputs)
    costs = Costs(
        {"first": BoxCost(1e-3, {"out": 1}), "b1": BoxCost(1e-6, {"out": 1}), "b2": BoxCost(1e-6, {"out": 1})}
    )
    road = road_map(modelled(network, costs), RATES)
    plan = road.at(0.5)
    assert plan.kept["o1"] == pytest.approx(plan.kept["o2"])
    assert [(drop.after, drop.before) for drop in road.drops(plan.kept)] == [("", "reports")]


def test_a_sample_frees_what_comes_before_windows_and_not_what_comes_after():
    reports = au.stream("reports", "t int, x int")
    every = reports.map(box="every", t="t", x="x + 1")
    stats = every.aggregate(on="t", size=10, n="count(*)", shed="sample", box="stats").map(box="m", t="t", n="n")
    network = au.network(stats=stats.output(delivered={0: 0, 1: 1}), other=reports.filter("x > 1", box="other"))
    each = {"every": 1e-4, "stats": 2e-4, "m": 1e-3, "other": 1e-5}
    selectivity = {"every": 1, "stats": 0.1, "m": 1, "other": 1}
    costs = Costs({name: BoxCost(each[name], {"out": selectivity[name]}) for name in each}, sinks={"stats": 1e-4})
    road = road_map(modelled(network, costs), RATES)
    assert [plan.load for plan in road.plans] == pytest.approx([0.1 + 0.2 + 0.1 + 0.01 + 0.01, 0.1 + 0.01 + 0.01])
    drops = road.drops(road.at(0.27).kept)
    assert [(drop.after, drop.before, drop.kept) for drop in drops] == [("reports", "every", pytest.approx(0.5))]


def test_whole_windows_behind_a_filter_free_nothing_before_it():
    reports = au.stream("reports", "t int, x int")
    some = reports.filter("x > 0", box="some")
    stats = some.aggregate(on="t", size=10, n="count(*)", box="stats")
    network = au.network(stats=stats.output(delivered={0: 0, 1: 1}))
    costs = Costs({"some": BoxCost(1e-4, {"out": 1}), "stats": BoxCost(1e-4, {"out": 0.1})})
    road = road_map(modelled(network, costs), RATES)
    assert [plan.load for plan in road.plans] == pytest.approx([0.2, 0.1])
    assert [(drop.after, drop.before) for drop in road.drops({"stats": 0.5})] == [("some", "stats")]


def test_nothing_is_dropped_before_a_table_is_written():
    table = au.table("positions", "vid int, y int", key=["vid"])
    reports = au.stream("reports", "vid int, x int")
    written = reports.write(table, box="store", y="x")
    network = au.network(out=written.output(delivered={0: 0, 1: 1}))
    assert Demands(network).protected == {"reports", "store"}
    road = road_map(modelled(network, Costs({"store": BoxCost(1e-3, {"out": 1})}, sinks={"out": 1e-3})), RATES)
    assert [(drop.after, drop.before) for drop in road.drops({"out": 0.5})] == [("store", "out")]
    assert road.plans[-1].load == pytest.approx(1.0)


def test_when_all_outputs_are_exact_nothing_can_be_shed():
    network = au.network(out=au.stream("reports", "x int").filter("x > 0", box="f"))
    road = road_map(modelled(network, Costs({"f": BoxCost(1.0, {"out": 1})})), RATES)
    assert len(road.plans) == 1
    assert road.at(1.0) == road.plans[0]
    assert total(network.outputs, {}, road.plans[0].kept) == 1
