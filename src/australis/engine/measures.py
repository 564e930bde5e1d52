"""Measurements of a run: what each box costs and lets through, what flows along each arrow, how late outputs are."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from australis.arrow.columns import Floats
from australis.arrow.schema import schema
from australis.connectors.source import Part
from australis.engine.delays import ArrivalSketch, ArrivalTimes, histogram, number_sketch
from australis.engine.filter_samples import FilterSamples
from australis.engine.shedding import Shedding
from australis.engine.superbox import Event, Passage
from australis.model.box import LATE, OUT, REFUSED, lost
from australis.model.network import Arrow, Network
from australis.model.qos import Graph
from australis.model.train import Ints, Train
from australis.qos.worth import WorthCounts

if TYPE_CHECKING:
    from australis.plan.rules import Firing

SCHEMA = schema(
    "batch bigint, kind string, name string, port string, partition int,"
    " seconds double, taken bigint, given bigint, late bigint, refused bigint, bytes bigint,"
    " delay double, worst double, age double, oldest double, delays array<bigint>, fixed double, window bigint,"
    " fresh double, results bigint, utility double, loss double, p50 double, p95 double, p99 double,"
    " rate double, backlog bigint, used double, state string,"
    " came array<bigint>, dropped array<bigint>, worths array<double>, gain double, skipped bigint, seen bigint,"
    " members bigint, missed bigint, objects bigint, passes array<bigint>"
)
"""A row is a `box`, an `arrow`, a `source`, an `exchange`, an `output`, a `sink`, a `shed`, a `rule` or a `batch`.

A `worth` counts an output's tuples by what they are worth (`australis.qos.worth`). A `service`, an `input`, a `branch`
and a `load` tell what all that has come to (`australis.engine.service`).

Seconds are processor time of the thread that does the work, so that a busy machine makes nothing dearer; waiting for a
disk is not counted. Those of a batch alone are by the clock.

A box has its seconds, the tuples that it took, those that it gave on its main port, and those that it found late or
refused. An arrow is a port of a box or an input: the tuples that its box took, those that it gave on this port, and
their bytes. A source is an input as a task reads it: its seconds, the tuples that it gave, and those that it skipped
because they matter to nobody. Where a branch has waited, it reads by itself: the row has its name in the place of the
port, and its tuples were counted before.

An exchange is an arrow whose tuples go to another stage: the seconds of dividing, packing, unpacking and merging them,
and the tuples that it took, which are counted where they are sent. A sink is what an output is written to: the seconds
of packing, unpacking and writing, in tasks and, without a partition, on the driver, and there the tuples that it took.

A shed is a place where tuples are left out: before the input, box or output (`port`) of this name. It has the tuples
that came, and those that it gave; before a box with windows also the greatest, and the `results` that were left out.
Where the port is `objects`, it is a box that leaves out objects by itself: the reports that it took, and those of other
objects; the `members` that all answers have in each step, how many of them are `missed`, and how many `objects` are
left out in the end.

A `sampled` is a box that is given a sample: all of its tuples, wherever they were left out (`taken`), those that went
into it (`given`), and those of them in the sample (`seen`).

The row `filters` is of filters in a row, whose names it has in its own, each of which was asked of the same tuples:
`passes` counts those that passed none, the first alone, the second alone, both of these, the third alone and so on.

A rule is one of the optimizer that made the network of which this batch is the first: its name, the boxes that it was
about (`port`), and the part of what these cost that it is expected to save (`gain`), if that is known.

A batch has its seconds on the driver by the clock. Of these, `fixed` are those that are none of the others: all but the
seconds of its slowest partition, and of the driver.

