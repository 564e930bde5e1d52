"""Succession: from the job of one network to that of the next, so that boxes that stay keep their state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from australis.connectors.source import Divided, Source
from australis.engine.job import Home, Job
from australis.engine.superbox import stateful
from australis.errors import RunError, listing
from australis.model.box import Key
from australis.model.network import Network, Node
from australis.plan import Plan, Stage, plan


def planned(
    network: Network, sources: Mapping[str, Source], partitions: int, kept: Mapping[str, tuple[int, ...]] | None = None
) -> Plan:
    """The plan of a network, with what its sources say of how they are divided, and boxes `kept` as they were."""
    streams = [input.name for input in network.inputs if not input.static]
    divided: dict[str, Key | None] = dict.fromkeys(streams, () if partitions == 1 else None)
    for name in streams if partitions > 1 else ():
        source = sources[name]
        if isinstance(source, Divided):
            divided[name] = source.by
    return plan(network, divided, kept)


def successor(old: Job, began: int, network: Network, sources: Mapping[str, Source], number: int) -> Job:
    """The job of a network that follows one which began at a version."""
    after, layouts = planned(network, sources, old.partitions), {}
    staying = {node.name for node in network.nodes if _stays(old.network, network, node)}
    if old.partitions > 1 and any(_way(before) != _way(stage) for stage, before in _kin(old, after, staying)):
        # The cheapest plan divides a box in another way than its state is: keep to that, at the price of an exchange.
        layouts = {name: places for name, places in old.plan.layouts.items() if name in staying}
        after = planned(network, sources, old.partitions, layouts)
    gone = {node.name for node in old.network.nodes if stateful(old.network, node)} - staying
    owners = {name: old.owners.get(name, name) for name in staying}
    used = {old.owners.get(name, name) for name in gone}
    owners |= {node.name: f"{node.name}@{number}" for node in network.nodes if node.name in used - staying}
    homes = _homes(old, began, after, staying, number)
    starts = {
        input.name: old.starts[input.name] if input.name in old.starts else sources[input.name].start()
        for input in network.inputs
        if not input.static
    }
    changed = {name: owner for name, owner in owners.items() if owner != name}
    return replace(
        old, network=network, plan=after, sources=sources, number=number, starts=starts, homes=homes, owners=changed,
        given=_given(old.network, network), layouts=layouts,
    )  # fmt: skip


def losses(old: Network, new: Network) -> Iterator[str]:
    """What of a network's progress another one cannot go on with, in words."""
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
    """Whether a box goes on with its state: it is the same, over the same columns."""
    before = old.named.get(node.name)
    if before is None or before.box != node.box or not stateful(new, node):
        return False
    schemas = [[network.schema(arrow) for arrow in each.sources] for network, each in ((old, before), (new, node))]
    return schemas[0] == schemas[1]


def _given(old: Network, new: Network) -> frozenset[str]:
    """The inputs and boxes that were there before, over the same: what they make of stored tables has come out."""
    same = {input.name for input in new.inputs if input in old.inputs}
    for node in new.nodes:
        if old.named.get(node.name) == node and all(arrow.source in same for arrow in node.sources):
            same.add(node.name)
    return frozenset(same)


def _homes(old: Job, began: int, after: Plan, staying: set[str], number: int) -> tuple[Home, ...]:
    homes, taken = [], set[int]()
    for stage in after.stages:
        boxes = staying.intersection(stage.nodes)
        kin = [before for before in old.plan.stages if boxes.intersection(before.nodes)]
        for before in kin:
            if old.partitions > 1 and _way(before) != _way(stage):
                raise RunError(
                    f"box {listing(sorted(boxes & set(before.nodes)))}: the new network divides its tuples in another"
                    " way, and its state cannot follow; give it another name to let it start empty"
                )
        named = [old.homes[before.index].name for before in kin]
        keeper = next((before for before in kin if before.index not in taken), None)
        if keeper is None:
            homes.append(Home(f"{number}.{stage.index}", None, tuple(named)))
            continue
        taken.add(keeper.index)
        home = old.homes[keeper.index]
        since = began - 1 if home.since is None else home.since
        homes.append(Home(home.name, since, tuple(name for name in named if name != home.name)))
    return tuple(homes)


def _kin(old: Job, after: Plan, staying: set[str]) -> Iterator[tuple[Stage, Stage]]:
    """Each new stage with the old ones of which boxes stay in it."""
    for stage in after.stages:
        boxes = staying.intersection(stage.nodes)
        yield from ((stage, before) for before in old.plan.stages if boxes.intersection(before.nodes))


def _way(stage: Stage) -> object:
    """How the tuples of a stage lie in partitions."""
    if stage.one:
        return "one"
    return frozenset(entry.by or entry.partitioning for entry in stage.entries if not entry.static)
