"""The example of docs/quality_of_service.md under more than a machine holds, simulated: who waits, and what is shed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Sheet

import australis as au
from australis.api.network import Network
from australis.bench.service_trial import LoadStep, ServiceTrial
from australis.model.qos import BoxCost, Costs
from australis.plan import plan
from australis.qos.control import Controller
from australis.qos.load import LoadModel, Machine
from australis.qos.simulate import SimulatedBatch, simulate

INPUT = "reports"
USUAL = 1_000_000.0
"""Tuples a second, when nothing is unusual."""
COSTS = Costs(
    boxes={
        "stats": BoxCost(6e-7, {"out": 0.001}),
        "jams": BoxCost(4e-6, {"out": 0.1}),
        "fast": BoxCost(5e-8, {"out": 0.1}),
    },
    sources={INPUT: 1e-7},
    exchanges={INPUT: 8e-8},
    sinks={"fast": 2e-6},
    batch=0.06,
)
MACHINE = Machine(cores=2, partitions=2, headroom=1.0)
LOADS = {"burst": LoadStep(10, 20, 50), "overload": LoadStep(10, 50, 90)}
"""A load that is over before anything must be shed, and one that lasts."""


def network() -> Network:
    """Jams, which are exact and late after two seconds, and fast cars, of which a fifth is nearly as good as all."""
    reports = au.stream(INPUT, "time int, vid int, mph int, xway int, seg int")
    stats = reports.aggregate(
        on="time", size=60, by=["xway", "seg"], cars="count(distinct vid)", mph="avg(mph)", box="stats"
    )
    jams = stats.filter("cars > 50 and mph < 40", box="jams")
    fast = reports.filter("mph > 90", box="fast")
    return au.network(
        jams=jams.output(latency={2: 1, 10: 0}, weight=3),
        fast=fast.output(latency={10: 1, 60: 0}, delivered={0: 0, 0.2: 0.95, 1: 1}, value={"mph": {90: 0.2, 150: 1}}),
    )


def model() -> LoadModel:
    """What the network costs on two cores, which a run may use all the time."""
    made = network()
    return LoadModel(made, plan(made, {INPUT: None}), COSTS, MACHINE)


def trial(load: LoadStep) -> ServiceTrial:
    """Simulate a load twice: steered by the graphs, and with batches that take all that has come."""
    truth = model()
    free = replace(truth, costs=Costs(batch=COSTS.batch))  # to whom nothing costs anything, all fits
    steered, unsteered = (_batches(truth, Controller(believed), load) for believed in (truth, free))
    return ServiceTrial(load, truth.most / truth.load({INPUT: 1.0}) / USUAL, steered, unsteered)


def _batches(truth: LoadModel, controller: Controller, load: LoadStep) -> tuple[SimulatedBatch, ...]:
    return tuple(simulate(truth, controller, {INPUT: USUAL}, load, load.seconds))


def main(plots: Path | None = None) -> None:
    """Print what happens under both loads, and draw it to `plots`, with the graphs of the network."""
    console = Console()
    trials = {name: trial(load) for name, load in LOADS.items()}
    console.print(_sheet(trials))
    if plots is not None:
        from australis.bench.service_picture import draw

        for path in draw(network(), trials, plots):
            console.print(f"drawn: {path}", soft_wrap=True)


def _sheet(trials: dict[str, ServiceTrial]) -> Sheet:
    """The worst of each trial, by the graphs and without them."""
    net = network()
    title = f"Twice {USUAL:,.0f} tuples a second for a while, simulated: the worst of it"
    sheet = Sheet("load", "run", "delay of jams", "of fast", "part of fast", "utility", box=SIMPLE_HEAD, title=title)
    for each in trials.values():
        for run, steered in (("by graphs", True), ("--no-shed", False)):
            delays = [max(each.delay(output, steered).values) for output in ("jams", "fast")]
            kept, utility = (min(series.values) for series in (each.kept("fast", steered), each.utility(net, steered)))
            sheet.add_row(
                f"for {each.load.end - each.load.start:g} s", run, *(f"{delay:.1f} s" for delay in delays),
                f"{kept:.0%}", f"{utility:.2f}",
            )  # fmt: skip
    return sheet
