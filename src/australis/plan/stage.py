"""A plan as a value: stages, and how tuples enter and leave them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from australis.errors import NetworkError, listing
from australis.model.box import Key
from australis.model.network import Arrow

Inlet = tuple[str, int]
"""An input of a box: the box's name, and which of its inputs."""


@dataclass(frozen=True)
class Entry:
    """How the tuples of an arrow enter a stage.

    `by` says how they are exchanged: by a hash of the values of these columns in this order, all to the first partition
    for `()`, all to every partition for EVERYWHERE. If it is None they are not: partition p of the producer goes to
    partition p, modulo the number of partitions. Every partition merges what it gets by arrival number, and tuples of
    one number by the columns of `order`, which is how one process would have put them.
    """

    arrow: Arrow
    origin: int | None
    """The stage that produces the arrow; None for an input."""
    by: Key | None
    partitioning: Key | None
    """The partitioning of the tuples after that, as in `by`; None if nothing is known of it."""
    static: bool
    """Whether it is a stored table: each partition reads its part, and nothing is exchanged."""
    feeds: tuple[Inlet, ...]
    order: Key

    @property
    def exchange(self) -> bool:
        """Whether tuples must leave their process for another."""
        return self.by is not None and not self.static


@dataclass(frozen=True)
class Stage:
    """Boxes that one task runs for one partition; nothing leaves the process between them.

    Inputs of boxes that no entry feeds are fed within the stage. Boxes over static inputs alone are in every stage that
    uses them. An arrow may enter twice, partitioned in two ways, or beside a copy of its box: `feeds` says which inputs
    an entry is for.
    """

    index: int
    nodes: tuple[str, ...]
    """In the order of the network."""
    one: bool
    """Whether it has a single partition."""
    entries: tuple[Entry, ...]
    leaves: tuple[Arrow, ...]
    """The arrows that later stages take."""
    outputs: tuple[str, ...]
    """The outputs of the network that it produces."""
    copied: tuple[Arrow, ...]
    """Arrows with the same tuples in every partition. They are taken, and counted, in the first one only."""


@dataclass(frozen=True)
class Plan:
    """Stages in an order in which they can run."""

    stages: tuple[Stage, ...]
    straight: tuple[str, ...] = ()
    """Outputs that are inputs, unchanged. No stage produces them."""
    layouts: Mapping[str, tuple[int, ...]] = field(default_factory=dict, compare=False, repr=False)
    """For each box that the planner partitioned: the positions of its key that it is partitioned by."""

    @property
    def exchanges(self) -> tuple[Entry, ...]:
        """The entries that need an exchange."""
        return tuple(entry for stage in self.stages for entry in stage.entries if entry.exchange)

    def stage_of(self, node: str) -> Stage:
        """The stage that runs a box; the first one if several run copies of it. Raises if there is none."""
        for stage in self.stages:
            if node in stage.nodes:
                return stage
        raise NetworkError(f"no stage has a box {node}; there are {listing(n for s in self.stages for n in s.nodes)}")
