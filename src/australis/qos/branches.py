"""Branches: the parts of a network that share nothing but inputs, so that one of them can wait (Aurora 4.2, 4.3).

Boxes belong to one branch if an arrow joins them, or a keyed table that one writes and the other reads. So a branch is
right whatever the others have taken of the same input: each may have a position of its own there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from australis.model.network import Network

T = TypeVar("T")


@dataclass(frozen=True)
class Branch:
    """Boxes and outputs that are joined, and the streams that they read."""

    boxes: tuple[str, ...]
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    """Stored tables are none: they are whole before any stream starts."""

    @property
    def name(self) -> str:
        """What people know it by: its outputs, or its first box if it has none."""
        return ", ".join(self.outputs) or f"box {self.boxes[0]}"

    @property
    def members(self) -> frozenset[tuple[str, str]]:
        """Its boxes and outputs; one of each may have the same name."""
        return frozenset([*(("box", name) for name in self.boxes), *(("output", name) for name in self.outputs)])


def branches(network: Network) -> tuple[Branch, ...]:
    """The branches of a network, in the order of their first boxes, then those of outputs that are inputs.

    >>> import australis as au
    >>> reports = au.stream("reports", "vid int, mph int")
    >>> net = au.network(fast=reports.filter("mph > 90"), all=reports)
    >>> [(branch.name, branch.boxes, branch.inputs) for branch in branches(net)]
    [('fast', ('filter_1',), ('reports',)), ('all', (), ('reports',))]
    """
    together: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for node in network.nodes:
        links = [("box", arrow.source) for arrow in node.sources if arrow.source in network.named]
        links += [("table", node.box.keyed.name)] if node.box.keyed is not None else []
        _join(together, ("box", node.name), links)
    for output in network.outputs:
        source = output.arrow.source
        _join(together, ("output", output.name), [("box", source)] if source in network.named else [])
    streams = [input.name for input in network.inputs if not input.static]
    distinct = {id(members): members for members in together.values()}
    return tuple(_branch(network, streams, frozenset(members)) for members in distinct.values())


def _join(
    together: dict[tuple[str, str], list[tuple[str, str]]], member: tuple[str, str], links: list[tuple[str, str]]
) -> None:
    """Put a box, output or table with those that it is linked to, and these with each other."""
    joined = [member]
    for link in (member, *links):
        other = together.get(link, [link])
        if other is not joined:
            joined = [*other, *(each for each in joined if each not in other)]
            together.update(dict.fromkeys(joined, joined))


def _branch(network: Network, streams: Iterable[str], members: frozenset[tuple[str, str]]) -> Branch:
    nodes = [node for node in network.nodes if ("box", node.name) in members]
    outputs = [output for output in network.outputs if ("output", output.name) in members]
    read = {arrow.source for node in nodes for arrow in node.sources} | {output.arrow.source for output in outputs}
    return Branch(
        tuple(node.name for node in nodes),
        tuple(output.name for output in outputs),
        tuple(name for name in streams if name in read),
    )


def followed_by(before: Sequence[Branch], after: Sequence[Branch], behind: Mapping[str, T]) -> Mapping[str, T] | None:
    """What was known of branches that are behind, by their names, for those of the network that follows.

    A branch is where those were whose boxes and outputs it has; one that is new is with those that are not behind. None
    if a branch has boxes or outputs of some that were in different places.
    """
    following: dict[str, T] = {}
    for branch in after:
        ancestors = [each.name for each in before if each.members & branch.members]
        places = [behind.get(name) for name in ancestors]
        if any(place != places[0] for place in places):
            return None
        if places and places[0] is not None:
            following[branch.name] = places[0]
    return following
