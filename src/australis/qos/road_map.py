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

from australis.model.network import Arrow, Network, Node
from australis.model.train import empty
from australis.qos.lighter import Reach, box_parts, lighter_boxes, together
from australis.qos.load import LoadModel, Share
from australis.qos.utility import total

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
class Plan:
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

    @cached_property
    def protected(self) -> frozenset[str]:
        """The boxes before which nothing may be dropped.

        Without some of its tuples a box must give a part of its results and no others: without any of them, or without
        those of whole windows. A box that writes a table does not: who reads the table would see another value. Of
        pairs less than the part of the tuples would be left, so nothing is dropped before a join either.
        """
        whole = (node.name for node in self.network.nodes if not self._divisible(node))
        return frozenset({*whole, *self.lighter})

    @cached_property
    def windowed(self) -> frozenset[str]:
        """The boxes of which whole windows can be left out.

        Not those whose results go on to windows: these would lack some of them, and come out wrong.
        """
        firsts = ((node, empty(self.network.schema(node.sources[0]))) for node in self.network.nodes)
        windows = {node.name for node, first in firsts if node.box.windows(first) is not None}
        followed: set[str] = set()
        for node in reversed(self.network.nodes):
            if node.name in windows or node.name in followed:
                followed.update(arrow.source for arrow in node.sources)
        return frozenset(windows - followed)

    @cached_property
    def lighter(self) -> dict[str, Reach]:
        """The boxes that leave out some of their results by themselves, in place of tuples around them."""
        return lighter_boxes(self.network)

    def group(self, output: str) -> frozenset[str]:
        """The outputs that get the same part as one."""
        return together(self.lighter.values(), output)

    def _divisible(self, node: Node) -> bool:
        if node.name in self.windowed:
            return True
        schemas = [self.network.schema(arrow) for arrow in node.sources]
        return node.box.divisible(*schemas) and (len(schemas) == 1 or node.box.merges)

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

    def drops(self, kept: Kept) -> list[Drop]:
        """Where tuples are dropped so that each output gets its part, from the inputs on."""
        parts = {name: self.part(names, kept) for name, names in self.below.items()}
        reaches = self.lighter.values()
        places = [
            (arrow.source, node.name, parts[node.name])
            for node in self.network.nodes
            for arrow in node.sources
            if not any(node.name in reach.boxes for reach in reaches)
        ]
        places += [
            (output.arrow.source, output.name, kept.get(output.name, 1.0))
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
    plans: tuple[Plan, ...]
    """From the whole load down. Between two of them the outputs change in proportion."""
    inputs: Mapping[str, float]
    """The rates that it was drawn for."""

    def at(self, load: float) -> Plan:
        """The plan that brings the load down to this one, or as near to it as shedding gets."""
        if load >= self.plans[0].load:
            return self.plans[0]
        place = bisect_left(self.plans, -load, key=lambda plan: -plan.load)
        if place == len(self.plans):
            return self.plans[-1]
        before, after = self.plans[place - 1], self.plans[place]
        part = (before.load - load) / (before.load - after.load)
        kept = {name: kept + (after.kept[name] - kept) * part for name, kept in before.kept.items()}
        return Plan(load, kept, total(self.demands.network.outputs, {}, kept))

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
        of = self.demands.group if share.work.kind == "sink" else self.demands.below.__getitem__
        return frozenset().union(*map(of, share.work.serves))

    @cached_property
    def works(self) -> dict[frozenset[str], float]:
        """The load by the outputs that it serves."""
        works: dict[frozenset[str], float] = {}
        for share in self.shares:
            if served := self._served(share):
                works[served] = works.get(served, 0.0) + share.busy
        return works

    def plans(self) -> Iterator[Plan]:
        outputs = self.demands.network.outputs
        kept = {output.name: 1.0 for output in outputs}
        yield Plan(self.load(kept), dict(kept), total(outputs, {}, kept))
        while move := min(self._moves(kept), default=None):
            _, names, level = move
            kept |= dict.fromkeys(names, level)
            yield Plan(self.load(kept), dict(kept), total(outputs, {}, kept))

    def _moves(self, kept: Kept) -> Iterator[tuple[float, tuple[str, ...], float]]:
        """The steps that can be taken: the utility lost for the load freed, the outputs that are lowered, and to what.

        Outputs are lowered together where they hold up the same work, all of those that get the most of it.
        """
        graphs = {o.name: (o.qos.weight, o.qos.delivered.hull) for o in self.demands.network.outputs if o.qos.delivered}
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
    that leads to a flat one.
    """
    demands = Demands(model.network)
    return RoadMap(demands, tuple(Mapper(demands, tuple(model.shares(inputs)), floors).plans()), inputs)
