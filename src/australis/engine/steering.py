"""Steering: after each batch of a run, when the next one begins and what it leaves out, by its outputs' graphs."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from australis.connectors.source import Offset, Source, Stamped
from australis.engine.job import Job
from australis.qos.control import NOTHING_SHED, SHED, Controller, Order, Waiting
from australis.qos.load import LoadModel, Machine
from australis.qos.monitor import Monitor
from australis.qos.shedder import Shedder
from australis.qos.shedding import ShedPlan

REFRESH = 2.0
"""After how many seconds the model is made anew of what was measured."""
WARM = 3
"""How many batches are left out of the measurements first: they compile."""


def steered(job: Job) -> bool:
    """Whether outputs say what they are worth, and tuples come by the clock, so that there is something to steer."""
    worth = [output.qos for output in job.network.outputs]
    timed = any(job.sources[input.name].timed for input in job.streams)
    return timed and any(qos.latency is not None or qos.delivered is not None for qos in worth)


@dataclass
class Steering:
    """What is known of a run between its batches."""

    job: Job
    machine: Machine
    monitor: Monitor = field(default_factory=Monitor)
    shedder: Shedder | None = None
    sheds: bool = True
    """Whether more may be shed; else windows only come back that were left out before."""
    state: str = NOTHING_SHED
    """Whether tuples are shed, or should be but may not (`qos/control.py`)."""

    def __post_init__(self) -> None:
        self._controller: Controller | None = None
        self._order: Order | None = None
        self._since: dict[str, float] = {}
        self._batches = 0
        self._seen: dict[str, int] = {}
        self.shedder = self.shedder or Shedder(self.job.network)

    def note(self, rows: Iterable[Mapping[str, Any]], taken: Mapping[str, int], elapsed: float, seconds: float) -> None:
        """Note what was measured of a batch, `elapsed` seconds after the one before, and how long it took."""
        self._batches += 1
        rows = list(rows)
        for row in rows:
            if row["kind"] == "shed" and row["window"] is not None:
                self._seen[row["name"]] = max(self._seen.get(row["name"], row["window"]), row["window"])
        if self._batches <= WARM:
            return
        self.monitor = self.monitor.add(rows, elapsed)
        if self._controller is not None and self._order is not None:
            self._controller = self._controller.observe(self._order, self._timed(taken), elapsed, seconds)
        if time.monotonic() - self._since.get("model", 0.0) > REFRESH:
            self._since["model"] = time.monotonic()
            model = LoadModel(self.job.network, self.job.plan, self.monitor.costs(self.job.network), self.machine)
            self._controller = replace(self._controller or Controller(model), model=model, road=None)

    def next(self, offsets: Mapping[str, Offset], now: int) -> tuple[float, ShedPlan | None, int]:
        """How many seconds after the last batch began the next one may begin, what it leaves out, and how much waits.

        What waits is 0 unless all of it is to be taken, since it is shed.
        """
        assert self.shedder is not None
        if self._controller is None or not self.sheds:
            return 0.0, self.without_shedding(), 0
        waiting = self._waiting(offsets, now)
        order, self._controller = self._controller.order(waiting)
        self._order, self.state = order, order.state
        plan, self.shedder = self.shedder.plan(order.kept, self._seen)
        return order.interval, plan, int(max(waiting.tuples.values())) if order.state == SHED else 0

    def without_shedding(self) -> ShedPlan | None:
        """What is left out although there is room again: windows that have lost tuples."""
        assert self.shedder is not None
        whole = {output.name: 1.0 for output in self.job.network.outputs}
        plan, self.shedder = self.shedder.plan(whole, self._seen)
        return plan

    def followed_by(self, job: Job, sheds: bool) -> Steering:
        """The steering of the network that follows. Boxes that stay remember the windows that have lost tuples."""
        assert self.shedder is not None
        before, after = self.job.network.named, job.network.named
        stay = {n: part for n, part in self.shedder.windows.items() if n in after and after[n].box == before[n].box}
        following = Steering(job, self.machine, self.monitor, Shedder(job.network, stay), sheds)
        following._seen = dict(self._seen)
        return following

    def _timed(self, taken: Mapping[str, int]) -> dict[str, float]:
        """The tuples of sources that cannot wait. Others are slowed by the limit of batches."""
        return {name: float(taken.get(name, 0)) for name in self._streams() if self.job.sources[name].timed}

    def _streams(self) -> list[str]:
        return [input.name for input in self.job.streams]

    def _waiting(self, offsets: Mapping[str, Offset], now: int) -> Waiting:
        names = [name for name in self._streams() if self.job.sources[name].timed]
        places = [(name, self.job.sources[name], offsets.get(name, self.job.starts[name])) for name in names]
        tuples = {name: float(source.backlog(offset)) for name, source, offset in places}
        return Waiting(tuples, max(_ages([(source, offset) for _, source, offset in places], now), default=0.0))


def _ages(sources: Sequence[tuple[Source, Offset]], now: int) -> list[float]:
    """For how many seconds the first tuple of each source has waited."""
    came = [source.arrived(offset) for source, offset in sources if isinstance(source, Stamped)]
    return [max(now - each, 0) / 1e6 for each in came if each is not None]
