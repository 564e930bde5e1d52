"""A network explained as text: what every box does, its results, its partitioning and how large its state can be."""

from __future__ import annotations

from collections.abc import Iterator

from australis.arrow.schema import text as schema_text
from australis.errors import listing
from australis.expressions.ranges import decidable
from australis.model.box import EVERYWHERE, Key
from australis.model.network import Network, Node


def explain(network: Network, *, plan: bool = False) -> str:
    """Describe the network, its boxes in the order in which they run, and which rules of the optimizer would fire.

    With `plan`, also the stages that it runs in, after the rules.
    """
    from australis.plan.drawn import optimized

    lines = list(_lines(network))
    running, drawn = optimized(network)
    fired = [*(() if drawn is None else drawn.firings), *_selections(running)]
    lines += ["rules that fire at the start of a run"] if fired else []
    lines += [f"  {each}" for each in fired]
    if plan:
        from australis.plan import plan as planned
        from australis.plan.explanation import explain_plan

        lines += explain_plan(running, planned(running))
    return "\n".join(lines) + "\n"


def _selections(network: Network) -> Iterator[str]:
    """What is told to sources that can leave tuples unread."""
    from australis.plan.rules import source_filters, source_predicates

    predicates, filters = source_predicates(network), source_filters(network)
    for input in network.inputs:
        usable = decidable(predicates[input.name], input.schema) if input.name in predicates else None
        if usable is not None and not input.static:
            boxes = listing([input.name, *(node.name for row in filters[input.name] for node in row)])
            yield f"push_into_source {boxes}: of Parquet files it reads only row groups where {usable}"


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
        yield f"  {output.name}: {network.render_arrow(output.arrow)}{worth}"


def _node(network: Network, node: Node) -> Iterator[str]:
    group = f", in {' / '.join(node.group)}" if node.group else ""
    yield f"{node.name}: {node.box.kind} of {listing(map(network.render_arrow, node.sources))}{group}"
    yield from (f"  {line}" for line in node.box.label())
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
