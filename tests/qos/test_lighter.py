"""Boxes that leave out by themselves: which outputs get less through them, and never one that must be whole."""

import pytest

import australis as au
from australis.engine.local import Local
from australis.model.qos import BoxCost, Costs
from australis.qos.lighter import box_losses, box_outputs, box_parts, lighter_boxes
from australis.qos.road_map import Demands, Drop, road_map
from australis.qos.shedder import Shedder
from australis.qos.shedding import ShedPlan, shed_plan
from tests.qos.test_road_map import modelled

SHIPS = au.stream("ships", "id int, x double, y double, type string")
QUERIES = au.stream("queries", "query int, kind string, x double, y double, radius double, accuracy double")
SEEN = SHIPS.moving.watch(QUERIES, every="train", carry="type", box="watch")
PART = {0: 0, 1: 1}
RATES = {"ships": 1000.0, "queries": 1.0}


TUGS, FERRIES = SEEN.filter("type = 'tug'", box="tugs"), SEEN.filter("type = 'ferry'", box="ferries")
TOTALS = SEEN.moving.tally(by="query", n="count(*)", box="totals")
NETWORKS = {
    "one": {"watch": SEEN.output(delivered=PART)},
    "two": {"tugs": TUGS.output(delivered=PART), "ferries": FERRIES.output(delivered=PART)},
    "exact": {"tugs": TUGS.output(delivered=PART), "ferries": FERRIES.output()},
    "totals": {"watch": SEEN.output(delivered=PART), "totals": TOTALS.output(delivered=PART)},
    "refused": {"watch": SEEN.output(delivered=PART), "refused": SEEN.port("refused").output()},
}
BEHIND = {"one": {"watch"}, "two": {"tugs", "ferries"}, "exact": set(), "totals": set(), "refused": {"watch"}}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_box_works_with_less_for_all_outputs_behind_it_or_for_none(name):
    network = au.network(**NETWORKS[name])
    kept = {output: 0.3 + 0.2 * place for place, output in enumerate(sorted(BEHIND[name]))}
    parts = box_parts(network, kept)
    assert parts == ({"watch": max(kept.values())} if kept else {})
    plan = shed_plan(network, kept)
    assert plan.lighter == parts
    assert not plan.places
    assert ShedPlan.parse(plan.render()) == plan


@pytest.mark.parametrize("name", ["one", "two", "refused"])
def test_the_road_map_lowers_them_together_and_frees_what_follows_the_box(name):
    network, behind = au.network(**NETWORKS[name]), BEHIND[name]
    boxes = {node.name: BoxCost(1e-4, {"out": 2.0}) for node in network.nodes}
    model = modelled(network, Costs(boxes, sinks={output.name: 1e-4 for output in network.outputs}))
    road = road_map(model, RATES)
    whole, last = road.plans[0], road.plans[-1]
    assert last.kept == {output.name: 0.0 if output.name in behind else 1.0 for output in network.outputs}
    shares = [share for share in model.shares(RATES) if share.work.name in behind]
    after = [share.busy for share in shares if share.work.kind != "watch"]
    assert whole.load - last.load == pytest.approx(sum(after))
    half = road.at((whole.load + last.load) / 2)
    assert [half.kept[output] for output in behind] == [pytest.approx(0.5)] * len(behind)
    assert road.drops({**half.kept, **dict.fromkeys(behind, 0.5)}) == [Drop("watch", "", 0.5)]


def test_no_output_behind_it_is_shed_where_one_of_them_is_exact():
    network = au.network(**NETWORKS["exact"])
    costs = Costs({node.name: BoxCost(1e-4, {"out": 2.0}) for node in network.nodes})
    assert len(road_map(modelled(network, costs), RATES).plans) == 1


def test_a_box_before_a_table_is_no_lighter_and_results_are_dropped_after_the_table():
    network = au.network(**NETWORKS["totals"])
    assert lighter_boxes(network) == {}
    assert list(shed_plan(network, {"totals": 0.5}).places) == [("output", "totals")]


