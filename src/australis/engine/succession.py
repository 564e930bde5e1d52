"""Succession: from the job of one network to that of the next, so that boxes that stay keep their state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from australis.connectors.source import Divided, Source
from australis.engine.job import Job, Lineage
from australis.errors import RunError, listing
from australis.model.box import Key
from australis.model.network import Network, Node
from australis.plan import Plan, Stage, plan
from australis.plan.stored import same_tables, stateful


def planned(
    network: Network, sources: Mapping[str, Source], partitions: int, kept: Mapping[str, tuple[int, ...]] | None = None
) -> Plan:
    """The plan of a network whose sources may be divided already; boxes of `kept` keep their layouts."""
    streams = [input.name for input in network.inputs if not input.static]
    divided: dict[str, Key | None] = dict.fromkeys(streams, () if partitions == 1 else None)
    for name in streams if partitions > 1 else ():
        source = sources[name]
        if isinstance(source, Divided):
            divided[name] = source.by
    return plan(network, divided, kept)


def successor(old: Job, began: int, network: Network, sources: Mapping[str, Source], number: int) -> Job:
    """The job of a network that follows another, whose first version was `began`."""
    after, layouts = planned(network, sources, old.partitions), {}
    staying = {node.name for node in network.nodes if _stays(old.network, network, node)}
    pairs = ((stage, before) for stage in after.stages for before in _ancestors(old, stage, staying))
    if old.partitions > 1 and any(_layout(before) != _layout(stage) for stage, before in pairs):
        # The cheapest plan divides a box in another way than its state: keep the state's way, and pay for an exchange.
        layouts = {name: places for name, places in old.plan.layouts.items() if name in staying}
        after = planned(network, sources, old.partitions, layouts)
    starts = {
        input.name: old.starts[input.name] if input.name in old.starts else sources[input.name].start()
        for input in network.inputs
        if not input.static
    }
    return replace(
        old, network=network, plan=after, sources=sources, number=number, starts=starts,
        lineages=_lineages(old, began, after, staying, number), owners=_owners(old, network, staying, number),
        unchanged=unchanged(old.network, network), layouts=layouts, predicates={}, firings=(),
    )  # fmt: skip


def losses(old: Network, new: Network) -> Iterator[str]:
    """What is lost when a run goes on with another network, in words."""
    inputs = {input.name: input for input in new.inputs}
    for input in old.inputs:
        if input.name not in inputs:
            yield f"there was an input {input.name}"
        elif inputs[input.name] != input:
            yield f"the input {input.name} was another"
    for node in old.nodes:
        if stateful(old, node) and node.name not in new.named:
            yield f"there was a box {node.name} with state"
        elif stateful(old, node) and not _stays(old, new, new.named[node.name]):
            yield f"the box {node.name}, which has state, was another"


def _stays(old: Network, new: Network, node: Node) -> bool:
    """Whether a box keeps its state: it has some, and is the same box over the same columns.

    It may be given more columns or fewer, if its tables are the same with them.
    """
    before = old.named.get(node.name)
    if before is None or before.box != node.box or not stateful(new, node):
        return False
    inputs = [[network.schema(arrow) for arrow in each.sources] for network, each in ((old, before), (new, node))]
    if inputs[0] == inputs[1]:
        return True
    types = [[{field.name: field.type for field in schema} for schema in schemas] for schemas in inputs]
    same = all(one[name] == two[name] for one, two in zip(*types, strict=True) for name in one.keys() & two.keys())
    return same and same_tables(node.box, *inputs)


def unchanged(old: Network, new: Network) -> frozenset[str]:
    """The inputs and boxes that both networks have, over the same inputs and boxes."""
    same = {input.name for input in new.inputs if input in old.inputs}
    for node in new.nodes:
        if old.named.get(node.name) == node and all(arrow.source in same for arrow in node.sources):
            same.add(node.name)
    return frozenset(same)


def _owners(old: Job, network: Network, staying: set[str], number: int) -> dict[str, str]:
    """What boxes are called in the state, where that is not their name.

    A box that stays keeps what it is called. A new one with the name of a box that goes is called otherwise.
    """
    gone = {node.name for node in old.network.nodes if stateful(old.network, node)} - staying
    used = {old.owners.get(name, name) for name in gone}
    owners = {name: old.owners.get(name, name) for name in staying}
    owners |= {node.name: f"{node.name}@{number}" for node in network.nodes if node.name in used - staying}
    return {name: owner for name, owner in owners.items() if owner != name}


def _lineages(old: Job, began: int, after: Plan, staying: set[str], number: int) -> tuple[Lineage, ...]:
    """Where the state of each stage is: with the first old stage that shares a box and has no heir yet, or anew."""
    lineages, inherited = [], set[int]()
    for stage in after.stages:
        ancestors = _ancestors(old, stage, staying)
        for before in ancestors:
            if old.partitions > 1 and _layout(before) != _layout(stage):
                boxes = staying.intersection(stage.nodes, before.nodes)
                raise RunError(
                    f"box {listing(sorted(boxes))}: the new network divides its tuples in another"
                    " way, and its state cannot follow; give it another name to let it start empty"
                )
        names = [old.lineages[before.index].name for before in ancestors]
        parent = next((before for before in ancestors if before.index not in inherited), None)
        if parent is None:
            lineages.append(Lineage(f"{number}.{stage.index}", None, tuple(names)))
            continue
        inherited.add(parent.index)
        lineage = old.lineages[parent.index]
        since = began - 1 if lineage.since is None else lineage.since
        lineages.append(Lineage(lineage.name, since, tuple(name for name in names if name != lineage.name)))
    return tuple(lineages)


def _ancestors(old: Job, stage: Stage, staying: set[str]) -> list[Stage]:
    """The old stages that have a box of a new one, and its state."""
    boxes = staying.intersection(stage.nodes)
    return [before for before in old.plan.stages if boxes.intersection(before.nodes)]


def _layout(stage: Stage) -> object:
    """How the tuples of a stage are divided among partitions."""
    if stage.one:
        return "one"
    return frozenset(entry.by or entry.partitioning for entry in stage.entries if not entry.static)
