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

    `by` says how they are divided anew: by the hash of these columns' values in this order, all to the first partition
    for `()`, all to each for EVERYWHERE. Where it is none they come as they are: partition p of the producer goes to
    partition p, modulo their number where that is smaller. Every partition merges what it gets by arrival number, and
    tuples of one number by the columns of `order`: a stage in one process would have put them so.
    """

    arrow: Arrow
    origin: int | None
    """The stage that it comes from; none for an input."""
    by: Key | None
    lies: Key | None
    """What is known of how the tuples then lie: as `by`; none where they may lie anyhow."""
    static: bool
    """A stored table: each partition reads its part, and nothing is exchanged."""
    feeds: tuple[Inlet, ...]
    order: Key

    @property
    def exchange(self) -> bool:
        """Whether tuples must leave their process for another."""
        return self.by is not None and not self.static


@dataclass(frozen=True)
class Stage:
    """Boxes that one task runs, for one partition of what enters, with nothing leaving the process between them.

    Inputs of boxes that no entry feeds are fed inside. Boxes over static inputs only are in every stage that uses them.
    An arrow may enter twice, divided in two ways, or beside a copy of its box: `feeds` tells which is used.
    """

    index: int
    nodes: tuple[str, ...]
    """In the order of the network."""
    one: bool
    """Whether there is one partition only."""
    entries: tuple[Entry, ...]
    leaves: tuple[Arrow, ...]
    """What later stages take."""
    outputs: tuple[str, ...]
    """The outputs of the network that it produces."""
    copied: tuple[Arrow, ...]
    """What its boxes give the same in every partition: it is taken, and counted, in the first one only."""


@dataclass(frozen=True)
class Plan:
    """Stages in an order in which they can run."""

    stages: tuple[Stage, ...]
    straight: tuple[str, ...] = ()
    """Outputs that are inputs as they come: no stage produces them."""
    layouts: Mapping[str, tuple[int, ...]] = field(default_factory=dict, compare=False, repr=False)
    """The places of its key that the inputs of a box are divided by, where that was chosen for it."""

    @property
    def exchanges(self) -> tuple[Entry, ...]:
        """The entries that need a shuffle."""
        return tuple(entry for stage in self.stages for entry in stage.entries if entry.exchange)

    def stage_of(self, node: str) -> Stage:
        """The stage that runs a box; the first one, if it is over static inputs and several do."""
        for stage in self.stages:
            if node in stage.nodes:
                return stage
        raise NetworkError(f"no stage has a box {node}; there are {listing(n for s in self.stages for n in s.nodes)}")
