"""A network run as its plan says, partition by partition, in this process: what the Spark runner must give too."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import numpy as np

from australis.api.network import Network
from australis.boxes import Read, Write
from australis.engine.local import Local
from australis.model.box import EVERYWHERE, Key, Moment, Tables
from australis.model.network import OUT, Arrow
from australis.model.train import Ints, Train, concat
from australis.plan import Entry, Plan, Stage
from australis.testing import Rows, rows
from tests.oracles.running import rebuilt, stored

SOURCES = 3
"""Into how many partitions sources are divided, whatever the number of a stage's."""


@dataclass(frozen=True)
class Step:
    """What a run is given at once: trains of inputs, a clock, or the end."""

    given: Mapping[str, Any] = field(default_factory=dict)
    clock: int | None = None
    end: bool = False


@dataclass(frozen=True)
class Parts:
    """The tuples of an arrow, merged, and the partition that each lies in."""

    train: Train
    homes: Ints


def home(values: tuple[object, ...], partitions: int, salt: str = "") -> int:
    """The partition of a key."""
    return crc32(f"{salt}{values!r}".encode()) % partitions


def homes(train: Train, key: Key, partitions: int, salt: str = "") -> Ints:
    columns = [train[name].to_pylist() for name in key]
    return np.array([home(values, partitions, salt) for values in zip(*columns, strict=True)], np.int64)


