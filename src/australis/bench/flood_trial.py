"""A trial of the flood: a run of Linear Road by its graphs, what it said and what it shed."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from australis.apps.linear_road.benchmark import Benchmark
from australis.apps.linear_road.driver import Driver
from australis.apps.linear_road.estimate import PastTraffic
from australis.apps.linear_road.feed import Feed
from australis.apps.linear_road.record import OUTPUTS
from australis.apps.linear_road.shed_note import shed_answers
from australis.apps.linear_road.validation import Verdict, validate
from australis.bench.flood_load import INPUT
from australis.engine.succession import planned
from australis.qos.load import LoadModel, Machine
from australis.qos.monitor import monitored

if TYPE_CHECKING:
    from australis.engine.spark.run import Run
    from australis.engine.spark.session import SparkSession

_LOOK = 0.05
_BATCHES = 15


@dataclass(frozen=True)
class FloodRoads:
    """Where the parts of a trial are: an input in so many copies, its history, and the network with its graphs."""

    feed: Feed
    past: PastTraffic
    file: Path


@dataclass(frozen=True)
class FloodTrial:
    """What was seen of a run at real time."""

    said: Sequence[tuple[float, str]]
    """What it said, and how many seconds after its clock began."""
    shed: Mapping[str, int]
    """Tuples that it left out, by place."""
    taken: int
    verdict: Verdict | None = None


def measured(spark: SparkSession, roads: FloodRoads, machine: Machine) -> LoadModel:
    """The model of a machine, by what the network costs at full speed on an input."""
    with tempfile.TemporaryDirectory(prefix="australis-") as folder:
        bench = Benchmark(roads.feed, Path(folder) / "answers.csv", roads.past, float("inf"), file=roads.file)
        driver = Driver(roads.feed, float("inf"))
        train = max(driver.backlog(driver.start()) // _BATCHES, 1)
        with bench.start(spark=spark, checkpoint=f"{folder}/checkpoint", train=train, optimize=False) as run:
            run.wait()
            monitor, _ = monitored(run.measures().to_pylist())
        net = bench.network
    plan = planned(net, {INPUT: driver}, machine.partitions)
    return LoadModel(net, plan, monitor.costs(net), machine)


def run_trial(
    spark: SparkSession, roads: FloodRoads, lead: int, headroom: float, *, enough: float | None = None
) -> FloodTrial:
    """Run an input at real time, after a lead, and validate its answers.

    With `enough`, it ends so many seconds after something was said, and is not validated.
    """
    with tempfile.TemporaryDirectory(prefix="australis-") as folder:
        output = Path(folder) / "answers.csv"
        bench = Benchmark(roads.feed, output, roads.past, lead=lead, since=lead, file=roads.file)
        run = bench.start(spark=spark, checkpoint=f"{folder}/checkpoint", headroom=headroom)
        with run:
            said = _watch(run, bench, enough)
        trial = FloodTrial(said, dict(run.totals.shed), run.totals.taken[INPUT])
        if enough is not None:
            return trial
        shed = {OUTPUTS[name]: count for name, count in shed_answers(run.optimized, run.totals.shed).items()}
        return replace(trial, verdict=validate(roads.feed, output, roads.past, since=lead, shed=shed))


def _watch(run: Run, bench: Benchmark, enough: float | None) -> list[tuple[float, str]]:
    """Wait for the end of the input, or until it is enough; what was said meanwhile."""
    said: list[tuple[float, str]] = []
    known = 0
    while not run.wait(_LOOK):
        now = bench.seconds() - bench.lead
        for number, line in run.notices:
            if number > known:
                known = number
                said.append((now, line))
        if enough is not None and said and now > said[0][0] + enough:
            break
    return said
