"""Priorities: two branches that share nothing but the input, of which one can wait (Aurora 4.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import australis as au
from australis.api.network import Network
from australis.bench import overload_figures as figures
from australis.bench.overload_capacity import found, guessed, measured_costs, modelled, predicted, warm_up
from australis.bench.overload_curves import TrialSpan, step
from australis.bench.overload_network import INPUT, SCHEMA
from australis.bench.overload_trial import OverloadTrial, run_trial
from australis.errors import RunError
from australis.qos.priorities import FEEDBACK, STATE

if TYPE_CHECKING:
    from australis.engine.spark.session import SparkSession

ALERTS, ARCHIVE = "alerts", "archive"
FACTOR = 1.3
SPAN, QUICK = TrialSpan(8.0, 60.0, 60.0), TrialSpan(5.0, 12.0, 12.0)
WAYS = (STATE, FEEDBACK, "together")
"""How branches are ranked; or none waits, and nothing is shed."""
STEPS = {ALERTS: 250, ARCHIVE: 600}
"""Over how many tenths of a second each branch drives a vehicle ahead."""
_COLUMNS = {"time": "time", "vid": "vid", "seg": "seg", "mph": "mph"}


def branched() -> Network:
    """Alerts that are exact and soon due, and an archive that can wait for a minute."""

    def driven(name: str) -> dict[str, str]:
        return {**_COLUMNS, "soon": f"overload_ahead(mph, 95.0, {STEPS[name]})"}

    reports = au.stream(INPUT, SCHEMA)
    alerts = reports.filter("mph >= 5", box="moving").map(driven(ALERTS), box="warned").filter("mph < 6", box=ALERTS)
    archive = reports.filter("mph > 0", box="known").map(driven(ARCHIVE), box="archived")
    return au.network(
        alerts=alerts.output(latency={0.5: 1, 2: 0}),
        archive=archive.output(latency={60: 1, 600: 0}, delivered={0: 0, 0.2: 0.95, 1: 1}),
    )


def priorities(
    spark: SparkSession, capacity: float | None, headroom: float, quick: bool, note: Callable[[str], None]
) -> dict[str, Any]:
    """Delays, tuples shed and how soon the archive has caught up, at 1.3 times the capacity of this network.

    The capacity is found by bisection unless it is given.
    """
    net, span = branched(), QUICK if quick else SPAN
    report: dict[str, Any] = {"factor": FACTOR, "capacity": capacity, "ways": {}}
    if not quick:
        warm_up(spark, net, note)
    note("priorities: what the boxes cost, twice: the first time compiles")
    measured_costs(spark, net, 200_000)
    if capacity is None:
        model = modelled(net, measured_costs(spark, net, 1_000_000 if quick else 4_000_000), 1.0)
        search, _ = found(spark, net, guessed(model), 10 if quick else 60, 5 if quick else 7, note)
        report |= {"capacity": search.held, "predicted": predicted(model)}
        if not search.held:
            raise RunError("bench overload: no rate was held by the network of two branches; give one with --capacity")
    for way, trial in _trials(spark, net, report["capacity"], headroom, span, note):
        report["ways"][way] = figures_of(net, trial, span)
    return report


def _trials(
    spark: SparkSession, net: Network, capacity: float, headroom: float, span: TrialSpan, note: Callable[[str], None]
) -> Iterator[tuple[str, OverloadTrial]]:
    for way in WAYS:
        note(f"priorities: {way}")
        ranking = STATE if way == "together" else way
        curve, shed = step(FACTOR, capacity, span), way != "together"
        yield way, run_trial(spark, net, curve, span.whole, shed=shed, headroom=headroom, ranking=ranking)


def figures_of(net: Network, trial: OverloadTrial, span: TrialSpan) -> dict[str, Any]:
    """What a trial shows, as JSON holds it."""
    steady = trial.between(span.steady, span.end)
    alerts = [batch.delays[ALERTS] for batch in steady if ALERTS in batch.delays]
    (qos,) = (output.qos for output in net.outputs if output.name == ALERTS)
    assert qos.latency is not None
    bend = figures.NEAR * qos.latency.bend
    return {
        "delay": max(alerts, default=None),
        "on time": sum(delay <= bend for delay in alerts) / len(alerts) if alerts else 0.0,
        "settled": figures.settled(net, trial, span.begin, span.end),
        "shed": sum(sum(batch.shed.values()) for batch in trial.batches),
        "behind": max((batch.behind.get(ARCHIVE, 0.0) for batch in trial.batches), default=0.0),
        "caught up": caught_up(trial, span.end),
        "batch": sum(batch.seconds for batch in steady) / len(steady) if steady else None,
        "others": trial.others,
        "series": [
            {"second": batch.second, "delays": dict(batch.delays), "behind": batch.behind.get(ARCHIVE, 0.0)}
            for batch in trial.batches
        ],
    }


def caught_up(trial: OverloadTrial, since: float) -> float | None:
    """The seconds after which no branch is behind any more; none if one is to the end."""
    batches = trial.between(since, float("inf"))
    behind = [batch.second for batch in batches if batch.behind]
    if not batches or (behind and behind[-1] == batches[-1].second):
        return None
    return behind[-1] - since if behind else 0.0
