"""The road map of load shedding: what to give up first, and how much of the machine that frees (Aurora 4.5).

How much comes out is decided for each output. Every part of the network then works on as much as the output below it
that gets the most. So tuples are dropped as far upstream as can be without touching other outputs, and each output gets
its part whatever ways its tuples take.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from australis.model.network import Arrow, Network
from australis.model.qos import Graph, WorthHistogram
from australis.qos.lighter import LighterReach, box_parts, lighter_boxes, together
from australis.qos.load import LoadModel, Share
from australis.qos.shedding import takes_all
from australis.qos.utility import total
from australis.qos.windowed import sampled, windowed

Kept = Mapping[str, float]
"""The part of each output that comes out, of what would without shedding."""


@dataclass(frozen=True)
class Drop:
    """A place where tuples are dropped: between an input or box, and a box or output that takes its tuples."""

    after: str
    """Empty where tuples are dropped as they enter, and `before` is an input."""
    before: str
    """Empty where the box `after` leaves out some of its results by itself."""
    kept: float
    """The part of the tuples that goes on."""


@dataclass(frozen=True)
class RoadPlan:
    """What each output gets, the load that this leaves, and what all outputs are then worth."""

    load: float
    kept: Kept
    utility: float


@dataclass(frozen=True)
class Demands:
    """Who needs what: the outputs that each input and box leads to.

    Among them are the boxes before which nothing may be dropped: as if each were an output that must be whole.
    """

    network: Network
    worth: Mapping[str, WorthHistogram] = field(default_factory=dict)
    """How much the tuples of outputs with a value graph are worth, as far as it is known."""

    @classmethod
    def of(cls, model: LoadModel) -> Demands:
        return cls(model.network, model.costs.worth)

    @cached_property
    def protected(self) -> frozenset[str]:
        """The inputs and boxes of whose tuples none can be left out (see `qos/shedding.py` and `qos/lighter.py`)."""
        return takes_all(self.network, self.by_worth) | self.lighter.keys()

    @cached_property
    def by_worth(self) -> frozenset[str]:
        """The outputs of which the tuples that are worth least are dropped.

        Not those behind windows that are left out or sampled: there it is by chance.
        """
        behind = set(self.windowed | self.sampled)
        for node in self.network.nodes:
            if any(arrow.source in behind for arrow in node.sources):
                behind.add(node.name)
        valued = (output for output in self.network.outputs if output.qos.value is not None)
        lighter = {name for reach in self.lighter.values() for name in reach.outputs}
        known = self.worth.keys() - lighter
        return frozenset(o.name for o in valued if o.name in known and o.arrow.source not in behind)

    def delivered(self, kept: Kept) -> Kept:
        """The part of its worth that each output keeps, by the part of its tuples."""
        curves = {name: self.worth[name].curve for name in self.by_worth}
        return {name: curves[name].utility(part) if name in curves else part for name, part in kept.items()}

    @cached_property
    def graphs(self) -> dict[str, tuple[float, Graph]]:
        """The outputs that may be shed: their weights, and what they are worth by the part of tuples, as a hull."""
        graphs = {o.name: (o.qos.weight, o.qos.delivered) for o in self.network.outputs if o.qos.delivered is not None}
        return {
            name: (weight, (graph.after(self.worth[name].curve) if name in self.by_worth else graph).hull)
            for name, (weight, graph) in graphs.items()
        }

    def utility(self, kept: Kept, delays: Mapping[str, float] = MappingProxyType({})) -> float:
        """What all outputs are worth if each gets its part, after delays."""
        return total(self.network.outputs, delays, self.delivered(kept))

    @cached_property
    def windowed(self) -> frozenset[str]:
        """The boxes of which whole windows are left out."""
        return windowed(self.network)

    @cached_property
    def sampled(self) -> frozenset[str]:
        """The boxes that are given samples."""
        return sampled(self.network)

    @cached_property
    def after_samples(self) -> frozenset[str]:
        """The boxes that get results of samples: as many as without shedding."""
        after = set[str]()
        for node in self.network.nodes:
            if any(arrow.source in after or arrow.source in self.sampled for arrow in node.sources):
                after.add(node.name)
        return frozenset(after)

    @cached_property
    def of_samples(self) -> frozenset[str]:
        """The outputs that get results of samples: as many as without shedding."""
        sources = self.sampled | self.after_samples
        return frozenset(output.name for output in self.network.outputs if output.arrow.source in sources)

    @cached_property
    def lighter(self) -> dict[str, LighterReach]:
        """The boxes that leave out some of their results by themselves, in place of tuples around them."""
        return lighter_boxes(self.network)

    def group(self, output: str) -> frozenset[str]:
        """The outputs that get the same part as one."""
        return together(self.lighter.values(), output)

    @cached_property
    def below(self) -> dict[str, frozenset[str]]:
        """The outputs and protected boxes that each input, box and output leads to."""
        below: dict[str, set[str]] = {
            name: {_whole(name)} if name in self.protected else set() for name in self.network.schemas
        }
        for output in self.network.outputs:
            below[output.arrow.source] |= self.group(output.name) | self._needs_all(
                output.arrow, output.name, "outputs"
            )
        for node in reversed(self.network.nodes):
            for arrow in node.sources:
                below[arrow.source] |= below[node.name] | self._needs_all(arrow, node.name, "boxes")
        return {name: frozenset(names) for name, names in below.items()}

    def _needs_all(self, arrow: Arrow, name: str, kind: str) -> set[str]:
        """The lighter boxes that a box or output is behind, if what comes to it along an arrow is not.

        Nothing of that is dropped: what is shed there, those boxes leave out. They count as protected.
        """
        return {
            _whole(box)
            for box, reach in self.lighter.items()
            if name in getattr(reach, kind) and arrow.source not in reach.boxes
        }

    def part(self, names: frozenset[str], kept: Kept) -> float:
        """The part of its tuples that is worked on by what leads to some outputs; all of it if it leads to none."""
        return max((kept.get(name, 1.0) for name in names), default=1.0)

    def parts(self, kept: Kept) -> dict[str, float]:
        """The part of its tuples that each input and box works on."""
        parts = {name: self.part(names, kept) for name, names in self.below.items()}
        return parts | dict.fromkeys(self.after_samples, 1.0)

    def drops(self, kept: Kept) -> list[Drop]:
        """Where tuples are dropped so that each output gets its part, from the inputs on."""
        parts, reaches = self.parts(kept), self.lighter.values()
        results = {**kept, **dict.fromkeys(self.of_samples, 1.0)}
        places = [
            (arrow.source, node.name, parts[node.name])
            for node in self.network.nodes
            for arrow in node.sources
            if not any(node.name in reach.boxes for reach in reaches)
        ]
        places += [
            (output.arrow.source, output.name, results.get(output.name, 1.0))
            for output in self.network.outputs
            if not any(output.name in reach.outputs for reach in reaches)
        ]
        entering = [Drop("", input.name, parts[input.name]) for input in self.network.inputs if parts[input.name] < 1]
        entering += [Drop(name, "", part) for name, part in box_parts(self.network, kept).items()]
        return entering + [
            Drop(after, before, part / parts[after])
            for after, before, part in dict.fromkeys(places)
            if part < parts[after]
        ]


def _whole(box: str) -> str:
    """What stands for a protected box among outputs, which may have its name."""
    return f"box {box}"


@dataclass(frozen=True)
class RoadMap:
    """The best plans from shedding nothing to shedding all that may be shed, one load after another."""

    demands: Demands
    plans: tuple[RoadPlan, ...]
    """From the whole load down. Between two of them the outputs change in proportion."""
    inputs: Mapping[str, float]
    """The rates that it was drawn for."""

    def at(self, load: float) -> RoadPlan:
        """The plan that brings the load down to this one, or as near to it as shedding gets."""
        if load >= self.plans[0].load:
            return self.plans[0]
        place = bisect_left(self.plans, -load, key=lambda plan: -plan.load)
        if place == len(self.plans):
            return self.plans[-1]
        before, after = self.plans[place - 1], self.plans[place]
        part = (before.load - load) / (before.load - after.load)
        kept = {name: kept + (after.kept[name] - kept) * part for name, kept in before.kept.items()}
        return RoadPlan(load, kept, self.demands.utility(kept))

    def drops(self, kept: Kept) -> list[Drop]:
        """Where tuples are dropped so that each output gets its part, from the inputs on."""
        return self.demands.drops(kept)


@dataclass(frozen=True)
class Mapper:
    """Walks from the whole load down, at each step along the smallest slope."""

    demands: Demands
    shares: tuple[Share, ...]
    floors: Kept = field(default_factory=dict)
    """What outputs keep at least, where boxes leave out no more by themselves."""

    def load(self, kept: Kept) -> float:
        """The load that is left when each output gets its part."""
        return sum(share.busy * self.demands.part(self._served(share), kept) for share in self.shares)

    def _served(self, share: Share) -> frozenset[str]:
        """The outputs that a part of the network works for; none for what works on all there is."""
        below, serves = self.demands.below, frozenset(share.work.serves)
        if share.work.kind == "sink":
            return frozenset().union(*map(self.demands.group, serves)) - self.demands.of_samples
        if serves & self.demands.after_samples or len(serves & self.demands.sampled) > 1:
            return frozenset()
        return frozenset().union(*(below[name] for name in serves))

    @cached_property
    def works(self) -> dict[frozenset[str], float]:
        """The load by the outputs that it serves."""
        works: dict[frozenset[str], float] = {}
        for share in self.shares:
            if served := self._served(share):
                works[served] = works.get(served, 0.0) + share.busy
        return works

    def plans(self) -> Iterator[RoadPlan]:
        kept = {output.name: 1.0 for output in self.demands.network.outputs}
        yield RoadPlan(self.load(kept), dict(kept), self.demands.utility(kept))
        while move := min(self._moves(kept), default=None):
            _, names, level = move
            kept |= dict.fromkeys(names, level)
            yield RoadPlan(self.load(kept), dict(kept), self.demands.utility(kept))

    def _moves(self, kept: Kept) -> Iterator[tuple[float, tuple[str, ...], float]]:
        """The steps that can be taken: the utility lost for the load freed, the outputs that are lowered, and to what.

        Outputs are lowered together where they hold up the same work, all of those that get the most of it.
        """
        graphs = self.demands.graphs
        tops = {served: self._top(served, kept) for served in self.works}
        for top in set(tops.values()):
            level, floor = kept.get(min(top), 1.0), max(self.floors.get(name, 0.0) for name in top)
            if level <= floor or not top <= graphs.keys():
                continue
            freed = [served for served, each in tops.items() if each <= top]
            gain = sum(self.works[served] for served in freed)
            others = [kept.get(name, 1.0) for served in freed for name in served - top]
            points = [x for name in top for x, _ in graphs[name][1].points if x < level]
            lower = max([floor, *others, *points])
            if gain > 0:
                falls = (graphs[name] for name in top)
                loss = sum(weight * (graph.utility(level) - graph.utility(lower)) for weight, graph in falls)
                yield loss / (gain * (level - lower)), tuple(sorted(top)), lower

    def _top(self, served: frozenset[str], kept: Kept) -> frozenset[str]:
        most = self.demands.part(served, kept)
        return frozenset(name for name in served if kept.get(name, 1.0) == most)


def road_map(model: LoadModel, inputs: Mapping[str, float], floors: Kept = MappingProxyType({})) -> RoadMap:
    """The road map of a network whose inputs have these rates, and whose outputs keep at least so much (`floors`).

    Where a `delivered` graph is not concave its hull is used: a walk along the slopes would stop before a steep part
    that leads to a flat one. Of an output whose tuples of least worth are dropped, it goes by the worth that is kept.
    """
    demands = Demands.of(model)
    return RoadMap(demands, tuple(Mapper(demands, tuple(model.shares(inputs)), floors).plans()), inputs)


def road_map_of(model: LoadModel, branches: Mapping[str, Mapping[str, float]]) -> RoadMap:
    """The same where branches, by their names, take different numbers of tuples."""
    demands = Demands.of(model)
    return RoadMap(demands, tuple(Mapper(demands, tuple(model.shares_of(branches))).plans()), {})
