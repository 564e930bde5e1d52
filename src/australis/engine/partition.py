"""A task: one partition of a stage at work on one batch, from its state and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from australis.connectors.dead_letters import Letter
from australis.connectors.source import parts
from australis.engine.batch import Batch
from australis.engine.measures import TaskMeasures
from australis.engine.stamp import stamped
from australis.engine.state import state as states
from australis.engine.state.state import State
from australis.engine.superbox import Arrows, stateful, steps, tables_of
from australis.errors import RunError
from australis.model.box import Moment, Tables
from australis.model.network import OUT, Network, Node
from australis.model.train import Train, concat, empty
from australis.plan import Entry, Stage

if TYPE_CHECKING:
    from australis.engine.job import Job

Fed = dict[tuple[str, int], Train]
"""What enters a stage, by the box and the place of the input that it is for."""


class Task:
    """Opened with its state, stepped as often as need be, and committed once."""

    def __init__(self, job: Job, stage: Stage, batch: Batch, partition: int, tally: TaskMeasures) -> None:
        self.job, self.stage, self.batch, self.partition, self.tally = job, stage, batch, partition, tally
        self.nodes = [job.network.named[name] for name in stage.nodes]
        self.owners = {node.name: job.owners.get(node.name, node.name) for node in self.nodes}
        self.state = self._opened() if stage.index in job.stateful else None
        kept = self._tables() if self.state is None else self.state.tables
        self.tables = {name: kept[owner] for name, owner in self.owners.items()}
        self._nothing = {
            inlet: empty(job.network.schema(entry.arrow)) for entry in stage.entries for inlet in entry.feeds
        }
        # What is the same in every partition is counted in the first.
        self._elsewhere = {(arrow.source, arrow.port) for arrow in stage.copied} if partition else frozenset()
        stored = [entry for entry in stage.entries if entry.static]
        self.first: Arrows = self._read_tables(stored) if stored and self._awaits_tables() else {}
        """What boxes that are new make of stored tables alone."""

    def step(self, fed: Mapping[tuple[str, int], Train], moment: Moment) -> Arrows:
        """One step of all boxes; what they give, by port."""
        made: Arrows = {}
        given = {**self._nothing, **fed}
        chains = self.job.chains[self.stage.index]
        boxes = steps(self.job.network, self.nodes, self.tables, made, moment, given, chains)
        self.tally.over(boxes, self._elsewhere)
        return made

    def commit(self) -> None:
        if self.state is not None:
            self.state.commit(self.batch.version)

    def _opened(self) -> State:
        job, home, batch = self.job, self.job.homes[self.stage.index], self.batch
        return states.open(
            job.checkpoint, home.name, self.partition, batch.version - 1, self._tables,
            network=job.number, since=batch.began - 1 if home.since is None else home.since,
            kin=home.kin if batch.changed else (), run=job.aside,
        )  # fmt: skip

    def _tables(self) -> dict[str, Tables]:
        empty = tables_of(self.job.network, self.nodes)
        return {self.job.owners.get(name, name): tables for name, tables in empty.items()}

    def _new(self, node: Node) -> bool:
        if self.state is not None and stateful(self.job.network, node):
            return self.owners[node.name] in self.state.new
        return self.batch.changed and node.name not in self.job.given

    def _awaits_tables(self) -> bool:
        """Whether a box over stored tables is new."""
        return any(_static_sides(self.job.network, node) for node in self.nodes if self._new(node))

    def _read_tables(self, stored: list[Entry]) -> Arrows:
        """Give stored tables to the boxes that are new, in a step before the first; what these make of them."""
        fed = {inlet: self._table(entry) for entry in stored for inlet in entry.feeds}
        for node in self.nodes:
            sides = _static_sides(self.job.network, node)
            if not self._new(node) and len(sides) < len(node.sources):
                fed |= {(node.name, side): empty(self.job.network.schema(node.sources[side])) for side in sides}
        made = self.step(fed, Moment(self.batch.first))
        new = {node.name for node in self.nodes if self._new(node)}
        return {place: train for place, train in made.items() if place[0] in new}

    def _table(self, entry: Entry) -> Train:
        """The part of a stored table that the partition has."""
        table = stored_table(self.job, entry.arrow.source, self.batch)
        divided = self.job.divided(entry, table, self.partition, self.stage)
        return concat(table.schema, [part for bucket, part in divided if bucket == self.partition])


def stored_table(job: Job, name: str, batch: Batch) -> Train:
    """A stored table, whole. Tables arrive one after another, in the order of the network's inputs."""
    bad: list[Letter] = []
    place = [input.name for input in job.network.inputs if input.static].index(name)
    came = stamped(parts(job.sources[name]), Batch(0, batch.clock), place, bad)
    table = concat(job.network.schemas[name][OUT], came)
    if bad:
        raise RunError(f"static input {name}: {bad[0]}: mend the table")
    return table


def _static_sides(network: Network, node: Node) -> list[int]:
    """Which inputs of a box are stored tables, as they are or made of some."""
    return [side for side, arrow in enumerate(node.sources) if _static(network, arrow.source)]


def _static(network: Network, name: str) -> bool:
    if name not in network.named:
        return any(input.static for input in network.inputs if input.name == name)
    return all(_static(network, arrow.source) for arrow in network.named[name].sources)
