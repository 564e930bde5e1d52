"""Priorities: which branches go first when not all that waits fits into a batch (Aurora 4.3).

A branch can wait as long as its outputs stay on the flat parts of their latency graphs. Tuples that would leave them if
they waited one interval more must go now. What room is left goes to the others by their priority. It is the utility
that is lost if a branch waits one interval more, by what it costs: state-based. Where nothing is lost the one goes
first that has the least time left. The feedback-based way adds how far and how long its outputs were out of their good
zones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import inf

from australis.model.network import Output
from australis.qos.branches import Branch
from australis.qos.load import LoadModel

STATE, FEEDBACK = "state", "feedback"
WAYS = (STATE, FEEDBACK)
PATIENCE = 60.0
"""How many seconds a branch waits at most whose outputs have no latency graph."""
GAIN = 0.1
"""The utility that a second counts in which an output was twice as late as its good zone allows."""
MOST = 10.0
"""What the seconds out of the good zone come to at most, so that they do not count long after they are over."""
LEAST = 0.1
"""The part of the room that each branch has which must go, where not even these fit and nothing may be shed."""

Tuples = Mapping[str, float]
"""By input."""


@dataclass(frozen=True)
class Queue:
    """What a branch has not taken yet, for how many seconds the first of it has waited, and whether more of it may."""

    tuples: Tuples
    oldest: float = 0.0
    patient: bool = True
    behind: bool = False
    """Whether it has waited before, and reads by itself."""


@dataclass(frozen=True)
class Ranking:
    """In which order branches go, by one of two ways."""

    way: str = STATE
    late: Mapping[str, float] = field(default_factory=dict)
    """For the feedback-based way: how far branches were out of their good zones, summed up over the seconds."""

    def after(self, delays: Mapping[str, float], elapsed: float) -> Ranking:
        """The ranking after some seconds in which the longest delays of branches were so many times their good zones.

        Time in the good zone counts as much as time out of it, until the sum is 0.
        """
        if self.way == STATE:
            return self
        off = {name: min(max(delay - 1, -1.0), 1.0) for name, delay in delays.items()}
        late = {name: min(max(self.late.get(name, 0.0) + each * elapsed, 0.0), MOST) for name, each in off.items()}
        return replace(self, late=late)

    def order(self, lost: Mapping[str, float], left: Mapping[str, float], cost: Mapping[str, float]) -> list[str]:
        """Branches from the first to the last: by the utility lost by waiting, the seconds left, and what they cost."""

        def pressure(name: str) -> float:
            loss = lost[name] + (GAIN * self.late.get(name, 0.0) if self.way == FEEDBACK else 0.0)
            return loss / cost[name] if cost[name] > 0 else (inf if loss > 0 else 0.0)

        return sorted(lost, key=lambda name: (-pressure(name), left[name]))


@dataclass(frozen=True)
class Schedule:
    """Divides the room of a batch among branches."""

    model: LoadModel
    queues: Mapping[str, Queue]
    interval: float
    """How many seconds after this batch the next one begins."""
    overhead: float = 1.0

    @property
    def _branches(self) -> list[Branch]:
        return [branch for branch in self.model.branches if branch.name in self.queues]

    @property
    def zones(self) -> dict[str, float]:
        """The delays up to which branches lose nothing."""
        return {branch.name: self._zone(branch) for branch in self._branches}

    def _zone(self, branch: Branch) -> float:
        """As for the whole network, outputs that no batch can reach do not count; nor do they wait without end."""
        graphs = [output.qos.latency for output in self._outputs(branch)]
        bends = [graph.bend for graph in graphs if graph is not None]
        reached = [bend for bend in bends if bend > 2 * self.model.costs.batch * self.overhead]
        return min([*reached, *([] if reached and len(reached) == len(graphs) else [PATIENCE])])

    def _outputs(self, branch: Branch) -> Iterable[Output]:
        return (output for output in self.model.network.outputs if output.name in branch.outputs)

    @property
    def soon(self) -> float:
        """After how many seconds a tuple is done that is left for the next batch."""
        return self.interval * (1 + self.model.machine.headroom)

    def must(self) -> dict[str, float]:
        """The part of what waits for each branch that is too old to wait on, as if it had come evenly."""
        zones = self.zones
        return {name: self._overdue(queue, zones[name]) for name, queue in self.queues.items()}

    def _overdue(self, queue: Queue, zone: float) -> float:
        spare = zone - self.soon  # how old a tuple may be that waits
        if not queue.patient or spare <= 1e-6 * self.soon:
            return 1.0
        return max(1 - spare / queue.oldest, 0.0) if queue.oldest > 0 else 0.0

    def tuples(self, parts: Mapping[str, float]) -> dict[str, Tuples]:
        """The tuples of parts of what waits."""
        return {name: {i: n * parts[name] for i, n in queue.tuples.items()} for name, queue in self.queues.items()}

    def load(self, parts: Mapping[str, float]) -> float:
        """The load of parts of what waits, in seconds of the machine."""
        return self.model.load_of(self.tuples(parts))

    def ranked(self, ranking: Ranking) -> list[str]:
        """The branches by their priority."""
        zones = self.zones
        now = self.interval * self.model.machine.headroom  # until what goes now is done
        lost = {
            branch.name: sum(
                output.qos.weight * (output.qos.latency.utility(age) - output.qos.latency.utility(age + self.interval))
                for output in self._outputs(branch)
                if output.qos.latency is not None
            )
            for branch in self._branches
            for age in [self.queues[branch.name].oldest + now]
        }
        left = {name: zones[name] - queue.oldest for name, queue in self.queues.items()}
        cost = {name: self._alone(name) for name in self.queues}
        return ranking.order(lost, left, cost)

    def within(self, room: float, ranking: Ranking) -> dict[str, float]:
        """The parts of what waits that go into a room, in seconds of the machine, which holds all that must go.

        What room is left goes to branches by their rank, the oldest tuples first.
        """
        taken = self.must()
        left = room - self.load(taken)
        for name in self.ranked(ranking):
            rest = self._alone(name) * (1 - taken[name])
            part = min(max(left, 0.0) / rest, 1.0) if rest > 0 else 1.0
            taken[name] += (1 - taken[name]) * part
            left -= rest * part
        return taken

    def pressed(self, room: float, ranking: Ranking) -> dict[str, float]:
        """The same where the room does not hold what must go, and nothing may be shed.

        The first takes all that must go of it, others what is left. None starves: each has a small part of the room.
        """
        taken: dict[str, float] = {}
        left, must = room, self.must()
        for name in self.ranked(ranking):
            load = self._alone(name) * must[name]
            part = 1.0 if not taken or load <= 0 else min(max(left, LEAST * room) / load, 1.0)
            taken[name] = must[name] * part
            left -= load * part
        return taken

    def _alone(self, name: str) -> float:
        return self.model.load_of({name: self.queues[name].tuples})

    def limits(self, taken: Mapping[str, float]) -> dict[str, dict[str, int]]:
        """How many tuples of each input branches take that do not take all."""
        return {
            name: {input: int(tuples) for input, tuples in each.items()}
            for name, each in self.tuples(taken).items()
            if taken[name] < 1 - 1e-9
        }
