"""Insert projections: a map that keeps only the columns that anybody needs (Aurora 3.1).

    a -> aggregate by x        becomes        a -> map x, t -> aggregate by x

It comes before boxes that need their input partitioned, which are those that keep tuples as state, or before which
tuples go from process to process.

Sound when the box says that it gives the same with these columns alone (`Box.columns_needed`), and all that is made of
its results is made of columns that it still gives. An arrow that is an output or fixed needs all columns. So do late
and refused tuples that go somewhere, and refused ones that become dead letters, for people read them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import replace

from australis.boxes import Map
from australis.expressions import col, expr
from australis.model.box import REFUSED, lost
from australis.model.network import OUT, Arrow, Network, Node
from australis.model.qos.costs import Costs
from australis.plan.rules.wiring import Inlet, Wiring, new_name, rewired


def project(network: Network, costs: Costs, fixed: Collection[Arrow] = ()) -> Network | None:
    """Insert projections before the first box that is given columns which nobody needs."""
    wiring = Wiring(network, fixed)
    needed = _needed(wiring)
    for node in network.nodes:
        streams = [network.schema(arrow) for arrow in node.sources]
        if node.box.keys(*streams) is None or wiring.kept(node.name):
            continue
        kept = [_kept(stream.names, needed[node.name, side]) for side, stream in enumerate(streams)]
        less = [names != stream.names for names, stream in zip(kept, streams, strict=True)]
        if any(less) and wiring.takes_maps(node):
            projected = _projected(network, node, {side: kept[side] for side, some in enumerate(less) if some})
            if projected is not None:
                return projected
    return None


def _kept(names: list[str], needed: Collection[str]) -> list[str]:
    """The columns that are needed, but at least one, since a tuple has a column."""
    return [name for name in names if name in needed] or names[:1]


def _projected(network: Network, node: Node, kept: Mapping[int, list[str]]) -> Network | None:
    sources, maps = list(node.sources), []
    for side, names in kept.items():
        beside = f"_{side + 1}" if len(sources) > 1 else ""
        name = new_name(network, f"{node.name}_columns{beside}")
        columns = tuple((column, expr(col(column))) for column in names)
        maps.append(Node(name, Map(columns), (sources[side],), node.group))
        sources[side] = Arrow(name, OUT)
    return rewired(network, {node.name: [*maps, replace(node, sources=tuple(sources))]})


def _needed(wiring: Wiring) -> dict[Inlet, set[str]]:
    """The columns that each input of each box must be given."""
    network = wiring.network
    wanted: dict[Arrow, set[str]] = defaultdict(set)
    for arrow in wiring.visible:
        wanted[arrow] |= set(network.schema(arrow).names)
    needed: dict[Inlet, set[str]] = defaultdict(set)
    for node in reversed(network.nodes):
        streams = [network.schema(arrow) for arrow in node.sources]
        used = wiring.used(node.name)
        for place, port in enumerate(network.schemas[node.name]):
            arrow = Arrow(node.name, port)
            if lost(port) and (arrow in used or lost(port) == REFUSED):
                for side in node.box.passes(port, *streams) or range(len(streams)):
                    needed[node.name, side] |= set(streams[side].names)
            elif not lost(port) and (arrow in used or place == 0):
                for side, names in enumerate(node.box.columns_needed(port, wanted[arrow], *streams)):
                    needed[node.name, side] |= names
        for side, arrow in enumerate(node.sources):
            wanted[arrow] |= needed[node.name, side]
    return needed
