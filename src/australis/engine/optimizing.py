"""Optimizing a run: a better network from the next batch on, by what its boxes were measured to cost (Aurora 3.1, 3.2).

Batches go on meanwhile. A change is like one that people make, except that no box loses state by it, and none that is
made of stored tables changes, since what it makes of them would come out again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from australis.connectors.source import Source
from australis.engine.checkpoint import Checkpoint
from australis.engine.job import Job
from australis.engine.selecting import selecting
from australis.engine.succession import losses, successor, unchanged
from australis.errors import RunError, listing
from australis.model.box import Box
from australis.model.network import Network
from australis.model.qos.costs import Costs
from australis.plan.drawn import Drawn, carried, settled, steady
from australis.plan.rules import MEASURED, Firing, optimize
from australis.plan.stored import static_sides
from australis.qos.monitor import Monitor

WAIT = 3.0
"""After how many seconds rules are tried first. Each time nothing comes of it, the next is twice as far off."""
LONGEST_WAIT = 30.0
"""After how many seconds they are tried at the latest, unless the network goes to and fro."""
WARM = 3
"""How many batches of a network are not measured: they compile."""
ENOUGH = 10_000
"""How many tuples a box must have taken of late for its cost to count."""

ENOUGH_COUNTED = 1_000
"""How many tuples must have been shown to all filters of a row for what they pass to count."""

Measure: TypeAlias = Callable[[Monitor, Network], Costs]


def known_costs(monitor: Monitor, network: Network) -> Costs:
    """What boxes cost that have had enough tuples, and which filters tuples pass, if enough were counted."""
    costs = monitor.costs(network)
    boxes = {name: cost for name, cost in costs.boxes.items() if monitor.tuples["box", name, ""] >= ENOUGH}
    passes = tuple(each for each in costs.passes if each.tuples >= ENOUGH_COUNTED)
    return replace(costs, boxes=boxes, passes=passes)


@dataclass
class Optimizer:
    """What an optimizer knows between the batches of a run.

    Where the network comes back to one that the run has had before, as with filters that depend on each other and of
    which too few tuples were counted, it waits twice as long the next time.
    """

    network: Network
    measure: Measure = known_costs
    wait: float = WAIT
    warm: int = WARM

    def __post_init__(self) -> None:
        self.monitor = Monitor()
        self._had = [self.network]
        self._batches = 0
        self._last = self._tried = time.monotonic()
        self._fruitless = self._returns = 0

    @property
    def idle(self) -> bool:
        """Whether there is nothing to measure for: no two boxes of which one is a filter, which could change places."""
        filters = [node for node in self.network.nodes if node.box.selects is not None]
        return not any(node.sources[0].source in self.network.named for node in filters)

    def after(self, rows: Iterable[Mapping[str, Any]]) -> tuple[Network, list[Firing]] | None:
        """A better network after a batch of which rows were measured; none where there is none, or it is too soon."""
        if self.idle:
            return None
        now = time.monotonic()
        elapsed, self._last = now - self._last, now
        self._batches += 1
        if self._batches <= self.warm:
            return None
        self.monitor = self.monitor.add(rows, elapsed)
        if now - self._tried < min(self.wait * 2**self._fruitless, LONGEST_WAIT) * 2**self._returns:
            return None
        costs = self.measure(self.monitor, self.network)
        network, firings = optimize(self.network, costs, steady(self.network), MEASURED)
        self._tried = now
        self._fruitless += not firings
        return (network, firings) if firings else None

    def job_after(self, job: Job, began: int, rows: Iterable[Mapping[str, Any]], checkpoint: Checkpoint) -> Job | None:
        """The job of a better network, kept on the checkpoint, after a batch of a job; none where it goes on as it is.

        The job's network began with the version `began`.
        """
        better = self.after(rows)
        if better is None:
            return None
        after = rearranged(job, began, *better, checkpoint.last_number() + 1)
        if after is None:
            self._fruitless += 1
            return None
        checkpoint.keep(after)
        self.follow(*better)
        return after

    def follow(self, network: Network, firings: Iterable[Firing] = ()) -> None:
        """Go on with another network. What was measured of boxes in other places no longer counts.

        Which filters tuples pass does not depend on the order of the filters.
        """
        moved = {box for firing in firings for box in firing.boxes}
        seconds = {place: value for place, value in self.monitor.seconds.items() if place[1] not in moved}
        tuples = {place: value for place, value in self.monitor.tuples.items() if place[1] not in moved}
        same = {name for name, node in network.named.items() if _box(self.network, name) == node.box}
        passes = {names: counts for names, counts in self.monitor.passes.items() if same.issuperset(names)}
        self.monitor = replace(self.monitor, seconds=seconds, tuples=tuples, passes=passes)
        if network in self._had:
            self._returns += 1
        else:
            self._had.append(network)
        self.network, self._batches, self._fruitless = network, 0, 0


def _box(network: Network, name: str) -> Box | None:
    return network.named[name].box if name in network.named else None


def rearranged(job: Job, began: int, network: Network, firings: Iterable[Firing], number: int) -> Job | None:
    """The job of a network that rules have made of a job's; none if anything would be lost, or exchanged for it."""
    if any(losses(job.network, network)):
        return None
    try:
        after = successor(job, began, network, job.sources, number)
    except RunError:  # state cannot follow
        return None
    stored = {node.name: node.box for node in network.nodes if static_sides(network, node)}
    before = {node.name: node.box for node in job.network.nodes if static_sides(job.network, node)}
    if after.layouts != job.layouts or stored != before:
        return None
    every = frozenset((*network.named, *(input.name for input in network.inputs)))
    drawn = job.drawn or Drawn(job.network)
    return selecting(replace(after, drawn=drawn, unchanged=every, firings=tuple(firings)), job.predicates)


def follow(
    job: Job,
    began: int,
    network: Network,
    sources: Mapping[str, Source],
    number: int,
    *,
    rules: bool = True,
    lossy: bool = False,
) -> Job:
    """The job of a network that people put in the place of another.

    Rules fire that leave the state as it is. Where rules have altered the state of boxes before, the new network is
    changed in the same places, so that it finds that state. If it cannot be, because something new takes what boxes
    give there, those boxes would go on with another state than people expect. This is refused, unless the change may be
    `lossy`.
    """
    drawn = job.drawn or Drawn(job.network)
    altered = drawn.altered.intersection(network.named)
    running = carried(drawn.network, job.network, network) if altered else None
    if running is None and altered and not lossy:
        raise RunError(
            f"box {listing(sorted(altered))}: rules of the optimizer have changed what the run holds for it, and the"
            " new network uses it in another way; leave the boxes around it as they were, or start the run without"
            " the optimizer (`optimize=False`) and an empty checkpoint folder"
        )
    made: Drawn | None = Drawn(network, drawn.firings, altered)
    firings: tuple[Firing, ...] = ()
    if running is None:
        running, made = settled(network) if rules else (network, None)
        firings = () if made is None else made.new_firings(running, drawn, job.network)
    after = successor(job, began, running, sources, number)
    # What boxes made of stored tables has come out where they are the same as drawn, whatever rules did around them.
    same = after.unchanged | unchanged(drawn.network, network)
    after = replace(after, drawn=made, unchanged=same, firings=firings)
    return selecting(after, job.predicates) if rules else after
