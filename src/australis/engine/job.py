"""A job: a planned network with its sources, and the part of it that one task does in one batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest

import numpy as np
import pyarrow as pa

from australis.connectors import dead_letters as letters
from australis.connectors.dead_letters import Letter
from australis.connectors.sink import Parted
from australis.connectors.source import Divided, Mapped, Offset, Part, Source, Split
from australis.engine import measures
from australis.engine.batch import Batch
from australis.engine.exchange import Parcel, divide, in_order, merged
from australis.engine.losses import unwired
from australis.engine.measures import TaskMeasures
from australis.engine.stamp import ahead, stamped, trains
from australis.engine.superbox import Arrows, stateful
from australis.engine.partition import Fed, Task, stored_table
from australis.errors import RunError
from australis.model.box import EVERYWHERE, REFUSED, Key, Moment, lost
from australis.model.network import OUT, Arrow, Input, Network
from australis.model.train import Train, empty
from australis.plan import Entry, Plan, Stage
from australis.plan.chains import Chain, chains

LETTERS, MEASURES, PARTS = "#letters", "#measures", "#parts"
"""The addresses of input that could not be read, of measurements, and of parts of outputs that are written already."""
_SCHEMAS = {LETTERS: letters.SCHEMA, MEASURES: measures.SCHEMA, PARTS: measures.PART}
HEAVY = 1 << 20
"""How many bytes of an output a task writes itself."""
TRAIN = 1 << 17
"""How many tuples of each of several inputs boxes are given at once where they are read."""


@dataclass(frozen=True)
class Home:
    """Where the state of a stage is: under a name, from a version on, the first of its network if none is told.

    Its kin are stages of the network before that had some of its boxes.
    """

    name: str
    since: int | None = None
    kin: tuple[str, ...] = ()


@dataclass(frozen=True)
class Job:
    """Everything that a task needs beside its batch. Stages whose inputs come as they are run where those are read."""

    network: Network
    plan: Plan
    sources: Mapping[str, Source]
    checkpoint: str
    partitions: int
    number: int = 1
    """The network's, among those of the run."""
    starts: Mapping[str, Offset] = field(default_factory=dict)
    """The first offsets of its sources: some depend on when a run began."""
    homes: tuple[Home, ...] = ()
    owners: Mapping[str, str] = field(default_factory=dict)
    """What boxes are called in the state, where that is not their name."""
    strict: bool = False
    """Whether input that cannot be read is an error."""
    parted: Mapping[str, Parted] = field(default_factory=dict)
    """The outputs whose parts tasks write themselves where they are large."""
    aside: str = ""
    """A folder that all tasks see, through which trains go rather than through Spark."""
    given: frozenset[str] = frozenset()
    """Stored tables, and boxes over some, that the network before had: what is made of those alone has come out."""
    layouts: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """The boxes that the plan had to divide as the network before did."""

    def __post_init__(self) -> None:
        if not self.homes:
            homes = tuple(Home(f"{self.number}.{stage.index}") for stage in self.plan.stages)
            object.__setattr__(self, "homes", homes)
        if not self.starts:
            starts = {input.name: self.sources[input.name].start() for input in self.streams}
            object.__setattr__(self, "starts", starts)

    @cached_property
    def streams(self) -> tuple[Input, ...]:
        """The inputs that are no stored tables."""
        return tuple(input for input in self.network.inputs if not input.static)

    @cached_property
    def stateful(self) -> frozenset[int]:
        """The stages that keep anything."""
        named = self.network.named
        return frozenset(
            stage.index for stage in self.plan.stages if any(stateful(self.network, named[n]) for n in stage.nodes)
        )

    @cached_property
    def chains(self) -> tuple[dict[str, Chain], ...]:
        """The boxes of each stage that may run as one."""
        return tuple(chains(self.network, stage) for stage in self.plan.stages)

    @cached_property
    def refusing(self) -> Mapping[int, tuple[Arrow, ...]]:
        """The ports of each stage whose tuples become dead letters: what is refused, and taken by nothing."""
        ports = {
            stage.index: tuple(a for a in unwired(self.network, stage.nodes) if lost(a.port) == REFUSED)
            for stage in self.plan.stages
        }
        return {index: arrows for index, arrows in ports.items() if arrows}

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
    def rounds(self) -> tuple[tuple[Stage, ...], ...]:
        """The later stages by when they can run: those of a round take nothing from each other."""
        after: dict[int | None, int] = {None: 0} | {stage.index: 0 for stage in self.at_source}
        for stage in self.later:
            origins = (entry.origin for entry in stage.entries if not entry.static)
            after[stage.index] = 1 + max(map(after.__getitem__, origins), default=0)
        each = range(1, max(after.values(), default=0) + 1)
        return tuple(tuple(stage for stage in self.later if after[stage.index] == at) for at in each)

    @cached_property
    def addresses(self) -> tuple[tuple[int, int] | str, ...]:
        """Where parcels go: to an entry of a stage, both by number, or to an output, by name."""
        entries = [
            (stage.index, at) for stage in self.later for at, entry in enumerate(stage.entries) if not entry.static
        ]
        return (*entries, *(output.name for output in self.network.outputs), *_SCHEMAS)

    @property
    def wide(self) -> bool:
        """Whether a source numbers its tuples by itself."""
        some = (self.sources[input.name] for input in self.streams)
        return any(isinstance(source, Divided) and source.by is not None for source in some)

    def width(self, stage: Stage) -> int:
        """How many partitions a stage has."""
        return 1 if stage.one else self.partitions

    def schema(self, address: int) -> pa.Schema:
        """The columns of what goes to an address."""
        where = self.addresses[address]
        if isinstance(where, str) and where in _SCHEMAS:
            return _SCHEMAS[where]
        if isinstance(where, str):
            (arrow,) = (output.arrow for output in self.network.outputs if output.name == where)
            return self.network.schema(arrow)
        return self.network.schema(self.plan.stages[where[0]].entries[where[1]].arrow)

    def read(self, batch: Batch, partition: int, splits: Mapping[str, Split]) -> list[Parcel]:
        """What a task does that reads: its splits, the stages at the source, and the parcels for the rest."""
        tally, post = TaskMeasures(self.network), _Post(self, batch)
        tasks = [Task(self, stage, batch, partition, tally) for stage in self.at_source]
        for task in tasks:
            post.send_first(task)
        post.send(None, partition, self._stored(batch, partition))
        bad: dict[str, list[Letter]] = {input.name: [] for input in self.streams}
        arriving = [self._arriving(input, batch, partition, splits, bad[input.name]) for input in self.streams]
        last = False
        rounds = zip_longest(*arriving)
        current = next(rounds, (None,) * len(arriving))
        while not last:
            after = next(rounds, None)
            last = after is None
            came = zip(self.streams, current, strict=True)
            arrived = {(i.name, OUT): empty(i.schema) if train is None else train for i, train in came}
            moment = batch.moment if last else Moment(max(int(t.number[-1]) for t in arrived.values() if len(t)))
            for (name, port), train in arrived.items():
                tally.along(name, port, train)
            for task in tasks:
                entries = (entry for entry in task.stage.entries if not entry.static)
                fed = {inlet: arrived[e.arrow.source, e.arrow.port] for e in entries for inlet in e.feeds}
                post.send(task.stage, partition, task.step(fed, moment))
            post.send(None, partition, arrived)
            current = after or ()
        for task in tasks:
            task.commit()
        for name, its in bad.items():
            if its:
                post.add(LETTERS, partition, _hidden(letters.table(name, its, batch.version), batch))
        post.add(MEASURES, partition, _hidden(tally.table(batch.version, partition), batch))
        return post.parcels(partition)

    def take(self, stage: Stage, batch: Batch, partition: int, parcels: Iterable[Parcel]) -> list[Parcel]:
        """What a task does in a later stage: the parcels for its partition."""
        tally, post = TaskMeasures(self.network), _Post(self, batch)
        task = Task(self, stage, batch, partition, tally)
        post.send_first(task)
        came: dict[int, list[Train]] = {}
        for parcel in parcels:
            came.setdefault(parcel.arrow, []).extend(parcel.trains)
        fed = list(self._fed(stage, came))
        for at, each in enumerate(fed, 1):
            moment = batch.moment if at == len(fed) else Moment(max(int(t.number[-1]) for t in each.values()))
            post.send(stage, partition, task.step(each, moment))
        task.commit()
        post.add(MEASURES, partition, _hidden(tally.table(batch.version, partition), batch))
        return post.parcels(partition)

    def _arriving(
        self, input: Input, batch: Batch, partition: int, splits: Mapping[str, Split], bad: list[Letter]
    ) -> Iterator[Train]:
        if input.name not in splits:
            return iter(())
        source, split = self.sources[input.name], splits[input.name]
        before = source.before(split) if isinstance(source, Divided) and source.by is not None else None
        there = isinstance(source, Mapped) and source.mapped
        read = source.read(split) if there else ahead(source.read(split))
        arriving = stamped(self._checked(input.name, read), batch, partition, bad, before)
        # The trains of several inputs that enter together must reach equally far.
        return arriving if len(self.streams) == 1 else trains(input.schema, arriving, TRAIN)

    def _stored(self, batch: Batch, partition: int) -> Arrows:
        """The stored tables that are outputs as they are, once: in the first batch of the network that has them."""
        shown = {output.arrow.source for output in self.network.outputs if output.name in self.plan.straight}
        tables = (input for input in self.network.inputs if input.static and input.name in shown - self.given)
        if partition or not batch.changed:
            return {}
        return {(input.name, OUT): stored_table(self, input.name, batch) for input in tables}

    def _checked(self, name: str, parts: Iterable[Part]) -> Iterator[Part]:
        for part in parts:
            if self.strict and part.letters:
                raise RunError(
                    f"input {name}: {part.letters[0]}; run without `strict` to leave it out, or correct it and start"
                    " with an empty checkpoint folder"
                )
            yield part

    def _fed(self, stage: Stage, came: Mapping[int, list[Train]]) -> Iterator[Fed]:
        """What a later stage is given, a step at a time: one after another where there is one entry, else at once."""
        streams = [(at, entry) for at, entry in enumerate(stage.entries) if not entry.static]
        whole: Fed = {}
        for at, entry in streams:
            address, schema = self.addresses.index((stage.index, at)), self.network.schema(entry.arrow)
            if len(streams) == 1:
                several = in_order(schema, came.get(address, []), entry.order) or [empty(schema)]
                yield from (dict.fromkeys(entry.feeds, train) for train in several)
                return
            whole |= dict.fromkeys(entry.feeds, merged(schema, came.get(address, []), entry.order))
        yield whole

    def divided(self, entry: Entry, train: Train, partition: int, stage: Stage) -> list[tuple[int, Train]]:
        """What an entry of a stage takes of a partition's train, by the partition that it goes to."""
        width = self.width(stage)
        if not len(train):
            return []
        if entry.by is None:
            return [(partition % width, train)]
        if entry.by == EVERYWHERE:
            return [(bucket, train) for bucket in range(width)]
        return divide(train, entry.by, width)


