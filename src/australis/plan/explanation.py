"""A plan explained as text."""

from __future__ import annotations

from collections.abc import Iterator

from australis.errors import listing
from australis.model.box import EVERYWHERE
from australis.model.network import Network
from australis.plan.stage import Entry, Plan, Stage


def explain_plan(network: Network, plan: Plan) -> Iterator[str]:
    """The lines of a plan: its stages, what enters them and how, what leaves them, and how large their state can be."""
    count = len(plan.exchanges)
    yield f"plan, {count or 'no'} exchange{'' if count == 1 else 's'}"
    for stage in plan.stages:
        yield f"  stage {stage.index}, in {'one partition' if stage.one else 'partitions'}"
        for entry in stage.entries:
            yield f"    takes {_entry(network, entry)}"
        yield f"    runs {listing(stage.nodes)}"
        yield from (f"    {line}" for line in _results(network, stage))
        yield from (f"    {line}" for line in list(_state(network, stage)) or ["holds nothing"])
    if plan.straight:
        yield f"  outputs that are inputs: {listing(plan.straight)}"


def _entry(network: Network, entry: Entry) -> str:
    origin = " (static)" if entry.static else f" from stage {entry.origin}" if entry.origin is not None else ""
    where = {None: "as it comes", (): "all of it in one partition", EVERYWHERE: "all of it in each partition"}
    how = where.get(entry.by) or f"by {listing(entry.by or ())}"
    already = f", by {listing(entry.partitioning)} already" if entry.by is None and entry.partitioning else ""
    return f"{network.render_arrow(entry.arrow)}{origin}, {'exchanged: ' if entry.exchange else ''}{how}{already}"


def _results(network: Network, stage: Stage) -> Iterator[str]:
    if stage.leaves:
        yield f"gives {listing(map(network.render_arrow, stage.leaves))}"
    if stage.outputs:
        yield f"makes the output{'s' if len(stage.outputs) > 1 else ''} {listing(stage.outputs)}"
    outputs = [output.arrow for output in network.outputs if output.name in stage.outputs]
    copied = [arrow for arrow in dict.fromkeys((*stage.leaves, *outputs)) if arrow in stage.copied]
    if copied:
        yield f"has in each partition, and gives from one: {listing(map(network.render_arrow, copied))}"


def _state(network: Network, stage: Stage) -> Iterator[str]:
    for name in stage.nodes:
        node = network.named[name]
        state = node.box.holds(*(network.schema(arrow) for arrow in node.sources))
        if state:
            yield f"holds for {name}: {state}"
