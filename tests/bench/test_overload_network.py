"""The network of the overload benchmark: its branches, its input, and what a tuple is worth at its outputs."""

import numpy as np
import pyarrow as pa
import pytest

import australis as au
from australis.bench import overload_network as bench
from australis.bench.overload_network import COLUMNS, INPUT, LIMITS, SEGMENTS, network, source, worth, yields
from australis.connectors.source import parts
from australis.connectors.sources.load_curve import LoadCurve
from australis.model.qos import BoxCost, Costs
from australis.plan import plan
from australis.qos.load import LoadModel, Machine
from australis.qos.road_map import road_map


def test_outputs_have_the_graphs_that_are_laid_down():
    graphs = {output.name: str(output.qos) for output in network().outputs}
    assert graphs["alerts"] == "latency {0.5: 1, 2: 0}"
    assert graphs["dashboard"] == "latency {2: 1, 10: 0}, delivered {0: 0, 0.5: 0.9, 1: 1}"
    assert graphs["archive"].startswith("latency {10: 1, 60: 0}, delivered {0: 0, 0.2: 0.95, 1: 1}, value of mph")
    assert network("dashboard").named["windows"] == network().named["windows"]


def test_every_box_belongs_to_the_first_part_or_to_one_branch():
    names = {node.name for node in network().nodes}
    branches = [name for boxes in bench.BRANCHES.values() for name in boxes]
    assert len(branches) == len(set(branches))
    assert names - set(branches) == {"moving", "capped", "limit", "limits"}


def test_dashboard_and_archive_can_be_shed_before_their_branches():
    net = network()
    boxes = {node.name: BoxCost(1e-6, {"out": 1.0}) for node in net.nodes}
    model = LoadModel(net, plan(net, {INPUT: None}), Costs(boxes), Machine(2, 2, 1.0))
    road = road_map(model, {INPUT: 1.0})
    places = {drop.before for drop in road.drops(road.plans[-1].kept)}
    assert places == {"expected", "archived"}
    assert road.plans[-1].kept == {"alerts": 1.0, "dashboard": 0.0, "archive": 0.0}


def test_vehicles_drive_up_to_the_limit():
    mph, top = pa.array([0.0, 50.0, 30.0]), pa.array([50.0, 50.0, 70.0])
    speeds = bench.ahead(mph, top, pa.array([10_000] * 3))
    assert speeds == pytest.approx([50.0, 50.0, 70.0])
    assert len(bench.ahead(mph[:0], top[:0], mph[:0])) == 0


def test_one_step_is_that_of_the_model():
    def one(mph, top):
        return mph + 0.3 * (1 - (mph / top) ** 4)

    mph, top = [0.0, 12.5, 60.0, 95.0], [50.0, 60.0, 70.0, 80.0]
    speeds = bench.ahead(pa.array(mph), pa.array(top), pa.array([2] * 4))
    assert speeds == pytest.approx([one(one(m, t), t) for m, t in zip(mph, top, strict=True)])


def test_the_input_has_the_same_tuples_from_the_same_beginning_by_any_number_of_splits():
    made = source(LoadCurve(((0, 100), (1, 5000))), 3000, began=7_000_000)
    (whole,) = [pa.Table.from_batches([part.tuples for part in parts(made)])]
    assert whole.num_rows == 3000
    assert whole["time"][0].as_py().timestamp() == 7.0
    assert whole["time"][100].as_py().timestamp() == 8.0
    assert set(COLUMNS) < set(whole.column_names)
    assert np.diff(whole["time"].cast(pa.int64()).to_numpy()).min() >= 0


@pytest.mark.slow
def test_a_tuple_yields_what_a_run_over_all_of_them_gives():
    known = yields()
    made = source(1000.0, 1009 * SEGMENTS, 0)
    run = au.Local(network(), {"segments": LIMITS})
    archive = 0.0
    alerts = tuples = 0
    for part in parts(made):
        mph = np.minimum(part.tuples["mph"].to_numpy(), 95.0)
        kept = mph[mph >= 5]
        archive += float(np.interp(kept, [0, 60, 95], [0.1, 0.2, 1.0]).sum())
        alerts += run.push({INPUT: part.tuples})["alerts"].num_rows
        tuples += part.tuples.num_rows
    assert known["archive"].worth == pytest.approx(archive / tuples)
    assert known["alerts"].tuples == pytest.approx(alerts / tuples)
    assert 0 < known["alerts"].tuples < 0.1
    assert known["archive"].tuples == pytest.approx(0.95, abs=0.01)


def test_results_without_a_value_graph_are_worth_one_each():
    outputs = {output.name: output for output in network().outputs}
    trains = [pa.record_batch({"mph": [0.0, 60.0, 95.0]})]
    assert worth(outputs["alerts"], trains) == 3
    assert worth(outputs["archive"], trains) == pytest.approx(1.3)
    assert worth(outputs["archive"], []) == 0