class _Post:
    """What a task sends, by address and partition."""

    def __init__(self, job: Job, batch: Batch) -> None:
        self.job, self.batch = job, batch
        self.sent: dict[tuple[int, int], list[Train]] = {}
        self.address = {where: at for at, where in enumerate(job.addresses)}

    def add(self, where: tuple[int, int] | str, bucket: int, train: Train) -> None:
        if len(train):
            self.sent.setdefault((self.address[where], bucket), []).append(train)

    def send(self, stage: Stage | None, partition: int, made: Arrows) -> None:
        """What a stage, or the inputs, give to later stages and to outputs, and what boxes refuse."""
        job = self.job
        for arrow in () if stage is None else job.refusing.get(stage.index, ()):
            train = made[arrow.source, arrow.port]
            if len(train) and not (partition and stage is not None and arrow in stage.copied):
                bad = letters.refused(arrow.source, arrow.port, train, self.batch.version)
                self.add(LETTERS, partition, _hidden(bad, self.batch))
        for output in job.network.outputs:
            mine = output.name in (job.plan.straight if stage is None else stage.outputs)
            if mine and not (stage is not None and partition and output.arrow in stage.copied):
                place = (output.arrow.source, output.arrow.port)
                if place in made:
                    self.add(output.name, partition, made[place])
        parts: dict[tuple[tuple[str, str], Key | None, int], list[tuple[int, Train]]] = {}
        origin = None if stage is None else stage.index
        for where in job.addresses:
            if isinstance(where, str):
                continue
            target = job.plan.stages[where[0]]
            entry = target.entries[where[1]]
            if entry.origin != origin or (stage is not None and partition and entry.arrow in stage.copied):
                continue
            place = (entry.arrow.source, entry.arrow.port)
            if place not in made:
                continue
            way = (place, entry.by, job.width(target))
            if way not in parts:
                parts[way] = job.divided(entry, made[place], partition, target)
            for bucket, part in parts[way]:
                self.add(where, bucket, part)

    def send_first(self, task: Task) -> None:
        """What a task makes of stored tables alone, before its first step."""
        if task.first:
            self.send(task.stage, task.partition, task.first)

    def parcels(self, partition: int) -> list[Parcel]:
        """All that is sent; of outputs that are written here, where the parts are."""
        for name, writer in self.job.parted.items():
            trains = self.sent.get((self.address[name], partition), [])
            heavy = sum(train.nbytes for train in trains) > HEAVY
            made = writer.make(self.batch.version, partition, [train.tuples for train in trains]) if heavy else ""
            if made:
                del self.sent[self.address[name], partition]
                self.add(PARTS, 0, _hidden(measures.part(name, made, trains), self.batch))
        return [Parcel(address, bucket, trains) for (address, bucket), trains in self.sent.items()]


def _hidden(table: pa.RecordBatch, batch: Batch) -> Train:
    return Train(table, np.full(table.num_rows, batch.clock), np.full(table.num_rows, batch.first))