An output has its tuples. Their mean `delay` and the `worst`, in seconds, count from when the tuple came that completed
a result: the one that closed a window, say. `delays` is a histogram of them (see `australis.engine.delays`). Their mean
`age` and the `oldest` count from when the oldest tuple came that a result is made of. `fresh` is what they are worth by
their delays, on average: 1 without a latency graph.
"""
SENT = pa.schema([*SCHEMA, *schema("numbers array<bigint>, times array<bigint>")])
"""What tasks send. The row of a source has points that tell when its tuples came, by their arrival numbers."""
PART = schema(
    "output string, file string, tuples bigint, bytes bigint, first bigint, after double,"
    " numbers array<bigint>, weights array<bigint>"
)
"""A part of an output: when its first tuple came, and how long after it the others did on average, in microseconds.
(A double would hold a time since 1970 to a quarter of one only.) Of its arrival numbers it has a sketch."""


@dataclass
class TaskMeasures:
    """What one task measures."""

    network: Network
    shedding: Shedding | None = None
    """What is left out of the batch, if anything."""
    boxes: dict[str, list[float]] = field(default_factory=dict)
    arrows: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    widths: dict[tuple[str, str], int | None] = field(default_factory=dict)
    arrivals: dict[tuple[str, str], ArrivalSketch] = field(default_factory=dict)
    """When tuples came, by input and reading."""
    costs: dict[tuple[str, str, str | None], list[float]] = field(default_factory=dict)
    """Seconds and tuples of all but boxes, by the kind of row, the name and the port."""
    worths: WorthCounts = field(default_factory=WorthCounts)
    """What the tuples of outputs are worth, as they come there."""
    skipped: Counter[tuple[str, str]] = field(default_factory=Counter)
    """The tuples of inputs that were left unread."""
    filters: FilterSamples = field(default_factory=FilterSamples)
    """Which filters in a row tuples pass."""

    def run(self, events: Iterable[Event | Passage], uncounted: Collection[tuple[str, str]] = ()) -> None:
        """Run boxes, and measure each. Those of a chain share its time by what they cost when they run one by one.

        What leaves `uncounted` ports is not counted: it is the same in every partition, and the first counts it.
        """
        start = time.thread_time()
        for event in events:
            seconds = time.thread_time() - start
            if isinstance(event, Passage):
                self._passed(event, seconds)
            else:
                name, taken = event.node.name, sum(map(len, event.inputs))
                self._ran(name, seconds, taken)
                if event.chain is not None:
                    event.chain.learn(name, seconds, taken)
                for port, train in event.outputs.items():
                    if (name, port) not in uncounted:
                        self.count(name, port, train)
                self.filters.see(event)
            start = time.thread_time()

    def count(self, source: str, port: str, train: Train) -> None:
        """Count what flows from a port."""
        self._flowed(source, port, len(train), train)

    def read(self, input: str, train: Train, label: str = OUT, first: bool = True) -> None:
        """Note when what was read of an input came, and count it if it was not read before."""
        if first:
            self.count(input, OUT, train)
        self.arrivals.setdefault((input, label), ArrivalSketch()).add(train)

    def reading(self, input: str, parts: Iterable[Part], label: str = OUT) -> Iterator[Part]:
        """The same parts of an input; it measures what reading them takes, in whichever thread does so."""
        iterator = iter(parts)
        while True:
            start = time.thread_time()
            part = next(iterator, None)
            self._cost("source", input, label, time.thread_time() - start)
            if part is None:
                return
            self.skipped[input, label] += part.skipped
            yield part

    def exchanged(self, arrow: Arrow, seconds: float, tuples: int = 0) -> None:
        """Count what it takes to bring tuples of an arrow to another stage; those that are sent are counted."""
        self._cost("exchange", arrow.source, arrow.port, seconds, tuples)

    def written(self, output: str, seconds: float) -> None:
        """Count what it takes to write tuples of an output, or to send them to the driver."""
        self._cost("sink", output, None, seconds)

    def _cost(self, kind: str, name: str, port: str | None, seconds: float, tuples: int = 0) -> None:
        cost = self.costs.setdefault((kind, name, port), [0.0, 0])
        cost[0] += seconds
        cost[1] += tuples

    def _passed(self, passage: Passage, seconds: float) -> None:
        taken = (len(passage.train), *passage.counts[:-1])
        shares = passage.chain.share(seconds, taken)
        for node, tuples, passed, share in zip(passage.chain.nodes, taken, passage.counts, shares, strict=True):
            ports = list(self.network.schemas[node.name])
            self._ran(node.name, share, tuples)
            for port, count in zip(ports, (passed, tuples - passed), strict=False):
                self._flowed(node.name, port, count, passage.train)

    def _ran(self, name: str, seconds: float, taken: int) -> None:
        box = self.boxes.setdefault(name, [0.0, 0])
        box[0] += seconds
        box[1] += taken

    def _flowed(self, source: str, port: str, count: int, like: Train) -> None:
        """Count tuples; where they differ in width, they take as many bytes as those of a train."""
        place = (source, port)
        if place not in self.arrows:
            self.arrows[place], self.widths[place] = [0, 0], _width(self.network.schemas[source][port])
        counts, width = self.arrows[place], self.widths[place]
        counts[0] += count
        counts[1] += like.nbytes * count // max(len(like), 1) if width is None else count * width

    def table(self, batch: int, partition: int) -> pa.RecordBatch:
        """What was measured, as rows."""
        rows = []
        for name, (seconds, taken) in self.boxes.items():
            given = {port: self.arrows.get((name, port), (0, 0))[0] for port in self.network.schemas[name]}
            main = next(iter(given))
            lost_tuples = [[given[port] for port in given if lost(port) == word] for word in (LATE, REFUSED)]
            late, refused = (sum(counts) if counts else None for counts in lost_tuples)
            rows.append(_row(batch, "box", name, main, partition, seconds=seconds, taken=int(taken), given=given[main],
                             late=late, refused=refused))  # fmt: skip
        for (source, port), (tuples, size) in self.arrows.items():
            taken_by_box = int(self.boxes[source][1]) if source in self.boxes else None
            rows.append(_row(batch, "arrow", source, port, partition, taken=taken_by_box, given=tuples, bytes=size))
        for (kind, name, place), (seconds, took) in self.costs.items():
            if kind != "source":
                rows.append(_row(batch, kind, name, place, partition, seconds=seconds, taken=int(took)))
        shed, worths = ((), ()) if self.shedding is None else (self.shedding.rows(), self.shedding.worths.rows())
        rows += [_row(batch, "shed", name, kind, partition, **counts) for name, kind, counts in shed]
        samples = () if self.shedding is None else self.shedding.sampled_rows()
        rows += [_row(batch, "sampled", name, None, partition, **counts) for name, counts in samples]
        rows += [_row(batch, "worth", name, at, partition, **each) for name, at, each in (*self.worths.rows(), *worths)]
        for each in self.filters.passes():
            rows.append(_row(batch, "filters", ", ".join(each.filters), None, partition, passes=each.counts))
        for (name, label), sketch in self.arrivals.items():
            numbers, times = sketch.points()
            seconds, _ = self.costs.get(("source", name, label), (0.0, 0))
            rows.append(_row(batch, "source", name, label, partition, seconds=seconds, given=sketch.tuples,
                             numbers=numbers, times=times, skipped=self.skipped[name, label]))  # fmt: skip
        return _table(rows, SENT)


def _row(
    batch: int,
    kind: str,
    name: str | None,
    port: str | None,
    partition: int | None,
    **values: float | Ints | Floats | tuple[float, ...] | None,
) -> tuple[object, ...]:
    place = {"batch": batch, "kind": kind, "name": name, "port": port, "partition": partition}
    return tuple((place | values).get(column) for column in SENT.names)


def _width(columns: pa.Schema) -> int | None:
    """How many bytes a tuple takes, if that is the same for all."""
    try:
        bits: list[int] = [column.type.bit_width for column in columns]
    except ValueError:
        return None
    return sum(bits) // 8


def part(name: str, file: str, trains: list[Train]) -> pa.RecordBatch:
    """The row of a part of an output: its file if it is written, how much it is, and when its tuples came."""
    times = [train.ts for train in trains if len(train)]
    tuples, size = sum(map(len, trains)), sum(train.nbytes for train in trains)
    if not tuples:
        return _table([(name, file, 0, size, None, None, [], [])], PART)
    first = min(int(ts.min()) for ts in times)
    after = sum(float(np.sum(ts - first)) for ts in times) / tuples
    return _table([(name, file, tuples, size, first, after, *number_sketch(trains))], PART)


def output(
    batch: int,
    name: str,
    parts: Iterable[dict[str, Any]],
    now: int,
    arrivals: ArrivalTimes | None = None,
    inputs: Collection[str] = (),
    latency: Graph | None = None,
) -> pa.RecordBatch:
    """The row of an output that is given parts at a time in microseconds, completed by tuples of `inputs`."""
    rows = [row for row in parts if row["tuples"]]
    tuples, size = (sum(row[column] for row in rows) for column in ("tuples", "bytes"))
    values: dict[str, float | Ints | None] = {"given": tuples, "bytes": size}
    if rows:
        known = ArrivalTimes(now) if arrivals is None else arrivals
        numbers, weights = (np.concatenate([row[column] for row in rows]) for column in ("numbers", "weights"))
        delays = (now - known.clock - known.times(numbers, inputs)) / 1e6
        values["delay"], values["worst"] = float(np.average(delays, weights=weights)), float(delays.max())
        values["delays"] = histogram(delays, weights)
        values["fresh"] = 1.0 if latency is None else float(np.average(latency.utilities(delays), weights=weights))
        values["age"] = sum((now - row["first"] - row["after"]) * row["tuples"] for row in rows) / tuples / 1e6
        values["oldest"] = (now - min(row["first"] for row in rows)) / 1e6
    return _kept([_row(batch, "output", name, None, None, **values)])


def sink(batch: int, name: str, seconds: float, tuples: int) -> pa.RecordBatch:
    """The row of what the driver does to write an output."""
    return _kept([_row(batch, "sink", name, None, None, seconds=seconds, taken=tuples)])


def whole_batch(batch: int, seconds: float, tables: Iterable[pa.RecordBatch]) -> pa.RecordBatch:
    """The row of a batch that took seconds by the clock, in which tables were measured."""
    spent: defaultdict[int | None, float] = defaultdict(float)
    for row in rows_of(tables):
        spent[row["partition"]] += row["seconds"] or 0.0
    driver = spent.pop(None, 0.0)
    fixed = max(seconds - driver - max(spent.values(), default=0.0), 0.0)
    return _kept([_row(batch, "batch", None, None, None, seconds=seconds, fixed=fixed)])


def rules(batch: int, firings: Iterable[Firing]) -> pa.RecordBatch:
    """The rows of rules that made the network which begins with a batch."""
    return _kept([_row(batch, "rule", each.rule, ", ".join(each.boxes), None, gain=each.gain) for each in firings])


def _kept(rows: list[tuple[object, ...]]) -> pa.RecordBatch:
    """Rows that the driver makes."""
    return _table(rows, SENT).select(SCHEMA.names)


def _table(rows: list[tuple[object, ...]], schema: pa.Schema) -> pa.RecordBatch:
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = [pa.array(values, column.type) for values, column in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def rows_of(tables: Iterable[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    """The rows of measurements, which are as many as boxes and arrows."""
    for table in tables:
        yield from table.to_pylist()


def progress(network: Network, batch: int, tables: Iterable[pa.RecordBatch]) -> dict[str, Any]:
    """A batch in short: the tuples of each input and output, those that boxes could not use, the outputs' delays.

    Those of an input that were skipped are among those taken.
    """
    inputs = {input.name for input in network.inputs}
    taken = dict.fromkeys((input.name for input in network.inputs if not input.static), 0)
    given: dict[str, int] = {}
    delay: dict[str, float | None] = {}
    late, refused, shed, skipped = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for row in rows_of(tables):
        if row["kind"] == "shed":
            shed[f"{row['port']} {row['name']}"] += row["taken"] - row["given"]
        elif row["kind"] == "arrow" and row["name"] in inputs:
            taken[row["name"]] += row["given"]
        elif row["kind"] == "source" and row["port"] == OUT and row["skipped"]:
            taken[row["name"]] += row["skipped"]
            skipped[row["name"]] += row["skipped"]
        elif row["kind"] == "output":
            given[row["name"]], delay[row["name"]] = row["given"], row["worst"]
        elif row["kind"] == "box":
            late.update({row["name"]: row["late"]} if row["late"] else {})
            refused.update({row["name"]: row["refused"]} if row["refused"] else {})
    return {
        "batch": batch, "taken": taken, "given": given, "delay": delay, "late": dict(late), "refused": dict(refused),
        "shed": dict(shed), "skipped": dict(skipped),
    }  # fmt: skip
