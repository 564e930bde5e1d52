"""The controller: before each batch, how long it may take and what of it is shed (Aurora 4.3 to 4.5).

A batch takes all that waits in sources that cannot wait. So what waits is the load, and there is no other queue. The
batch is to be done before the first of its tuples leaves the flat part of a latency graph. If it would take longer, and
more comes than the machine holds, it sheds along the road map until it fits. A burst is worked off, and so is what a
batch leaves behind that took longer than it should: batches of the same load differ by a fifth. What was predicted is
compared with the time that batches took, so that wrong costs correct themselves: those of work, and what a batch takes
by itself, each by its part of what was predicted.

Where branches share nothing but inputs, those that can wait do so before anything is shed (`qos/priorities.py`): each
has a position of its own in its inputs. Only for those that must go now is shed, and only of what they take.

It is a pure value between batches: no clock, no threads. `qos/simulate.py` runs it against made-up machines.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from math import exp
from types import MappingProxyType

from australis.qos.load import LONGEST, LoadModel
from australis.qos.priorities import Queue, Ranking, Schedule
from australis.qos.road_map import Drop, Mapper, RoadMap, road_map, road_map_of

MEMORY = 5.0
"""Over how many seconds rates are averaged."""
LEARNING = 5.0
"""Over how many seconds errors of prediction are."""
BEGIN, END = 1.1, 1.0
"""Shedding begins when tuples take so many times the headroom, and ends when they take less than so many times."""
HALF = 0.5
"""An output that would be worth no more than this, since it is late, is helped at once, whatever the rates are."""
MIX = 0.05
"""By how much the shares of inputs may change before the road map is drawn anew."""

CRAMPED = 2 / 3
"""A batch that by itself takes more than this part of the longest interval leaves hardly room for work."""
FLAT = 0.75
"""Delays stay on the flat parts of graphs unless outputs are worth less so than this part of what they could be."""
_LONGER = 1.25
TOGETHER = 0.9
"""A branch that is behind takes all again when all fits into this part of the room, so that it does not wait again."""
OFF = 0.02
"""By how much a box may leave more than it is told to."""

NOTHING_SHED, SHED, EXACT = "", "shed", "exact"


@dataclass(frozen=True)
class Waiting:
    """What has come to each input and is not worked on yet, and for how many seconds the first of it has waited."""

    tuples: Mapping[str, float]
    oldest: float = 0.0
    branches: Mapping[str, Queue] = field(default_factory=dict)
    """The same for each branch by its name, where there are several and some of them can wait."""


@dataclass(frozen=True)
class BatchOrder:
    """What the next batch does."""

    interval: float
    """How many seconds after this batch's start the next one may start."""
    kept: Mapping[str, float]
    """The part of each output that comes out."""
    drops: tuple[Drop, ...] = ()
    state: str = NOTHING_SHED
    """Whether tuples are shed, or should be but may not, since exact outputs alone are more than the machine holds."""
    part: float = 1.0
    """The part of the work of its tuples that is done."""
    takes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """The branches that do not take all that waits, and how many tuples they take of each input."""
    delays: Mapping[str, float] = field(default_factory=dict)
    """How many times their good zones the longest delays of branches are, where not all fits."""
    asked: Mapping[str, float] = field(default_factory=dict)
    """What outputs are asked to keep that will keep more, since boxes leave out no more by themselves."""


