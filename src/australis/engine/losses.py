"""Losses: tuples that boxes found late or refused, and that nothing takes; how many, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from australis.engine.merging import by_arrival
from australis.model.box import LATE, lost
from australis.model.network import Arrow, Network
from australis.model.order import Order

PortCounts = Mapping[str, Mapping[str, int]]
"""How many tuples boxes have given, by box and by port."""


def unwired(network: Network, names: Iterable[str]) -> Iterator[Arrow]:
    """The ports of some boxes whose tuples are lost: late or refused, and taken by nothing."""
    taken = {arrow for node in network.nodes for arrow in node.sources}
    taken |= {output.arrow for output in network.outputs}
    for name in names:
        for port in network.schemas[name]:
            if lost(port) and Arrow(name, port) not in taken:
                yield Arrow(name, port)


def losses(network: Network, counts: PortCounts, slack: str = "", letters: bool = False) -> list[str]:
    """A sentence for each port whose tuples are lost, with what to do.

    `slack` is the remedy for late tuples where people do not make the boxes themselves. `letters` says that refused
    tuples are kept as dead letters.
    """
    sentences = []
    for arrow in unwired(network, [node.name for node in network.nodes]):
        count = counts.get(arrow.source, {}).get(arrow.port, 0)
        if count:
            were = f"{count:,} {'tuple was' if count == 1 else 'tuples were'} {lost(arrow.port)}"
            kept = "they are dead letters; to use them, " if letters and lost(arrow.port) != LATE else ""
            remedies = _remedies(network, arrow, slack)
            sentences.append(f"{were} at box `{arrow.source}`: {kept}{', or '.join(remedies)}")
    return sentences


def _remedies(network: Network, arrow: Arrow, slack: str) -> Iterator[str]:
    if slack and lost(arrow.port) == LATE:
        yield slack
        return
    if lost(arrow.port) == LATE:
        box: Any = network.named[arrow.source].box
        orders = [getattr(box, field.name) for field in fields(box)]
        most = max((order.slack for order in orders if isinstance(order, Order)), default=None)
        more = f"give it more slack than {most}" if most else "give it slack"
        yield "sort the stream before it" if most is None else more
        if union := by_arrival(network, arrow.source):
            yield f"merge the streams of `{union}` by their order (`on`)"
    yield f"send its port `{arrow.port}` somewhere"


def summed(counts: PortCounts, word: str) -> dict[str, int]:
    """The boxes that found tuples late, or refused some, and how many.

    >>> summed({"stats": {"out": 9, "late": 2}, "pairs": {"out": 1, "late_left": 0, "late_right": 0}}, "late")
    {'stats': 2}
    """
    sums = {name: sum(n for port, n in ports.items() if lost(port) == word) for name, ports in counts.items()}
    return {name: count for name, count in sums.items() if count}
