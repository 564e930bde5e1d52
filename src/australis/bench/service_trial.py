"""A trial of quality of service: a step of load, and what batches did about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from australis.model.network import Network
from australis.qos.control import SHED
from australis.qos.simulate import SimulatedBatch

WAITS, SHEDS, CATCHES_UP = "waits", "is shed", "catches up"


@dataclass(frozen=True)
class LoadStep:
    """The usual rate, and so many times as much from one second to another.

    >>> step = LoadStep(10, 20, 50)
    >>> step.rate(5), step.rate(15), step(15)
    (1.0, 2.0, 20.0)
    """

    start: float
    end: float
    seconds: float
    """Until when batches are run."""
    times: float = 2.0

    def __call__(self, now: float) -> float:
        """What has come by a moment, in seconds of the usual rate."""
        return now + (self.times - 1) * (min(max(now, self.start), self.end) - self.start)

    def rate(self, now: float) -> float:
        """What comes at a moment, in times of the usual rate."""
        return self.times if self.start <= now < self.end else 1.0


@dataclass(frozen=True)
class ServicePhase:
    """Seconds in which a branch waits, is shed, or catches up."""

    name: str
    start: float
    end: float


@dataclass(frozen=True)
class Series:
    """A value at the end of each batch."""

    seconds: tuple[float, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class ServiceTrial:
    """A load, and the batches of a run that is steered by graphs, and of one whose batches take all that has come."""

    load: LoadStep
    capacity: float
    """What the machine holds, in times of the usual rate."""
    steered: tuple[SimulatedBatch, ...]
    unsteered: tuple[SimulatedBatch, ...]

    @property
    def phases(self) -> list[ServicePhase]:
        """What happens to the branch that can wait: it waits, is perhaps shed, and catches up when less comes."""
        waits = [place for place, batch in enumerate(self.steered) if batch.order.takes]
        if not waits:
            return []
        start, end = self.steered[waits[0]].start, self.steered[min(waits[-1] + 1, len(self.steered) - 1)].end
        sheds = [batch for batch in self.steered if batch.order.state == SHED]
        if not sheds:
            most = max(self.steered, key=self._apart).end
            return [ServicePhase(WAITS, start, most), ServicePhase(CATCHES_UP, most, end)]
        begun, over = sheds[0].start, sheds[-1].end
        return [
            ServicePhase(WAITS, start, begun),
            ServicePhase(SHEDS, begun, over),
            ServicePhase(CATCHES_UP, over, end),
        ]

    def _apart(self, batch: SimulatedBatch) -> float:
        """What the branch that is furthest behind has not taken yet and others have, in seconds of the usual rate."""
        return self.load(max(batch.taken.values())) - self.load(min(batch.taken.values()))

    def behind(self, branch: str) -> Series:
        """What a branch has not taken yet that others have, in seconds of the usual rate."""
        return self._series(lambda batch: self.load(max(batch.taken.values())) - self.load(batch.taken[branch]))

    def delay(self, branch: str, steered: bool = True) -> Series:
        """The longest delay of a branch."""
        return self._series(lambda batch: batch.delays[branch], steered)

    def kept(self, output: str, steered: bool = True) -> Series:
        """The part of an output that is delivered."""
        return self._series(lambda batch: batch.order.kept[output], steered)

    def utility(self, network: Network, steered: bool = True) -> Series:
        """What all outputs are worth by their weights, between 0 and 1."""
        weights = sum(output.qos.weight for output in network.outputs)
        return self._series(lambda batch: batch.utility / weights, steered)

    def _series(self, value: Callable[[SimulatedBatch], float], steered: bool = True) -> Series:
        batches = self.steered if steered else self.unsteered
        return Series(tuple(batch.end for batch in batches), tuple(map(value, batches)))