@dataclass(frozen=True)
class Controller:
    """What is known between batches: the model, how wrong it was lately, and how fast tuples come."""

    model: LoadModel
    error: float = 1.0
    """The time that the work of batches took, by what the costs predicted."""
    overhead: float = 1.0
    """The time that batches took by themselves, by what was measured of it."""
    rates: Mapping[str, float] | None = None
    """Tuples a second on each input."""
    road: RoadMap | None = None
    floors: Mapping[str, float] = field(default_factory=dict)
    """What outputs keep at least of late, where boxes leave out less by themselves than they are told to."""
    overloaded: bool = False
    """Whether more comes than the machine holds: not for a moment, but at the rates of the last seconds."""
    ranking: Ranking = field(default_factory=Ranking)
    """In which order branches go."""

    def order(self, waiting: Waiting) -> tuple[BatchOrder, Controller]:
        """What the next batch does with what waits, and the controller that remembers the road map it used."""
        if waiting.branches:
            return self._order_branches(waiting)
        whole = dict.fromkeys((output.name for output in self.model.network.outputs), 1.0)
        batch, longest = self.model.costs.batch * self.overhead, self.model.longest(self.overhead)
        work = self.model.load(waiting.tuples) * self.error
        room = self.model.machine.headroom * longest - batch
        if not work or work <= room or not (self.overloaded or self._loses_half(waiting.oldest + batch + work)):
            return BatchOrder(self._interval(work), whole), self
        road = self._road(waiting.tuples)
        known = replace(self, road=road)
        # What boxes are asked for goes by what would be best; what they keep of it all the same, others must bear.
        best, road = road, road_map(self.model, road.inputs, self.floors) if self.floors else road
        if self._exact_alone(road, waiting) or len(best.plans) == 1:
            asked = self._asked(best, max(room, 0.0) / work)
            kept = whole | {name: max(part, self.floors[name]) for name, part in asked.items()}
            return BatchOrder(longest, kept, state=EXACT, part=self._part(best, kept), asked=asked), known
        if (later := self._later(road)) is not None:
            longest, room = later, self.model.machine.headroom * later - batch
            if work <= room:
                return BatchOrder(longest, whole), known
        whole_load = road.plans[0].load
        plan = road.at(whole_load * max(room, 0.0) / work)
        drops, asked = tuple(road.drops(plan.kept)), self._asked(best, max(room, 0.0) / work)
        return BatchOrder(longest, plan.kept, drops, SHED, plan.load / whole_load, asked=asked), known

    def _order_branches(self, waiting: Waiting) -> tuple[BatchOrder, Controller]:
        """The same where branches can wait: all goes if it fits, else what must go and as much else as fits."""
        if not self.overloaded and self._crowded(waiting):
            return replace(self, overloaded=True)._order_branches(waiting)
        whole = dict.fromkeys((output.name for output in self.model.network.outputs), 1.0)
        batch, longest = self.model.costs.batch * self.overhead, self.model.longest(self.overhead)
        room = self.model.machine.headroom * longest - batch
        schedule = Schedule(self.model, waiting.branches, longest, self.overhead)
        work = schedule.load(dict.fromkeys(waiting.branches, 1.0)) * self.error
        done = {name: queue.oldest + batch + work for name, queue in waiting.branches.items()}
        in_time = all(done[name] <= zone for name, zone in schedule.zones.items())
        apart = any(queue.behind for queue in waiting.branches.values())
        if not work or work <= room * (TOGETHER if apart else 1.0) or (in_time and not self.overloaded):
            return BatchOrder(self._interval(work), whole), self
        joint = self._road(waiting.tuples)
        if (later := self._later(joint)) is not None:
            longest, room = later, self.model.machine.headroom * later - batch
        coming = {name: self._coming(queue, longest) for name, queue in waiting.branches.items()}
        schedule = Schedule(self.model, coming, longest, self.overhead)
        exact = self._exact_alone(joint, waiting) or len(joint.plans) == 1
        return self._divide(schedule, max(room, 0.0) / self.error, exact), replace(self, road=joint)

    def _divide(self, schedule: Schedule, room: float, exact: bool) -> BatchOrder:
        """What branches take in a room, by what the costs say, that does not hold all. Only what must go is shed.

        Nothing is if exact outputs alone are too much.
        """
        kept = {output.name: 1.0 for output in self.model.network.outputs}
        zones, must = schedule.zones, schedule.must()
        delays = {name: (queue.oldest + schedule.interval) / zones[name] for name, queue in schedule.queues.items()}
        order, pressing = BatchOrder(schedule.interval, kept, delays=delays), schedule.load(must)
        if pressing <= room:
            return replace(order, takes=schedule.limits(schedule.within(room, self.ranking)))
        road = road_map_of(self.model, schedule.tuples(must))
        too_much = self.overloaded or self._some_lose_half(schedule, must)
        if not too_much or exact or len(road.plans) == 1:
            takes = schedule.limits(schedule.pressed(room, self.ranking))
            return replace(order, state=EXACT if too_much and exact else NOTHING_SHED, takes=takes)
        plan = road.at(room)
        return replace(order, kept=plan.kept, drops=tuple(road.drops(plan.kept)), state=SHED,
                       part=plan.load / pressing, takes=schedule.limits(must))  # fmt: skip

    def _some_lose_half(self, schedule: Schedule, must: Mapping[str, float]) -> bool:
        """Whether an output of a branch that must go would lose half of its worth if it waited."""
        branches = [branch for branch in self.model.branches if must.get(branch.name)]
        ages = {branch.name: schedule.queues[branch.name].oldest + schedule.interval for branch in branches}
        return any(self._loses_half(ages[branch.name], branch.outputs) for branch in branches)

    def _coming(self, queue: Queue, interval: float) -> Queue:
        """What a branch will find: one that has not waited takes all that comes until the batch begins."""
        if queue.behind or self.rates is None:
            return queue
        return replace(queue, tuples={i: max(n, self.rates.get(i, 0.0) * interval) for i, n in queue.tuples.items()})

    def observe(
        self,
        order: BatchOrder,
        taken: Mapping[str, float],
        elapsed: float,
        seconds: float,
        branches: Mapping[str, Mapping[str, float]] | None = None,
        kept: Mapping[str, float] = MappingProxyType({}),
    ) -> Controller:
        """The controller after a batch of tuples that took so many seconds, `elapsed` after the one before.

        `branches` are the tuples of each branch, where some took others than the rest. Outputs behind boxes that leave
        out less or more than they were told to have `kept` so much.
        """
        if kept and any(taken.values()):
            order = replace(order, part=self._part(self.road or self._road(taken), {**order.kept, **kept}))
        weight, learning = (1 - exp(-max(elapsed, 1e-3) / span) for span in (MEMORY, LEARNING))
        load = self.model.load(taken) if branches is None else self.model.load_of(branches)
        batch, work = self.model.costs.batch * self.overhead, load * order.part * self.error
        # Normalised least mean squares: a batch with little work in it tells little of how long work takes, and if it
        # takes long, that is so whatever is shed.
        squares = batch * batch + work * work
        off = learning * (seconds - batch - work) / squares if squares else 0.0
        error, overhead = self.error * max(1 + off * work, 0.5), self.overhead * max(1 + off * batch, 0.5)
        rates = {name: tuples / max(elapsed, 1e-3) for name, tuples in taken.items()}
        if self.rates is not None:
            rates = {name: (1 - weight) * self.rates.get(name, rate) + weight * rate for name, rate in rates.items()}
        ranking, floors = self.ranking.after(order.delays, elapsed), self._floors(order, kept, learning)
        known = replace(
            self, error=_bounded(error), overhead=_bounded(overhead), rates=rates, ranking=ranking, floors=floors
        )
        limit = (END if self.overloaded else BEGIN) * self.model.machine.headroom
        return replace(known, overloaded=known._needed(rates) > limit)

    @property
    def used(self) -> float | None:
        """The part of the headroom that tuples take at the rates of late, if none are shed; none before it is known."""
        return None if self.rates is None else self._needed(self.rates) / self.model.machine.headroom

    def _needed(self, rates: Mapping[str, float]) -> float:
        """The part of its time that the machine needs at some rates, with the longest intervals."""
        batches = self.model.costs.batch * self.overhead / self.model.longest(self.overhead)
        return self.model.load(rates) * self.error + batches

    def _crowded(self, waiting: Waiting) -> bool:
        """Whether what waits came faster than the machine holds, and over as long a time as rates are averaged.

        If all branches wait, less is taken than comes: the rates at which it is taken do not tell.
        """
        if waiting.oldest < MEMORY:
            return False
        rates = {name: tuples / waiting.oldest for name, tuples in waiting.tuples.items()}
        return self._needed(rates) > BEGIN * self.model.machine.headroom

    def _loses_half(self, delay: float, among: Container[str] | None = None) -> bool:
        """Whether a delay takes half of the worth of an output, perhaps among some, that could be in time."""
        reach = self.model.reach(self.overhead)
        outputs = self.model.network.outputs
        graphs = [output.qos.latency for output in outputs if among is None or output.name in among]
        return any(graph.utility(delay) <= HALF for graph in graphs if graph is not None and graph.bend >= reach)

    def _floors(self, order: BatchOrder, kept: Mapping[str, float], learning: float) -> dict[str, float]:
        """What outputs keep at least, after a batch in which they kept so much; nothing where they did as asked."""
        asked = {**order.kept, **order.asked}
        held = {name: part for name, part in kept.items() if part > asked.get(name, 1.0) + OFF}
        moved = {
            name: (1 - learning) * self.floors.get(name, 0.0) + learning * held.get(name, 0.0)
            for name in {*self.floors, *held}
        }
        return {name: floor for name, floor in moved.items() if floor > OFF}

    def _asked(self, best: RoadMap, part: float) -> dict[str, float]:
        """What outputs with floors are asked to keep, so that a part of the whole load is left."""
        plan = best.at(best.plans[0].load * part)
        return {name: plan.kept[name] for name in self.floors}

    def _part(self, road: RoadMap, kept: Mapping[str, float]) -> float:
        """The part of the work that is left if outputs keep so much."""
        mapper = Mapper(road.demands, tuple(self.model.shares(road.inputs)))
        whole = road.plans[0].load
        return mapper.load(kept) / whole if whole else 1.0

    def _later(self, road: RoadMap) -> float | None:
        """A longer interval than that of the flat parts, if all outputs are worth much more with it; else none.

        Where a batch by itself takes nearly as long as a graph is flat, there is hardly room for work: outputs that are
        somewhat late, and whole, are worth more then than all that would be shed for them to be in time.
        """
        load = self.model.load(self.rates) * self.error if self.rates else 0.0
        longest, headroom = self.model.longest(self.overhead), self.model.machine.headroom
        cramped = self.model.costs.batch * self.overhead > CRAMPED * headroom * longest
        if not load or not cramped or longest >= LONGEST:
            return None
        intervals = [longest]
        while intervals[-1] < LONGEST:
            intervals.append(min(intervals[-1] * _LONGER, LONGEST))
        worths = [self._worth(road, load, each, each * (1 + headroom)) for each in intervals]
        if worths[0] >= FLAT * max(worths):
            return None
        return intervals[max(range(len(worths)), key=lambda place: worths[place])]

    def _worth(self, road: RoadMap, load: float, interval: float, delay: float) -> float:
        """What all outputs are worth with a delay if batches of an interval shed a load to what fits."""
        outputs = self.model.network.outputs
        most = max(self.model.machine.headroom - self.model.costs.batch * self.overhead / interval, 0.0)
        plan = road.at(road.plans[0].load * most / load)
        return road.demands.utility(plan.kept, {output.name: delay for output in outputs})

    def _interval(self, work: float) -> float:
        """The shortest interval at which batches fit into the headroom, by the rates, or else by what waits."""
        load = self.model.load(self.rates) * self.error if self.rates else work / self.model.longest(self.overhead)
        return self.model.interval(load, self.overhead)

    def _road(self, tuples: Mapping[str, float]) -> RoadMap:
        """The road map for tuples that come in these shares; loads in it are those of one tuple in all."""
        count = sum(tuples.values())
        mix = {name: each / count for name, each in tuples.items()}
        known = self.road
        if known is not None and _alike(known.inputs, mix):
            return known
        return road_map(self.model, mix)

    def _exact_alone(self, road: RoadMap, waiting: Waiting) -> bool:
        """Whether what may not be shed takes more than the headroom all the time.

        By the rates, and by what waits if that came over as long a time, or no rates are known: a run that is behind
        may take less than comes.
        """
        count = sum(self.rates.values()) if self.rates is not None else 0.0
        if self.rates is None or waiting.oldest >= MEMORY:
            span = max(waiting.oldest, self.model.longest(self.overhead))
            count = max(count, sum(waiting.tuples.values()) / span)
        return road.plans[-1].load * count * self.error > self.model.machine.headroom


def _bounded(factor: float) -> float:
    return min(max(factor, 0.1), 10.0)


def _alike(mix: Mapping[str, float], other: Mapping[str, float]) -> bool:
    return mix.keys() == other.keys() and all(abs(mix[name] - other[name]) <= MIX for name in mix)
