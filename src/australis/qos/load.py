"""The load of a network: what its tuples cost on their way, and how much of a machine that takes (Aurora 4.4).

Everything that reasons about time reads this one model: the static analysis, the scheduler and the load shedder. It is
a pure value, made of a network, its plan and what its parts were measured to cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import inf, isfinite

from australis.errors import RunError, listing, near
from australis.model.network import OUT, Arrow, Network, Node
from australis.model.qos import Costs
from australis.plan import Plan, Stage
from australis.qos.branches import Branch, branches

HEADROOM = 0.8
"""The part of a machine that a run may use all the time, unless it is told otherwise."""
LONGEST = 2.0
"""The longest interval between batches, in seconds, where no latency graph asks for a shorter one."""


@dataclass(frozen=True)
class Machine:
    """What a run has: cores, partitions, and the headroom (Aurora's H): the part of them that it may always use."""

    cores: int = 1
    partitions: int = 1
    headroom: float = HEADROOM

    def __post_init__(self) -> None:
        if self.cores < 1 or self.partitions < 1:
            raise RunError(f"a machine has cores and partitions, not {self.cores} and {self.partitions}")
        if not 0 < self.headroom <= 1:
            raise RunError(f"the headroom is a part of the machine, above 0 and up to 1, not {self.headroom:g}")

    def parallel(self, stage: Stage | None) -> int:
        """How many cores a stage keeps busy at once; 1 for none, which is the driver."""
        return 1 if stage is None or stage.one else min(self.cores, self.partitions)


@dataclass(frozen=True)
class Work:
    """A part of a network that costs time: a source, an exchange, a box or a sink."""

    kind: str
    name: str
    takes: tuple[Arrow, ...]
    seconds: float
    """Of one core, for a tuple."""
    parallel: int
    """How many cores do it at once."""
    serves: tuple[str, ...] = ()
    """The boxes and outputs that it works for; a source reads all there is, whoever takes it."""
    gives: tuple[tuple[Arrow, float], ...] = ()
    """The arrows of its ports, and how many tuples it gives for one."""


@dataclass(frozen=True)
class Share:
    """A part of a network at a given rate."""

    work: Work
    rate: float
    """Tuples a second."""

    @property
    def cores(self) -> float:
        """How many cores it keeps busy."""
        return self.rate * self.work.seconds

    @property
    def busy(self) -> float:
        """The part of the machine's time that it takes, since the stages of a batch run one after another."""
        return self.cores / self.work.parallel


@dataclass(frozen=True)
class LoadModel:
    """What a network costs by the tuples that enter it.

    The stages of a batch run one after another, each on the cores that its partitions keep busy. So the load is a part
    of the machine's time: at 1 a batch takes as long as its tuples take to come.
    """

    network: Network
    plan: Plan
    costs: Costs
    machine: Machine = field(default_factory=Machine)

    @property
    def unmeasured(self) -> list[str]:
        """The boxes over streams of which no cost is known; they count as free, and as giving one tuple for each."""
        return [node.name for node in self.network.nodes if node.name not in self.costs.boxes and self._streams(node)]

    @cached_property
    def works(self) -> tuple[Work, ...]:
        """All that costs time, from the sources to the sinks."""
        return tuple(self._works())

    def _works(self) -> Iterator[Work]:
        whole = min(self.machine.cores, self.machine.partitions)
        for input in self.network.inputs:
            if not input.static:
                yield Work(
                    "source", input.name, (Arrow(input.name, OUT),), self.costs.sources.get(input.name, 0.0), whole
                )
        for node in self.network.nodes:
            if streams := self._streams(node):
                yield self._box(node, streams)
        for entry in self.plan.exchanges:
            name, fed = self.network.render_arrow(entry.arrow), tuple(dict.fromkeys(box for box, _ in entry.feeds))
            yield Work("exchange", name, (entry.arrow,), self.costs.exchanges.get(name, 0.0), whole, fed)
        for output in self.network.outputs:
            seconds = self.costs.sinks.get(output.name, 0.0)
            yield Work("sink", output.name, (output.arrow,), seconds, 1, (output.name,))

    def _box(self, node: Node, streams: tuple[Arrow, ...]) -> Work:
        cost, ports = self.costs.boxes.get(node.name), list(self.network.schemas[node.name])
        selectivity = {ports[0]: 1.0} if cost is None else cost.selectivity
        gives = tuple((Arrow(node.name, port), selectivity.get(port, 0.0)) for port in ports)
        parallel = self.machine.parallel(self.plan.stage_of(node.name))
        return Work(
            node.box.kind, node.name, streams, 0.0 if cost is None else cost.seconds, parallel, (node.name,), gives
        )

    def _streams(self, node: Node) -> tuple[Arrow, ...]:
        """The arrows of a box along which tuples flow during a run."""
        return tuple(arrow for arrow in node.sources if arrow.source not in self._stored)

    @cached_property
    def _stored(self) -> frozenset[str]:
        """Stored tables, and the boxes that have only such inputs."""
        stored = {input.name for input in self.network.inputs if input.static}
        for node in self.network.nodes:
            if node.box.keyed is None and all(arrow.source in stored for arrow in node.sources):
                stored.add(node.name)
        return frozenset(stored)

    def _arrows(self) -> Iterator[Arrow]:
        for name, ports in self.network.schemas.items():
            yield from (Arrow(name, port) for port in ports)

    def rates(self, inputs: Mapping[str, float]) -> dict[Arrow, float]:
        """The tuples a second on every arrow, from those of the inputs."""
        self._check(inputs)
        rates = dict.fromkeys(self._arrows(), 0.0) | {Arrow(name, OUT): float(rate) for name, rate in inputs.items()}
        for work in self.works:
            taken = sum(rates[arrow] for arrow in work.takes)
            rates |= {arrow: taken * tuples for arrow, tuples in work.gives}
        return rates

    def _check(self, inputs: Mapping[str, float]) -> None:
        streams = [input.name for input in self.network.inputs if not input.static]
        for name, rate in inputs.items():
            if name not in streams:
                raise RunError(f"there is no stream input {name}; there are {listing(streams)}{near(name, streams)}")
            if not (isfinite(rate) and rate >= 0):
                raise RunError(f"the rate of input {name} is a number of tuples a second, not {rate:g}")

    def shares(self, inputs: Mapping[str, float]) -> list[Share]:
        """What each part takes at these rates."""
        rates = self.rates(inputs)
        return [Share(work, sum(rates[arrow] for arrow in work.takes)) for work in self.works]

    def load(self, inputs: Mapping[str, float]) -> float:
        """The part of the machine's time that tuples take at these rates, without what batches take."""
        self._check(inputs)
        return sum(rate * self.coefficients[Arrow(name, OUT)] for name, rate in inputs.items())

    @cached_property
    def branches(self) -> tuple[Branch, ...]:
        """The parts of the network that share nothing but inputs."""
        return branches(self.network)

    def shares_of(self, branches: Mapping[str, Mapping[str, float]]) -> list[Share]:
        """What each part takes where branches, by their names, take different numbers of tuples of the inputs.

        What several share takes as much as for the one that takes the most.
        """
        known = [(branch, self.rates(branches[branch.name])) for branch in self.branches if branch.name in branches]
        shares = []
        for work in self.works:
            taken = (sum(rates[arrow] for arrow in work.takes) for branch, rates in known if _for(work, branch))
            shares.append(Share(work, max(taken, default=0.0)))
        return shares

    def load_of(self, branches: Mapping[str, Mapping[str, float]]) -> float:
        """The load where branches take different numbers of tuples."""
        return sum(share.busy for share in self.shares_of(branches))

    @cached_property
    def coefficients(self) -> dict[Arrow, float]:
        """What a tuple on each arrow costs from there on, in seconds of the machine's time."""
        after = dict.fromkeys(self._arrows(), 0.0)
        for work in reversed(self.works):
            seconds = work.seconds / work.parallel + sum(tuples * after[arrow] for arrow, tuples in work.gives)
            for arrow in work.takes:
                after[arrow] += seconds
        return after

    def reach(self, overhead: float = 1.0) -> float:
        """The delay up to which every output is worth all, but for outputs that no batch can reach; else infinite.

        The overhead is how many times as long a batch takes by itself as was measured.
        """
        bends = [output.qos.latency.bend for output in self.network.outputs if output.qos.latency is not None]
        return min((bend for bend in bends if bend > 2 * self.costs.batch * overhead), default=inf)

    def longest(self, overhead: float = 1.0) -> float:
        """The longest interval of batches: a tuple waits for it, then for a batch of the headroom's part of it."""
        return min(self.reach(overhead) / (1 + self.machine.headroom), LONGEST)

    @property
    def most(self) -> float:
        """The greatest load that the headroom holds beside the batches, with every delay within reach."""
        return max(self.machine.headroom - self.costs.batch / self.longest(), 0.0)

    def interval(self, load: float, overhead: float = 1.0) -> float:
        """The shortest interval of batches at which a load fits into the headroom, up to the longest."""
        spare, longest = self.machine.headroom - load, self.longest(overhead)
        return min(self.costs.batch * overhead / spare, longest) if spare > 0 else longest

    def delay(self, load: float, interval: float, backlog: float = 0.0) -> float:
        """The mean delay of results: half an interval of waiting, the batch's time, and the seconds of work ahead."""
        return interval / 2 + self.costs.batch + load * interval + backlog


def _for(work: Work, branch: Branch) -> bool:
    """Whether a part of the network works for a branch."""
    if work.kind == "source":
        return work.name in branch.inputs
    return not set(work.serves).isdisjoint(branch.outputs if work.kind == "sink" else branch.boxes)
