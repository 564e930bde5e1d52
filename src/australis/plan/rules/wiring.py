"""Wiring: who takes which arrow of a network, and networks with some boxes replaced."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import pyarrow as pa

from australis.arrow.durations import TUP
from australis.errors import AustralisError
from australis.model.ascent import Ascent, Disorder
from australis.model.network import Arrow, Network, Node

Inlet: TypeAlias = tuple[str, int]
"""An input of a box: the box's name, and which of its inputs."""


@dataclass(frozen=True)
class Wiring:
    """A network, and the arrows whose tuples must stay as they are: outputs, and those that are `fixed`."""

    network: Network
    fixed: Collection[Arrow] = ()

    @cached_property
    def takers(self) -> Mapping[Arrow, list[Inlet]]:
        """The inputs of boxes that take each arrow."""
        takers: dict[Arrow, list[Inlet]] = {}
        for node in self.network.nodes:
            for side, arrow in enumerate(node.sources):
                takers.setdefault(arrow, []).append((node.name, side))
        return takers

    @cached_property
    def visible(self) -> frozenset[Arrow]:
        """The arrows that people see."""
        return frozenset((*self.fixed, *(output.arrow for output in self.network.outputs)))

    def used(self, name: str) -> list[Arrow]:
        """The ports of a box that something takes."""
        arrows = [Arrow(name, port) for port in self.network.schemas[name]]
        return [arrow for arrow in arrows if arrow in self.takers or arrow in self.visible]

    def kept(self, name: str) -> bool:
        """Whether an arrow of a box is fixed, so that the box must stay in its place."""
        return any(arrow.source == name for arrow in self.fixed)

    def only_taker(self, name: str) -> Node | None:
        """The box that takes the main port of another, if nothing else takes anything of it."""
        main = Arrow(name, next(iter(self.network.schemas[name])))
        takers = self.takers.get(main, [])
        if self.used(name) != [main] or main in self.visible or len(takers) != 1:
            return None
        return self.network.named[takers[0][0]]

    def main_only(self, node: Node) -> bool:
        """Whether nothing takes other ports of a box than its main one."""
        return self.used(node.name) in ([], [Arrow(node.name, next(iter(self.network.schemas[node.name])))])

    def ascents(self, node: Node) -> list[ArrowAscent]:
        """What is known of the order of a box's inputs."""
        return [ArrowAscent(self.network, arrow) for arrow in node.sources]

    def takes_maps(self, node: Node) -> bool:
        """Whether boxes may come between a box and its inputs at no cost.

        The partitions of a box read a stored table by themselves, each its part of it. Only a box that may have copies
        of its inputs takes a table from another box in the same stage.
        """
        return node.box.copies_inputs or not any(ascent.stored for ascent in self.ascents(node))

    def may_merge(self, node: Node) -> bool:
        """Whether a run may merge the inputs of a box by a column, because a box after it goes by that order.

        So do runs of several finite inputs. What passes where is then no longer a matter of arrival.
        """
        if not node.box.merges or node.box.waits_for_all:
            return False
        inputs = {input.name for input in self.network.inputs if not input.static}
        return len(self._before(node) & inputs) > 1 and any(
            after.box.ordered_on(side) not in ("", TUP)
            for after in self._after(node)
            for side in range(len(after.sources))
        )

    def _before(self, node: Node) -> set[str]:
        """The names of boxes and inputs before a box."""
        reached = {arrow.source for arrow in node.sources}
        for each in reversed(self.network.nodes):
            if each.name in reached:
                reached |= {arrow.source for arrow in each.sources}
        return reached

    def _after(self, node: Node) -> list[Node]:
        reached = {node.name}
        after = []
        for each in self.network.nodes:
            if any(arrow.source in reached for arrow in each.sources):
                reached.add(each.name)
                after.append(each)
        return after


@dataclass(frozen=True)
class ArrowAscent:
    """An arrow of a network, as boxes see it when they say whether their results ascend.

    Nothing is known of inputs: their sources may be out of order. A floating number may leave the finite ones on the
    way, and what is not finite has no place.
    """

    network: Network
    arrow: Arrow

    @property
    def schema(self) -> pa.Schema:
        return self.network.schema(self.arrow)

    @property
    def stored(self) -> bool:
        node = self.network.named.get(self.arrow.source)
        if node is None:
            return any(input.static for input in self.network.inputs if input.name == self.arrow.source)
        return node.box.stores and all(ArrowAscent(self.network, arrow).stored for arrow in node.sources)

    def disorder(self, column: str, by: AbstractSet[str]) -> Disorder | None:
        node = self.network.named.get(self.arrow.source)
        if node is None:
            return Disorder(f"nothing is known of the order of the input {self.arrow.source}")
        main = self.arrow.port == next(iter(self.network.schemas[node.name]))
        if not node.box.says_disorder or (not main and node.box.selects is None):
            return Disorder(f"nothing is known of the order of {self.arrow}")
        if column not in self.schema.names or pa.types.is_floating(self.schema.field(column).type):
            return Disorder(f"`{column}` may be infinite")
        inputs: list[Ascent] = [ArrowAscent(self.network, arrow) for arrow in node.sources]
        return node.box.disorder(column, by, inputs)


def rewired(
    network: Network, changes: Mapping[str, Iterable[Node]], arrows: Mapping[Arrow, Arrow] | None = None
) -> Network | None:
    """The network with boxes replaced by others, which may be several or none, and arrows by others.

    The arrows of the boxes in `changes` are taken as they are. None if such a network is refused, as when a box learns
    other facts of its signals, or if an output would get another schema.
    """
    to = arrows or {}
    nodes: list[Node] = []
    for node in network.nodes:
        if node.name in changes:
            nodes += changes[node.name]
        else:
            nodes.append(replace(node, sources=tuple(to.get(arrow, arrow) for arrow in node.sources)))
    outputs = tuple(replace(output, arrow=to.get(output.arrow, output.arrow)) for output in network.outputs)
    try:
        changed = replace(network, nodes=tuple(nodes), outputs=outputs)
    except AustralisError:
        return None
    same = all(
        network.schema(old.arrow).equals(changed.schema(new.arrow), check_metadata=True)
        for old, new in zip(network.outputs, changed.outputs, strict=True)
    )
    return changed if same else None


def new_name(network: Network, wanted: str) -> str:
    """A name for a box that no box and no input has."""
    taken = {*network.named, *(input.name for input in network.inputs)}
    name, count = wanted, 1
    while name in taken:
        count += 1
        name = f"{wanted}_{count}"
    return name
