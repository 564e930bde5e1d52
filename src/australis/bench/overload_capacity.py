"""Capacity: the largest rate that a machine holds without shedding, as trials find it and as `check` predicts it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

from australis.api.network import Network
from australis.bench.overload_figures import freshness
from australis.bench.overload_network import INPUT, Feed, feed
from australis.bench.overload_trial import Enough, OverloadTrial, run_trial
from australis.connectors.sources.load_curve import LoadCurve
from australis.model.qos import Costs
from australis.plan import plan
from australis.qos.analysis import Analysis
from australis.qos.load import LoadModel, Machine
from australis.qos.monitor import monitored
from australis.qos.worth import worths_of

if TYPE_CHECKING:
    from australis.engine.spark.session import SparkSession

CORES = 2
FLAT = 0.99
"""An output that is worth so much by its delays is on the flat part of its latency graph."""
LEAD = 5.0
_CALM = 0.3
_HOPELESS = 4.0
"""A delay of so many times the bend of a graph ends a trial early."""
_A_SECOND = 200_000
_WARMING = 15.0
"""The seconds of a run that warms up."""
_RUNS = 8
_SETTLED = 0.9
"""A machine is warm when batches take no less than this part of the time that they took in the run before."""


@dataclass(frozen=True)
class Search:
    """A bisection: the rates that were tried and whether they were held, and what came of it."""

    tried: Sequence[tuple[float, bool]]
    held: float
    """The largest rate that was held, 0 if none was."""
    failed: float
    """The smallest one above it that was not; infinite if all were held."""


def bisect(holds: Callable[[float], bool], guess: float, steps: int) -> Search:
    """Find the largest rate that holds, from a guess on: doubled or halved, about, until it lies between two rates.

    >>> round(bisect(lambda rate: rate <= 70, 40, 6).held, 1)
    69.9
    """
    tried: list[tuple[float, bool]] = []
    held, failed, rate = 0.0, float("inf"), guess
    for _ in range(steps):
        good = holds(rate)
        tried.append((rate, good))
        held, failed = (max(held, rate), failed) if good else (held, min(failed, rate))
        if not held or failed == float("inf"):
            rate = held * 1.5 if held else failed / 2
        else:
            rate = (held * failed) ** 0.5
    return Search(tried, held, failed)


def warm_up(
    spark: SparkSession, network: Network, note: Callable[[str], None], feed: Feed = feed
) -> list[float]:  # fmt: skip
    """Run a network at a small rate until its batches get no shorter, and return how long they took in each run.

    Java compiles what it has run often. For a minute or two that takes a core, and a batch twice its time.
    """
    took: list[float] = []
    while len(took) < _RUNS and not (len(took) > 2 and took[-1] >= _SETTLED * took[-2]):
        note("warming up" + (f": a batch takes {took[-1] * 1000:.0f} ms" if took else ""))
        trial = run_trial(spark, network, LoadCurve(((0, _A_SECOND / 10),)), _WARMING, shed=False, feed=feed)
        took.append(median(batch.seconds for batch in trial.batches))
    return took


def measured_costs(spark: SparkSession, network: Network, tuples: int, feed: Feed = feed) -> Costs:
    """What the parts of the network cost at full speed, as `australis measure` finds it."""
    with tempfile.TemporaryDirectory() as folder:
        run = network.run(
            feed(network, float(_A_SECOND), tuples, 0, False),
            spark=spark,
            checkpoint=f"{folder}/checkpoint",
            train=max(tuples // 20, 1),
            shed=False,
            optimize=False,  # as `australis measure`: rules give boxes other names
        )
        rows = run.measures().to_pylist()
    return replace(monitored(rows)[0].costs(network), worth=worths_of(network, rows).histograms())


def modelled(network: Network, costs: Costs, headroom: float, cores: int = CORES) -> LoadModel:
    """The model by which `australis check` judges a machine."""
    machine = Machine(cores, cores, headroom)
    whole = {input.name: () if cores == 1 else None for input in network.inputs if not input.static}
    return LoadModel(network, plan(network, whole), costs, machine)


def predicted(model: LoadModel) -> float:
    """The largest rate that the machine holds by the model, in tuples a second."""
    return Analysis(model, {INPUT: 1.0}).factor


def guessed(model: LoadModel) -> float:
    """Where to begin: with what is predicted, or where batches seem to take too long for that, half of all."""
    return predicted(model) or 0.5 / model.load({INPUT: 1.0})


def found(
    spark: SparkSession, network: Network, guess: float, seconds: float, steps: int, note: Callable[[str], None],
    feed: Feed = feed,
) -> tuple[Search, list[OverloadTrial]]:  # fmt: skip
    """The largest rate at which every output stays on the flat part of its graph for so many seconds, without shedding.

    Each trial begins with a few calm seconds, so that its first batches leave nothing behind.
    """
    trials: list[OverloadTrial] = []

    def holds(rate: float) -> bool:
        note(f"capacity: {rate:,.0f} tuples a second")
        curve = LoadCurve(((0, _CALM * rate), (LEAD, rate)))
        trial = run_trial(
            spark, network, curve, LEAD + seconds, shed=False, headroom=1.0, enough=hopeless(network, LEAD), feed=feed
        )
        trials.append(trial)
        return on_the_flat_parts(network, trial, LEAD, LEAD + seconds)

    return bisect(holds, guess, steps), trials


def on_the_flat_parts(network: Network, trial: OverloadTrial, since: float, until: float) -> bool:
    """Whether every output was worth all by its delays between two seconds, and the run kept up until then."""
    batches = trial.between(since, until + 1)
    kept_up = bool(batches) and batches[-1].second >= until - 1
    return kept_up and all(freshness(output, batches) >= FLAT for output in network.outputs)


def hopeless(network: Network, since: float) -> Enough:
    """Whether a delay is so far beyond a bend, after a second, that a trial need not go on."""
    bends = {output.name: output.qos.latency.bend for output in network.outputs if output.qos.latency is not None}

    def enough(second: float, delays: Mapping[str, float | None]) -> bool:
        known = ((bends[name], delay) for name, delay in delays.items() if name in bends and delay is not None)
        return second > since + 2 and any(delay > _HOPELESS * bend for bend, delay in known)

    return enough
