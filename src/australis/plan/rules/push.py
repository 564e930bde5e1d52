"""Push filters toward the inputs: below a map, a union, a sort, a read, a join or an aggregate (Aurora 3.1).

    join -> filter left.x > 1        becomes        filter x > 1 -> join (left)

Sound when nothing else takes what the box or the filter gives (a filter's `rest` among it), and the box says which
predicates on its inputs do the same (`Box.pushes`): which tuples are late must not change, nor may a predicate fail for
a tuple that it would never have met. Parts of a conjunction go alone if they cannot fail, for the parts before them
removed tuples from them. User functions that are not pure stay where they are, and so do the tuples that they meet.
A union whose inputs a run may merge by an order stays as it is: what comes late there goes by the tuples before it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from australis.boxes import Filter
from australis.expressions import Expr
from australis.expressions.expression import of
from australis.expressions.failing import may_fail
from australis.expressions.node import Node as Part
from australis.expressions.node import apply, conjuncts
from australis.model.network import Arrow, Network, Node
from australis.model.qos.costs import Costs
from australis.plan.rules.gain import chain_seconds
from australis.plan.rules.wiring import Wiring, new_name, rewired


def push_filter(network: Network, costs: Costs, fixed: Collection[Arrow] = ()) -> Network | None:
    """Push the first filter that can be, or parts of it, below the box before it."""
    wiring = Wiring(network, fixed)
    for node in network.nodes:
        predicate, below = node.box.selects, network.named.get(node.sources[0].source)
        if predicate is None or below is None or wiring.only_taker(below.name) is not node:
            continue
        if wiring.kept(node.name) or not wiring.main_only(node) or not (node.box.pure and below.box.pure):
            continue
        moved, left = _parted(wiring, below, predicate, node.sources[0].port)
        if not moved or wiring.may_merge(below) or not wiring.takes_maps(below):
            continue
        if not _dearer(network, costs, below, node):
            pushed = _pushed(network, below, node, moved, left)
            if pushed is not None:
                return pushed
    return None


def _parted(wiring: Wiring, below: Node, predicate: Expr, port: str) -> tuple[Mapping[int, Expr], Expr | None]:
    """The predicates to put on inputs of a box, and what is left of the one behind it."""
    inputs = wiring.ascents(below)
    whole = below.box.pushes(predicate, port, inputs)
    if whole is not None:
        return whole, None
    stream = wiring.network.schemas[below.name][port]
    moved: dict[int, list[Part]] = {}
    left: list[Part] = []
    for part in conjuncts(predicate.node):
        sides = None if may_fail(of(part), stream) else below.box.pushes(of(part), port, inputs)
        if sides is None:
            left.append(part)
        for side, each in (sides or {}).items():
            moved.setdefault(side, []).append(each.node)
    return {side: _all(parts) for side, parts in moved.items()}, _all(left) if left else None


def _all(parts: list[Part]) -> Expr:
    return of(apply("and", *parts) if len(parts) > 1 else parts[0])


def _pushed(network: Network, below: Node, node: Node, moved: Mapping[int, Expr], left: Expr | None) -> Network | None:
    alone, main = left is None and len(moved) == 1, next(iter(network.schemas[node.name]))
    sources, filters = list(below.sources), []
    for side, predicate in sorted(moved.items()):
        name = node.name if alone else new_name(network, f"{node.name}_{side + 1}")
        filters.append(Node(name, Filter(predicate), (sources[side],), node.group))
        sources[side] = Arrow(name, main)
    changes = {below.name: [*filters, replace(below, sources=tuple(sources))]}
    changes[node.name] = [] if left is None else [replace(node, box=Filter(left))]
    arrows = {} if left is not None else {Arrow(node.name, main): node.sources[0]}
    return rewired(network, changes, arrows)


def _dearer(network: Network, costs: Costs, below: Node, node: Node) -> bool:
    """Whether it is known that the filter costs more in front of the box than it saves there."""
    now, then = (chain_seconds(network, order, costs) for order in ((below, node), (node, below)))
    return now is not None and then is not None and then > now
