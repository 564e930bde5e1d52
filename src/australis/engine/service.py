"""The service of a run: what its outputs are worth of late, how much of them was shed, how busy the machine is.

Rows of measurements tell it after each batch. A `service` is that of an output over the last minute: its `utility`, the
part of its tuples that was shed (`loss`), and the delays in seconds that 50, 95 and 99% of them do not exceed. An
`input` has the `rate` at which its tuples come, by the last half minute, and as far as it is known how many wait
(`backlog`). The `load` of a run that is steered by graphs has the part of its headroom that all tuples would take if
none were shed (`used`), and its `state`: empty, `shed`, or `exact` if exact outputs alone are too much. A `branch` is
behind the others in its inputs since it waits or has waited: the tuples that it has not taken yet (`backlog`), and for
how many seconds the first of them has waited (`oldest`).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isnan
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from australis.engine.delays import EDGES, quantile
from australis.engine.measures import SCHEMA
from australis.model.network import Network
from australis.model.train import Ints
from australis.qos.control import NOTHING_SHED
from australis.qos.delivery import RESULTS, SAMPLED, Deliveries
from australis.qos.lighter import OBJECTS
from australis.qos.utility import mean_utility
from australis.qos.worth import Offer

SPAN = 60.0
"""Over how many seconds the service of an output is measured."""


@dataclass(frozen=True)
class OutputService:
    """What an output is worth of late, between 0 and 1, the part of it that was shed, and its delays in seconds."""

    utility: float = 1.0
    loss: float = 0.0
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None


@dataclass(frozen=True)
class BranchWait:
    """How far a branch is behind: the tuples that it has not taken, and the seconds since the first of them came."""

    tuples: int
    seconds: float


@dataclass(frozen=True)
class Service:
    """What a run does for its outputs."""

    outputs: Mapping[str, OutputService] = field(default_factory=dict)
    rates: Mapping[str, float] = field(default_factory=dict)
    """Tuples a second, by input."""
    backlog: Mapping[str, int] = field(default_factory=dict)
    """The tuples that wait in sources that cannot wait."""
    used: float | None = None
    """The part of the headroom that all tuples would take; none if that is not known, or nothing is steered."""
    state: str = NOTHING_SHED
    behind: Mapping[str, BranchWait] = field(default_factory=dict)
    """The branches that wait, or have waited and catch up, by name."""

    def table(self, batch: int) -> pa.RecordBatch:
        """The rows of measurements."""
        rows: list[dict[str, Any]] = [{"kind": "service", "name": name, **vars(each)} for name, each in self._outputs]
        for name, rate in self.rates.items():
            rows.append({"kind": "input", "name": name, "rate": rate, "backlog": self.backlog.get(name)})
        for name, wait in self.behind.items():
            rows.append({"kind": "branch", "name": name, "backlog": wait.tuples, "oldest": wait.seconds})
        if self.used is not None:
            rows.append({"kind": "load", "used": self.used, "state": self.state})
        return pa.RecordBatch.from_pylist([{"batch": batch, **row} for row in rows], SCHEMA)

    def progress(self) -> dict[str, Any]:
        """The service in short, for the entry of a batch in a run's progress."""
        return {
            "utility": {name: each.utility for name, each in self._outputs},
            "loss": {name: each.loss for name, each in self._outputs},
            "used": self.used,
            "state": self.state,
            "behind": {name: wait.tuples for name, wait in self.behind.items()},
        }

    @property
    def _outputs(self) -> list[tuple[str, OutputService]]:
        return list(self.outputs.items())


Sums = defaultdict[tuple[str, ...], float]
"""What is summed up: by a kind, and names."""


