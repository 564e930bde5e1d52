"""Reorder filters in a row by what they cost and let through (Aurora 3.1).

    filter (dear, lets most through) -> filter (cheap, lets few through)        becomes        cheap -> dear

Next comes the filter with the largest (1 - s) / c, where s is the part that it lets through of what those before it do
and c what it costs. If filters do not depend on each other this is the best order; if they do, and it was counted which
tuples pass which of them, it costs at most four times as much as the best, and mostly no more (adaptive greedy, Babu et
al. 2004). A map or a read lets all through, so that its (1 - s) / c is 0: filters pass them by `push_filter`. Boxes
that were not measured stay. Nothing changes unless it saves a twentieth, so that the order does not go to and fro with
the measurements.

Sound when the filters are a row (`filter_rows`), and one that comes to stand before another cannot fail for a tuple
that the other removed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import groupby
from math import inf

from australis.model.network import Arrow, Network, Node
from australis.model.qos.costs import Costs
from australis.plan.rules.gain import LEAST_GAIN, chain_seconds, passing, selectivity
from australis.plan.rules.rows import filter_rows, sure
from australis.plan.rules.wiring import Wiring, rewired


def reorder(network: Network, costs: Costs, fixed: Collection[Arrow] = ()) -> Network | None:
    """Reorder the first row of filters for which it is worth it."""
    for row in _measured(Wiring(network, fixed), costs):
        better = _greedy(network, row, costs)
        now, then = chain_seconds(network, row, costs), chain_seconds(network, better, costs)
        if now is not None and then is not None and then < (1 - LEAST_GAIN) * now:
            reordered = _in_order(network, row, better)
            if reordered is not None:
                return reordered
    return None


def _measured(wiring: Wiring, costs: Costs) -> Iterator[list[Node]]:
    """The rows of filters, without those that were not measured: what lies between these is a row."""
    for row in filter_rows(wiring):
        for known, nodes in groupby(row, lambda node: selectivity(wiring.network, node, costs) is not None):
            if known:
                yield list(nodes)


def _greedy(network: Network, row: list[Node], costs: Costs) -> list[Node]:
    """The filters in the order of what they save for what they cost, each behind those that are chosen before it.

    One that may fail comes after all that it stands behind now.
    """
    left, placed = list(row), list[Node]()
    while left:
        free = [node for at, node in enumerate(left) if not at or sure(network, node)]
        placed.append(max(free, key=lambda node: _rank(network, placed, node, costs)))
        left.remove(placed[-1])
    return placed


def _rank(network: Network, before: list[Node], node: Node, costs: Costs) -> float:
    """(1 - s) / c of a filter behind others."""
    come, go = passing(network, before, costs), passing(network, [*before, node], costs)
    removed = 0.0 if not come or go is None else 1 - go / come
    seconds = costs.boxes[node.name].seconds
    return removed / seconds if seconds else inf


def _in_order(network: Network, row: list[Node], better: list[Node]) -> Network | None:
    main = [Arrow(node.name, next(iter(network.schemas[node.name]))) for node in better]
    sources = [row[0].sources, *((arrow,) for arrow in main[:-1])]
    placed = [replace(node, sources=source) for node, source in zip(better, sources, strict=True)]
    changes = {old.name: [new] for old, new in zip(row, placed, strict=True)}
    return rewired(network, changes, {Arrow(row[-1].name, main[-1].port): main[-1]})
