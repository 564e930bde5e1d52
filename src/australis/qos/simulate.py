"""A simulator of runs under load: hours of batches in milliseconds, to test the controller on many networks.

A made-up machine works on batches as the model says, with the true costs; the controller may believe in others. Tuples
come as a fluid: a curve says how many have come by each moment, in seconds of their usual rates. Each branch of the
network has taken all that came up to a moment of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from australis.qos.control import BatchOrder, Controller, Waiting
from australis.qos.load import LoadModel
from australis.qos.priorities import Queue
from australis.qos.road_map import Demands, Mapper

Curve = Callable[[float], float]
Noise = Callable[[], float]
"""How many times as long as it should a batch takes: a machine has other things to do as well."""
_LEAST = 0.01  # seconds between batches
_FINE = 40  # halvings


def no_noise() -> float:
    """The noise of a machine that has nothing else to do."""
    return 1.0


@dataclass(frozen=True)
class SimulatedBatch:
    """A batch: when it started and ended, what it was ordered to do, the longest delay of its tuples, their utility."""

    start: float
    end: float
    order: BatchOrder
    delay: float
    amount: float
    """Of tuples, in seconds of their usual rates, for the branch that takes the most."""
    utility: float
    delays: Mapping[str, float]
    """The longest delay of each branch, 0 of those that wait."""
    taken: Mapping[str, float]
    """Up to which moment each branch has taken what came."""


def simulate(
    truth: LoadModel,
    controller: Controller,
    usual: Mapping[str, float],
    curve: Curve,
    seconds: float,
    noise: Noise = no_noise,
    floors: Mapping[str, float] = MappingProxyType({}),
) -> Iterator[SimulatedBatch]:
    """Run batches until a time. Boxes leave outputs at least their `floors`, whatever they are asked for."""
    demands, branches = Demands.of(truth), truth.branches
    taken = dict.fromkeys((branch.name for branch in branches), 0.0)
    now = last = 0.0
    while now < seconds:
        amounts = {name: curve(now) - curve(since) for name, since in taken.items()}
        order, controller = controller.order(_waiting(truth, usual, amounts, taken, now))
        ends = {
            branch.name: _reached(curve, taken[branch.name], now, order.takes.get(branch.name), usual)
            for branch in branches
        }
        parts = {name: curve(ends[name]) - curve(since) for name, since in taken.items()}
        tuples = {
            branch.name: {name: usual[name] * parts[branch.name] for name in branch.inputs} for branch in branches
        }
        front = max(ends.values()), max(taken.values())
        kept = {name: max(part, floors.get(name, 0.0)) for name, part in {**order.kept, **order.asked}.items()}
        work = Mapper(demands, tuple(truth.shares_of(tuples))).load(kept)
        worked = (truth.costs.batch + work) * noise()
        entered = curve(front[0]) - curve(front[1])
        read = {name: rate * entered for name, rate in usual.items()}
        measured = {name: kept[name] for name in floors}
        end, apart = now + worked, tuples if len(set(parts.values())) > 1 else None
        controller = controller.observe(order, read, max(now - last, _LEAST), worked, apart, measured)
        delays = {name: end - since if parts[name] > 0 else 0.0 for name, since in taken.items()}
        late = {name: delays[branch.name] for branch in branches for name in branch.outputs}
        utility = demands.utility(kept, late)
        yield SimulatedBatch(now, end, order, max(delays.values()), max(parts.values()), utility, delays, ends)
        last, taken, now = now, ends, max(end, now + order.interval, now + _LEAST)


def _waiting(
    truth: LoadModel, usual: Mapping[str, float], amounts: Mapping[str, float], taken: Mapping[str, float], now: float
) -> Waiting:
    """What waits for the controller to see."""
    most = {name: rate * max(amounts.values()) for name, rate in usual.items()}
    if len(truth.branches) == 1:
        return Waiting(most, now - min(taken.values()))
    front = max(taken.values())
    queues = {
        branch.name: Queue(
            {name: usual[name] * amounts[branch.name] for name in branch.inputs},
            now - taken[branch.name],
            behind=taken[branch.name] < front,
        )
        for branch in truth.branches
    }
    return Waiting(most, now - min(taken.values()), queues)


def _reached(
    curve: Curve, since: float, now: float, limits: Mapping[str, int] | None, usual: Mapping[str, float]
) -> float:
    """Up to which moment a branch takes what has come, by how many tuples it may take."""
    if limits is None:
        return now
    amount = min((tuples / usual[name] for name, tuples in limits.items() if usual[name]), default=0.0)
    low, high = since, now
    for _ in range(_FINE):
        middle = (low + high) / 2
        low, high = (middle, high) if curve(middle) - curve(since) <= amount else (low, middle)
    return low if curve(now) - curve(since) > amount else now
