"""Stored tables: static inputs, which are whole before any stream starts, as tasks read them."""

from __future__ import annotations

from australis.connectors.dead_letters import Letter
from australis.connectors.source import parts
from australis.engine.batch import Batch
from australis.engine.job import Job
from australis.engine.stamp import stamp
from australis.engine.superbox import Arrows
from australis.errors import RunError, Subject
from australis.model.network import OUT
from australis.model.train import Train, concat


def read_table(job: Job, name: str, batch: Batch) -> Train:
    """A stored table, whole. Tables arrive one after another, in the order of the network's inputs."""
    unread: list[Letter] = []
    place = [input.name for input in job.network.inputs if input.static].index(name)
    trains = stamp(parts(job.sources[name]), Batch(0, batch.clock), place, unread)
    table = concat(job.network.schemas[name][OUT], trains)
    if unread:
        raise RunError(f"static input {name}: {unread[0]}: mend the table", Subject("input", name, silent=True))
    return table


def output_tables(job: Job, batch: Batch, partition: int) -> Arrows:
    """The stored tables that are outputs as they are.

    They come out once: in the first batch of the network that has them, from the first partition.
    """
    if partition or not batch.changed:
        return {}
    names = {output.arrow.source for output in job.network.outputs if output.name in job.plan.straight} - job.unchanged
    tables = (input.name for input in job.network.inputs if input.static and input.name in names)
    return {(name, OUT): read_table(job, name, batch) for name in tables}
