"""The exchange: trains that a task divides among partitions and addresses, and that are merged where they arrive."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa

from australis.arrow.columns import plain
from australis.arrow.compute import pc
from australis.connectors import dead_letters
from australis.engine import measures
from australis.engine.addresses import DEAD_LETTERS, MEASURES, PARTS, Address, StageEntry
from australis.engine.batch import Batch
from australis.engine.job import Job
from australis.engine.measures import TaskMeasures
from australis.engine.parcels import NUMBER, Parcel, encode
from australis.engine.readings import Reading, address_of
from australis.engine.superbox import Arrows
from australis.kernels.jit import inner
from australis.model.box import EVERYWHERE, Key
from australis.model.keys import buckets
from australis.model.network import Arrow
from australis.model.train import Ints, Train, concat
from australis.plan import Entry, Stage

HEAVY = 1 << 20
"""How many bytes of an output a task must have to write them itself."""


class Outbox:
    """What a task sends to later stages, to outputs and to the run, by address and partition."""

    def __init__(self, job: Job, batch: Batch, partition: int, measures: TaskMeasures) -> None:
        self.job, self.batch, self.partition, self.measures = job, batch, partition, measures
        self._trains: dict[tuple[int, int], list[Train]] = {}
        self._valued = job.valued | (measures.shedding.valued if measures.shedding is not None else {})

    def add(self, address: Address, bucket: int, train: Train) -> None:
        """Send a train to a partition of an address."""
        if len(train):
            self._trains.setdefault((self.job.places[address], bucket), []).append(train)

    def add_table(self, address: Address, bucket: int, table: pa.RecordBatch) -> None:
        """Send rows about the batch, which have no time and number of their own."""
        self.add(address, bucket, self._about_batch(table))

    def _about_batch(self, table: pa.RecordBatch) -> Train:
        count = table.num_rows
        return Train(table, np.full(count, self.batch.clock), np.full(count, self.batch.first))

    def send(self, stage: Stage | None, trains: Arrows, reading: Reading) -> None:
        """Send what a stage gives, or the inputs where there is none, to all who take it of a reading."""
        # What is the same in every partition is sent from the first.
        copied = stage.copied if stage is not None and self.partition else ()
        if stage is not None:
            self._send_refused(stage, trains, copied, reading)
        names = self.job.plan.straight if stage is None else stage.outputs
        self._send_to_outputs(reading.outputs.intersection(names), trains, copied)
        self._send_to_stages(None if stage is None else stage.index, trains, copied, reading)

    def rows(self) -> pa.RecordBatch:
        """All that is sent, as rows for Spark. Of an output with many bytes the task writes its part."""
        for name in self.job.part_writers:
            self._write_part(name)
        return encode(self._parcels(), batch_folder(self.job, self.batch))

    def _write_part(self, name: str) -> None:
        """Write the part of an output, if it has many bytes, and send where that is."""
        place = (self.job.places[name], self.partition)
        trains = self._trains.get(place, [])
        if sum(train.nbytes for train in trains) <= HEAVY:
            return
        start = time.thread_time()
        file = self.job.part_writers[name].make(self.batch.version, self.partition, [each.tuples for each in trains])
        self.measures.written(name, time.thread_time() - start)
        if file:
            del self._trains[place]
            self.add_table(PARTS, 0, measures.part(name, file, trains))

    def _parcels(self) -> Iterator[Parcel]:
        """All parcels. What was measured is the last, with the time that was spent on each before it."""
        for (number, bucket), trains in self._trains.items():
            start = time.thread_time()
            yield Parcel(number, bucket, trains)
            self._charge(self.job.addresses[number], time.thread_time() - start)
        table = self.measures.table(self.batch.version, self.partition)
        yield Parcel(self.job.places[MEASURES], self.partition, [self._about_batch(table)])

    def _charge(self, address: Address, seconds: float) -> None:
        if isinstance(address, StageEntry):
            self.measures.exchanged(self._entry(address).arrow, seconds)
        elif address not in (DEAD_LETTERS, PARTS):
            self.measures.written(address, seconds)

    def _send_refused(self, stage: Stage, trains: Arrows, copied: tuple[Arrow, ...], reading: Reading) -> None:
        """Send tuples that boxes refuse, and that nothing takes, to the dead letters."""
        for arrow in self.job.refusing.get(stage.index, ()):
            train = trains.get((arrow.source, arrow.port))
            if train is not None and len(train) and arrow not in copied and arrow.source in reading.boxes:
                letters = dead_letters.refused(arrow.source, arrow.port, train, self.batch.version)
                self.add_table(DEAD_LETTERS, self.partition, letters)

    def _send_to_outputs(self, names: Collection[str], trains: Arrows, copied: tuple[Arrow, ...]) -> None:
        for output in self.job.network.outputs:
            port = (output.arrow.source, output.arrow.port)
            if output.name in names and output.arrow not in copied and port in trains:
                shedding, train = self.measures.shedding, trains[port]
                if output.name in self._valued and len(train):
                    self.measures.worths.arrived(self._valued[output.name], train)
                train = train if shedding is None else shedding.keep("output", output.name, train)
                self.add(output.name, self.partition, train)

    def _send_to_stages(self, origin: int | None, trains: Arrows, copied: tuple[Arrow, ...], reading: Reading) -> None:
        """Send trains to the later stages that take them from an origin; each is divided once in each way."""
        divided: dict[tuple[tuple[str, str], Key | None, int, tuple[str, ...]], list[tuple[int, Train]]] = {}
        counted: set[tuple[str, str]] = set()
        for place, address in enumerate(self.job.addresses):
            if not isinstance(address, StageEntry):
                continue
            stage, entry = self.job.plan.stages[address.stage], self._entry(address)
            port = (entry.arrow.source, entry.arrow.port)
            if entry.origin != origin or entry.arrow in copied or port not in trains or not reading.takes(entry):
                continue
            if address_of(self.job, address.stage, address.entry, reading) != place:
                continue
            shedding = self.measures.shedding
            boxes = () if shedding is None else tuple(name for name, _ in entry.feeds if name in reading.boxes)
            way = (port, entry.by, self.job.width(stage), boxes)
            if way not in divided:
                start = time.thread_time()
                train = trains[port] if shedding is None else shedding.keep_for(boxes, trains[port])
                divided[way] = divide_for(entry, self.job.width(stage), train, self.partition)
                tuples = 0 if port in counted else len(train)
                self.measures.exchanged(entry.arrow, time.thread_time() - start, tuples)
                counted.add(port)
            for bucket, part in divided[way]:
                self.add(address, bucket, part)

    def _entry(self, address: StageEntry) -> Entry:
        return self.job.plan.stages[address.stage].entries[address.entry]


def batch_folder(job: Job, batch: Batch) -> str:
    """The folder for the large parcels of a batch; empty where the tasks of the job share none."""
    return job.shared_folder and f"{job.shared_folder}/{batch.version}"


def divide_for(entry: Entry, width: int, train: Train, partition: int) -> list[tuple[int, Train]]:
    """What an entry of a stage with so many partitions takes of a partition's train, by the partition it goes to."""
    if not len(train):
        return []
    if entry.by is None:
        return [(partition % width, train)]
    if entry.by == EVERYWHERE:
        return [(bucket, train) for bucket in range(width)]
    return divide(train, entry.by, width)


