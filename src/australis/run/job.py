"""A job: a planned network with its sources, and the part of it that one task does in one batch."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from australis.box import EVERYWHERE, Moment
from australis.errors import RunError
from australis.network import OUT, Network
from australis.plan import Entry, Plan, Stage
from australis.run import letters
from australis.run import state as states
from australis.run.letters import Letter
from australis.run.source import Part, Source, Split, parts
from australis.run.superbox import Arrows, steps, tables_of
from australis.run.wire import Parcel, divide, merged
from australis.train import Ints, Train, concat, empty

_ROW_BITS, _SPLIT_BITS = 26, 10
LETTERS = "#letters"
"""The address of input that could not be read."""
Fed = dict[tuple[str, int], Train]
"""What enters a stage, by the box and the place of the input that it is for."""


@dataclass(frozen=True)
class Batch:
    """What all tasks of a batch know: its version, the local time in microseconds, and whether the inputs are done."""

    version: int
    clock: int
    end: bool

    @property
    def first(self) -> int:
        """The least arrival number of the batch."""
        return self.version << (_ROW_BITS + _SPLIT_BITS)

    @property
    def moment(self) -> Moment:
        last = ((self.version + 1) << (_ROW_BITS + _SPLIT_BITS)) - 1
        return Moment(last, self.clock, self.end)

    def numbers(self, split: int, row: int, count: int) -> Ints:
        """Arrival numbers of rows of a split: they go by splits, then by rows."""
        if row + count > 1 << _ROW_BITS or split >= 1 << _SPLIT_BITS:
            raise RunError(f"a batch with more than {1 << _ROW_BITS} tuples in a split: let batches be smaller")
        return self.first + (split << _ROW_BITS) + row + np.arange(count)


@dataclass(frozen=True)
class Job:
    """Everything that a task needs beside its batch. Stages whose inputs come as they are run where those are read."""

    network: Network
    plan: Plan
    sources: Mapping[str, Source]
    checkpoint: str
    partitions: int

    @cached_property
    def at_source(self) -> tuple[Stage, ...]:
        """The stages that run in the tasks that read."""
        return tuple(
            stage
            for stage in self.plan.stages
            if any(not entry.static for entry in stage.entries)
            and all(entry.static or (entry.origin is None and entry.by is None) for entry in stage.entries)
            and (not stage.one or self.partitions == 1)
        )

    @cached_property
    def later(self) -> tuple[Stage, ...]:
        return tuple(stage for stage in self.plan.stages if stage not in self.at_source)

    @cached_property
    def addresses(self) -> tuple[tuple[int, int] | str, ...]:
        """Where parcels go: to an entry of a stage, both by number, or to an output, by name."""
        entries = [
            (stage.index, at) for stage in self.later for at, entry in enumerate(stage.entries) if not entry.static
        ]
        return (*entries, *(output.name for output in self.network.outputs), LETTERS)

    def width(self, stage: Stage) -> int:
        """How many partitions a stage has."""
        return 1 if stage.one else self.partitions

    def schema(self, address: int) -> pa.Schema:
        """The columns of what goes to an address."""
        where = self.addresses[address]
        if where == LETTERS:
            return letters.SCHEMA
        if isinstance(where, str):
            (arrow,) = (output.arrow for output in self.network.outputs if output.name == where)
            return self.network.schema(arrow)
        return self.network.schema(self.plan.stages[where[0]].entries[where[1]].arrow)

    def read(self, batch: Batch, partition: int, splits: Mapping[str, Split]) -> Iterator[Parcel]:
        """What a task does that reads: its splits, the stages at the source, and the parcels for the rest."""
        arrived: Arrows = {}
        for input in self.network.inputs:
            if not input.static:
                bad: list[Letter] = []
                read = self.sources[input.name].read(splits[input.name]) if input.name in splits else ()
                arrived[input.name, OUT] = concat(input.schema, _stamped(read, batch, partition, bad))
                if bad:
                    yield Parcel(self.addresses.index(LETTERS), partition, _posted(input.name, bad, batch))
        for stage in self.at_source:
            streams = (entry for entry in stage.entries if not entry.static)
            fed = {inlet: arrived[e.arrow.source, e.arrow.port] for e in streams for inlet in e.feeds}
            yield from self._ran(stage, batch, partition, fed)
        for output in self.network.outputs:
            if output.name in self.plan.straight:
                yield Parcel(
                    self.addresses.index(output.name), partition, arrived[output.arrow.source, output.arrow.port]
                )
        yield from self._sent(None, partition, arrived)

    def take(self, stage: Stage, batch: Batch, partition: int, parcels: Iterable[Parcel]) -> Iterator[Parcel]:
        """What a task does in a later stage: the parcels for its partition."""
        trains: dict[int, list[Train]] = {}
        for parcel in parcels:
            trains.setdefault(parcel.arrow, []).append(parcel.train)
        fed: Fed = {}
        for at, entry in enumerate(stage.entries):
            if not entry.static:
                address = self.addresses.index((stage.index, at))
                came = merged(self.network.schema(entry.arrow), trains.get(address, []), entry.order)
                fed |= dict.fromkeys(entry.feeds, came)
        yield from self._ran(stage, batch, partition, fed)

    def _ran(self, stage: Stage, batch: Batch, partition: int, fed: Fed) -> Iterator[Parcel]:
        """One step of a stage's partition, from its state and back; stored tables come in a step before the first."""
        nodes = [self.network.named[name] for name in stage.nodes]
        state = states.open(
            self.checkpoint, str(stage.index), partition, batch.version - 1,
            lambda: tables_of(self.network, nodes), network=0,
        )  # fmt: skip
        tables = {e: empty(self.network.schema(e.arrow)) for e in stage.entries if e.static}
        if tables and batch.version == 1:
            stored = {entry: self._stored(entry, stage, partition, batch) for entry in tables}
            nothing = {inlet: empty(train.schema) for inlet, train in fed.items()}
            self._stepped(stage, state, nothing | _fed(stored), Moment(batch.first))
        made = self._stepped(stage, state, fed | _fed(tables), batch.moment)
        state.commit(batch.version)
        yield from self._sent(stage, partition, made)

    def _stepped(self, stage: Stage, state: states.State, fed: Fed, moment: Moment) -> Arrows:
        made: Arrows = {}
        nodes = (self.network.named[name] for name in stage.nodes)
        deque(steps(self.network, nodes, state.tables, made, moment, fed), maxlen=0)
        return made

    def _stored(self, entry: Entry, stage: Stage, partition: int, batch: Batch) -> Train:
        """The part of a stored table that a partition has."""
        bad: list[Letter] = []
        came = _stamped(parts(self.sources[entry.arrow.source]), Batch(0, batch.clock, False), 0, bad)
        table = concat(self.network.schema(entry.arrow), came)
        if bad:
            raise RunError(f"static input {entry.arrow.source}: {bad[0]}: mend the table")
        mine = [part for bucket, part in self._divided(entry, table, partition, stage) if bucket == partition]
        return concat(table.schema, mine)

    def _sent(self, stage: Stage | None, partition: int, made: Arrows) -> Iterator[Parcel]:
        """What a stage, or the inputs, give to later stages and to outputs."""
        if stage is not None:
            for output in self.network.outputs:
                if output.name in stage.outputs and not (partition and output.arrow in stage.copied):
                    train = made[output.arrow.source, output.arrow.port]
                    if len(train):
                        yield Parcel(self.addresses.index(output.name), partition, train)
        origin = None if stage is None else stage.index
        for address, where in enumerate(self.addresses):
            if isinstance(where, str):
                continue
            entry = self.plan.stages[where[0]].entries[where[1]]
            place = (entry.arrow.source, entry.arrow.port)
            if entry.origin != origin or (stage is not None and partition and entry.arrow in stage.copied):
                continue
            for bucket, part in self._divided(entry, made[place], partition, self.plan.stages[where[0]]):
                yield Parcel(address, bucket, part)

    def _divided(self, entry: Entry, train: Train, partition: int, stage: Stage) -> list[tuple[int, Train]]:
        width = self.width(stage)
        if not len(train):
            return []
        if entry.by is None:
            return [(partition % width, train)]
        if entry.by == EVERYWHERE:
            return [(bucket, train) for bucket in range(width)]
        return divide(train, entry.by, width)


def _fed(entries: Mapping[Entry, Train]) -> Fed:
    return {inlet: train for entry, train in entries.items() for inlet in entry.feeds}


def _posted(name: str, bad: list[Letter], batch: Batch) -> Train:
    table = letters.table(name, bad, batch.version)
    return Train(table, np.full(len(bad), batch.clock), np.full(len(bad), batch.first))


def _stamped(parts: Iterable[Part], batch: Batch, place: int, bad: list[Letter]) -> Iterator[Train]:
    """The tuples of a split, stamped and numbered; what could not be read goes to `bad`."""
    row = 0
    for part in parts:
        count = part.tuples.num_rows
        yield Train(part.tuples, np.full(count, batch.clock), batch.numbers(place, row, count))
        row += count
        bad += part.letters
