"""The network as it was drawn, beside the one that runs: what rules of the optimizer made of it, and what they changed.

People see the network that they drew: it is what a change or a restart is compared with. A run works on the other one,
and has its state. At the start of a run there is no state yet, and rules may change what a box with state holds: a
filter goes below a join, two equal aggregates become one. Later the arrows of `steady` are fixed, which keeps rules
from doing that. Projections come only before boxes whose tables do not have the columns anyway: another network may
need them one day.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from australis.errors import AustralisError
from australis.model.box import Box
from australis.model.network import Arrow, Network
from australis.model.qos.costs import Costs
from australis.plan.rules import RULES, STATELESS, Firing, optimize
from australis.plan.rules.combine import combine
from australis.plan.rules.project import project
from australis.plan.stored import same_tables, stateful, static_sides


@dataclass(frozen=True)
class Drawn:
    """What is known of the network that a job's network was made of."""

    network: Network
    firings: tuple[Firing, ...] = ()
    """The rules that made the job's network of it without measurements, be it now or for a job before."""
    altered: frozenset[str] = frozenset()
    """The boxes of the drawn network whose state is not what it would be without the rules.

    Boxes over stored tables count too: what they make of a table has come out.
    """

    def new_firings(self, running: Network, before: Drawn, ran: Network) -> tuple[Firing, ...]:
        """Its rules but for those that did the same to the same boxes `before`, when another network `ran`."""
        return tuple(
            firing
            for firing in self.firings
            if firing not in before.firings
            or any(self._box(running, name) != before._box(ran, name) for name in firing.boxes)
        )

    def _box(self, running: Network, name: str) -> Box | None:
        """A box as it was drawn, or as a rule has made it."""
        node = self.network.named.get(name) or running.named.get(name)
        return None if node is None else node.box


def optimized(network: Network) -> tuple[Network, Drawn | None]:
    """The network with which a run begins: all rules fire that need no measurements."""
    if not _any_fires(network):
        return network, None
    first, early = optimize(network, Costs(), steady(network), STATELESS)
    second, firings = optimize(first, Costs(), (), STATELESS)
    whole, late = _projected(second)
    if whole == network:
        return network, None
    return whole, Drawn(network, (*early, *firings, *late), frozenset(_altered(first, second)))


def settled(network: Network) -> tuple[Network, Drawn | None]:
    """The network with which a run goes on: rules fire that leave all state as it is."""
    if not _any_fires(network):
        return network, None
    first, early = optimize(network, Costs(), steady(network), STATELESS)
    whole, late = _projected(first)
    return (network, None) if whole == network else (whole, Drawn(network, (*early, *late)))


def _any_fires(network: Network) -> bool:
    """Whether there is a rule for a network. If not, boxes need not be asked what they hold: some load much to tell."""
    return any(rule(network, Costs(), ()) is not None for rule in RULES)


def _projected(network: Network) -> tuple[Network, list[Firing]]:
    """The network with projections before boxes whose tables stay the same, and maps combined with them."""
    firings: list[Firing] = []
    fixed: list[Arrow] = []
    while (changed := project(network, Costs(), fixed)) is not None:
        boxes = [node.name for node in changed.nodes if network.named.get(node.name) != node]
        if all(_keeps_tables(network, changed, node.name) for node in network.nodes):
            firings.append(Firing("project", tuple(boxes), None))
            network = changed
        else:
            fixed += [Arrow(name, port) for name in boxes for port in network.schemas.get(name, ())]
    combined, more = optimize(network, Costs(), steady(network), (combine,))
    return combined, [*firings, *more]


def steady(network: Network) -> list[Arrow]:
    """The arrows that must stay as they are while the network runs.

    They are those of boxes with state, which was made by all that the boxes were given before, and those of boxes over
    stored tables: what these make of a table would come out again.
    """
    boxes = [node.name for node in network.nodes if stateful(network, node) or static_sides(network, node)]
    return [Arrow(name, port) for name in boxes for port in network.schemas[name]]


def carried(drawn: Network, running: Network, network: Network) -> Network | None:
    """Another network, changed in the places in which rules have changed the drawn one to that which runs.

    None if it is not the same in those places, or if something that is new takes what boxes there give.
    """
    nodes = {name: running.named.get(name) for name, node in drawn.named.items() if running.named.get(name) != node}
    added = {name: node for name, node in running.named.items() if name not in drawn.named}
    arrows = {output.name: output.arrow for output in running.outputs}
    moved = {output.name for output in drawn.outputs if arrows[output.name] != output.arrow}
    inputs = {input.name for input in network.inputs}
    if any(name in network.named and network.named[name] != drawn.named[name] for name in nodes):
        return None
    if any(name in network.named or name in inputs for name in added):
        return None
    before = {output.name: output.arrow for output in drawn.outputs}
    takers = [arrow for node in network.nodes if drawn.named.get(node.name) != node for arrow in node.sources]
    takers += [output.arrow for output in network.outputs if before.get(output.name) != output.arrow]
    if any(arrow.source in nodes for arrow in takers) or any(
        output.name in moved and before[output.name] != output.arrow for output in network.outputs
    ):
        return None
    outputs = tuple(
        replace(output, arrow=arrows[output.name]) if output.name in moved else output for output in network.outputs
    )
    kept = [node for node in (nodes.get(each.name, each) for each in network.nodes) if node is not None]
    for node in reversed(added.values()):
        taken = {arrow.source for each in kept for arrow in each.sources} | {output.arrow.source for output in outputs}
        kept += [node] if node.name in taken else []
    try:
        return replace(network, nodes=tuple(kept), outputs=outputs)
    except AustralisError:
        return None


def _keeps_tables(before: Network, after: Network, name: str) -> bool:
    """Whether a box keeps the same in its tables in both networks."""
    one, two = ([each.schema(arrow) for arrow in each.named[name].sources] for each in (before, after))
    return one == two or same_tables(before.named[name].box, one, two)


def _altered(first: Network, whole: Network) -> Iterator[str]:
    """The boxes of `steady` before which, or to which, rules have done something."""
    for name in dict.fromkeys(arrow.source for arrow in steady(first)):
        if name not in whole.named or _above(first, name) != _above(whole, name):
            yield name


def _above(network: Network, name: str) -> dict[str, Box]:
    """A box and all before it."""
    above, names = {}, [name]
    while names:
        node = network.named.get(names.pop())
        if node is not None and node.name not in above:
            above[node.name] = node.box
            names += [arrow.source for arrow in node.sources]
    return above