def divide(train: Train, key: tuple[str, ...], partitions: int) -> list[tuple[int, Train]]:
    """A train in parts by the hash of its key, those that are not empty."""
    if not len(train):
        return []
    if not key or partitions == 1:
        return [(0, train)]
    targets = buckets([train[name] for name in key], len(train), partitions)
    order, ends = np.empty(len(train), np.int64), np.bincount(targets, minlength=partitions).cumsum()
    _sort_by_bucket(targets, np.concatenate([[0], ends]), order)
    parts = ((bucket, order[start:end]) for bucket, (start, end) in enumerate(pairwise([0, *ends.tolist()])))
    return [(bucket, train.take(rows)) for bucket, rows in parts if len(rows)]


@inner
def _sort_by_bucket(targets: Ints, places: Ints, order: Ints) -> None:
    """Fill `order` with the rows by their bucket, and then as they are; `places` has each bucket's next free place."""
    for row in range(len(targets)):
        bucket = np.uintp(targets[np.uintp(row)])
        order[np.uintp(places[bucket])] = row
        places[bucket] += 1


def in_order(schema: pa.Schema, trains: list[Train], order: tuple[str, ...] = ()) -> list[Train]:
    """Trains of one arrow from several partitions as a sequence: by arrival number, then by the columns of an order."""
    sequence = sorted((train for train in trains if len(train)), key=lambda train: int(train.number[0]))
    apart = all(one.number[-1] < other.number[0] for one, other in pairwise(sequence))
    return sequence if apart else [merged(schema, sequence, order)]


def merged(schema: pa.Schema, trains: list[Train], order: tuple[str, ...] = ()) -> Train:
    """Trains of one arrow from several partitions as one: by arrival number, then by the columns of an order."""
    whole = concat(schema, trains)
    if len(trains) <= 1:
        return whole
    if not order:
        return whole if (np.diff(whole.number) >= 0).all() else whole.take(np.argsort(whole.number, kind="stable"))
    columns = {NUMBER: pa.array(whole.number)} | {name: whole[name] for name in order}
    keys = [(name, "ascending", "at_start") for name in columns]
    rows = pc.sort_indices(pa.table(columns), sort_keys=keys)
    return whole.take(plain(rows)[0].astype(np.int64))
