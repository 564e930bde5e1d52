"""Tasks: what one partition does in one batch, where splits are read and in each later stage."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest

import pyarrow as pa

from australis.connectors import dead_letters
from australis.connectors.dead_letters import Letter
from australis.connectors.source import Divided, Mapped, Part, Split
from australis.engine.addresses import DEAD_LETTERS, StageEntry
from australis.engine.batch import Batch
from australis.engine.exchange import Outbox, in_order, merged
from australis.engine.filter_samples import FilterSamples
from australis.engine.job import Job
from australis.engine.measures import TaskMeasures
from australis.engine.parcels import Parcel
from australis.engine.partition import StagePartition
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


def read_splits(job: Job, batch: Batch, partition: int, splits: Mapping[str, Split]) -> pa.RecordBatch:
    """Read splits, a split an input, and run the stages at the source on them; the parcels for all others, as rows."""
    measures = _measures(job, batch)
    outbox, shedding = Outbox(job, batch, partition, measures), measures.shedding
    stages = [_open(job, stage, batch, partition, measures, outbox) for stage in job.at_source]
    outbox.send(None, output_tables(job, batch, partition))
    unread: Unread = {input.name: [] for input in job.streams}
    for trains, moment in _arrivals(job, batch, partition, splits, unread, measures):
        for (name, _), train in trains.items():
            measures.read(name, train)
        if shedding is not None:
            trains = {(name, port): shedding.keep("input", name, train) for (name, port), train in trains.items()}
        for each in stages:
            outbox.send(each.stage, each.step(_inlets(each.stage, trains), moment))
        outbox.send(None, trains)
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
    steps = list(_steps(job, stage, arrived, measures))
    for inlets in steps:
        moment = batch.moment if inlets is steps[-1] else _up_to(inlets.values())
        outbox.send(stage, opened.step(inlets, moment))
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
    if opened.opening:
        outbox.send(stage, opened.opening)
    return opened


def _arrivals(
    job: Job, batch: Batch, partition: int, splits: Mapping[str, Split], unread: Unread, measures: TaskMeasures
) -> Iterator[tuple[Arrows, Moment]]:
    """What enters in each step, a train an input, and the moment of the step; there is one step at least."""
    arriving = [_arriving(job, input, batch, partition, splits, unread[input.name], measures) for input in job.streams]
    rounds = filter(any, zip_longest(*arriving))  # what was skipped is no step
    current: tuple[Train | None, ...] | None = next(rounds, (None,) * len(arriving))
    while current is not None:
        following = next(rounds, None)
        trains = {
            (input.name, OUT): empty(input.schema) if train is None else train
            for input, train in zip(job.streams, current, strict=True)
        }
        yield trains, batch.moment if following is None else _up_to(trains.values())
        current = following


def _arriving(
    job: Job,
    input: Input,
    batch: Batch,
    partition: int,
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
    reading = measures.reading(input.name, source.read(split))
    parts = reading if in_memory else read_ahead(reading)
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


def _steps(job: Job, stage: Stage, arrived: Mapping[int, list[Parcel]], measures: TaskMeasures) -> Iterator[Inlets]:
    """What a later stage takes in each step: train after train where it has one entry, else all in one step."""
    streams = [(place, entry) for place, entry in enumerate(stage.entries) if not entry.static]
    inlets: Inlets = {}
    for place, entry in streams:
        start = time.thread_time()
        parcels = arrived.get(job.addresses.index(StageEntry(stage.index, place)), [])
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
