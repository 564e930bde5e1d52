"""Shedding: which tuples of a batch are left out, and where (Aurora 4.5).

What an output keeps of its tuples is carried upstream, through boxes that make each result of one tuple, up to the
inputs if it can be. Where ways part, a tuple is kept that is wanted on any of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from australis.arrow.columns import Bools, arrow
from australis.errors import RunError, listing
from australis.expressions import expr
from australis.expressions.expression import of
from australis.expressions.failing import may_fail
from australis.expressions.node import Name, replaced
from australis.model.network import OUT, Arrow, Network, Node, Output
from australis.model.qos.graph import Graph
from australis.model.train import Train, empty
from australis.qos.lighter import box_parts, lighter_boxes
from australis.qos.ranks import BINS, NumberRank, ValueRank, WindowPart
from australis.qos.windowed import SampleKeep, followed_by_windows, sampled, windowed


@dataclass(frozen=True)
class TupleKeep:
    """Tuples of a rank below a part are kept."""

    rank: NumberRank | ValueRank
    part: float

    def mask(self, network: Network, train: Train) -> Bools:
        return self.rank.of(train) < self.part


@dataclass(frozen=True)
class WindowKeep:
    """Tuples are kept that are in windows of a box which are kept, and those that others must notice."""

    box: str
    part: WindowPart

    def mask(self, network: Network, train: Train) -> Bools:
        windows = network.named[self.box].box.windows(train)
        assert windows is not None
        return self.part.passing(windows)


Keep: TypeAlias = TupleKeep | WindowKeep | SampleKeep
Wanted: TypeAlias = tuple[Keep, ...] | None
"""What is kept: a tuple that any of these keeps, or all tuples."""


Place: TypeAlias = tuple[str, str]
"""Where tuples are left out: as they enter an `input`, or before a `box` or an `output` takes them; and its name."""


@dataclass(frozen=True)
class ShedPlan:
    """What a batch leaves out, and where."""

    places: Mapping[Place, tuple[Keep, ...]] = field(default_factory=dict)
    results: Mapping[str, WindowPart] = field(default_factory=dict)
    """Boxes of whose results some are left out, since their windows were."""
    lighter: Mapping[str, float] = field(default_factory=dict)
    """Boxes that leave out some of their results by themselves, and the part that they are to leave."""

    def kept(self, network: Network, places: Collection[Place], train: Train) -> tuple[Train, Bools]:
        """What is kept of a train at any of some places of the plan, and which of its tuples these are."""
        keeps = dict.fromkeys(keep for place in places for keep in self.places[place])
        samples = [keep for keep in keeps if isinstance(keep, SampleKeep)]
        mask = np.full(len(train), len(samples) > 1)  # weights are of the windows of one box: each takes its sample
        for keep in keeps:
            if not isinstance(keep, SampleKeep):
                mask |= keep.mask(network, train)
        if len(samples) != 1:
            return where(train, mask), mask
        weights = samples[0].weights(network, train, mask)
        return train.weighted(weights), weights != 0

    @cached_property
    def samples(self) -> frozenset[str]:
        """The boxes that are given samples."""
        keeps = (keep for keeps in self.places.values() for keep in keeps)
        return frozenset(keep.box for keep in keeps if isinstance(keep, SampleKeep))

    def ranks(self, place: Place) -> list[ValueRank]:
        """The ranks by worth at a place, one for each output that values its tuples."""
        ranks = (keep.rank for keep in self.places[place] if isinstance(keep, TupleKeep))
        return [rank for rank in ranks if isinstance(rank, ValueRank)]

    def results_kept(self, network: Network, box: str, results: Train) -> Train:
        """The results of a box whose windows were kept."""
        if box not in self.results or not len(results):
            return results
        windows = network.named[box].box.windows(results)
        assert windows is not None
        return where(results, self.results[box].kept(windows))

    def check(self, network: Network) -> None:
        """Refuse a plan for another network: it names places or columns that this one does not have."""
        sources: dict[Place, tuple[Arrow, ...]] = {
            ("input", input.name): (Arrow(input.name, OUT),) for input in network.inputs
        }
        sources |= {("box", node.name): node.sources for node in network.nodes}
        sources |= {("output", output.name): (output.arrow,) for output in network.outputs}
        keeps = (keep for keeps in self.places.values() for keep in keeps)
        windows = frozenset([*self.results, *(keep.box for keep in keeps if isinstance(keep, WindowKeep))])
        places = [*self.places, *(("box", name) for name in sorted({*windows, *self.samples, *self.lighter}))]
        lacking = [f"{kind} {name}" for kind, name in places if (kind, name) not in sources]
        for place, kept in self.places.items():
            names = {name for arrow in sources.get(place, ()) for name in network.schema(arrow).names}
            ranks = [keep.rank for keep in kept if isinstance(keep, TupleKeep)]
            wanted = {name for rank in ranks if isinstance(rank, ValueRank) for name in rank.value.columns}
            if place in sources and wanted - names:
                lacking.append(f"column {listing(sorted(wanted - names))} before {' '.join(place)}")
        if lacking:
            raise RunError(
                f"the plan is for another network: this one has no {listing(dict.fromkeys(lacking))}; make it for the"
                " network that runs (`run.optimized`)"
            )
        followed = followed_by_windows(network)
        for unfit, what, why in (
            (windows - windowed(network), "whole windows cannot be left out of", "it has no such windows"),
            (self.samples - sampled(network), "samples cannot be taken for", "it does not ask for `shed: sample`"),
        ):
            if unfit:
                name = min(unfit & followed or unfit)
                wrong = "its results go on to other windows, which would be wrong"
                raise RunError(f"{what} box `{name}`: {wrong if name in followed else why}")

    def render(self) -> dict[str, Any]:
        """The plan as JSON can hold it, in an offset."""
        places = [[*place, [_written(keep) for keep in keeps]] for place, keeps in self.places.items()]
        results = {name: [list(part.numbers), list(part.parts)] for name, part in self.results.items()}
        return {"places": places, "results": results, "lighter": dict(self.lighter)}

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> ShedPlan:
        """The plan in what `render` made."""
        places = {(kind, name): tuple(_read(keep) for keep in keeps) for kind, name, keeps in data["places"]}
        results = {name: WindowPart(tuple(n), tuple(p)) for name, (n, p) in data["results"].items()}
        return cls(places, results, data.get("lighter", {}))


def shed_plan(
    network: Network,
    kept: Mapping[str, float],
    windows: Mapping[str, WindowPart] | None = None,
    worth: Mapping[str, Sequence[int]] | None = None,
    seed: int = 0,
    samples: Mapping[str, float] | None = None,
    apart: bool = False,
) -> ShedPlan:
    """The plan by which outputs keep a part of their tuples, or of what the boxes before them leave by themselves.

    `windows` has the part that boxes keep of their windows; outputs that get their results keep all of those. `worth`
    has for outputs with a value graph how many of their tuples were worth how much, in BINS. `samples` has the part of
    their tuples that boxes with `shed: sample` are given; all of their results come out. With `apart` nothing is left
    out of inputs, but before the first boxes and outputs that take it.
    """
    behind = {output for reach in lighter_boxes(network).values() for output in reach.outputs}
    dropped = {output: part for output, part in kept.items() if output not in behind}
    planner = _ShedPlanner(network, dropped, windows or {}, worth or {}, seed, samples or {}, apart)
    return ShedPlan(planner.places(), planner.windows, box_parts(network, kept))


def takes_all(network: Network, valued: Collection[str] = ()) -> frozenset[str]:
    """The inputs and boxes of whose tuples none can be left out, whatever outputs give up.

    Without some of its tuples a box must give a part of its results and no others, or results of a sample. A box that
    writes a table does not: who reads the table would see another value. Of pairs less than the part of the tuples
    would be left, so nothing is dropped before a join either. And what is left out after a box must be known before it:
    which windows, or what is worth least to an output that is `valued`.
    """
    some = WindowPart((-1,), (0.5,))
    planner = _ShedPlanner(
        network,
        {output.name: 0.5 for output in network.outputs},
        dict.fromkeys(windowed(network), some),
        dict.fromkeys(valued, (1,) * BINS),
        0,
        dict.fromkeys(sampled(network), 0.5),
    )
    boxes = [node.name for node in network.nodes if planner.box(node) is None]
    return frozenset([*boxes, *(each.name for each in network.inputs if planner.wanted[Arrow(each.name, OUT)] is None)])


@dataclass(frozen=True)
class _ShedPlanner:
    network: Network
    kept: Mapping[str, float]
    windows: Mapping[str, WindowPart]
    worth: Mapping[str, Sequence[int]]
    seed: int
    samples: Mapping[str, float]
    apart: bool = False

    def places(self) -> dict[Place, tuple[Keep, ...]]:
        """What is left out before inputs, boxes and outputs: at each place where it was not before."""
        streams = [input.name for input in self.network.inputs if not input.static]
        places: dict[Place, Wanted] = {("input", name): self.wanted[Arrow(name, OUT)] for name in streams}
        takers = [(("box", node.name), node.sources, self.box(node)) for node in self.network.nodes]
        takers += [(("output", output.name), (output.arrow,), self._output(output)) for output in self.network.outputs]
        places |= {
            place: wants
            for place, sources, wants in takers
            if any(wants != self.wanted[arrow] or not self._enforced(arrow) for arrow in sources)
        }
        return {place: wants for place, wants in places.items() if wants is not None}

    @cached_property
    def wanted(self) -> dict[Arrow, Wanted]:
        """What is wanted of the tuples on each arrow."""
        wanted: dict[Arrow, Wanted] = {}
        takers: dict[Arrow, list[Wanted]] = {}
        for output in self.network.outputs:
            takers.setdefault(output.arrow, []).append(self._output(output))
        for node in reversed(self.network.nodes):
            for port in self.network.schemas[node.name]:
                arrow = Arrow(node.name, port)
                wanted[arrow] = _any(takers.get(arrow, [()]))
            for arrow in dict.fromkeys(node.sources):
                takers.setdefault(arrow, []).append(self._through(node, wanted))
        for input in self.network.inputs:
            wants = _any(takers.get(Arrow(input.name, OUT), [()]))
            wanted[Arrow(input.name, OUT)] = None if self.apart else wants
        return wanted

    def box(self, node: Node) -> Wanted:
        """What a box wants of the tuples that it takes."""
        return self._through(node, self.wanted)

    def _output(self, output: Output) -> Wanted:
        part = self.kept.get(output.name, 1.0)
        if part >= 1:
            return None
        counts = self.worth.get(output.name)
        if output.qos.value is None or counts is None:
            return (TupleKeep(NumberRank(self.seed), part),)
        column, graph = output.qos.value
        return (TupleKeep(ValueRank(expr(column), graph, tuple(counts), self.seed, output.name), part),)

    def _through(self, node: Node, wanted: Mapping[Arrow, Wanted]) -> Wanted:
        """What a box wants of the tuples that it takes, so that all is there which is wanted of its results."""
        if node.name in self.windows:
            return (WindowKeep(node.name, self.windows[node.name]),)
        if node.name in self.samples:
            part = self.samples[node.name]
            return (SampleKeep(node.name, part, NumberRank(self.seed)),) if part < 1 else None
        schemas = [self.network.schema(arrow) for arrow in node.sources]
        single = len(node.sources) == 1 or node.box.merges
        if not single or node.box.writes is not None or not node.box.divisible(*schemas):
            return None
        ports = [(port, wanted[Arrow(node.name, port)]) for port in self.network.schemas[node.name]]
        return _any([self._carried(node, port, wants, schemas) for port, wants in ports])

    def _carried(self, node: Node, port: str, wants: Wanted, schemas: Sequence[pa.Schema]) -> Wanted:
        """What is wanted of a port, in the columns of a box's input; all, if that cannot be said."""
        if wants is None:
            return None
        made = node.box.computes(port, *schemas)
        carried: list[Keep] = []
        for keep in wants:
            if isinstance(keep, WindowKeep):
                # A box that removes tuples could remove those that others must notice.
                windowed = self.network.named[keep.box]
                windows = windowed.box.windows(empty(self.network.schema(windowed.sources[0])))
                same = windows is not None and all(made.get(name) == expr(name) for name in windows.columns)
                if not same or not node.box.keeps_all:
                    return None
                carried.append(keep)
            elif isinstance(keep, SampleKeep):
                columns = self.network.named[keep.box].box.sampled_by or ()
                same = all(made.get(name) == expr(name) for name in columns)
                if not same or not node.box.keeps_all or len(node.sources) > 1:  # merging loses the weights
                    return None
                carried.append(keep)
            elif isinstance(keep.rank, ValueRank):
                value = keep.rank.value
                if not made.keys() >= set(value.columns):
                    return None
                whole = of(replaced(value.node, lambda part: made[part.name].node if isinstance(part, Name) else None))
                if may_fail(whole, schemas[0]):
                    return None
                carried.append(TupleKeep(replace(keep.rank, value=whole), keep.part))
            else:
                carried.append(keep)
        return tuple(carried)

    def _enforced(self, arrow: Arrow) -> bool:
        """Whether what is not wanted of an arrow was left out before."""
        node = self.network.named.get(arrow.source)
        if node is None or node.name in self.samples:
            return True
        schemas = [self.network.schema(each) for each in node.sources]
        carried = self._carried(node, arrow.port, self.wanted[arrow], schemas)
        return node.name not in self.windows and carried is not None and carried == self.box(node)


