"""Tasks: what one partition does in one batch, where splits are read and in each later stage."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import pyarrow as pa

from australis.connectors import dead_letters
from australis.connectors.dead_letters import Letter
from australis.connectors.source import Divided, Mapped, Part, Split
from australis.engine.addresses import DEAD_LETTERS
from australis.engine.batch import Batch
from australis.engine.exchange import Outbox, in_order, merged
from australis.engine.filter_samples import FilterSamples
from australis.engine.job import Job
from australis.engine.measures import TaskMeasures
from australis.engine.parcels import Parcel
from australis.engine.partition import StagePartition
from australis.engine.readings import Reading, address_of, readings
from australis.engine.shedding import Shedding
from australis.engine.stamp import cut, read_ahead, stamp
from australis.engine.stored_tables import output_tables
from australis.engine.superbox import Arrows, Inlets
from australis.errors import RunError, Subject
from australis.model.box import Moment
from australis.model.network import OUT, Input
from australis.model.train import Train, empty
from australis.plan import Stage

TRAIN = 1 << 17
"""How many tuples of each of several inputs enter in one step."""
Unread = dict[str, list[Letter]]
"""What could not be read, by input."""


@dataclass(frozen=True)
class ReadingSplits:
    """What a task reads for a reading: a split an input."""

    splits: Mapping[str, Split]
    first: frozenset[str] = frozenset()
    """The inputs of which no branch has read this before."""


def read_splits(
    job: Job, batch: Batch, partition: int, splits: Mapping[str, Split], apart: Sequence[ReadingSplits] = ()
) -> pa.RecordBatch:
    """Read splits, a split an input, and run the stages at the source on them; the parcels for all others, as rows.

    Branches that are not at the front have splits of their own, in the order of the batch's.
    """
    measures = _measures(job, batch)
    outbox, shedding = Outbox(job, batch, partition, measures), measures.shedding
    stages = [_open(job, stage, batch, partition, measures, outbox) for stage in job.at_source]
    every = readings(job, batch)
    outbox.send(None, output_tables(job, batch, partition), every[0])
    unread: Unread = {input.name: [] for input in job.streams}
    for reading, read in zip(every, (ReadingSplits(splits, frozenset(unread)), *apart), strict=True):
        for trains, moment in _arrivals(job, batch, partition, reading, read, unread, measures):
            if shedding is not None:
                trains = {(name, port): shedding.keep("input", name, train) for (name, port), train in trains.items()}
            for each in stages:
                given = each.step(_inlets(each.stage, trains), moment, reading.boxes)
                outbox.send(each.stage, given, reading)
            outbox.send(None, trains, reading)
    for each in stages:
        each.commit()
    for name, letters in unread.items():
        if letters:
            outbox.add_table(DEAD_LETTERS, partition, dead_letters.table(name, letters, batch.version))
    return outbox.rows()


def run_stage(job: Job, stage: Stage, batch: Batch, partition: int, parcels: Iterable[Parcel]) -> pa.RecordBatch:
    """Run a partition of a later stage on the parcels that came to it; the parcels for stages after it, as rows."""
    measures = _measures(job, batch)
    outbox = Outbox(job, batch, partition, measures)
    opened = _open(job, stage, batch, partition, measures, outbox)
    arrived: dict[int, list[Parcel]] = {}
    for parcel in parcels:
        arrived.setdefault(parcel.address, []).append(parcel)
    for reading in readings(job, batch):
        steps = list(_steps(job, stage, reading, arrived, measures)) if reading.boxes.intersection(stage.nodes) else []
        for inlets in steps:
            moment = reading.moment if inlets is steps[-1] else _up_to(inlets.values())
            outbox.send(stage, opened.step(inlets, moment, reading.boxes), reading)
    opened.commit()
    return outbox.rows()


def _measures(job: Job, batch: Batch) -> TaskMeasures:
    shedding = None if batch.shed is None else Shedding(job.network, batch.shed)
    return TaskMeasures(job.network, shedding, filters=FilterSamples(job.filters))


def _open(
    job: Job, stage: Stage, batch: Batch, partition: int, measures: TaskMeasures, outbox: Outbox
) -> StagePartition:
    """Open a partition of a stage, and send what it makes of stored tables alone."""
    opened = StagePartition(job, stage, batch, partition, measures)
    for reading in readings(job, batch) if opened.opening else ():
        outbox.send(stage, opened.opening, reading)
    return opened


def _arrivals(
    job: Job, batch: Batch, partition: int, reading: Reading, read: ReadingSplits, unread: Unread,
    measures: TaskMeasures,
) -> Iterator[tuple[Arrows, Moment]]:  # fmt: skip
    """What enters in each step, a train an input, and the moment of the step; there is one step at least."""
    letters = {name: each if name in read.first else [] for name, each in unread.items()}
    arriving = [
        _arriving(job, input, batch, partition, reading, read.splits, letters[input.name], measures)
        for input in job.streams
    ]
    rounds = filter(any, zip_longest(*arriving))  # what was skipped is no step
    current: tuple[Train | None, ...] | None = next(rounds, (None,) * len(arriving))
    while current is not None:
        following = next(rounds, None)
        trains = {
            (input.name, OUT): empty(input.schema) if train is None else train
            for input, train in zip(job.streams, current, strict=True)
        }
        for (name, _), train in trains.items():
            if reading.place == 0 or len(train):
                measures.read(name, train, reading.label, name in read.first)
        yield trains, reading.moment if following is None else _up_to(trains.values())
        current = following


def _arriving(
    job: Job,
    input: Input,
    batch: Batch,
    partition: int,
    reading: Reading,
    splits: Mapping[str, Split],
    unread: list[Letter],
    measures: TaskMeasures,
) -> Iterator[Train]:
    """The trains of an input's split, numbered and stamped; what cannot be read goes to `unread`."""
    if input.name not in splits:
        return iter(())
    source, split = job.reading(input.name), splits[input.name]
    before = source.before(split) if isinstance(source, Divided) and source.by is not None else None
    in_memory = isinstance(source, Mapped) and source.mapped
    measured = measures.reading(input.name, source.read(split), reading.label)
    parts = measured if in_memory else read_ahead(measured)
    trains = stamp(_checked(parts, input.name) if job.strict else parts, batch, partition, unread, before)
    # The trains of several inputs that enter together must reach equally far.
    first = int(batch.numbers(partition, 0, 1)[0]) if before is None else None
    return trains if len(job.streams) == 1 else cut(input.schema, trains, TRAIN, first)


