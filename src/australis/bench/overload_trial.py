"""A trial: one run of the overload benchmark's network under a load curve, watched batch by batch."""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pyarrow as pa

from australis.api.network import Network
from australis.bench import machine
from australis.bench.overload_network import INPUT, Feed, feed, worth
from australis.connectors.sources.load_curve import LoadCurve
from australis.engine.spark import processes
from australis.engine.steering import Steering
from australis.model.network import OUT, Output
from australis.qos.priorities import STATE, Ranking
from australis.qos.shedding import ShedPlan

if TYPE_CHECKING:
    from australis.engine.spark.run import Run
    from australis.engine.spark.session import SparkSession

AHEAD = 2.0
"""The seconds from the start of a run until its first tuple is due."""
_LOOK = 0.5
"""The seconds between two looks at memory and processor time."""


@dataclass
class Recorder:
    """A sink that notes when batches came, how many results they had and what these are worth, and may keep them."""

    output: Output
    keeps: bool = False
    batches: dict[int, tuple[float, int, float]] = field(default_factory=dict)
    """By the batch's number: the time at which it came, results, worth."""
    kept: list[pa.RecordBatch] = field(default_factory=list)

    def open(self, schema: pa.Schema, run: str = "", replace: bool = False) -> Recorder:
        return self

    def write(self, batch_id: int, tuples: Iterable[pa.RecordBatch]) -> None:
        if batch_id not in self.batches:
            trains = list(tuples)
            count = sum(train.num_rows for train in trains)
            self.batches[batch_id] = (time.time(), count, worth(self.output, trains))
            self.kept += trains if self.keeps else []

    def close(self) -> None:
        """What is there stays."""


@dataclass(frozen=True)
class TrialBatch:
    """A batch of a trial."""

    second: float
    """When its results came, in seconds after the first tuple was due."""
    seconds: float
    """How long it took by the clock."""
    taken: int
    given: Mapping[str, int]
    """Results, by output."""
    worth: Mapping[str, float]
    delays: Mapping[str, float]
    """The longest delay of each output that had results."""
    shed: Mapping[str, int]
    """Tuples that were left out, by place."""
    boxes: Mapping[str, int]
    """Tuples that each box took."""
    spent: float
    """Processor seconds of its boxes, sources, exchanges and sinks."""
    behind: Mapping[str, float] = field(default_factory=dict)
    """The branches that had waited before it, and for how many seconds the first tuple had waited for them."""


@dataclass(frozen=True)
class ProcessLook:
    """What all processes of the run held and had used at a second, and what others on the machine had."""

    second: float
    memory: int
    used: float
    others: float


@dataclass(frozen=True)
class OverloadTrial:
    """What was seen of a run under a load curve."""

    curve: LoadCurve
    seconds: float
    batches: Sequence[TrialBatch]
    looks: Sequence[ProcessLook]
    steering: float
    """The seconds that the driver took to decide what batches do."""
    rows: Sequence[Mapping[str, Any]] = ()
    """What was measured (`run.measures()`)."""
    kept: Mapping[str, pa.Table] = field(default_factory=dict)
    """Results of the outputs that were kept."""
    began: int = 0
    """When the first tuple was due, in microseconds."""

    def between(self, since: float, until: float) -> list[TrialBatch]:
        """The batches that were done between two seconds."""
        return [batch for batch in self.batches if since <= batch.second < until]

    @property
    def memory(self) -> int:
        """The most bytes that were held at once."""
        return max((look.memory for look in self.looks), default=0)

    @property
    def others(self) -> float:
        """How many cores other processes on the machine kept busy meanwhile: what they take, the run does not have."""
        if len(self.looks) < 2:
            return 0.0
        first, last = self.looks[0], self.looks[-1]
        return max(last.others - first.others, 0.0) / max(last.second - first.second, 1e-9)


Enough = Callable[[float, Mapping[str, float | None]], bool]
"""Whether what was seen is enough, from the second and the longest delays of the last batch."""


