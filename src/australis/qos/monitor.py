"""The monitor: what a run costs and how fast tuples come, from what its batches measured of late (Aurora 4.1, 4.4)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from math import exp, isfinite
from operator import add
from typing import Any

from australis.errors import RunError
from australis.model.box import lost
from australis.model.network import OUT, Arrow, Network
from australis.model.qos import BoxCost, Costs, JointPasses
from australis.plan.rules import counted_filters
from australis.qos.lighter import box_losses

WINDOW = 30.0
"""A batch that was so many seconds ago counts a third as much as the last one."""

LEAST = 0.05
"""The least part of its results from which it is worked out how many a box would have given."""

Place = tuple[str, str, str]
"""The kind of a row of measurements, its name, and its port or ""."""


@dataclass(frozen=True)
class Monitor:
    """Sums of seconds and tuples in which older batches count less: their quotients are costs and selectivities.

    It is a value: `add` gives the next one.
    """

    seconds: Mapping[Place, float] = field(default_factory=dict)
    tuples: Mapping[Place, float] = field(default_factory=dict)
    time: float = 0.0
    """How much time the sums are over, in seconds."""
    passes: Mapping[tuple[str, ...], tuple[float, ...]] = field(default_factory=dict)
    """How many tuples passed just some filters of a row, by their names; see `JointPasses`."""

    def add(self, rows: Iterable[Mapping[str, Any]], elapsed: float) -> Monitor:
        """The monitor after a batch: the rows that were measured of it, `elapsed` seconds after the one before."""
        rows = list(rows)
        fade = exp(-max(elapsed, 0.0) / WINDOW)
        parts = {
            name: max(1 - missed / members, LEAST) for name, (members, missed) in box_losses(rows).items() if members
        }
        seconds = {place: value * fade for place, value in self.seconds.items()}
        tuples = {place: value * fade for place, value in self.tuples.items()}
        passes = {names: tuple(count * fade for count in counts) for names, counts in self.passes.items()}
        for row in rows:
            if row["kind"] == "filters":
                names = tuple(row["name"].split(", "))
                before = passes.get(names, (0.0,) * len(row["passes"]))
                passes[names] = tuple(map(add, before, row["passes"]))
            for kind, spent, count in _counted(row):
                place = (kind, row["name"] or "", (row["port"] or "") if kind in ("arrow", "exchange") else "")
                seconds[place] = seconds.get(place, 0.0) + (spent or 0.0)
                # What a box that works with less would give counts, not what it gave.
                part = parts.get(place[1], 1.0) if kind == "arrow" and not lost(place[2]) else 1.0
                tuples[place] = tuples.get(place, 0.0) + (count or 0) / part
        return Monitor(seconds, tuples, self.time * fade + elapsed, passes)

    def costs(self, network: Network) -> Costs:
        """What the parts of a network cost. What has had no tuple yet is not named."""
        boxes = {
            node.name: BoxCost(
                self._quotient(("box", node.name, "")),
                {port: self._selectivity(node.name, port) for port in network.schemas[node.name]},
            )
            for node in network.nodes
            if self.tuples.get(("box", node.name, ""))
        }
        exchanges = {
            network.render_arrow(Arrow(name, port)): self._quotient((kind, name, port))
            for kind, name, port in self.tuples
            if kind == "exchange" and port in network.schemas.get(name, ()) and self.tuples[kind, name, port]
        }
        return Costs(
            boxes,
            self._each("source", (input.name for input in network.inputs)),
            exchanges,
            self._each("sink", (output.name for output in network.outputs)),
            self._quotient(("batch", "", "")),
            passes=tuple(
                JointPasses(names, counts) for names, counts in self.passes.items() if names in _counted_names(network)
            ),
        )

    def rates(self, network: Network) -> dict[str, float]:
        """How many tuples a second come from each source."""
        streams = (input.name for input in network.inputs if not input.static)
        return {name: self.tuples.get(("source", name, ""), 0.0) / max(self.time, 1e-9) for name in streams}

    def _each(self, kind: str, names: Iterable[str]) -> dict[str, float]:
        return {name: self._quotient((kind, name, "")) for name in names if self.tuples.get((kind, name, ""))}

    def _quotient(self, place: Place) -> float:
        tuples = self.tuples.get(place, 0.0)
        return self.seconds[place] / tuples if tuples else 0.0

    def _selectivity(self, box: str, port: str) -> float:
        """The tuples that a box gives for each that it takes, or that was left out of its windows: these come out."""
        taken = self.tuples["box", box, ""] + self.tuples.get(("sampled", box, ""), 0.0)
        return self.tuples.get(("arrow", box, port), 0.0) / taken

    def render(self) -> str:
        """The monitor as JSON, to be kept on a checkpoint."""
        rows = [[*place, self.seconds[place], self.tuples[place]] for place in self.tuples]
        passes = [[list(names), list(counts)] for names, counts in self.passes.items()]
        return json.dumps({"time": self.time, "sums": rows, "passes": passes})

    @classmethod
    def parse(cls, text: str) -> Monitor:
        """The monitor in a text that `render` made."""
        try:
            data = json.loads(text)
            places = {(str(kind), str(name), str(port)): sums for kind, name, port, *sums in data["sums"]}
            seconds = {place: _sum(spent) for place, (spent, _) in places.items()}
            tuples = {place: _sum(count) for place, (_, count) in places.items()}
            joint = [
                JointPasses(tuple(map(str, names)), tuple(map(_sum, each))) for names, each in data.get("passes", ())
            ]
            return cls(seconds, tuples, _sum(data["time"]), {each.filters: each.counts for each in joint})
        except (ValueError, KeyError, TypeError, RunError) as error:
            raise RunError(f"this is no monitor's state: {error!r}") from error


def _counted_names(network: Network) -> set[tuple[str, ...]]:
    """The filters whose passes are counted together now; of others, something may be left from before a change."""
    groups = (group for groups in counted_filters(network).values() for group in groups)
    return {tuple(node.name for node in group) for group in groups}


def _sum(value: Any) -> float:
    """A sum that was saved: a finite number from 0 on."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value < 0:
        raise ValueError(f"{value!r} is no sum")
    return float(value)


def monitored(rows: Iterable[Mapping[str, Any]], few: int = 6) -> tuple[Monitor, int]:
    """The monitor after the batches of a run, from all that was measured of it, and how many batches there were.

    The first third of the batches is left out, since it compiles, unless they are too few.
    """
    batches = [list(each) for _, each in groupby(rows, key=lambda row: row["batch"])]
    monitor = Monitor()
    for batch in batches[len(batches) // 3 if len(batches) >= few else 0 :]:
        monitor = monitor.add(batch, sum(row["seconds"] for row in batch if row["kind"] == "batch"))
    return monitor, len(batches)


def _counted(row: Mapping[str, Any]) -> Iterable[tuple[str, float | None, float | None]]:
    """What a row adds: the kind of place, seconds and tuples."""
    kind = row["kind"]
    if kind in ("box", "exchange", "sink"):
        yield kind, row["seconds"], row["taken"]
    elif kind == "source" and row["port"] in (None, OUT):  # a branch that has waited reads by itself, once more
        yield kind, row["seconds"], row["given"]
    elif kind == "arrow":
        yield kind, None, row["given"]
    elif kind == "sampled":
        yield kind, None, row["taken"] - row["given"]
    elif kind == "batch":
        yield kind, row["fixed"], 1
