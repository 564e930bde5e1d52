"""Static analysis: the verdict follows the model, and a person can follow the arithmetic."""

import pytest

import australis as au
from australis.model.qos import BoxCost, Costs, WorthHistogram
from australis.plan import plan
from australis.qos.analysis import Analysis
from australis.qos.load import LoadModel, Machine

COSTS = Costs(
    {"fast": BoxCost(2e-6, {"out": 0.5}), "slow": BoxCost(6e-6, {"out": 0.1})},
    sources={"reports": 1e-6},
    sinks={"fast": 2e-6, "slow": 10e-6},
    batch=0.1,
)


def analysed(rate: float, machine: Machine | None = None, bend: float = 4.0, **slow: object) -> Analysis:
    reports = au.stream("reports", "mph int")
    net = au.network(
        fast=reports.filter("mph > 60", box="fast").output(latency={bend: 1, 9: 0}),
        slow=reports.filter("mph < 9", box="slow").output(**slow),  # type: ignore[arg-type]
    )
    return Analysis(
        LoadModel(net, plan(net, {"reports": ()}), COSTS, machine or Machine(headroom=1)), {"reports": rate}
    )


def test_the_largest_rate_fits_and_a_little_more_does_not():
    base = analysed(1000)
    assert base.load == pytest.approx(1000 * (1 + 2 + 0.5 * 2 + 6 + 0.1 * 10) / 1e6)
    assert analysed(1000 * base.factor * 0.999).fits
    assert not analysed(1000 * base.factor * 1.001).fits


def test_the_bottleneck_is_named():
    assert analysed(1000).bottleneck.work.name == "slow"
    assert "bottleneck: filter slow, 55% of the time of all tuples" in list(analysed(1000).lines())


def test_a_bend_that_no_batch_can_reach_is_told():
    assert [output.name for output in analysed(1000, bend=0.1).hopeless] == ["fast"]
    assert any("fast: its latency graph bends at 100 ms, sooner" in line for line in analysed(1000, bend=0.1).lines())
    assert not analysed(1000, bend=0.21).hopeless


def test_what_would_be_shed_brings_the_load_under_the_most():
    over = analysed(140_000, delivered={0: 0, 0.5: 0.9, 1: 1})
    assert not over.fits
    plan = over.road.at(over.model.most)
    assert plan.load == pytest.approx(over.model.most)
    assert plan.kept["fast"] == 1
    lines = list(over.lines(shed=True))
    assert any(line.startswith("drops ") and line.endswith("between reports and slow") for line in lines)


def test_where_exact_outputs_alone_are_too_much_it_says_so():
    lines = list(analysed(1_000_000, delivered={0: 0, 1: 1}).lines(shed=True))
    assert (
        "nothing would be shed: the exact outputs alone (fast) take 400.0% of the time, and delays would grow" in lines
    )
    assert lines[-1] == "nothing is shed: nothing may be"
    # Within the headroom, but not beside batches that are done in time: all that may be is shed.
    near = list(analysed(245_000, delivered={0: 0, 1: 1}).lines(shed=True))
    assert any("still does NOT fit" in line for line in near)
    assert not any("nothing would be shed" in line for line in near)
    assert any("no output has a `delivered` graph" in line for line in analysed(1_000_000).lines())


def test_a_graph_that_is_not_concave_is_told():
    lines = list(analysed(1000, delivered={0: 0, 0.5: 0.1, 1: 1}).lines())
    assert "output slow: its delivered graph is not concave; shedding goes by its hull, {0: 0, 1: 1}" in lines


def test_without_tuples_anything_fits():
    idle = analysed(0)
    assert idle.fits
    assert idle.factor == float("inf")
    assert list(idle.lines(shed=True))[-1] == "nothing is shed"


def test_an_output_that_values_its_tuples_keeps_more_worth_than_tuples():
    network = au.network(slow=au.stream("reports", "x int").filter("x > 2", box="slow").output(
        delivered={0: 0, 0.9: 1, 1: 1}, value={"x": {0: 0, 9: 1}}))  # fmt: skip
    worth = {"slow": WorthHistogram((90, 10), (9.0, 9.0))}
    costs = Costs({"slow": BoxCost(1e-5, {"out": 1})}, worth=worth)
    over = Analysis(LoadModel(network, plan(network, {"reports": ()}), costs, Machine(headroom=1)), {"reports": 2e5})
    lines = [" ".join(line.split()) for line in over.lines(shed=True)]
    assert "slow 50.0% 0.802 (72.2% of what its tuples are worth)" in lines
