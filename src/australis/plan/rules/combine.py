"""Combine boxes in a row into one (Aurora 3.1).

    filter a -> filter b        becomes        filter a and b
    map -> map                  becomes        map

Sound when nothing else takes what the first gives, nor another port of either, and the boxes say that one box does the
same (`Box.followed_by`). User functions that are not pure stay where they are.

A predicate behind `and` is asked of all tuples, and one in a filter of its own only of those that got through. Filters
that have become one cannot be put in a better order any more. So they stay apart until costs are known, and then if
that saves something.
"""

from __future__ import annotations

from collections.abc import Collection

from australis.errors import ExpressionError
from australis.model.box import Box
from australis.model.network import Arrow, Network, Node
from australis.model.qos.costs import Costs
from australis.plan.rules.gain import LEAST_GAIN, chain_seconds, selectivity
from australis.plan.rules.wiring import Wiring, new_name, rewired


def combine(network: Network, costs: Costs, fixed: Collection[Arrow] = ()) -> Network | None:
    """Combine the first two boxes that can be; the one that is made has both their names."""
    wiring = Wiring(network, fixed)
    for first in network.nodes:
        second = wiring.only_taker(first.name)
        if second is None or wiring.kept(second.name) or not wiring.main_only(second):
            continue
        if len(first.sources) == len(second.sources) == 1 and first.box.pure and second.box.pure:
            box = _combined(network, first, second)
            if box is not None and not _saves_apart(network, costs, first, second):
                group = first.group if first.group == second.group else ()
                node = Node(new_name(network, f"{first.name}_{second.name}"), box, first.sources, group)
                main = next(iter(network.schemas[second.name]))
                arrows = {Arrow(second.name, main): Arrow(node.name, main)}
                combined = rewired(network, {first.name: (), second.name: (node,)}, arrows)
                if combined is not None:
                    return combined
    return None


def _combined(network: Network, first: Node, second: Node) -> Box | None:
    try:
        return first.box.followed_by(second.box, network.schema(first.sources[0]))
    except ExpressionError:  # it is nested too deeply
        return None


def _saves_apart(network: Network, costs: Costs, first: Node, second: Node) -> bool:
    """Whether the second box has less to do behind the first than it would have in its place.

    Where nothing was measured, a filter is taken to have.
    """
    apart = chain_seconds(network, (first, second), costs)
    if apart is None:
        return first.box.selects is not None
    spared = (1 - (selectivity(network, first, costs) or 0)) * costs.boxes[second.name].seconds
    return spared > LEAST_GAIN * apart
