"""Reorder filters in a row by what they cost and let through (Aurora 3.1).

    filter (dear, lets most through) -> filter (cheap, lets few through)        becomes        cheap -> dear

Two filters change places if that costs less for a tuple, which is so when (1 - s) / c of the second is larger. A map or
a read lets all through, so that its (1 - s) / c is 0: filters pass them by `push_filter`. Boxes that were not measured
stay. Nothing changes unless it saves a twentieth, so that the order does not go to and fro with the measurements.

Sound when nothing but the next filter takes what each gives, no user function is called that is not pure, and a filter
that comes to stand before another cannot fail for a tuple that the other removed.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from australis.expressions.failing import may_fail
from australis.model.network import Arrow, Network, Node
from australis.model.qos.costs import Costs
from australis.plan.rules.gain import LEAST_GAIN, chain_seconds, selectivity
from australis.plan.rules.wiring import Wiring, rewired


def reorder(network: Network, costs: Costs, fixed: Collection[Arrow] = ()) -> Network | None:
    """Reorder the first row of filters for which it is worth it."""
    wiring = Wiring(network, fixed)
    rows: dict[str, list[Node]] = {}
    for node in network.nodes:
        if _movable(wiring, node, costs):
            before = node.sources[0].source
            follows = before in rows and wiring.only_taker(before) is node
            rows[node.name] = [*rows.pop(before), node] if follows else [node]
    for row in rows.values():
        better = _sorted(network, row, costs)
        now, then = chain_seconds(network, row, costs), chain_seconds(network, better, costs)
        if now is not None and then is not None and then < (1 - LEAST_GAIN) * now:
            reordered = _in_order(network, row, better)
            if reordered is not None:
                return reordered
    return None


def _movable(wiring: Wiring, node: Node, costs: Costs) -> bool:
    return (
        node.box.selects is not None
        and node.box.pure
        and selectivity(wiring.network, node, costs) is not None
        and wiring.main_only(node)
        and not wiring.kept(node.name)
    )


def _sorted(network: Network, row: list[Node], costs: Costs) -> list[Node]:
    """The filters in the order to which changes of neighbours lead, each of which saves something."""
    nodes = list(row)
    for at in [*range(len(nodes) - 1)] * len(nodes):
        one, two = nodes[at : at + 2]
        now, then = chain_seconds(network, (one, two), costs), chain_seconds(network, (two, one), costs)
        predicate = two.box.selects
        sure = predicate is not None and not may_fail(predicate, network.schema(two.sources[0]))
        if now is not None and then is not None and then < now and sure:
            nodes[at : at + 2] = [two, one]
    return nodes


def _in_order(network: Network, row: list[Node], better: list[Node]) -> Network | None:
    main = [Arrow(node.name, next(iter(network.schemas[node.name]))) for node in better]
    sources = [row[0].sources, *((arrow,) for arrow in main[:-1])]
    placed = [replace(node, sources=source) for node, source in zip(better, sources, strict=True)]
    changes = {old.name: [new] for old, new in zip(row, placed, strict=True)}
    return rewired(network, changes, {Arrow(row[-1].name, main[-1].port): main[-1]})