class Planned:
    """A run of a plan beside one of the whole network, with which every arrow between stages is compared.

    With `exact`, tuples of one arrival number that meet after an exchange come as in the whole network; else as the
    plan says. With `restart`, every step starts from tables made anew of all changes; for networks without `read`.
    """

    def __init__(
        self,
        network: Network,
        plan: Plan,
        partitions: int,
        sources: Mapping[str, Key | None] | None = None,
        exact: bool = True,
        restart: bool = False,
    ) -> None:
        self.network, self.plan, self.partitions, self.exact = network, plan, partitions, exact
        self.logs: dict[tuple[int, int, str], list[Any]] | None = {} if restart else None
        self.sources = sources or {}
        self.tables = [[_tables(network, stage) for _ in range(self.width(stage))] for stage in plan.stages]
        self.whole = Local(network)
        self.found: dict[str, list[Any]] = {output.name: [] for output in network.outputs}
        self.expected: dict[str, list[Any]] = {output.name: [] for output in network.outputs}

    def width(self, stage: Stage) -> int:
        return 1 if stage.one else self.partitions

    def run(self, steps: Iterable[Step]) -> None:
        for step in steps:
            self.step(step)

    def step(self, step: Step) -> None:
        whole: dict[Arrow, Train] = {}
        under_way = self.whole.steps(step.given, clock=step.clock, ts=0, end=step.end)
        try:
            while True:
                event = next(under_way)
                whole.update(zip(event.node.sources, event.inputs, strict=True))
                whole.update((Arrow(event.node.name, port), train) for port, train in event.outputs.items())
        except StopIteration as stop:
            for name, tuples in stop.value.items():
                self.expected[name] += rows(tuples)
        moment = Moment(self.whole.arrived, step.clock, step.end)
        parts: dict[Arrow, list[Train]] = {}
        for input in self.network.inputs:
            arrow = Arrow(input.name, OUT)
            if arrow in whole:
                parts[arrow] = self.divided(input.name, whole[arrow])
        outputs = {output.name: output.arrow for output in self.network.outputs}
        for stage in self.plan.stages:
            parts |= self.ran(stage, parts, whole, moment)
            for name in stage.outputs:
                for train in parts[outputs[name]]:
                    self.found[name] += rows(train)
        for name in self.plan.straight:
            self.found[name] = list(self.expected[name])
        if self.logs is not None:
            self.restart(self.logs)

    def restart(self, logs: dict[tuple[int, int, str], list[Any]]) -> None:
        for stage in self.plan.stages:
            for partition, held in enumerate(self.tables[stage.index]):
                fresh = _tables(self.network, stage)
                for name, tables in held.items():
                    log = logs.setdefault((stage.index, partition, name), [])
                    log.append({key: stored(table.changes()) for key, table in tables.items()})
                    held[name] = rebuilt(fresh[name], log)

    def divided(self, name: str, train: Train) -> list[Train]:
        """The train of an input as its source has divided it, in a way of its own."""
        by = self.sources.get(name)
        if by is None:
            where = (train.number * 2654435761 >> 7) % SOURCES
        else:
            where = homes(train, by, SOURCES, name) if by else np.zeros(len(train), np.int64)
        return [train.take(np.flatnonzero(where == place)) for place in range(SOURCES)]

    def ran(
        self, stage: Stage, parts: Mapping[Arrow, list[Train]], whole: Mapping[Arrow, Train], moment: Moment
    ) -> dict[Arrow, list[Train]]:
        """What a stage gives, from each of its partitions, or from one where all have the same."""
        width = self.width(stage)
        entering = [
            (entry, self.entered(entry, parts[entry.arrow], whole[entry.arrow], width)) for entry in stage.entries
        ]
        made = []
        for partition in range(width):
            fed = {inlet: trains[partition] for entry, trains in entering for inlet in entry.feeds}
            made.append(self.task(stage, self.tables[stage.index][partition], fed, moment))
        outputs = [output.arrow for output in self.network.outputs if output.name in stage.outputs]
        given = {}
        for arrow in {*stage.leaves, *outputs}:
            trains = [each[arrow] for each in made]
            if arrow in stage.copied:
                assert all(Counter(rows(train)) == Counter(rows(trains[0])) for train in trains), f"{arrow}: no copies"
                trains = trains[:1]
            given[arrow] = trains
            if self.exact:
                self.merged(arrow, trains, whole[arrow])
        return given

    def task(
        self, stage: Stage, tables: Mapping[str, Tables], fed: Mapping[tuple[str, int], Train], moment: Moment
    ) -> dict[Arrow, Train]:
        """One partition of a stage: its boxes in order, as in the local runner."""
        trains: dict[Arrow, Train] = {}
        for name in stage.nodes:
            node = self.network.named[name]
            inputs = tuple(
                fed[name, side] if (name, side) in fed else trains[arrow] for side, arrow in enumerate(node.sources)
            )
            outputs = node.box.step(tables[name], inputs, moment)
            trains.update(
                (Arrow(name, port), out) for port, out in zip(self.network.schemas[name], outputs, strict=True)
            )
        return trains

    def entered(self, entry: Entry, trains: list[Train], whole: Train, width: int) -> list[Train]:
        """The trains of an entry for each partition."""
        parts = self.merged(entry.arrow, trains, whole if self.exact else None, entry.order)
        if entry.by == EVERYWHERE:
            return [parts.train] * width
        if entry.by is None:
            where = parts.homes % width
        else:
            where = homes(parts.train, entry.by, width) if entry.by else np.zeros(len(parts.train), np.int64)
        return [parts.train.take(np.flatnonzero(where == place)) for place in range(width)]

    def merged(self, arrow: Arrow, trains: list[Train], whole: Train | None, order: Key = ()) -> Parts:
        """One train of a stage's partitions: in the order of the whole network's, or by number and columns."""
        train = concat(self.network.schema(arrow), trains)
        at = np.repeat(np.arange(len(trains)), [len(each) for each in trains])
        names = train.schema.names
        told = [(number, _sortable(row)) for number, row in zip(train.number.tolist(), rows(train), strict=True)]
        if whole is None:
            columns = [names.index(name) for name in order]
            rank: list[Any] = [(number, [row[column] for column in columns]) for number, row in told]
        else:
            places = defaultdict(deque)
            known = zip(whole.number.tolist(), map(_sortable, rows(whole)), strict=True)
            for place, (number, row) in enumerate(known):
                places[number, row].append(place)
            assert Counter(told) == Counter({key: len(found) for key, found in places.items()}), (
                f"{arrow}: {sorted(told)} in partitions, {whole.number.tolist()}, {rows(whole)} in one"
            )
            rank = [places[key].popleft() for key in told]
        sorted_ = np.array(sorted(range(len(train)), key=rank.__getitem__), np.int64)
        return Parts(train.take(sorted_), at[sorted_])


def _sortable(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple((value is not None, value) if value is not None else (False,) for value in row)


def _tables(network: Network, stage: Stage) -> dict[str, Tables]:
    tables: dict[str, Tables] = {}
    written: dict[str, Tables] = {}
    for name in stage.nodes:
        node = network.named[name]
        if isinstance(node.box, Read):
            tables[name] = written[node.box.table.name]
            continue
        tables[name] = node.box.tables(*(network.schema(arrow) for arrow in node.sources))
        if isinstance(node.box, Write):
            written[node.box.table.name] = tables[name]
    return tables


def check(
    network: Network,
    plan: Plan,
    steps: Iterable[Step],
    partitions: int,
    sources: Mapping[str, Key | None] | None = None,
    exact: bool = True,
) -> dict[str, Rows]:
    """Assert that a plan gives what the whole network does, whatever the order, and give that."""
    run = Planned(network, plan, partitions, sources, exact)
    run.run(steps)
    for name, expected in run.expected.items():
        assert Counter(run.found[name]) == Counter(expected), f"output {name}: {run.found[name]}, not {expected}"
    return run.expected
