"""Share equal subnetworks.

    a -> filter x > 1 -> ...              a -> filter x > 1 -> ...
    a -> filter x > 1 -> ...   becomes                      -> ...

Sound when two boxes have equal parameters and take the same arrows, for boxes of a network begin together: they then
have the same state at all times. So it is not where
- a box calls a user function that is not pure, for it may give each call another answer;
- one has late or refused tuples go somewhere, and the other has them reported. Else the box that stays reports its own;
- a run may merge the inputs of one of two unions by the order that boxes after it go by: shared, it would serve boxes
  with different orders, or with none.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from australis.model.box import Box, lost
from australis.model.network import Arrow, Network, Node
from australis.model.qos.costs import Costs
from australis.plan.rules.wiring import Wiring, rewired


def share(network: Network, costs: Costs, fixed: Collection[Arrow] = ()) -> Network | None:
    """Let one box do what equal boxes over equal arrows do; the first one of them stays."""
    wiring = Wiring(network, fixed)
    firsts: dict[Any, Node] = {}
    arrows: dict[Arrow, Arrow] = {}
    for node in network.nodes:
        if not _hashable(node.box):
            continue
        sources = tuple(arrows.get(arrow, arrow) for arrow in node.sources)
        # 60 and 60.0 are equal, and so are 0.0 and -0.0, but they are written in different ways.
        first = firsts.setdefault((node.box, repr(node.box), sources), node)
        if first is not node and _shareable(wiring, first, node):
            arrows |= {Arrow(node.name, port): Arrow(first.name, port) for port in network.schemas[node.name]}
    gone = {arrow.source for arrow in arrows}
    return rewired(network, dict.fromkeys(gone, ()), arrows) if gone else None


def _shareable(wiring: Wiring, first: Node, node: Node) -> bool:
    return (
        node.box.pure
        and not wiring.kept(node.name)
        and not wiring.may_merge(first)
        and not wiring.may_merge(node)
        and _losses(wiring, first) == _losses(wiring, node)
    )


def _hashable(box: Box) -> bool:
    """Whether a box can be looked up; one of a user's own may hold what cannot."""
    try:
        hash(box)
    except TypeError:
        return False
    return True


def _losses(wiring: Wiring, node: Node) -> set[str]:
    """The ports of lost tuples that something takes."""
    return {arrow.port for arrow in wiring.used(node.name) if lost(arrow.port)}
