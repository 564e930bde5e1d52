"""Typical costs: of every kind of box, more for longer expressions, and only where nothing was measured."""

import pytest

import australis as au
from australis.boxes.catalog import kinds
from australis.model.network import Network
from australis.model.qos import BoxCost, Costs
from australis.plan import plan
from australis.qos.analysis import Analysis
from australis.qos.load import LoadModel
from australis.qos.typical import BOXES, DISTINCT, OPERATION, OTHER, box_cost, filled, typical

REPORTS = au.stream("reports", "time int, vid int, mph int")


def cost(stream: au.Stream) -> BoxCost:
    network = au.network(out=stream)
    return box_cost(network, network.nodes[-1])


def network() -> Network:
    stats = REPORTS.aggregate(on="time", size=60, by="vid", n="count(*)", box="stats")
    return au.network(stats=stats, fast=stats.filter("n > 3", box="fast"))


def test_every_kind_of_box_has_a_cost():
    assert BOXES.keys() == kinds().keys()
    assert all(0 < seconds <= 1e-4 for seconds in BOXES.values())


def test_longer_expressions_cost_more():
    assert cost(REPORTS.filter("mph > 3")).seconds == pytest.approx(BOXES["filter"] + OPERATION)
    assert cost(REPORTS.filter("mph > 3 and vid + 1 < 9")).seconds == pytest.approx(BOXES["filter"] + 4 * OPERATION)
    windows = REPORTS.aggregate(on="time", size=60, n="count(distinct vid)", m="avg(mph * 2)")
    assert cost(windows).seconds == pytest.approx(BOXES["aggregate"] + DISTINCT + 2 * OPERATION)


def test_what_boxes_let_through_is_guessed():
    assert cost(REPORTS.filter("mph > 3")).selectivity == {"out": 0.5, "rest": 0.5}
    assert cost(REPORTS.map(x="mph")).selectivity == {"out": 1}
    assert cost(REPORTS.aggregate(on="time", size=60, n="count(*)")).selectivity == {"out": 0.1}
    assert cost(REPORTS.bsort(on="time", slack=3)).selectivity == {"out": 1}
    ports = cost(REPORTS.route("mph > 3", "mph > 2")[0]).selectivity
    assert sum(ports.values()) == pytest.approx(1)
    assert len(set(ports.values())) == 1


def test_a_kind_that_nobody_knows_has_a_cost_too(monkeypatch):
    monkeypatch.setattr("australis.qos.typical.BOXES", {})
    assert cost(REPORTS.map(x="mph")).seconds == OTHER


def test_all_parts_of_a_network_have_a_cost_by_their_format():
    net = network()
    planned = plan(net, {"reports": None})
    known = typical(net, planned, {"reports": "replay:reports.parquet?on=time"}, {"fast": "fast/*.jsonl"})
    assert not LoadModel(net, planned, known.costs).unmeasured
    works = LoadModel(net, planned, known.costs).works
    assert all(work.seconds > 0 for work in works)
    assert len(known.parts) == len(works) + 1
    plain = typical(net, planned, {}, {})
    assert known.costs.sources["reports"] < plain.costs.sources["reports"]
    assert known.costs.sinks["fast"] > plain.costs.sinks["fast"] == plain.costs.sinks["stats"]
    marks = list(Analysis(LoadModel(net, planned, known.costs), {"reports": 9.0}, known.parts).lines())
    assert sum("typical" in line for line in marks) == len(works) + 1


def test_what_was_measured_stays():
    measured = Costs({"stats": BoxCost(1.0, {"out": 0.5})}, batch=0.5)
    known = filled(network(), measured)
    assert known.parts == {("box", "fast")}
    assert known.costs.boxes["stats"] == measured.boxes["stats"]
    assert known.costs.boxes["fast"].seconds > 0
    assert (known.costs.batch, known.costs.sinks) == (0.5, {})
    assert filled(network(), known.costs).parts == frozenset()
