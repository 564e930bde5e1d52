"""Moving objects: queries that name an accuracy, at twice what the machine holds, beside an exact output (SOLE 6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import australis as au
from australis.api.network import Network
from australis.arrow.schema import schema
from australis.bench import overload_figures as figures
from australis.bench.overload_answers import Accuracies, Answers
from australis.bench.overload_capacity import found, guessed, measured_costs, modelled, predicted, warm_up
from australis.bench.overload_curves import TrialSpan, step
from australis.bench.overload_fleet import ALERTS, ANSWERS, QUERIES, REPORT, Fleet, exact, watched
from australis.bench.overload_network import INPUT
from australis.bench.overload_steps import same_windows
from australis.bench.overload_trial import OverloadTrial, TrialBatch, run_trial
from australis.errors import RunError

if TYPE_CHECKING:
    from australis.engine.spark.session import SparkSession

FACTOR = 2.0
SPAN, QUICK = TrialSpan(6.0, 30.0, 10.0), TrialSpan(5.0, 12.0, 8.0)
FLEET = Fleet()
WAYS = ("ours", "none")
"""By graphs and accuracies, or nothing is shed. Updates that are dropped by chance would not add up to answers."""


def moving(
    spark: SparkSession, capacity: float | None, headroom: float, quick: bool, note: Callable[[str], None]
) -> dict[str, Any]:
    """Accuracies, delays, what was left out and what outputs were worth, at twice the capacity of this network.

    The capacity is found by bisection unless it is given.
    """
    net, fleet, span = watched(), FLEET, QUICK if quick else SPAN
    report: dict[str, Any] = {"factor": FACTOR, "capacity": capacity, "objects": fleet.objects, "ways": {}}
    if not quick:
        warm_up(spark, net, note, fleet.feed)
    note("moving: what the boxes cost, twice: the first time compiles")
    measured_costs(spark, net, 100_000, fleet.feed)
    if capacity is None:
        costs = measured_costs(spark, net, 400_000 if quick else 2_000_000, fleet.feed)
        model = modelled(net, costs, 1.0)
        search, _ = found(spark, net, guessed(model), 10 if quick else 60, 5 if quick else 7, note, fleet.feed)
        report |= {"capacity": search.held, "predicted": predicted(model), "tried": list(search.tried)}
        if not search.held:
            raise RunError("bench overload: no rate was held by the network of queries; give one with --capacity")
    for way in WAYS:
        note(f"moving: {way}")
        trial = run_trial(
            spark,
            net,
            step(FACTOR, report["capacity"], span),
            span.whole if way == "ours" else span.end,
            shed=way == "ours",
            headroom=headroom,
            keeps=(ALERTS, ANSWERS) if way == "ours" else (),
            feed=fleet.feed,
        )
        parts = {}
        if way == "ours":
            note("moving: exact answers of the same input")
            report |= compared(fleet, trial, span)
            alerts = report["alerts"]
            parts = {ANSWERS: report["accuracy"]["told"], ALERTS: alerts["equal"] / max(alerts["all"], 1)}
        report["ways"][way] = figures_of(net, trial, span, parts)
    return report


def figures_of(net: Network, trial: OverloadTrial, span: TrialSpan, parts: Mapping[str, float]) -> dict[str, Any]:
    """What a trial shows in which parts of outputs came, or all of them, as JSON holds it."""
    steady = trial.between(span.steady, span.end)
    worths = {output.name: figures.utility(output, parts.get(output.name, 1.0), steady) for output in net.outputs}
    return {
        "utility": worths,
        "total": figures.total(net, worths),
        "delay": {output.name: _longest(output.name, steady) for output in net.outputs},
        "flat": figures.on_the_flat_part(net, steady),
        "settled": figures.settled(net, trial, span.begin, span.end),
        "shed before": _shed(trial.between(0, span.begin)),
        "shed": _shed(trial.between(span.begin, span.end)),
        "shed until": figures.shed_until(trial, span.end),
        "taken": sum(batch.taken for batch in steady) / (span.end - span.steady),
        "batch": sum(batch.seconds for batch in steady) / len(steady) if steady else None,
        "memory": trial.memory,
        "others": trial.others,
        "series": [
            {"second": batch.second, "rate": trial.curve.at(batch.second), "delays": dict(batch.delays)}
            for batch in trial.batches
        ],
    }


def _longest(output: str, batches: Sequence[TrialBatch]) -> float | None:
    """The longest delay of an output; none if nothing came."""
    return max((batch.delays[output] for batch in batches if output in batch.delays), default=None)


def _shed(batches: Sequence[TrialBatch]) -> int:
    """The reports of objects that were left out of answers."""
    return sum(sum(batch.shed.values()) for batch in batches)


def compared(fleet: Fleet, trial: OverloadTrial, span: TrialSpan) -> dict[str, Any]:
    """What every query was told after each batch, beside its exact answer then, and the alerts beside all of them."""
    queries = fleet.query_rows()
    told, true = Answers(fleet.queries, fleet.objects), Answers(fleet.queries, fleet.objects)
    accuracies = Accuracies(queries["accuracy"].to_numpy())
    run = au.Local(exact())
    run.push({QUERIES: queries})
    updates, series = trial.kept.get(ANSWERS), []
    alerts: list[pa.RecordBatch] = []
    at = came = taken = 0
    for batch in trial.batches:
        for reports in fleet.reports(trial.curve, trial.began, taken, taken + batch.taken):
            results = run.push({INPUT: reports})
            alerts.append(results[ALERTS])
            true.add(results[ANSWERS])
        taken += batch.taken
        if updates is not None:
            told.add(updates.slice(at, batch.given.get(ANSWERS, 0)))
            at += batch.given.get(ANSWERS, 0)
        came += batch.given.get(ALERTS, 0)
        part, ratio = accuracies.see(told, true, span.steady <= batch.second < span.end)
        series.append({"second": batch.second, "told": part, "ratio": ratio})
    if updates is not None and at != updates.num_rows:
        raise RunError(f"bench overload: {updates.num_rows - at:,} updates came in batches that were not measured")
    whole = pa.Table.from_batches(alerts, schema(REPORT))
    return {
        "accuracy": accuracies.figures() | {"series": series},
        "alerts": same_windows(trial.kept.get(ALERTS, whole[:0])[:came], whole),
    }