def _any(wants: Sequence[Wanted]) -> Wanted:
    """What is wanted by any of several; of the same rank it is the greatest part."""
    parts: dict[Any, Any] = {}
    for want in wants:
        if want is None:
            return None
        for keep in want:
            if isinstance(keep, WindowKeep | SampleKeep):
                parts[keep] = keep
            else:
                part = max(keep.part, parts.get(keep.rank, keep).part)
                parts[keep.rank] = TupleKeep(keep.rank, part)
    several = sum(isinstance(keep, SampleKeep) for keep in parts) > 1  # weights are of the windows of one box
    return None if several else tuple(parts.values())


def where(train: Train, mask: Bools) -> Train:
    """The tuples of a mask."""
    mask_array: Any = arrow(mask, None, pa.bool_())
    return train.where(mask_array)


def _written(keep: Keep) -> list[Any]:
    if isinstance(keep, WindowKeep):
        return ["window", keep.box, list(keep.part.numbers), list(keep.part.parts)]
    if isinstance(keep, SampleKeep):
        return ["sample", keep.box, keep.part, keep.rank.seed]
    if isinstance(keep.rank, NumberRank):
        return ["number", keep.part, keep.rank.seed]
    rank = keep.rank
    points = [list(point) for point in rank.graph.points]
    return ["value", keep.part, str(rank.value), points, list(rank.counts), rank.seed, rank.output]


def _read(data: Sequence[Any]) -> Keep:
    kind, *rest = data
    if kind == "window":
        return WindowKeep(rest[0], WindowPart(tuple(rest[1]), tuple(rest[2])))
    if kind == "sample":
        return SampleKeep(rest[0], rest[1], NumberRank(rest[2]))
    if kind == "number":
        return TupleKeep(NumberRank(rest[1]), rest[0])
    part, value, points, counts, seed, output = rest
    graph = Graph(tuple((float(x), float(y)) for x, y in points))
    return TupleKeep(ValueRank(expr(value), graph, tuple(counts), seed, output), part)