def test_what_meets_the_results_of_such_a_box_stays_whole():
    others = au.stream("others", "query int, sign tinyint, id int, type string")
    both = SEEN.union(others.filter("id > 0", box="some"), box="both")
    network = au.network(both=both.output(delivered=PART))
    assert lighter_boxes(network)["watch"].outputs == {"both"}
    demands = Demands(network)
    assert demands.part(demands.below["some"], {"both": 0.5}) == 1
    assert demands.part(demands.below["both"], {"both": 0.5}) == 0.5
    plan = shed_plan(network, {"both": 0.5})
    assert not plan.places
    assert plan.lighter == {"watch": 0.5}


def test_floors_hold_and_others_are_lowered_instead():
    archive = SHIPS.map(box="archive", id="id")
    network = au.network(seen=SEEN.output(delivered=PART), archive=archive.output(delivered={0: 0, 1: 1}, weight=2))
    costs = Costs({"watch": BoxCost(0.0, {"out": 1.0}), "archive": BoxCost(1e-4, {"out": 1.0})}, sinks={"seen": 1e-4})
    model = modelled(network, costs)
    assert road_map(model, RATES).at(0.15).kept == pytest.approx({"seen": 0.5, "archive": 1}, abs=0.01)
    held = road_map(model, RATES, {"seen": 0.8})
    assert held.at(0.15).kept == pytest.approx({"seen": 0.8, "archive": 0.7}, abs=0.01)
    assert held.plans[-1].kept == {"seen": 0.8, "archive": 0.0}


def test_a_box_that_lacks_something_stays_in_the_plan_until_it_lacks_nothing():
    network = au.network(seen=SEEN.output(delivered=PART))
    shedder = Shedder(network)
    plan, _ = shedder.plan({"seen": 0.4})
    assert plan.lighter == {"watch": 0.4}
    plan, _ = shedder.plan({"seen": 1.0}, lacking={"watch"})
    assert plan == ShedPlan(lighter={"watch": 1.0})
    assert shedder.plan({"seen": 1.0})[0] is None
    assert shedder.by_hand(ShedPlan(), {}, {"watch"})[0].lighter == {"watch": 1.0}


def test_a_local_run_tells_a_part_and_counts_it_and_then_all():
    network = au.network(seen=SEEN.output(delivered=PART), accuracy=SEEN.port("accuracy"))
    local = Local(network)
    rows = [
        {"query": query, "kind": "circle", "x": 0.0, "y": 0.0, "radius": 9.0, "accuracy": accuracy}
        for query, accuracy in enumerate([0.25, 0.75])
    ]
    local.push(queries=rows)
    shed = local.leave_out(shed_plan(network, {"seen": 0.1}))
    ships = [{"id": each, "x": each / 100, "y": 0.0, "type": "tug"} for each in range(100)]
    answers, told = {0: set(), 1: set()}, {}
    for _ in range(20):
        found = local.push(ships=ships)
        for row in found["seen"].to_pylist():
            (answers[row["query"]].add if row["sign"] > 0 else answers[row["query"]].remove)(row["id"])
        told |= {row["query"]: row["accuracy"] for row in found["accuracy"].to_pylist()}
    assert {query: len(answer) for query, answer in answers.items()} == {0: 75, 1: 75}  # both want the same
    assert told == {0: 0.75, 1: 0.75}
    lightened = shed.lightened["watch"]
    assert lightened.objects == 25
    assert lightened.members == 20 * 200
    assert shed.dropped == {}
    local.leave_out(ShedPlan())
    for _ in range(5):
        found = local.push(ships=ships)
        told |= {row["query"]: row["accuracy"] for row in found["accuracy"].to_pylist()}
    assert told == {0: 1.0, 1: 1.0}


def test_what_outputs_kept_follows_from_what_boxes_missed():
    network = au.network(seen=SEEN.output(delivered=PART), refused=SEEN.port("refused"))
    rows = [
        {"kind": "shed", "name": "watch", "port": "objects", "members": 60, "missed": 10},
        {"kind": "shed", "name": "watch", "port": "objects", "members": 40, "missed": 20},
        {"kind": "shed", "name": "other", "port": "box", "members": None, "missed": None},
    ]
    assert box_losses(rows) == {"watch": (100, 30)}
    assert box_outputs(network, box_losses(rows)) == {"seen": pytest.approx(0.7)}
    assert box_outputs(network, {"watch": (0, 0)}) == {}
