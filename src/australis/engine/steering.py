"""Steering: after each batch of a run, when the next one begins, who waits and what is left out, by outputs' graphs."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from australis.engine.batch import Apart, Batch
from australis.engine.job import Job
from australis.engine.learned import Learned, read_learned
from australis.engine.measures import rows_of
from australis.engine.notices import Notices
from australis.engine.positions import Positions, Takes
from australis.engine.queues import Queues, taken_by
from australis.engine.service import BranchWait, Service, ServiceWindow
from australis.model.qos import Costs
from australis.qos.control import EXACT, NOTHING_SHED, SHED, BatchOrder, Controller, Waiting
from australis.qos.lighter import box_losses, box_outputs, lighter_boxes
from australis.qos.load import LoadModel, Machine
from australis.qos.monitor import Monitor
from australis.qos.priorities import Ranking
from australis.qos.shedder import Shedder
from australis.qos.shedding import ShedPlan
from australis.qos.worth import Worths

REFRESH = 2.0
"""After how many seconds the model is made anew of what was measured."""
RECENT = 20
"""Of how many batches the least time is what a batch takes by itself."""
SAVING = 5.0
"""After how many seconds what was learned is kept again."""
WARM = 3
"""How many batches are left out of the measurements first: they compile."""


def steered(job: Job) -> bool:
    """Whether outputs say what they are worth, and tuples come that cannot wait: there is something to steer then."""
    worth = [output.qos for output in job.network.outputs]
    return bool(job.urgent) and any(qos.latency is not None or qos.delivered is not None for qos in worth)


@dataclass
class Steering:
    """What is known of a run between its batches."""

    job: Job
    machine: Machine
    shedder: Shedder
    monitor: Monitor = field(default_factory=Monitor)
    sheds: bool = True
    """Whether more may be shed; else windows only come back that were left out before."""
    state: str = NOTHING_SHED
    """Whether tuples are shed, or should be but may not (`qos/control.py`)."""
    service: Service = field(default_factory=Service)
    """What the run does for its outputs, after the last batch."""
    notices: Notices = field(default_factory=Notices)
    checkpoint: Path | None = None
    """Where it keeps what it has learned, if anywhere."""
    ranking: Ranking = field(default_factory=Ranking)
    """In which order branches go that can wait, where not all of them fit into a batch."""

    def __post_init__(self) -> None:
        self._window = ServiceWindow(self.job.network)
        self.worths = Worths(self.job.network)
        self._served, self._backlog, self._behind = 0, dict[str, int](), dict[str, BranchWait]()
        self._controller: Controller | None = None
        self._order: BatchOrder | None = None
        self._refreshed, self._saved = 0.0, time.monotonic()
        self._batches = 0
        self._seen: dict[str, int] = {}
        self._clock = 0
        self._fixed: deque[float] = deque(maxlen=RECENT)
        self._given: ShedPlan | None = None
        self._lacking: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, job: Job, last: Batch | None, cores: int, sheds: bool, headroom: float, checkpoint: Path | None = None,
        ranking: Ranking | None = None,
    ) -> Steering:  # fmt: skip
        """The steering of a run that begins, or goes on from what its last batch left out of windows.

        If it has a checkpoint that stays, it begins with what was learned there, and keeps there what it learns.
        """
        lost = {} if last is None or last.shed is None else last.shed.results
        windows = {name: part for name, part in lost.items() if name in job.network.named}
        machine = Machine(cores, job.partitions, headroom)
        learned = Learned() if checkpoint is None else read_learned(checkpoint)
        made = cls(job, machine, Shedder(job.network, windows), learned.monitor, sheds, checkpoint=checkpoint)
        made.ranking = ranking or made.ranking
        made.worths = learned.worths_in(job.network)
        if last is not None and last.shed is not None:
            made._lacking = frozenset(last.shed.lighter) & job.network.named.keys()
        made._begin_with([] if learned.batch is None else [learned.batch])
        return made

    def _begin_with(self, fixed: Iterable[float]) -> None:
        """Begin with what is known of costs, and of the least that batches take by themselves."""
        self._fixed.extend(fixed)
        if self._fixed and self.monitor.time and steered(self.job):
            self._refresh()

    @property
    def idle(self) -> bool:
        """Whether there is nothing to steer: nothing is shed, and no window or box lacks anything."""
        lacking = self.shedder.windows or self._lacking
        return not lacking and not self.planned and not (self.sheds and steered(self.job))

    @property
    def planned(self) -> bool:
        """Whether somebody has given a plan of what is shed."""
        return self._given is not None

    def beginning(self, positions: Positions | None = None) -> dict[str, Any]:
        """The directive of the first batch, which begins at once; by what waits after positions, if these are given."""
        known = self.planned or positions is not None
        plan = self.next(positions or Positions(), time.time_ns() // 1000)[1] if known else self.without_shedding()
        return {"interval": 0.0, "shed": None if plan is None else plan.render(), "takes": self.takes if known else {}}

    @property
    def takes(self) -> Takes:
        """The branches that wait in the next batch, or take less than all that waits."""
        return {} if self._order is None else self._order.takes

    def leave_out(self, plan: ShedPlan | None) -> ShedPlan | None:
        """Shed by a plan that somebody gives until another is given, or none; what is left out from now on.

        A window that has lost tuples is left out by whatever plan follows.
        """
        self._given, self._order, self.state = plan, None, NOTHING_SHED
        return self.without_shedding() if plan is None else self._by_hand(plan)

    def _by_hand(self, plan: ShedPlan) -> ShedPlan:
        plan, self.shedder = self.shedder.by_hand(plan, self._seen, self._lacking)
        return plan

    def save(self) -> None:
        """Keep what was learned. Where the checkpoint was removed, the run itself tells."""
        if self.checkpoint is not None and self.checkpoint.exists() and self.monitor.time:
            Learned(self.monitor, min(self._fixed, default=None), self.worths.render()).save(self.checkpoint)
        self._saved = time.monotonic()

    def after(
        self, batch: Batch, taken: Mapping[str, int], tables: Iterable[pa.RecordBatch], positions: Positions
    ) -> dict[str, Any]:
        """The directive of the batch after one that is done; empty where there is nothing to steer."""
        now = time.time_ns() // 1000
        seconds, elapsed = (now - batch.clock) / 1e6, (batch.clock - (self._clock or batch.clock)) / 1e6
        self._clock, directive = batch.clock, dict[str, Any]()
        if seconds > 0 and elapsed >= 0:  # else the clock was set
            self.note(rows_of(tables), taken, elapsed or seconds, seconds, batch.apart)
            if not self.idle:
                interval, plan, least = self.next(positions, now)
                shed = None if plan is None else plan.render()
                directive = {"interval": interval, "shed": shed, "least": least, "takes": self.takes}
        kept = {} if self._order is None else self._order.kept
        self.notices.see(now, self.job.network, replace(self.service, state=self.state), kept)
        if time.monotonic() - self._saved > SAVING:
            self.save()
        return directive

    def serve(self, batch: Batch, tables: Iterable[pa.RecordBatch]) -> Service:
        """What the run does for its outputs after a batch; one that is run again changes nothing."""
        if batch.version > self._served:
            self._served, rows = batch.version, list(rows_of(tables))
            elapsed = (batch.clock - (self._clock or batch.clock)) / 1e6
            self.worths, offers = self.worths.add(rows, max(elapsed, 0.0))
            self._window.add(batch.clock, rows, offers)
            known = self._controller if self.sheds else None
            rates = self.monitor.rates(self.job.network) if self.monitor.time else {}
            used = None if known is None else known.used
            self.service = Service(self._window.outputs(), rates, self._backlog, used, self.state, self._behind)
        return self.service

    def note(
        self, rows: Iterable[Mapping[str, Any]], taken: Mapping[str, int], elapsed: float, seconds: float,
        apart: Sequence[Apart] = (),
    ) -> None:  # fmt: skip
        """Note what was measured of a batch, `elapsed` seconds after the one before, and how long it took.

        `apart` are the branches that read by themselves in it.
        """
        self._batches += 1
        rows = list(rows)
        losses = box_losses(rows)
        self._lacking = (self._lacking - losses.keys()) | {name for name, (_, missed) in losses.items() if missed}
        for row in rows:
            if row["kind"] == "batch":
                self._fixed.append(row["fixed"])
            elif row["kind"] == "shed" and row["window"] is not None:
                self._seen[row["name"]] = max(self._seen.get(row["name"], row["window"]), row["window"])
        if self._batches <= WARM:
            return
        self.monitor = self.monitor.add(rows, elapsed)
        known = {name: float(taken.get(name, 0)) for name in self.job.urgent}
        if self._controller is not None and self._order is not None:
            own = taken_by(self.job.branches, known, apart, rows) if apart else None
            kept = box_outputs(self.job.network, losses)
            self._controller = self._controller.observe(self._order, known, elapsed, seconds, own, kept)
        if steered(self.job) and time.monotonic() - self._refreshed > REFRESH:
            self._refresh()

    def _refresh(self) -> None:
        """Make the model anew of what was measured."""
        self._refreshed = time.monotonic()
        # What is left of a large batch is more than what a batch takes by itself; the least of several comes near.
        costs = self._costs(self.job, min(self._fixed))
        model = LoadModel(self.job.network, self.job.plan, costs, self.machine)
        self._controller = replace(self._controller or Controller(model, ranking=self.ranking), model=model, road=None)

    def _costs(self, job: Job, batch: float) -> Costs:
        """What was measured of costs and of what outputs are worth."""
        return replace(self.monitor.costs(job.network), batch=batch, worth=self.worths.histograms())

    def next(self, positions: Positions, now: int) -> tuple[float, ShedPlan | None, int]:
        """How many seconds after the last batch the next one may begin, what it leaves out, and how much it takes.

        Where what waits cannot be shed to what fits, batches follow each other.
        """
        waiting = self._waiting(positions, now)
        if self._given is not None:
            return 0.0, self._by_hand(self._given), 0
        if self._controller is None or not (self.sheds and steered(self.job)):
            return 0.0, self.without_shedding(), 0
        if waiting is None:
            self._order, self.state = None, NOTHING_SHED
            return 0.0, self.without_shedding(), 0
        order, self._controller = self._controller.order(waiting)
        self._order, self.state = order, order.state
        apart, asked = bool(order.takes or positions.behind), {**order.kept, **order.asked}
        plan, self.shedder = self.shedder.plan(asked, self._seen, self.worths.counts(), apart, self._lacking)
        interval = 0.0 if order.state == EXACT else order.interval
        full = order.state == SHED or order.takes
        return interval, plan, int(max(waiting.tuples.values())) if full else 0

    def without_shedding(self) -> ShedPlan | None:
        """What is left out although there is room again: windows that have lost tuples."""
        whole = {output.name: 1.0 for output in self.job.network.outputs}
        plan, self.shedder = self.shedder.plan(whole, self._seen, lacking=self._lacking)
        return plan

    def followed_by(self, job: Job) -> Steering:
        """The steering of the network that follows. Boxes that stay remember the windows that have lost tuples.

        A plan that somebody gave ends with the network that it was for.
        """
        before, after = self.job.network.named, job.network.named
        stay = {
            n: part
            for n, part in self.shedder.windows.items()
            if n in before and n in after and after[n].box == before[n].box
        }
        following = Steering(
            job, self.machine, Shedder(job.network, stay), self.monitor, self.sheds, checkpoint=self.checkpoint
        )
        following._seen, following._window = dict(self._seen), self._window.followed_by(job.network)
        following._lacking = self._lacking & lighter_boxes(job.network).keys()
        following.service, following.notices, following.ranking = self.service, self.notices, self.ranking
        following._clock, following.worths = self._clock, self.worths.followed_by(job.network)
        following._begin_with(self._fixed)
        return following

    def rearranged(self, job: Job) -> Steering:
        """The steering of the same network after rules of the optimizer: what was learnt of it still holds."""
        following = self.followed_by(job)
        following._batches, following._clock, following._fixed = self._batches, self._clock, self._fixed
        following.state, following._order = self.state, self._order
        if self._controller is not None:
            costs = following._costs(job, self._controller.model.costs.batch)
            model = LoadModel(job.network, job.plan, costs, self.machine)
            following._controller = replace(self._controller, model=model, road=None)
        return following

    def _waiting(self, positions: Positions, now: int) -> Waiting | None:
        """What waits in sources that cannot wait; none if all of it came at no time, and can wait after all.

        Other sources are slowed by the limit of batches.
        """
        queues = Queues(self.job, positions.of_job(self.job), now)
        self._backlog, self._behind = queues.backlog(), queues.behind()
        self.service = replace(self.service, backlog=self._backlog, behind=self._behind)
        if any(self._backlog.values()) and queues.timeless == set(self.job.urgent):
            return None
        tuples = {name: 0.0 if name in queues.timeless else float(count) for name, count in self._backlog.items()}
        return Waiting(tuples, queues.oldest(), queues.branches())
