"""Utility: what outputs are worth with their delays, and the part of them that is delivered (Aurora 4.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from australis.model.network import Output
from australis.model.qos import QoS


def utility(qos: QoS, delay: float = 0.0, delivered: float = 1.0) -> float:
    """What an output is worth, between 0 and 1. One without a `delivered` graph is worth nothing while it is shed.

    >>> from australis.model.qos import qos
    >>> utility(qos(latency={2: 1, 10: 0}, delivered={0: 0, 0.5: 0.9, 1: 1}), delay=6, delivered=0.5)
    0.45
    >>> utility(qos(latency={2: 1, 10: 0}), delay=1, delivered=0.99)
    0.0
    """
    return mean_utility(qos, 1.0 if qos.latency is None else qos.latency.utility(delay), delivered)


def mean_utility(qos: QoS, fresh: float, delivered: float) -> float:
    """What an output is worth whose tuples are worth so much by their delays, on average (`fresh`)."""
    whole = float(delivered >= 1) if qos.delivered is None else qos.delivered.utility(delivered)
    return fresh * whole


def total(outputs: Iterable[Output], delays: Mapping[str, float], delivered: Mapping[str, float]) -> float:
    """The utility of all outputs by their weights; those of which nothing is said are on time and whole."""
    return sum(
        output.qos.weight * utility(output.qos, delays.get(output.name, 0.0), delivered.get(output.name, 1.0))
        for output in outputs
    )
