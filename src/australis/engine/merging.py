"""Merging: finite inputs that meet in a union are merged by the stream's own time, not by what is read first."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from australis.model.network import OUT, Arrow, Network, Node
from australis.model.order import TUP


def merging(network: Network, finite: Collection[str]) -> Network:
    """The network, with unions of different finite inputs merged on the column that boxes after them are ordered on.

    Files have no order of arrival between them. One that is read sooner, or has more tuples to the hour, would make the
    others late. Where boxes go by different columns, or an input has no end, a union stays as it is.
    """
    nodes = tuple(_merged(network, node, finite) for node in network.nodes)
    return network if nodes == network.nodes else replace(network, nodes=nodes)


def _merged(network: Network, node: Node, finite: Collection[str]) -> Node:
    if not node.box.merges or node.box.waits_for_all:
        return node
    streams = {name for arrow in node.sources for name in _streams(network, arrow)}
    names = network.schemas[node.name][OUT].names
    columns = set(_ordered(network, Arrow(node.name, OUT), {name: name for name in names}))
    if len(streams) < 2 or not streams <= set(finite) or len(columns) != 1:
        return node
    return replace(node, box=node.box.merged_by(columns.pop()) or node.box)


def _streams(network: Network, arrow: Arrow) -> Iterator[str]:
    """The stream inputs that an arrow comes from."""
    if arrow.source in network.named:
        for each in network.named[arrow.source].sources:
            yield from _streams(network, each)
    elif not any(input.static for input in network.inputs if input.name == arrow.source):
        yield arrow.source


def _ordered(network: Network, arrow: Arrow, names: dict[str, str]) -> Iterator[str]:
    """The columns that boxes after an arrow are ordered on; `names` has what the arrow's columns were called first."""
    for node in network.nodes:
        for side in (side for side, source in enumerate(node.sources) if source == arrow):
            on = node.box.ordered_on(side)
            if on != TUP and on in names:
                yield names[on]
            inputs = [network.schema(source) for source in node.sources]
            for port in network.schemas[node.name]:
                copied = node.box.passes(port, *inputs).get(side, {})
                after = {to: names[name] for name, to in copied.items() if name in names}
                if after:
                    yield from _ordered(network, Arrow(node.name, port), after)


def by_arrival(network: Network, name: str) -> str:
    """The name of a union before a box that takes several inputs as they arrive; empty if there is none."""
    node = network.named.get(name)
    for arrow in () if node is None else node.sources:
        before = network.named.get(arrow.source)
        if before is not None and before.box.merges and not before.box.waits_for_all:
            streams = {each for source in before.sources for each in _streams(network, source)}
            if len(streams) > 1:
                return before.name
        if union := by_arrival(network, arrow.source):
            return union
    return ""


def done(network: Network, node: Node, ended: Collection[str]) -> frozenset[int]:
    """Which inputs of a box give nothing more once some inputs of the network have ended."""
    return frozenset(side for side, arrow in enumerate(node.sources) if _done(network, arrow.source, ended))


def _done(network: Network, name: str, ended: Collection[str]) -> bool:
    if name not in network.named:
        return name in ended or any(input.static for input in network.inputs if input.name == name)
    node = network.named[name]
    return node.box.immediate and all(_done(network, arrow.source, ended) for arrow in node.sources)
