"""Lighter boxes: those that leave out by themselves what their results need least, and what lies behind them (SOLE 6).

In place of tuples before or after it, a plan tells such a box which part of its results to leave. So what comes out
keeps what it promises: of updates that were dropped by chance, no sum would be an answer any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from australis.model.network import Arrow, Network, Node


@dataclass(frozen=True)
class LighterReach:
    """The boxes and outputs that get less if a box works with less."""

    boxes: frozenset[str]
    outputs: frozenset[str]


def lighter_boxes(network: Network) -> dict[str, LighterReach]:
    """The boxes that can work with less, and what they reach.

    Not those behind which a box counts on all of their results, such as one with a table: it would give wrong ones.
    """
    found = {}
    for node in network.nodes:
        ports = node.box.lightens(*(network.schema(arrow) for arrow in node.sources))
        reach = _reach(network, {Arrow(node.name, port) for port in ports})
        if ports and all(_passes_parts_on(network, network.named[name]) for name in reach.boxes):
            found[node.name] = reach
    return found


def _reach(network: Network, arrows: set[Arrow]) -> LighterReach:
    boxes = set()
    for node in network.nodes:
        if arrows & set(node.sources):
            boxes.add(node.name)
            arrows |= {Arrow(node.name, port) for port in network.schemas[node.name]}
    return LighterReach(
        frozenset(boxes), frozenset(output.name for output in network.outputs if output.arrow in arrows)
    )


def _passes_parts_on(network: Network, node: Node) -> bool:
    """Whether a box gives a part of its results, and no others, if it is given a part of its tuples."""
    schemas = [network.schema(arrow) for arrow in node.sources]
    return node.box.divisible(*schemas) and (len(schemas) == 1 or node.box.merges)


def together(reaches: Iterable[LighterReach], output: str) -> frozenset[str]:
    """The outputs that get the same part as one, since the same boxes work with less for them."""
    names, known = {output}, set[str]()
    while names != known:
        known = set(names)
        for reach in reaches:
            if reach.outputs & names:
                names |= reach.outputs
    return frozenset(names)


def box_parts(network: Network, kept: Mapping[str, float]) -> dict[str, float]:
    """The boxes that are to work with less, and which part of their results the outputs behind them keep."""
    parts = {
        name: max((kept.get(output, 1.0) for output in reach.outputs), default=1.0)
        for name, reach in lighter_boxes(network).items()
    }
    return {name: part for name, part in parts.items() if part < 1}


OBJECTS = "objects"
"""The place within a box where it leaves out objects by itself."""


def box_losses(rows: Iterable[Mapping[str, Any]]) -> dict[str, tuple[int, int]]:
    """How many members all answers of lighter boxes had, and how many they missed, from rows of measurements."""
    losses: dict[str, tuple[int, int]] = {}
    for row in rows:
        if row["kind"] == "shed" and row["port"] == OBJECTS:
            members, missed = losses.get(row["name"], (0, 0))
            losses[row["name"]] = (members + row["members"], missed + row["missed"])
    return losses


def box_outputs(network: Network, losses: Mapping[str, tuple[int, int]]) -> dict[str, float]:
    """The part that outputs behind lighter boxes kept, by what these left out; not those of which nothing is known."""
    kept: dict[str, float] = {}
    for name, reach in lighter_boxes(network).items():
        members, missed = losses.get(name, (0, 0))
        if members:
            kept |= {output: kept.get(output, 1.0) * (1 - missed / members) for output in reach.outputs}
    return kept
