"""Delivery: the part of each output that comes out, by what was left out on the way to it (Aurora 4.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from australis.model.network import Arrow, Network, Node
from australis.qos.lighter import OBJECTS, LighterReach, lighter_boxes
from australis.qos.shedding import Place

RESULTS = "results"
"""The place after a box with windows, where the results of windows are left out that have lost tuples."""
SAMPLED = "sampled"
"""The place within a box that is given a sample: what it saw, and what was left out of its windows anywhere before."""
Flow: TypeAlias = tuple[float, float]
"""How many tuples went on at a place, and how many were left out there."""


@dataclass(frozen=True)
class Deliveries:
    """What flowed through a network over some time.

    The part of an output that came out is the product of the parts that went on along its way. That is exact if boxes
    let through the same part of what was left out as of what was not. Before a box whose results are left out with
    their windows nothing else is: what counts there is its results. Of a box that is given a sample all results come
    out: what counts is the part of its tuples that they are made of. Of a box that works with less, it is what this
    leaves.
    """

    network: Network
    places: Mapping[Place, Flow] = field(default_factory=dict)
    """Where tuples may be left out."""
    arrows: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """The tuples on each arrow; they weigh the ways that meet at a box."""
    apart: frozenset[tuple[str, Place]] = frozenset()
    """The places at which what is left out of an output is counted otherwise: by its own tuples (`qos/worth.py`)."""

    def delivered(self, output: str) -> float:
        """The part of an output that came out; 1 if nothing was left out."""
        if not self.places:
            return 1.0
        (arrow,) = (each.arrow for each in self.network.outputs if each.name == output)
        return self._part(output, arrow.source, {}) * self._went_on(output, ("output", output))

    def _part(self, output: str, name: str, known: dict[str, float]) -> float:
        """The part of what an input or a box would have given to an output that it gave."""
        if name not in known:
            node = self.network.named.get(name)
            known[name] = self._went_on(output, ("input", name)) if node is None else self._box(output, node, known)
        return known[name]

    def _box(self, output: str, node: Node, known: dict[str, float]) -> float:
        for counted in (RESULTS, SAMPLED):
            passed, dropped = self.places.get((counted, node.name), (0.0, 0.0))
            if dropped:
                return passed / (passed + dropped)
        ways = [(self._part(output, arrow.source, known), self._tuples(arrow)) for arrow in dict.fromkeys(node.sources)]
        part = _together(ways) * self._went_on(output, ("box", node.name))
        lighter = self._lighter.get(node.name)
        return part * self._went_on(output, (OBJECTS, node.name)) if lighter and output in lighter.outputs else part

    @cached_property
    def _lighter(self) -> dict[str, LighterReach]:
        return lighter_boxes(self.network)

    def _tuples(self, arrow: Arrow) -> float:
        return self.arrows.get((arrow.source, arrow.port), 0.0)

    def _went_on(self, output: str, place: Place) -> float:
        passed, dropped = self.places.get(place, (0.0, 0.0))
        return passed / (passed + dropped) if dropped > 0 and (output, place) not in self.apart else 1.0


def _together(ways: list[tuple[float, float]]) -> float:
    """The part of all ways that meet, from the part of each and the tuples that came by it.

    What a way has lost altogether is not known: then all count alike.
    """
    if len({part for part, _ in ways}) == 1:
        return ways[0][0]
    offered = sum(tuples / part for part, tuples in ways if part)
    if not offered or not all(part for part, _ in ways):
        return sum(part for part, _ in ways) / len(ways)
    return sum(tuples for _, tuples in ways) / offered
