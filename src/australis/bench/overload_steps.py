"""Load curves of the overload benchmark: each with our shedding, with random drops to the same load, and with none."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from australis.api.network import Network
from australis.bench import overload_figures as figures
from australis.bench.overload_curves import FACTORS, SHORT_BURSTS, TrialSpan, bursts, recorded, sine, step
from australis.bench.overload_network import INPUT, LIMITS, WINDOWED, Yield, network, source
from australis.bench.overload_plans import best_plan, part_at_input, processor_time, random_at_input
from australis.bench.overload_trial import OverloadTrial, run_trial
from australis.connectors.sinks.memory import MemorySink
from australis.connectors.sources.load_curve import LoadCurve
from australis.qos.load import LoadModel

if TYPE_CHECKING:
    from australis.engine.spark.session import SparkSession

WAYS = ("ours", "random", "none")
"""How a load that is too much is shed: by the graphs, by chance as tuples enter, or not at all."""
ONE = 1.0
"""The step with which the others are compared: once the capacity."""


@dataclass(frozen=True)
class Setting:
    """What all trials of a benchmark have in common."""

    spark: SparkSession
    model: LoadModel
    yields: Mapping[str, Yield]
    capacity: float
    span: TrialSpan
    note: Callable[[str], None]

    @property
    def network(self) -> Network:
        return network()

    @property
    def most(self) -> float:
        """The load that the machine holds: that of the capacity."""
        return self.model.load({INPUT: self.capacity})


def steps(setting: Setting, factors: tuple[float, ...] = (*FACTORS[:2], ONE, *FACTORS[2:])) -> Iterator[dict[str, Any]]:
    """A report on each step of the load."""
    for factor in factors:
        yield compared(setting, f"{factor:g} times", step(factor, setting.capacity, setting.span), factor)


def curves(setting: Setting) -> Iterator[dict[str, Any]]:
    """A report on the sine, on bursts, some of them so short that they are worked off in time, and recorded traffic."""
    capacity, span = setting.capacity, setting.span
    yield compared(setting, "sine", sine(capacity, span))
    yield compared(setting, "bursts", bursts(capacity, span))
    yield compared(setting, SHORT_BURSTS, bursts(capacity, span, seconds=0.25, every=5.0))
    setting.note("recorded: simulating traffic")
    with tempfile.TemporaryDirectory() as folder:
        traffic = recorded(capacity, span, Path(folder))
    yield compared(setting, "recorded", traffic)


def compared(setting: Setting, name: str, curve: LoadCurve, factor: float | None = None) -> dict[str, Any]:
    """The report on a load curve: each way to shed, beside the best plan where the load is steady."""
    span, model = setting.span, setting.model
    mean = (curve.count(span.end) - curve.count(span.steady)) / (span.end - span.steady)
    inputs = {INPUT: mean}
    report: dict[str, Any] = {"name": name, "factor": factor, "rate": mean, "ways": {}}
    best = best_plan(model, inputs, setting.most)
    report["best"] = None if best is None else {"utility": best.utility, "kept": dict(best.kept), "load": best.load}
    part = part_at_input(model, inputs, setting.most if best is None else best.load)
    for way in WAYS:
        setting.note(f"{name}: {way}")
        trial = run_trial(
            setting.spark,
            setting.network,
            curve,
            span.whole if way == "ours" else span.end,  # only of ours it is asked how soon it recovers
            shed=way == "ours",
            headroom=model.machine.headroom,
            plans=[(span.begin, random_at_input(INPUT, part))] if way == "random" else (),
            keeps=(WINDOWED,) if way == "ours" else (),
        )
        report["ways"][way] = figures_of(setting, trial)
        if way == "ours" and (factor == 2.0 or name == "bursts"):
            setting.note(f"{name}: exact windows of the same input")
            report["windows"] = windows_compared(setting, trial)
    return report


def figures_of(setting: Setting, trial: OverloadTrial) -> dict[str, Any]:
    """What a trial shows, as JSON holds it."""
    net, span, model = setting.network, setting.span, setting.model
    since, until = span.steady, span.end
    batches = trial.between(since, until)
    worths = figures.utilities(net, trial, setting.yields, since, until)
    parts = figures.delivered(trial, setting.yields, since, until)
    rate = sum(batch.taken for batch in batches) / (until - since)
    return {
        "utility": worths,
        "total": figures.total(net, worths),
        "fairness": figures.fairness(worths),
        "delivered": parts,
        "flat": figures.on_the_flat_part(net, batches),
        "settled": figures.settled(net, trial, span.begin, span.end),
        "shed before": sum(sum(batch.shed.values()) for batch in trial.between(0, span.begin)),
        "shed": sum(sum(batch.shed.values()) for batch in trial.between(span.begin, span.end)),
        "shed until": figures.shed_until(trial, span.end),
        "taken": rate,
        "batch": sum(batch.seconds for batch in batches) / len(batches) if batches else None,
        "work": figures.work(trial, model.costs, since, until),
        "predicted": processor_time(model, {INPUT: rate}, parts),
        "spent": figures.spent(trial, since, until),
        "memory": trial.memory,
        "steering": trial.steering / trial.seconds,
        "others": trial.others,
        "series": figures.over_time(net, trial, setting.yields),
    }


def windows_compared(setting: Setting, trial: OverloadTrial) -> dict[str, int]:
    """How many windows came out under load, and how many of them equal those of a run that sheds nothing."""
    exact = MemorySink()
    made = source(trial.curve, trial.curve.count(trial.seconds), trial.began)
    with tempfile.TemporaryDirectory() as folder:
        network(WINDOWED).run(
            {INPUT: made, "segments": LIMITS, WINDOWED: exact},
            spark=setting.spark,
            checkpoint=f"{folder}/checkpoint",
            shed=False,
        )
    found, whole = trial.kept.get(WINDOWED), exact.table()
    return {"came": 0, "equal": 0, "all": whole.num_rows} if found is None else same_windows(found, whole)


def same_windows(found: pa.Table, exact: pa.Table) -> dict[str, int]:
    """How many windows there are, how many of them equal those that are exact, and how many there are of these."""
    rows = set(zip(*(column.to_pylist() for column in exact.columns), strict=True))
    came = list(zip(*(column.to_pylist() for column in found.columns), strict=True))
    return {"came": len(came), "equal": sum(row in rows for row in came), "all": exact.num_rows}
