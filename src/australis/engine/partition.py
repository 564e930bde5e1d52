"""A partition of a stage at work on one batch: it opens its state, its boxes step on trains, it commits its state."""

from __future__ import annotations

from collections.abc import Container, Mapping

from australis.engine.batch import Batch
from australis.engine.exchange import divide_for
from australis.engine.job import Job
from australis.engine.measures import TaskMeasures
from australis.engine.state import state as states
from australis.engine.state.state import State
from australis.engine.stored_tables import read_table
from australis.engine.superbox import Arrows, Inlets, steps, tables_of
from australis.model.box import Moment, Tables
from australis.model.network import Node
from australis.model.train import Train, concat, empty
from australis.plan import Entry, Stage
from australis.plan.stored import stateful, static_sides


class StagePartition:
    """It is opened with its state, stepped as often as trains come, and committed once."""

    def __init__(self, job: Job, stage: Stage, batch: Batch, partition: int, measures: TaskMeasures) -> None:
        self.job, self.stage, self.batch, self.partition, self.measures = job, stage, batch, partition, measures
        self.nodes = [job.network.named[name] for name in stage.nodes]
        self.owners = {node.name: job.owners.get(node.name, node.name) for node in self.nodes}
        self.state = self._open_state() if stage.index in job.stateful else None
        tables = self._empty_tables() if self.state is None else self.state.tables
        self.tables = {name: tables[owner] for name, owner in self.owners.items()}
        self._empty_inlets = {
            inlet: empty(job.network.schema(entry.arrow)) for entry in stage.entries for inlet in entry.feeds
        }
        # What is the same in every partition is counted in the first.
        self._uncounted = {(arrow.source, arrow.port) for arrow in stage.copied} if partition else frozenset()
        stored = [entry for entry in stage.entries if entry.static]
        self.opening: Arrows = self._step_on_tables(stored) if stored and self._awaits_tables() else {}
        """What boxes that are new make of stored tables alone, before any train comes."""

    def step(
        self, inlets: Mapping[tuple[str, int], Train], moment: Moment, boxes: Container[str] | None = None
    ) -> Arrows:
        """One step of all boxes, or of some that share nothing with the others; the trains that they give, by port."""
        trains: Arrows = {}
        chains = self.job.chains[self.stage.index]
        every_inlet = {**self._empty_inlets, **inlets}
        nodes = self.nodes if boxes is None else [node for node in self.nodes if node.name in boxes]
        events = steps(
            self.job.network, nodes, self.tables, trains, moment, every_inlet, chains, self.measures.shedding
        )
        self.measures.run(events, self._uncounted)
        return trains

    def commit(self) -> None:
        """Save the state as the batch's version."""
        if self.state is not None:
            self.state.commit(self.batch.version)

    def _open_state(self) -> State:
        job, lineage, batch = self.job, self.job.lineages[self.stage.index], self.batch
        return states.open(
            job.checkpoint, lineage.name, self.partition, batch.version - 1, self._empty_tables,
            network=job.number, since=batch.began - 1 if lineage.since is None else lineage.since,
            ancestors=lineage.ancestors if batch.changed else (), run=job.shared_folder,
        )  # fmt: skip

    def _empty_tables(self) -> dict[str, Tables]:
        tables = tables_of(self.job.network, self.nodes)
        return {self.owners[name]: box_tables for name, box_tables in tables.items()}

    def _new(self, node: Node) -> bool:
        """Whether a box has not stepped before: it has no state yet, or the network before did not have it."""
        if self.state is not None and stateful(self.job.network, node):
            return self.owners[node.name] in self.state.new
        return self.batch.changed and node.name not in self.job.unchanged

    def _awaits_tables(self) -> bool:
        """Whether a box over stored tables is new."""
        return any(static_sides(self.job.network, node) for node in self.nodes if self._new(node))

    def _step_on_tables(self, stored: list[Entry]) -> Arrows:
        """Give stored tables to the boxes that are new, in a step before the first; what these make of them."""
        inlets: Inlets = {inlet: self._part_of_table(entry) for entry in stored for inlet in entry.feeds}
        for node in self.nodes:
            sides = static_sides(self.job.network, node)
            if not self._new(node) and len(sides) < len(node.sources):
                inlets |= {(node.name, side): empty(self.job.network.schema(node.sources[side])) for side in sides}
        trains = self.step(inlets, Moment(self.batch.first))
        new = {node.name for node in self.nodes if self._new(node)}
        return {place: train for place, train in trains.items() if place[0] in new}

    def _part_of_table(self, entry: Entry) -> Train:
        """The part of a stored table that the partition has."""
        table = read_table(self.job, entry.arrow.source, self.batch)
        parts = divide_for(entry, self.job.width(self.stage), table, self.partition)
        return concat(table.schema, [part for bucket, part in parts if bucket == self.partition])
