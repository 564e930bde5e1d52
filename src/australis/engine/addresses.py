"""Addresses: where the parcels of a job go. A parcel names its address by the address's place in the job's list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

import pyarrow as pa

from australis.connectors import dead_letters
from australis.engine import measures
from australis.model.network import Network
from australis.plan import Entry, Plan, Stage
from australis.qos.branches import Branch

DEAD_LETTERS, MEASURES, PARTS = "#letters", "#measures", "#parts"
"""The addresses of dead letters, of measurements, and of parts of outputs that tasks have written themselves."""
_SCHEMAS = {DEAD_LETTERS: dead_letters.SCHEMA, MEASURES: measures.SENT, PARTS: measures.PART}


class StageEntry(NamedTuple):
    """An entry of a stage: the stage's index, and the entry's place in the stage.

    Where the boxes that it feeds are of several branches, which may read different tuples in a batch, it also has the
    place of the reading.
    """

    stage: int
    entry: int
    reading: int = 0


Address: TypeAlias = StageEntry | str
"""An entry of a stage, an output by its name, or one of the addresses above."""


def list_addresses(network: Network, stages: Iterable[Stage], branches: Sequence[Branch] = ()) -> tuple[Address, ...]:
    """All addresses of a network: the entries of stages that take from an exchange, the outputs, and those above.

    A batch has a reading for the branches at the front, and one for each of the others at most.
    """
    entries = [
        StageEntry(stage.index, place, reading)
        for stage in stages
        for place, entry in enumerate(stage.entries)
        if not entry.static
        for reading in range(1 + len(branches) if _shared(entry, branches) else 1)
    ]
    return (*entries, *(output.name for output in network.outputs), *_SCHEMAS)


def _shared(entry: Entry, branches: Sequence[Branch]) -> bool:
    """Whether an entry feeds boxes of several branches."""
    boxes = {name for name, _ in entry.feeds}
    return sum(not boxes.isdisjoint(branch.boxes) for branch in branches) > 1


def schema_at(network: Network, plan: Plan, address: Address) -> pa.Schema:
    """The columns of what goes to an address."""
    if isinstance(address, StageEntry):
        return network.schema(plan.stages[address.stage].entries[address.entry].arrow)
    if address in _SCHEMAS:
        return _SCHEMAS[address]
    (arrow,) = (output.arrow for output in network.outputs if output.name == address)
    return network.schema(arrow)
