"""Selecting: sources are told which tuples can matter, so that they leave others unread (Aurora 3.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from australis.connectors.source import Selective, Source
from australis.engine.job import Job
from australis.expressions import Expr
from australis.model.network import Network
from australis.plan.rules import Firing, source_filters, source_predicates


def selections(network: Network, sources: Mapping[str, Source]) -> dict[str, Expr]:
    """What tuples of streams must satisfy to matter, as far as their sources can use it."""
    streams = {input.name for input in network.inputs if not input.static}
    usable = {
        name: source.usable(predicate)
        for name, predicate in source_predicates(network).items()
        if name in streams and isinstance(source := sources[name], Selective)
    }
    return {name: predicate for name, predicate in usable.items() if predicate is not None}


def selection_firings(network: Network, predicates: Mapping[str, Expr], before: Mapping[str, Expr]) -> list[Firing]:
    """The firings of a rule that has given predicates to sources where they had others before."""
    filters = source_filters(network)
    names = {name: [node.name for row in filters[name] for node in row] for name in predicates}
    changed = [name for name, predicate in predicates.items() if before.get(name) != predicate]
    return [Firing("push_into_source", (name, *names[name]), None) for name in changed]


def selecting(job: Job, before: Mapping[str, Expr]) -> Job:
    """The job whose sources are told what matters in its network. Where the job before had it so, it is no news."""
    predicates = selections(job.network, job.sources)
    firings = selection_firings(job.network, predicates, before)
    return replace(job, predicates=predicates, firings=(*job.firings, *firings))