def _checked(parts: Iterable[Part], name: str) -> Iterator[Part]:
    """The same parts, all of which must have been readable."""
    for part in parts:
        if part.letters:
            raise RunError(
                f"{part.letters[0]}; run without `strict` to leave it out, or correct it and start with an empty"
                " checkpoint folder",
                Subject("input", name),
            )
        yield part


def _inlets(stage: Stage, trains: Arrows) -> Inlets:
    """What a stage at the source takes of the trains of inputs."""
    entries = (entry for entry in stage.entries if not entry.static)
    return {inlet: trains[entry.arrow.source, entry.arrow.port] for entry in entries for inlet in entry.feeds}


def _steps(
    job: Job, stage: Stage, reading: Reading, arrived: Mapping[int, list[Parcel]], measures: TaskMeasures
) -> Iterator[Inlets]:
    """What a later stage takes of a reading in each step: train after train where it has one entry, else all in one."""
    entries = enumerate(stage.entries)
    streams = [(place, entry) for place, entry in entries if not entry.static and reading.takes(entry)]
    inlets: Inlets = {}
    for place, entry in streams:
        start = time.thread_time()
        parcels = arrived.get(address_of(job, stage.index, place, reading), [])
        trains, schema = [train for parcel in parcels for train in parcel.trains], job.network.schema(entry.arrow)
        merge = in_order(schema, trains, entry.order) if len(streams) == 1 else [merged(schema, trains, entry.order)]
        unpacking = sum(parcel.seconds for parcel in parcels)
        measures.exchanged(entry.arrow, unpacking + time.thread_time() - start)
        if len(streams) == 1:
            yield from (dict.fromkeys(entry.feeds, train) for train in merge or [empty(schema)])
            return
        inlets |= dict.fromkeys(entry.feeds, merge[0])
    yield inlets


def _up_to(trains: Iterable[Train]) -> Moment:
    """The moment of a step that is not a batch's last: it ends at the last arrival number of its tuples."""
    return Moment(max(int(train.number[-1]) for train in trains if len(train)))
