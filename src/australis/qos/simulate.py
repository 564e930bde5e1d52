"""A simulator of runs under load: hours of batches in milliseconds, to test the controller on many networks.

A made-up machine works on batches as the model says, with the true costs; the controller may believe in others. Tuples
come as a fluid: a curve says how many have come by each moment, in seconds of their usual rates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from australis.qos.control import Controller, Order, Waiting
from australis.qos.load import LoadModel
from australis.qos.road_map import Demands, Mapper

Curve = Callable[[float], float]
Noise = Callable[[], float]
"""How many times as long as it should a batch takes: a machine has other things to do as well."""
_LEAST = 0.01  # seconds between batches


def no_noise() -> float:
    """The noise of a machine that has nothing else to do."""
    return 1.0


@dataclass(frozen=True)
class SimulatedBatch:
    """A batch: when it started and ended, what it was ordered to do, the longest delay of its tuples, their utility."""

    start: float
    end: float
    order: Order
    delay: float
    amount: float
    """Of tuples, in seconds of their usual rates."""
    utility: float


def simulate(
    truth: LoadModel,
    controller: Controller,
    usual: Mapping[str, float],
    curve: Curve,
    seconds: float,
    noise: Noise = no_noise,
) -> Iterator[SimulatedBatch]:
    """Run batches until a time."""
    demands = Demands.of(truth)
    mapper = Mapper(demands, tuple(truth.shares(usual)))
    outputs = truth.network.outputs
    now = last = taken = 0.0
    while now < seconds:
        amount = curve(now) - curve(taken)
        waiting = Waiting({name: rate * amount for name, rate in usual.items()}, now - taken)
        order, controller = controller.order(waiting)
        worked = (truth.costs.batch + amount * mapper.load(order.kept)) * noise()
        controller = controller.observe(order, waiting.tuples, max(now - last, _LEAST), worked)
        end, delay = now + worked, now + worked - taken
        utility = demands.utility(order.kept, {output.name: delay for output in outputs})
        yield SimulatedBatch(now, end, order, delay, amount, utility)
        last, taken, now = now, now, max(end, now + order.interval, now + _LEAST)
