"""Shedding in a task or a local run: what a plan leaves out, counted by place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from australis.model.box import Tables, Trains
from australis.model.lightened import Lightened
from australis.model.network import Network, Node
from australis.model.train import Train, weights_of
from australis.qos.lighter import OBJECTS
from australis.qos.ranks import ValueRank
from australis.qos.shedding import Place, ShedPlan
from australis.qos.worth import WorthCounts, worth_rank


@dataclass
class SampleCounts:
    """The tuples that came to a box, those that went into it, and those of them in the sample."""

    came: int = 0
    passed: int = 0
    seen: int = 0

    def add(self, train: Train) -> None:
        weights = weights_of(train)
        self.came += int(np.abs(weights).sum())
        self.passed += len(train)
        self.seen += int((weights > 0).sum())


@dataclass
class Shedding:
    """A plan at work on a network."""

    network: Network
    plan: ShedPlan
    kept: Counter[Place] = field(default_factory=Counter)
    """How many tuples went on at each place where some are left out."""
    dropped: Counter[Place] = field(default_factory=Counter)
    seen: dict[str, int] = field(default_factory=dict)
    """The greatest window that boxes whose windows are left out have had tuples of."""
    results: Counter[str] = field(default_factory=Counter)
    """How many results of boxes were left out since their windows were; each window that is left out has one."""
    samples: dict[str, SampleCounts] = field(default_factory=dict)
    """What boxes that are given samples have seen."""
    worths: WorthCounts = field(default_factory=WorthCounts)
    """What was worth how much, where tuples are left out by that."""
    lightened: dict[str, Lightened] = field(default_factory=dict)
    """What boxes left out by themselves, over all steps; the objects are those of the last."""

    @cached_property
    def valued(self) -> dict[str, ValueRank]:
        """The outputs of which tuples are left out by their worth, and how they value them."""
        named = {rank.output for place in self.plan.places for rank in self.plan.ranks(place)}
        ranks = ((output.name, worth_rank(output)) for output in self.network.outputs if output.name in named)
        return {name: rank for name, rank in ranks if rank is not None}

    def keep(self, kind: str, name: str, train: Train) -> Train:
        """What goes on at a place."""
        kept = self._keep(kind, name, train)
        if kind == "box" and name in self.plan.samples:
            self.samples.setdefault(name, SampleCounts()).add(kept)
        return kept

    def _keep(self, kind: str, name: str, train: Train) -> Train:
        place = (kind, name)
        if kind == "box" and name in self.plan.results:
            self._see(name, train)
        if place not in self.plan.places or not len(train):
            return train
        kept, mask = self.plan.kept(self.network, (place,), train)
        for rank in self.plan.ranks(place):
            self.worths.left_out(rank, place, train, mask)
        self.kept[place] += len(kept)
        self.dropped[place] += len(train) - len(kept)
        return kept

    def rows(self) -> Iterator[tuple[str, str, dict[str, int | None]]]:
        """The rows of measurements: of each place, and of each box whose windows are left out."""
        for kind, name in dict.fromkeys([*self.plan.places, *(("box", box) for box in self.plan.results)]):
            kept, dropped = self.kept[kind, name], self.dropped[kind, name]
            window = self.seen.get(name) if kind == "box" else None
            results = self.results[name] if kind == "box" and name in self.plan.results else None
            yield name, kind, {"taken": kept + dropped, "given": kept, "window": window, "results": results}
        for name, each in self.lightened.items():
            counts = {"taken": each.reports, "given": each.reports - each.idle}
            yield name, OBJECTS, {**counts, "members": each.members, "missed": each.missed, "objects": each.objects}

    def sampled_rows(self) -> Iterator[tuple[str, dict[str, int]]]:
        """The rows of measurements of boxes that are given samples."""
        for name, counts in self.samples.items():
            yield name, {"taken": counts.came, "given": counts.passed, "seen": counts.seen}

    def _see(self, box: str, train: Train) -> None:
        windows = self.network.named[box].box.windows(train)
        assert windows is not None
        if windows.placed.any():
            greatest = int(windows.numbers[windows.placed].max())
            self.seen[box] = max(self.seen.get(box, greatest), greatest)

    def count_lighter(self, node: Node, tables: Tables, inputs: Trains) -> None:
        """Count what a box left out by itself in a step, if it was told to."""
        if node.name in self.plan.lighter and any(map(len, inputs)):
            before, now = self.lightened.get(node.name, Lightened()), node.box.lightened(tables)
            self.lightened[node.name] = before.followed_by(now)

    def keep_for(self, boxes: Iterable[str], train: Train) -> Train:
        """What goes on to several boxes elsewhere, each of which leaves out the rest of what it does not want."""
        places = [("box", name) for name in dict.fromkeys(boxes)]
        if not len(train) or not all(place in self.plan.places for place in places):
            return train
        kept, mask = self.plan.kept(self.network, places, train)
        for place in places:
            for rank in self.plan.ranks(place):  # what goes on is counted where it arrives
                self.worths.left_out(rank, place, train, mask, counts_kept=False)
        self.dropped.update(dict.fromkeys(places, len(train) - len(kept)))
        return kept

    def keep_results(self, box: str, outputs: dict[str, Train]) -> dict[str, Train]:
        """What goes on from a box: of its main port, the results of windows that were kept."""
        if box not in self.plan.results:
            return outputs
        main = next(iter(outputs))
        kept = self.plan.results_kept(self.network, box, outputs[main])
        self.results[box] += len(outputs[main]) - len(kept)
        return outputs | {main: kept}
