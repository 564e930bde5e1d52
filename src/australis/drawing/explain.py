"""A network explained as text: what every box does, what it gives, how it is partitioned and what it can hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from australis.arrow.schema import text as schema_text
from australis.errors import listing
from australis.model.box import EVERYWHERE, Box, Key
from australis.model.network import Network, Node
from australis.model.order import Order
from australis.model.table import Keyed


def explain(network: Network, *, plan: bool = False) -> str:
    """The network in words, its boxes in the order in which they run; with `plan` the stages that it runs in too."""
    lines = list(_lines(network))
    if plan:
        from australis.plan import plan as planned
        from australis.plan.words import in_words

        lines += in_words(network, planned(network))
    return "\n".join(lines) + "\n"


def parameters(box: Box) -> list[str]:
    """The parameters of a box as people read them, a line each.

    >>> from australis.boxes import Filter
    >>> from australis.expressions import expr
    >>> parameters(Filter((expr("mph > 60"), expr("mph > 30"))))
    ['1: mph > 60', '2: mph > 30']
    """
    lines: list[str] = []
    for field in fields(box):  # type: ignore[arg-type]
        lines += _parameter(field.name, getattr(box, field.name))
    return lines


def _parameter(name: str, value: Any) -> Iterator[str]:
    if value is None or value == "" or name == "arity" or (name == "partial" and not value):
        return
    if isinstance(value, Order):
        yield f"{value}" if name == "order" else f"{name} {value}"
    elif isinstance(value, Keyed):
        yield f"table {value.name}"
    elif not isinstance(value, tuple):
        yield f"{name} {value}"
    elif all(isinstance(part, tuple) for part in value):
        yield from (f"{column} = {made}" for column, made in value)
    elif all(isinstance(part, int | float) for part in value):
        yield f"{name} {listing(map(str, value), 8)}"
    elif len(value) == 1:
        yield f"by {value[0]}" if name == "by" else str(value[0])
    elif all(isinstance(part, str) for part in value):
        yield f"{name} {listing(value)}"
    else:
        yield from (f"{place}: {part}" for place, part in enumerate(value, start=1))


def _lines(network: Network) -> Iterator[str]:
    yield "inputs"
    for input in network.inputs:
        yield f"  {input.name}{' (static)' if input.static else ''}: {schema_text(input.schema)}"
    if network.tables:
        yield "tables"
    for table in network.tables:
        yield f"  {table.name}: {schema_text(table.schema)}, key {listing(table.key)}"
    if network.nodes:
        yield "boxes"
    for node in network.nodes:
        yield from (f"  {line}" for line in _node(network, node))
    yield "outputs"
    for output in network.outputs:
        worth = f", {output.qos}" if str(output.qos) else ""
        yield f"  {output.name}: {network.spelled(output.arrow)}{worth}"


def _node(network: Network, node: Node) -> Iterator[str]:
    group = f", in {' / '.join(node.group)}" if node.group else ""
    yield f"{node.name}: {node.box.kind} of {listing(map(network.spelled, node.sources))}{group}"
    yield from (f"  {line}" for line in parameters(node.box))
    ports: dict[str, list[str]] = {}
    for port, schema in network.schemas[node.name].items():
        ports.setdefault(schema_text(schema), []).append(port)
    for text, names in ports.items():
        yield f"  gives {listing(names)}: {text}"
    inputs = [network.schema(arrow) for arrow in node.sources]
    yield f"  {_partition(node.box.keys(*inputs))}"
    yield f"  holds {node.box.holds(*inputs) or 'nothing'}"


def _partition(keys: tuple[Key, ...] | None) -> str:
    if keys is None:
        return "runs in any partition"
    if not all(keys):
        return "runs in one partition"
    sides = dict.fromkeys(listing(key) for key in keys if key != EVERYWHERE)
    where = ["left", "right"][keys.index(EVERYWHERE)] if EVERYWHERE in keys else ""
    return f"partitioned by {' and '.join(sides)}{f', with all of the {where} in each' if where else ''}"
