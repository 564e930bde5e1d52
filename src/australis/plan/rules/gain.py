"""Gain: what a change of a network is expected to save, by the cost model of the paper (Aurora 3.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from math import prod

from australis.model.network import Arrow, Network, Node
from australis.model.qos.costs import Costs

LEAST_GAIN = 0.05
"""The part of the cost that a change must save: less is noise, and boxes would change places for ever."""


def selectivity(network: Network, node: Node, costs: Costs) -> float | None:
    """The tuples that a box gives on its main port for each that it takes; None if that was not measured."""
    cost = costs.boxes.get(node.name)
    return None if cost is None else cost.selectivity.get(next(iter(network.schemas[node.name])))


def passing(network: Network, nodes: Sequence[Node], costs: Costs) -> float | None:
    """The tuples that boxes in a row give for each that enters the first; None if one of them was not measured.

    Filters that were counted together give what they do together; others do not depend on each other.
    """
    names = {node.name for node in nodes}
    together = {name for passes in costs.passes for name in passes.filters}
    tuples = prod(passes.part(names) for passes in costs.passes)
    for node in nodes:
        part = selectivity(network, node, costs)
        if part is None:
            return None
        tuples *= 1.0 if node.name in together else part
    return tuples


def chain_seconds(network: Network, nodes: Sequence[Node], costs: Costs, before: Sequence[Node] = ()) -> float | None:
    """What boxes in a row take for a tuple that enters the first; None if one of them was not measured.

    With boxes `before` them, it is for a tuple that enters the first of those.
    """
    seconds = 0.0
    for at, node in enumerate(nodes):
        tuples = passing(network, [*before, *nodes[:at]], costs)
        if tuples is None or selectivity(network, node, costs) is None:
            return None
        seconds += tuples * costs.boxes[node.name].seconds
    return seconds


def changed_boxes(before: Network, after: Network) -> tuple[str, ...]:
    """The boxes that a change is about: those that go, that come, or that another box takes which did not before.

    Where boxes in a row change places, those between them are among them.
    """
    boxes = before.named.keys() ^ after.named.keys()
    added = after.named.keys() - before.named.keys()
    taken = {arrow for taker, _, arrow in _taken(after) - _taken(before) if taker not in added}
    boxes |= {arrow.source for arrow in taken if arrow.source in after.named}
    boxes |= {name for name, node in after.named.items() if name in before.named and node.box != before.named[name].box}
    rows = _rows(before, after, boxes)
    boxes |= {node.name for node in rows[0]} if rows is not None else set()
    order = [*before.named, *(name for name in after.named if name not in before.named)]
    return tuple(name for name in order if name in boxes)


def expected_gain(before: Network, after: Network, costs: Costs) -> float | None:
    """The part of the cost of the changed boxes that is saved.

    None if they are not the same boxes in a row in another order, or were not all measured.
    """
    rows = _rows(before, after, changed_boxes(before, after))
    if rows is None:
        return None
    above = _counted_above(before, rows[0][0], costs)
    old, new = (chain_seconds(network, row, costs, above) for network, row in zip((before, after), rows, strict=True))
    return None if old is None or new is None or not old else 1 - new / old


def _counted_above(network: Network, node: Node, costs: Costs) -> list[Node]:
    """The filters before a box that may have been counted together with it: they decide which tuples come to it."""
    together = {name for passes in costs.passes for name in passes.filters}
    above: list[Node] = []
    while (before := network.named.get(node.sources[0].source)) is not None:
        above += [before] if before.name in together and before.name in costs.boxes else []
        node = before
    return above


def _taken(network: Network) -> set[tuple[str, int | None, Arrow]]:
    """Which arrow each input of a box takes, and each output."""
    inlets = {(node.name, side, arrow) for node in network.nodes for side, arrow in enumerate(node.sources)}
    return inlets | {(output.name, None, output.arrow) for output in network.outputs}


def _rows(before: Network, after: Network, names: Iterable[str]) -> tuple[list[Node], list[Node]] | None:
    """The boxes of these names with those between them, in both networks, if they are the same boxes in a row."""
    every = set(names)
    while (old := _row(before, every)) is not None and (new := _row(after, every)) is not None:
        wider = {node.name for node in (*old, *new)}
        if wider == every:
            return old, new
        every = wider
    return None


def _row(network: Network, names: AbstractSet[str]) -> list[Node] | None:
    """Boxes in a row, each of which takes what the one before gives, from the first of some names to the last."""
    row = [node for node in network.nodes if node.name in names][-1:]
    if not row or not names <= network.named.keys():
        return None
    while not names <= {node.name for node in row}:
        (arrow, *more) = row[0].sources
        if more or arrow.source not in network.named:
            return None
        row.insert(0, network.named[arrow.source])
    return row
