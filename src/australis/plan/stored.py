"""What is stored: which boxes of a network have state, and which are made of stored tables."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from australis.model.box import Box
from australis.model.network import Network, Node


def stateful(network: Network, node: Node) -> bool:
    """Whether a box has state. The state of a keyed table is its writer's, not its readers'."""
    return node.box.reads is None and bool(node.box.tables(*(network.schema(arrow) for arrow in node.sources)))


def same_tables(box: Box, one: Sequence[pa.Schema], two: Sequence[pa.Schema]) -> bool:
    """Whether a box keeps the same in its tables over some inputs as over others."""
    first, second = box.tables(*one), box.tables(*two)
    return first.keys() == second.keys() and all(
        first[name].key == second[name].key and first[name].schema.equals(second[name].schema) for name in first
    )


def static_sides(network: Network, node: Node) -> list[int]:
    """Which inputs of a box are stored tables, or made of stored tables alone."""
    return [side for side, arrow in enumerate(node.sources) if _static(network, arrow.source)]


def _static(network: Network, name: str) -> bool:
    if name not in network.named:
        return any(input.static for input in network.inputs if input.name == name)
    return all(_static(network, arrow.source) for arrow in network.named[name].sources)
