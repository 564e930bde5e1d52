"""The optimizer: rules that change a network and not what it gives, until none of them fires (Aurora 3.1).

What comes out of the outputs is the same, in the same order, and so is what is reported as late or refused. The changed
network may only fail for fewer tuples. Boxes with state keep their names, under which their state is stored; but a
projection before one changes the columns that it stores.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from australis.errors import listing
from australis.model.network import Arrow, Network
from australis.model.qos.costs import Costs
from australis.plan.rules.combine import combine
from australis.plan.rules.gain import changed_boxes, expected_gain
from australis.plan.rules.project import project
from australis.plan.rules.push import push_filter
from australis.plan.rules.reorder import reorder
from australis.plan.rules.share import share

Rule: TypeAlias = Callable[[Network, Costs, Collection[Arrow]], Network | None]

RULES: tuple[Rule, ...] = (share, push_filter, reorder, combine, project)
"""Filters go down before they are ordered, are ordered before they become one, and columns are counted at last."""

STATELESS: tuple[Rule, ...] = (share, push_filter, combine)
"""The rules that leave the state of boxes as it is, if the arrows of `steady` are fixed."""
MEASURED: tuple[Rule, ...] = (push_filter, reorder)
"""The rules that measurements can make fire, of which the same holds. A run compiles filters in a row into one loop by
itself, so that combining them would gain nothing."""

_MOST_PER_BOX = 20


@dataclass(frozen=True)
class Firing:
    """A rule has changed a network."""

    rule: str
    boxes: tuple[str, ...]
    """The boxes that it is about: those that went, came, or changed places."""
    gain: float | None
    """The part of the cost of these boxes that it is expected to save; None where costs have nothing to say."""

    def __str__(self) -> str:
        """The rule in a line.

        >>> str(Firing("reorder", ("dear", "cheap"), 0.423))
        'reorder dear, cheap: 42% less for these'
        """
        gain = "" if self.gain is None else f": {self.gain:.0%} less for these"
        return f"{self.rule} {listing(self.boxes)}{gain}"


def optimize(
    network: Network, costs: Costs, fixed: Collection[Arrow] = (), rules: Sequence[Rule] = RULES
) -> tuple[Network, list[Firing]]:
    """The network after the rules, and which of them fired. No rule changes what passes the `fixed` arrows."""
    firings: list[Firing] = []
    for _ in range(_MOST_PER_BOX * (1 + len(network.nodes))):
        for rule in rules:
            changed = rule(network, costs, fixed)
            if changed is not None:
                boxes, gain = changed_boxes(network, changed), expected_gain(network, changed, costs)
                firings.append(Firing(rule.__name__, boxes, gain))
                network = changed
                break
        else:
            break
    return network, firings