@dataclass
class ServiceWindow:
    """What was measured of the batches of the last minute, as sums: adding a batch takes out those that are older."""

    network: Network
    sums: Sums = field(default_factory=lambda: Sums(float))
    delays: dict[str, Ints] = field(default_factory=dict)
    """A histogram for each output."""

    def __post_init__(self) -> None:
        self._batches: deque[tuple[int, Sums, dict[str, Ints]]] = deque()

    def add(
        self, clock: int, rows: Iterable[Mapping[str, Any]], offers: Mapping[str, Offer] = MappingProxyType({})
    ) -> None:
        """Add the rows that were measured of a batch, at its time in microseconds, and what was offered to outputs."""
        sums, delays = Sums(float), dict[str, Ints]()
        for row in rows:
            self._count(row, sums)
            if row["kind"] == "output" and row["delays"] is not None:
                delays[row["name"]] = np.array(row["delays"], np.int64)
        for name, offer in offers.items():
            _offer(name, offer, sums)
        self._batches.append((clock, sums, delays))
        self._sum(sums, delays, 1)
        while self._batches[0][0] < clock - SPAN * 1e6:
            _, old, gone = self._batches.popleft()
            self._sum(old, gone, -1)

    def followed_by(self, network: Network) -> ServiceWindow:
        """The window of the network that follows; what has the same name goes on."""
        after = ServiceWindow(network, self.sums.copy(), dict(self.delays))
        after._batches = self._batches.copy()
        return after

    def outputs(self) -> dict[str, OutputService]:
        """The service of each output."""
        flows = self._deliveries()
        return {output.name: self._output(output.name, flows) for output in self.network.outputs}

    def _output(self, name: str, flows: Deliveries) -> OutputService:
        (qos,) = (output.qos for output in self.network.outputs if output.name == name)
        tuples, delivered = self.sums["given", name], flows.delivered(name)
        fresh = min(max(self.sums["fresh", name] / tuples, 0.0), 1.0) if tuples > 0 else 1.0
        counts = self.delays.get(name, np.zeros(len(EDGES) + 1, np.int64))
        marks = (quantile(counts, part) for part in (0.5, 0.95, 0.99))
        p50, p95, p99 = (None if isnan(mark) else mark for mark in marks)
        kept, worth_kept = (self._part(name, *sums) for sums in (("kept", "offered"), ("worth kept", "worth")))
        utility = mean_utility(qos, fresh, delivered * worth_kept)
        return OutputService(utility, 1 - delivered * kept, p50, p95, p99)

    def _part(self, output: str, kept: str, offered: str) -> float:
        """The part that was kept of what was offered to an output where tuples are left out by their worth."""
        some, all_of_it = self.sums.get((kept, output), 0.0), self.sums.get((offered, output), 0.0)
        return min(max(some / all_of_it, 0.0), 1.0) if all_of_it > some else 1.0

    def _deliveries(self) -> Deliveries:
        places = {
            (kind, name): (max(self.sums["passed", kind, name], 0.0), max(dropped, 0.0))
            for (kind, name), dropped in _of(self.sums, "dropped")
        }
        if not any(dropped for _, dropped in places.values()):
            return Deliveries(self.network)
        arrows = {place: max(tuples, 0.0) for place, tuples in _of(self.sums, "arrow")}
        apart = frozenset((key[1], (key[2], key[3])) for key, value in self.sums.items() if key[0] == "apart" and value)
        return Deliveries(self.network, places, arrows, apart)

    def _count(self, row: Mapping[str, Any], sums: Sums) -> None:
        kind, name = row["kind"], row["name"]
        if kind == "output":
            sums["given", name] += row["given"]
            sums["passed", "output", name] += row["given"]
            sums["fresh", name] += row["given"] * (1.0 if row["fresh"] is None else row["fresh"])
        elif kind == "box":
            sums["passed", "box", name] += row["taken"]
            sums["passed", RESULTS, name] += row["given"]
        elif kind == "arrow":
            sums["arrow", name, row["port"]] += row["given"]
            if row["taken"] is None:  # an input, which counts what it reads
                sums["passed", "input", name] += row["given"]
        elif kind == "shed" and row["port"] == OBJECTS:
            sums["dropped", OBJECTS, name] += row["missed"]
            sums["passed", OBJECTS, name] += row["members"] - row["missed"]
        elif kind == "shed":
            dropped = row["taken"] - row["given"]
            sums["dropped", row["port"], name] += dropped
            sums["dropped", RESULTS, name] += row["results"] or 0
            if row["port"] == "input":
                sums["passed", "input", name] -= dropped
        elif kind == "sampled":
            sums["passed", SAMPLED, name] += row["seen"]
            sums["dropped", SAMPLED, name] += row["taken"] - row["seen"]

    def _sum(self, sums: Sums, delays: Mapping[str, Ints], sign: int) -> None:
        for key, value in sums.items():
            self.sums[key] += sign * value
        for name, counts in delays.items():
            self.delays[name] = self.delays.get(name, np.zeros_like(counts)) + sign * counts


def _offer(name: str, offer: Offer, sums: Sums) -> None:
    """Count what was offered to an output, and where its tuples were left out by their worth."""
    sums["offered", name] += offer.offered
    sums["kept", name] += offer.kept
    sums["worth", name] += offer.worth_offered
    sums["worth kept", name] += offer.worth_kept
    for kind, place in offer.places:
        sums["apart", name, kind, place] += 1


def _of(sums: Sums, what: str) -> list[tuple[tuple[str, str], float]]:
    """The sums of a kind that has two names."""
    return [((key[1], key[2]), value) for key, value in list(sums.items()) if key[0] == what]