def run_trial(
    spark: SparkSession,
    network: Network,
    curve: LoadCurve,
    seconds: float,
    *,
    shed: bool = True,
    headroom: float = 1.0,
    plans: Sequence[tuple[float, ShedPlan | None]] = (),
    keeps: Sequence[str] = (),
    enough: Enough | None = None,
    patient: bool = False,
    ranking: str = STATE,
    feed: Feed = feed,
) -> OverloadTrial:
    """Run a network for so many seconds of a load curve.

    `plans` are what is left out from a second on, where the run does not decide that itself; `keeps` are the outputs
    whose results are kept; `enough` may end it early. A `patient` source can wait until its tuples are taken. `ranking`
    is the way in which branches are ranked that can wait. `feed` is what the inputs are given.
    """
    recorders = {output.name: Recorder(output, output.name in keeps) for output in network.outputs}
    began = (int(time.time() + AHEAD) + 1) * 1_000_000  # windows begin with whole seconds
    looks: list[ProcessLook] = []
    clock = _Stopwatch(Steering.after)
    ranked = partial(Steering.of, ranking=Ranking(ranking))
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(Steering, "after", clock.timed()),
        patch.object(Steering, "of", ranked),
    ):
        run = network.start(
            {**feed(network, curve, curve.count(seconds), began, patient), **recorders},
            spark=spark,
            checkpoint=f"{folder}/checkpoint",
            shed=shed,
            headroom=headroom,
            optimize=False,  # plans are made for the boxes as they are drawn
        )
        with run:
            _watch(run, began, seconds, list(plans), looks, enough)
        rows = run.measures().to_pylist()
    first = began / 1e6
    return OverloadTrial(
        curve,
        seconds,
        list(_batches(rows, recorders, first)),
        looks,
        clock.seconds,
        rows,
        {name: pa.Table.from_batches(recorders[name].kept) for name in keeps if recorders[name].kept},
        began,
    )


def _watch(
    run: Run, began: int, seconds: float, plans: list[tuple[float, ShedPlan | None]], looks: list[ProcessLook],
    enough: Enough | None,
) -> None:  # fmt: skip
    """Wait until the curve is over, give plans in time, and look at processes now and then."""
    first = began / 1e6
    next_look = time.time()
    while (now := time.time() - first) < seconds + 1:
        waits = [seconds + 1, next_look - first, *(second for second, _ in plans[:1])]
        if run.wait(max(min(waits) - now, 0.01)):
            break
        now = time.time() - first
        while plans and plans[0][0] <= now:
            run.leave_out(plans.pop(0)[1])
        if time.time() >= next_look:
            used = processes.seconds()
            looks.append(ProcessLook(now, sum(processes.memory().values()), used, machine.used() - used))
            next_look = time.time() + _LOOK
        if enough is not None and run.progress and enough(now, run.progress[-1]["delay"]):
            break


@dataclass
class _Stopwatch:
    """Adds up the seconds that a method takes."""

    method: Callable[..., Any]
    seconds: float = 0.0

    def timed(self) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            start = time.perf_counter()
            try:
                return self.method(*args)
            finally:
                self.seconds += time.perf_counter() - start

        return call


def _batches(
    rows: Sequence[Mapping[str, Any]], recorders: Mapping[str, Recorder], first: float
) -> Iterator[TrialBatch]:
    """The batches of a run, from what was measured and what came to its outputs."""
    for number, group in groupby(rows, key=lambda row: row["batch"]):
        notes = {name: each.batches[number] for name, each in recorders.items() if number in each.batches}
        if not notes:
            continue
        seconds, taken, spent = 0.0, 0, 0.0
        delays: dict[str, float] = {}
        shed: defaultdict[str, int] = defaultdict(int)
        boxes: defaultdict[str, int] = defaultdict(int)
        behind: dict[str, float] = {}
        for row in group:
            kind = row["kind"]
            if kind in ("box", "source", "exchange", "sink"):
                spent += row["seconds"]
            if kind == "batch":
                seconds = row["seconds"]
            elif kind == "box":
                boxes[row["name"]] += row["taken"]
            elif kind == "source" and (row["name"], row["port"]) == (INPUT, OUT):
                taken += row["given"]
            elif kind == "output" and row["worst"] is not None:
                delays[row["name"]] = row["worst"]
            elif kind == "branch":
                behind[row["name"]] = row["oldest"]
            elif kind == "shed" and row["taken"] > row["given"]:
                shed[f"{row['port']} {row['name']}"] += row["taken"] - row["given"]
        yield TrialBatch(
            max(at for at, _, _ in notes.values()) - first,
            seconds,
            taken,
            {name: count for name, (_, count, _) in notes.items()},
            {name: value for name, (_, _, value) in notes.items()},
            delays,
            dict(shed),
            dict(boxes),
            spent,
            behind,
        )
