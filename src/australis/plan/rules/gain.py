"""Gain: what a change of a network is expected to save, by the cost model of the paper (Aurora 3.1)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import pairwise

from australis.model.network import Arrow, Network, Node
from australis.model.qos.costs import Costs

LEAST_GAIN = 0.05
"""The part of the cost that a change must save: less is noise, and boxes would change places for ever."""


def selectivity(network: Network, node: Node, costs: Costs) -> float | None:
    """The tuples that a box gives on its main port for each that it takes; None if that was not measured."""
    cost = costs.boxes.get(node.name)
    return None if cost is None else cost.selectivity.get(next(iter(network.schemas[node.name])))


def chain_seconds(network: Network, nodes: Iterable[Node], costs: Costs) -> float | None:
    """What boxes in a row take for a tuple that enters the first; None if one of them was not measured."""
    tuples, seconds = 1.0, 0.0
    for node in nodes:
        part = selectivity(network, node, costs)
        if part is None:
            return None
        seconds += tuples * costs.boxes[node.name].seconds
        tuples *= part
    return seconds


def changed_boxes(before: Network, after: Network) -> tuple[str, ...]:
    """The boxes that a change is about: those that go, that come, or that something takes which did not before."""
    boxes = before.named.keys() ^ after.named.keys()
    boxes |= {arrow.source for _, arrow in _taken(after) - _taken(before) if arrow.source in after.named}
    boxes |= {name for name, node in after.named.items() if name in before.named and node.box != before.named[name].box}
    order = [*before.named, *(name for name in after.named if name not in before.named)]
    return tuple(name for name in order if name in boxes)


def expected_gain(before: Network, after: Network, costs: Costs) -> float | None:
    """The part of the cost of the changed boxes that is saved.

    None if they are not the same boxes in a row in another order, or were not all measured.
    """
    names = changed_boxes(before, after)
    chains = [(network, _chain(network, names)) for network in (before, after)]
    old, new = (None if chain is None else chain_seconds(network, chain, costs) for network, chain in chains)
    return None if old is None or new is None or not old else 1 - new / old


def _taken(network: Network) -> set[tuple[object, Arrow]]:
    """Which arrow each input of a box takes, and each output."""
    inlets = {((node.name, side), arrow) for node in network.nodes for side, arrow in enumerate(node.sources)}
    return inlets | {(output.name, output.arrow) for output in network.outputs}


def _chain(network: Network, names: Collection[str]) -> list[Node] | None:
    """The boxes of these names, if there are such, and each takes what the one before gives."""
    chain = [node for node in network.nodes if node.name in names]
    joined = all([arrow.source for arrow in second.sources] == [first.name] for first, second in pairwise(chain))
    return chain if joined and len(chain) == len(names) else None
