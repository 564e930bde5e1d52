"""What a trial of the overload benchmark shows: utilities, fairness, how soon delays are back, the work done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor

from australis.api.network import Network
from australis.bench.overload_network import SEGMENTS, WINDOW, WINDOWED, Yield
from australis.bench.overload_trial import OverloadTrial, TrialBatch
from australis.model.network import Output
from australis.model.qos import Costs

WHOLE = 0.99
"""An output of which more than this has come counts as whole: results of a batch may be noted a batch later."""
NEAR = 1.1
"""Delays up to so many times a bend count as on the flat part of a graph."""


def delivered(trial: OverloadTrial, yields: Mapping[str, Yield], since: float, until: float) -> dict[str, float]:
    """The part of the worth of each output that came out, of what was taken between two seconds.

    What waits in the source is not lost: it comes later, and its delay says so.
    """
    batches = trial.between(since, until)
    before = sum(batch.taken for batch in trial.between(float("-inf"), since))
    taken = sum(batch.taken for batch in batches)
    offered = {name: each.worth * taken for name, each in yields.items()}
    offered[WINDOWED] = float(SEGMENTS * (_windows(trial, before + taken) - _windows(trial, before)))
    came = {name: sum(batch.worth.get(name, 0.0) for batch in batches) for name in offered}
    return {name: min(came[name] / whole, 1.0) if whole > 0 else 1.0 for name, whole in offered.items()}


def _windows(trial: OverloadTrial, tuples: int) -> int:
    """How many windows of each segment have ended with so many tuples."""
    return floor(trial.curve.due(tuples - 1, tuples)[0] / WINDOW) if tuples else 0


def utilities(
    network: Network, trial: OverloadTrial, yields: Mapping[str, Yield], since: float, until: float
) -> dict[str, float]:
    """What each output was worth between two seconds, every batch by its longest delay."""
    parts, batches = delivered(trial, yields, since, until), trial.between(since, until)
    return {output.name: utility(output, parts[output.name], batches) for output in network.outputs}


def utility(output: Output, part: float, batches: Sequence[TrialBatch]) -> float:
    """What an output was worth of which a part came, every batch by its longest delay."""
    qos = output.qos
    whole = float(part >= WHOLE) if qos.delivered is None else qos.delivered.utility(1.0 if part >= WHOLE else part)
    return whole * freshness(output, batches)


def freshness(output: Output, batches: Sequence[TrialBatch]) -> float:
    """What the results of batches are worth by their delays alone; nothing if there are none."""
    graph, name = output.qos.latency, output.name
    counts = [(batch.given.get(name, 0), batch.delays[name]) for batch in batches if name in batch.delays]
    results = sum(count for count, _ in counts)
    if not results or graph is None:
        return float(bool(results))
    return sum(count * graph.utility(delay) for count, delay in counts) / results


def total(network: Network, worths: Mapping[str, float]) -> float:
    """The utilities of all outputs by their weights."""
    return sum(output.qos.weight * worths[output.name] for output in network.outputs)


def fairness(worths: Mapping[str, float]) -> float:
    """Jain's index over the utilities of outputs: 1 if all are alike, one nth if one of n has all.

    >>> fairness({"a": 0.5, "b": 0.5}), fairness({"a": 1.0, "b": 0.0}), fairness({"a": 0.0})
    (1.0, 0.5, 1.0)
    """
    squares = sum(worth * worth for worth in worths.values())
    return sum(worths.values()) ** 2 / (len(worths) * squares) if squares else 1.0


def late(network: Network, batch: TrialBatch) -> bool:
    """Whether an output of a batch is beyond the flat part of its latency graph."""
    bends = {output.name: output.qos.latency.bend for output in network.outputs if output.qos.latency is not None}
    return any(delay > NEAR * bends[name] for name, delay in batch.delays.items() if name in bends)


def settled(network: Network, trial: OverloadTrial, since: float, until: float) -> float | None:
    """The seconds after which all delays stay on the flat parts of their graphs; none if they do not."""
    batches = trial.between(since, until)
    overdue = [batch.second for batch in batches if late(network, batch)]
    if not batches or (overdue and overdue[-1] == batches[-1].second):
        return None
    return overdue[-1] - since if overdue else 0.0


def on_the_flat_part(network: Network, batches: Sequence[TrialBatch]) -> float:
    """The part of batches whose delays are all on the flat parts of their graphs."""
    return sum(not late(network, batch) for batch in batches) / len(batches) if batches else 0.0


def shed_until(trial: OverloadTrial, since: float) -> float | None:
    """The seconds after which nothing is shed any more; none if that goes on to the end."""
    batches = trial.between(since, float("inf"))
    shedding = [batch.second for batch in batches if batch.shed]
    if not batches or (shedding and shedding[-1] == batches[-1].second):
        return None
    return shedding[-1] - since if shedding else 0.0


def work(trial: OverloadTrial, costs: Costs, since: float, until: float) -> float:
    """The work done a second: the tuples of each box by what it costs, in processor seconds."""
    done = sum(
        tuples * costs.boxes[name].seconds
        for batch in trial.between(since, until)
        for name, tuples in batch.boxes.items()
        if name in costs.boxes
    )
    return done / (until - since)


def spent(trial: OverloadTrial, since: float, until: float) -> dict[str, float]:
    """Processor seconds a second: of boxes, sources, exchanges and sinks, and of all processes of the run."""
    looks = [look for look in trial.looks if since <= look.second < until]
    used = 0.0
    if len(looks) > 1:
        used = (looks[-1].used - looks[0].used) / (looks[-1].second - looks[0].second)
    counted = sum(batch.spent for batch in trial.between(since, until)) / (until - since)
    return {"counted": counted, "processes": used}


def over_time(
    network: Network, trial: OverloadTrial, yields: Mapping[str, Yield], span: float = 5.0
) -> list[dict[str, float | dict[str, float]]]:
    """The load and the utility of each output at every second, over the last few seconds."""
    series: list[dict[str, float | dict[str, float]]] = []
    for second in range(1, int(trial.seconds) + 1):
        since = max(second - span, 0.0)
        worths = utilities(network, trial, yields, since, second)
        parts = delivered(trial, yields, since, second)
        delays = {
            output.name: max(
                (batch.delays.get(output.name, 0.0) for batch in trial.between(second - 1, second)), default=0
            )
            for output in network.outputs
        }
        rate = trial.curve.at(second - 0.5)
        series.append({"second": second, "rate": rate, "utility": worths, "delivered": parts, "delay": delays,
                       "total": total(network, worths)})  # fmt: skip
    return series
