"""Steering: after each batch of a run, when the next one begins and what it leaves out, by its outputs' graphs."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from australis.connectors.source import Offset, Source, Stamped, Urgent
from australis.engine.batch import Batch
from australis.engine.job import Job
from australis.engine.measures import rows_of
from australis.qos.control import EXACT, NOTHING_SHED, SHED, Controller, Order, Waiting
from australis.qos.load import LoadModel, Machine
from australis.qos.monitor import Monitor
from australis.qos.shedder import Shedder
from australis.qos.shedding import ShedPlan

REFRESH = 2.0
"""After how many seconds the model is made anew of what was measured."""
RECENT = 20
"""Of how many batches the least time is what a batch takes by itself."""
WARM = 3
"""How many batches are left out of the measurements first: they compile."""


def steered(job: Job) -> bool:
    """Whether outputs say what they are worth, and tuples come that cannot wait: there is something to steer then."""
    worth = [output.qos for output in job.network.outputs]
    return bool(_urgent(job)) and any(qos.latency is not None or qos.delivered is not None for qos in worth)


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
        self._refreshed = 0.0
        self._batches = 0
        self._seen: dict[str, int] = {}
        self._clock = 0
        self._fixed: deque[float] = deque(maxlen=RECENT)
        self.shedder = self.shedder or Shedder(self.job.network)

    @classmethod
    def of(cls, job: Job, last: Batch | None, cores: int, sheds: bool, headroom: float) -> Steering:
        """The steering of a run that begins, or goes on from what its last batch left out of windows."""
        lost = {} if last is None or last.shed is None else last.shed.results
        windows = {name: part for name, part in lost.items() if name in job.network.named}
        machine = Machine(cores, job.partitions, headroom)
        return cls(job, machine, shedder=Shedder(job.network, windows), sheds=sheds)

    @property
    def idle(self) -> bool:
        """Whether there is nothing to steer: nothing is shed, and no window has lost tuples."""
        assert self.shedder is not None
        return not self.shedder.windows and not (self.sheds and steered(self.job))

    def beginning(self) -> dict[str, Any]:
        """The directive of the first batch."""
        plan = self.without_shedding()
        return {"interval": 0.0, "shed": None if plan is None else plan.render()}

    def after(
        self, batch: Batch, taken: Mapping[str, int], tables: Iterable[pa.RecordBatch], offsets: Mapping[str, Offset]
    ) -> dict[str, Any]:
        """The directive of the batch after one that is done; empty where there is nothing to steer."""
        now = time.time_ns() // 1000
        seconds, elapsed = (now - batch.clock) / 1e6, (batch.clock - (self._clock or batch.clock)) / 1e6
        self._clock = batch.clock
        if self.idle or seconds <= 0 or elapsed < 0:  # the clock was set
            return {}
        self.note(rows_of(tables), taken, elapsed or seconds, seconds)
        interval, plan, least = self.next(offsets, now)
        return {"interval": interval, "shed": None if plan is None else plan.render(), "least": least}

    def note(self, rows: Iterable[Mapping[str, Any]], taken: Mapping[str, int], elapsed: float, seconds: float) -> None:
        """Note what was measured of a batch, `elapsed` seconds after the one before, and how long it took."""
        self._batches += 1
        rows = list(rows)
        for row in rows:
            if row["kind"] == "batch":
                self._fixed.append(row["fixed"])
            elif row["kind"] == "shed" and row["window"] is not None:
                self._seen[row["name"]] = max(self._seen.get(row["name"], row["window"]), row["window"])
        if self._batches <= WARM:
            return
        self.monitor = self.monitor.add(rows, elapsed)
        known = {name: float(taken.get(name, 0)) for name in _urgent(self.job)}
        if self._controller is not None and self._order is not None:
            self._controller = self._controller.observe(self._order, known, elapsed, seconds)
        if time.monotonic() - self._refreshed > REFRESH:
            self._refreshed = time.monotonic()
            # What is left of a large batch is more than what a batch takes by itself; the least of several comes near.
            costs = replace(self.monitor.costs(self.job.network), batch=min(self._fixed))
            model = LoadModel(self.job.network, self.job.plan, costs, self.machine)
            self._controller = replace(self._controller or Controller(model), model=model, road=None)

    def next(self, offsets: Mapping[str, Offset], now: int) -> tuple[float, ShedPlan | None, int]:
        """How many seconds after the last batch the next one may begin, what it leaves out, and how much it takes.

        Where what waits cannot be shed to what fits, batches follow each other.
        """
        assert self.shedder is not None
        if self._controller is None or not (self.sheds and steered(self.job)):
            return 0.0, self.without_shedding(), 0
        waiting = self._waiting(offsets, now)
        order, self._controller = self._controller.order(waiting)
        self._order, self.state = order, order.state
        plan, self.shedder = self.shedder.plan(order.kept, self._seen)
        interval = 0.0 if order.state == EXACT else order.interval
        return interval, plan, int(max(waiting.tuples.values())) if order.state == SHED else 0

    def without_shedding(self) -> ShedPlan | None:
        """What is left out although there is room again: windows that have lost tuples."""
        assert self.shedder is not None
        whole = {output.name: 1.0 for output in self.job.network.outputs}
        plan, self.shedder = self.shedder.plan(whole, self._seen)
        return plan

    def followed_by(self, job: Job) -> Steering:
        """The steering of the network that follows. Boxes that stay remember the windows that have lost tuples."""
        assert self.shedder is not None
        before, after = self.job.network.named, job.network.named
        stay = {n: part for n, part in self.shedder.windows.items() if n in after and after[n].box == before[n].box}
        following = Steering(job, self.machine, self.monitor, Shedder(job.network, stay), self.sheds)
        following._seen = dict(self._seen)
        return following

    def rearranged(self, job: Job) -> Steering:
        """The steering of the same network after rules of the optimizer: what was learnt of it still holds."""
        following = self.followed_by(job)
        following._batches, following._clock, following._fixed = self._batches, self._clock, self._fixed
        following.state, following._order = self.state, self._order
        if self._controller is not None:
            costs = replace(self.monitor.costs(job.network), batch=self._controller.model.costs.batch)
            model = LoadModel(job.network, job.plan, costs, self.machine)
            following._controller = replace(self._controller, model=model, road=None)
        return following

    def _waiting(self, offsets: Mapping[str, Offset], now: int) -> Waiting:
        """What waits in sources that cannot wait. Others are slowed by the limit of batches."""
        names = _urgent(self.job)
        places = [(name, self.job.sources[name], offsets.get(name, self.job.starts[name])) for name in names]
        tuples = {name: float(source.backlog(offset)) for name, source, offset in places}
        return Waiting(tuples, max(_ages([(source, offset) for _, source, offset in places], now), default=0.0))


def _urgent(job: Job) -> list[str]:
    """The inputs whose tuples come whether they are taken or not."""
    sources = ((input.name, job.sources[input.name]) for input in job.streams)
    return [name for name, source in sources if isinstance(source, Urgent) and source.urgent]


def _ages(sources: Sequence[tuple[Source, Offset]], now: int) -> list[float]:
    """For how many seconds the first tuple of each source has waited."""
    came = [source.arrived(offset) for source, offset in sources if isinstance(source, Stamped)]
    return [max(now - each, 0) / 1e6 for each in came if each is not None]
