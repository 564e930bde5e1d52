"""A job: a planned network with its sources, and all that its tasks must know beside their batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import pyarrow as pa

from australis.connectors.sink import Parted
from australis.connectors.source import Divided, Offset, Positioned, Source, Urgent, selected
from australis.engine.addresses import Address, list_addresses, schema_at
from australis.engine.losses import unwired
from australis.expressions import Expr
from australis.model.box import REFUSED, lost
from australis.model.network import Arrow, Input, Network, Node
from australis.plan import Plan, Stage
from australis.plan.chains import Chain, chains
from australis.plan.drawn import Drawn
from australis.plan.rules import Firing, counted_filters
from australis.plan.stored import stateful
from australis.qos.branches import Branch, branches
from australis.qos.ranks import ValueRank
from australis.qos.worth import worth_rank


@dataclass(frozen=True)
class Lineage:
    """Where the state of a stage is, and where it comes from."""

    name: str
    """What it is stored under."""
    since: int | None = None
    """The version at which it began; none for the first version of its network."""
    ancestors: tuple[str, ...] = ()
    """The state of stages of the network before that had some of its boxes, by name."""


@dataclass(frozen=True)
class Job:
    """The description of a network's work, the same for all of its tasks. A run has one for each of its networks."""

    network: Network
    plan: Plan
    sources: Mapping[str, Source]
    checkpoint: str
    partitions: int
    number: int = 1
    """The network's number among those of the run."""
    starts: Mapping[str, Offset] = field(default_factory=dict)
    """The first offsets of the sources: some depend on when a run began."""
    lineages: tuple[Lineage, ...] = ()
    """The state of each stage."""
    owners: Mapping[str, str] = field(default_factory=dict)
    """What boxes are called in the state, where that is not their name."""
    strict: bool = False
    """Whether input that cannot be read is an error."""
    part_writers: Mapping[str, Parted] = field(default_factory=dict)
    """The outputs that tasks write parts of themselves, where those are large."""
    shared_folder: str = ""
    """A folder that all tasks see. Large trains go through it rather than through Spark."""
    unchanged: frozenset[str] = frozenset()
    """Inputs and boxes that the network before had just so: what they make of stored tables alone has come out."""
    layouts: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """The boxes that the plan had to divide as the network before did."""
    drawn: Drawn | None = None
    """The network as it was drawn, where rules of the optimizer may have changed it."""
    predicates: Mapping[str, Expr] = field(default_factory=dict)
    """What tuples of inputs must satisfy to matter, where the sources can use it (`engine/selecting.py`)."""
    firings: tuple[Firing, ...] = ()
    """The rules of the optimizer that made the network of the one before, or of the drawn one.

    They are told with its first batch. What rules have made for a job before is no news.
    """

    def __post_init__(self) -> None:
        if not self.lineages:
            lineages = tuple(Lineage(f"{self.number}.{stage.index}") for stage in self.plan.stages)
            object.__setattr__(self, "lineages", lineages)
        if not self.starts:
            starts = {input.name: self.sources[input.name].start() for input in self.streams}
            object.__setattr__(self, "starts", starts)

    @property
    def drawn_network(self) -> Network:
        """The network that people see."""
        return self.network if self.drawn is None else self.drawn.network

    def reading(self, input: str) -> Source:
        """The source of an input as tasks read it: without tuples that matter to nobody, where it can."""
        return selected(self.sources[input], self.predicates.get(input))

    @cached_property
    def streams(self) -> tuple[Input, ...]:
        """The inputs that are not stored tables."""
        return tuple(input for input in self.network.inputs if not input.static)

    @cached_property
    def urgent(self) -> tuple[str, ...]:
        """The inputs whose tuples come whether they are taken or not."""
        sources = ((input.name, self.sources[input.name]) for input in self.streams)
        return tuple(name for name, source in sources if isinstance(source, Urgent) and source.urgent)

    @cached_property
    def branches(self) -> tuple[Branch, ...]:
        """The parts of the network that share nothing but inputs."""
        return branches(self.network)

    @cached_property
    def patient(self) -> tuple[Branch, ...]:
        """The branches that can wait while others go on: their tuples are kept where they come from."""
        known = {name for name in self.urgent if isinstance(self.sources[name], Positioned)}
        patient = tuple(branch for branch in self.branches if branch.inputs and known.issuperset(branch.inputs))
        return patient if len(self.branches) > 1 else ()

    @cached_property
    def valued(self) -> dict[str, ValueRank]:
        """The outputs whose tuples may have to be shed by what they are worth, so that this is counted."""
        ranks = ((output, worth_rank(output)) for output in self.network.outputs)
        return {output.name: rank for output, rank in ranks if rank is not None and not output.qos.exact}

    @cached_property
    def filters(self) -> Mapping[str, list[list[Node]]]:
        """The filters whose passes are counted together, by the first box of their row."""
        return counted_filters(self.network)

    @cached_property
    def stateful(self) -> frozenset[int]:
        """The stages that have state, by index."""
        named = self.network.named
        return frozenset(
            stage.index for stage in self.plan.stages if any(stateful(self.network, named[n]) for n in stage.nodes)
        )

    @cached_property
    def chains(self) -> tuple[dict[str, Chain], ...]:
        """The boxes of each stage that may run as one, by their first box."""
        return tuple(chains(self.network, stage) for stage in self.plan.stages)

    @cached_property
    def refusing(self) -> Mapping[int, tuple[Arrow, ...]]:
        """The ports of each stage whose tuples become dead letters: they are refused, and nothing takes them."""
        ports = {
            stage.index: tuple(a for a in unwired(self.network, stage.nodes) if lost(a.port) == REFUSED)
            for stage in self.plan.stages
        }
        return {index: arrows for index, arrows in ports.items() if arrows}

    @cached_property
    def at_source(self) -> tuple[Stage, ...]:
        """The stages that run in the tasks that read: their streams are inputs, divided as they are read."""
        return tuple(
            stage
            for stage in self.plan.stages
            if any(not entry.static for entry in stage.entries)
            and all(entry.static or (entry.origin is None and entry.by is None) for entry in stage.entries)
            and (not stage.one or self.partitions == 1)
        )

    @cached_property
    def later(self) -> tuple[Stage, ...]:
        """All other stages."""
        return tuple(stage for stage in self.plan.stages if stage not in self.at_source)

    @cached_property
    def rounds(self) -> tuple[tuple[Stage, ...], ...]:
        """The later stages by when they can run: those of a round take nothing from each other."""
        round_of: dict[int | None, int] = {None: 0} | {stage.index: 0 for stage in self.at_source}
        for stage in self.later:
            origins = (entry.origin for entry in stage.entries if not entry.static)
            round_of[stage.index] = 1 + max(map(round_of.__getitem__, origins), default=0)
        numbers = range(1, max(round_of.values(), default=0) + 1)
        return tuple(tuple(stage for stage in self.later if round_of[stage.index] == number) for number in numbers)

    @cached_property
    def addresses(self) -> tuple[Address, ...]:
        """Where parcels go; a parcel has the place of its address in this list."""
        return list_addresses(self.network, self.later, self.branches)

    @cached_property
    def places(self) -> Mapping[Address, int]:
        """The place of each address in that list."""
        return {address: place for place, address in enumerate(self.addresses)}

    @property
    def wide(self) -> bool:
        """Whether a source numbers its tuples itself."""
        sources = (self.sources[input.name] for input in self.streams)
        return any(isinstance(source, Divided) and source.by is not None for source in sources)

    def width(self, stage: Stage) -> int:
        """How many partitions a stage has."""
        return 1 if stage.one else self.partitions

    def schema(self, address: int) -> pa.Schema:
        """The columns of what goes to an address."""
        return schema_at(self.network, self.plan, self.addresses[address])
