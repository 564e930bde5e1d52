"""Typical costs: what parts of networks take for a tuple where nobody has measured it, for a first guess (Aurora 4.4).

They are of one machine, taken once: boxes one by one on trains of 65,536 position reports (`australis bench boxes`, and
those that it has not in the same way), sources, exchanges and sinks by `australis measure`. Boxes of signals take
segments of a thousand samples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from australis.expressions import Expr
from australis.expressions.node import FunctionCall, walk
from australis.model.box import Box, expressions, lost
from australis.model.network import Network, Node
from australis.model.qos import BoxCost, Costs
from australis.plan import Plan

MACHINE = "one core of a shared AMD EPYC (2 cores, Python 3.11)"
GUESSES = "filters let half of their tuples through, windows give a result for ten, and other boxes one for each"

BOXES = {
    "filter": 5e-9, "route": 8e-9, "map": 1e-8, "union": 3e-8, "bsort": 9e-8, "aggregate": 2e-8, "join": 5e-7,
    "resample": 1e-7, "write": 3.5e-7, "read": 1.6e-7,
    "watch": 1e-6, "ask": 1e-6, "lead": 1e-6, "nearest": 1e-6, "tally": 3e-7, "meet": 1e-6, "distinct": 3e-7,
    "window": 1e-6, "rewindow": 2e-6, "zip": 2e-6, "sync": 2e-6, "rerate": 1e-5, "lfilter": 5e-6, "stats": 2e-6,
    "transform": 5e-6, "wavelet": 2e-6, "correlate": 1e-5, "trigger": 2e-6, "cfar": 3e-6, "apply": 1e-5,
}  # fmt: skip
"""Seconds a tuple by the kind of box, without its expressions."""
OTHER = 1e-6
"""A kind of box that is not among them."""
OPERATION, DISTINCT = 2.5e-9, 4e-7
"""An operation of an expression, and looking for a value among those that a window has had."""
SOURCES = {"csv": 1.1e-7, "json": 7e-7, "parquet": 5e-8}
SINKS = {"csv": 4e-7, "json": 4.5e-7, "parquet": 1.5e-7}
"""By the format of files."""
EXCHANGE = 7.5e-8
BATCH = 0.06
"""In a session that is warm."""
SELECTED, GIVEN = 0.5, {"aggregate": 0.1}
"""A guess of the part that passes a filter, and of results for a tuple by the kind of box where it is not one."""

Part = tuple[str, str]
"""A part of a network: `box`, `source`, `exchange`, `sink` or `batch`, and its name."""


@dataclass(frozen=True)
class Typical:
    """The costs of a network, and the parts of which they are typical ones."""

    costs: Costs
    parts: frozenset[Part] = field(default_factory=frozenset)


def filled(network: Network, costs: Costs) -> Typical:
    """Measured costs, with typical ones for boxes that were not measured."""
    missing = {node.name: box_cost(network, node) for node in network.nodes if node.name not in costs.boxes}
    return Typical(replace(costs, boxes={**costs.boxes, **missing}), frozenset(("box", name) for name in missing))


def typical(network: Network, plan: Plan, sources: Mapping[str, str], sinks: Mapping[str, str]) -> Typical:
    """Typical costs of a whole network; `sources` and `sinks` are named as on the command line, else they are CSV."""
    exchanges = [network.render_arrow(entry.arrow) for entry in plan.exchanges]
    costs = Costs(
        {node.name: box_cost(network, node) for node in network.nodes},
        {input.name: SOURCES[file_format(sources.get(input.name, ""))] for input in network.inputs if not input.static},
        dict.fromkeys(exchanges, EXCHANGE),
        {output.name: SINKS[file_format(sinks.get(output.name, ""))] for output in network.outputs},
        BATCH,
    )
    kinds = {"box": costs.boxes, "source": costs.sources, "exchange": costs.exchanges, "sink": costs.sinks}
    parts = [(kind, name) for kind, names in kinds.items() for name in names]
    return Typical(costs, frozenset([*parts, ("batch", "")]))


def box_cost(network: Network, node: Node) -> BoxCost:
    """What a box takes for a tuple, by its kind and its expressions, and a guess of what it gives for one."""
    ports = [port for port in network.schemas[node.name] if not lost(port)]
    guess = dict.fromkeys(ports, 1 / len(ports)) | _given(node.box, ports[0])
    return BoxCost(BOXES.get(node.box.kind, OTHER) + _expressions(node.box), guess)


def _given(box: Box, main: str) -> dict[str, float]:
    if box.selects is not None:
        return {main: SELECTED}
    return {main: GIVEN[box.kind]} if box.kind in GIVEN else {}


def _expressions(box: Box) -> float:
    """Seconds a tuple that the expressions of a box take."""
    seconds = 0.0
    for part in expressions(box):
        if isinstance(part, Expr):
            seconds += OPERATION * sum(isinstance(each, FunctionCall) for each in walk(part.node))
        else:
            seconds += DISTINCT if part.distinct else OPERATION
    return seconds


def file_format(text: str) -> str:
    """The format of a source or a sink as it is named on the command line; CSV if it does not say.

    >>> file_format("replay:reports.parquet?on=time"), file_format("jams.jsonl"), file_format("rate:500")
    ('parquet', 'json', 'csv')
    """
    return next((name for name in SOURCES if f".{name}" in text), "csv")
