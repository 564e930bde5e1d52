"""A simulator of runs under load: hours of batches in milliseconds, to test the controller on many networks.

A made-up machine works on batches as the model says, with the true costs; the controller may believe in others. Tuples
come as a fluid: a curve says how many have come by each moment, in seconds of their usual rates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from australis.qos.control import Controller, Order, Waiting
from australis.qos.load import LoadModel
from australis.qos.road_map import Demands, Mapper
from australis.qos.utility import total

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
    floors: Mapping[str, float] = MappingProxyType({}),
) -> Iterator[SimulatedBatch]:
    """Run batches until a time. Boxes leave outputs at least their `floors`, whatever they are asked for."""
    mapper = Mapper(Demands(truth.network), tuple(truth.shares(usual)))
    outputs = truth.network.outputs
    now = last = taken = 0.0
    while now < seconds:
        amount = curve(now) - curve(taken)
        waiting = Waiting({name: rate * amount for name, rate in usual.items()}, now - taken)
        order, controller = controller.order(waiting)
        kept = {name: max(part, floors.get(name, 0.0)) for name, part in {**order.kept, **order.asked}.items()}
        worked = (truth.costs.batch + amount * mapper.load(kept)) * noise()
        measured = {name: kept[name] for name in floors}
        controller = controller.observe(order, waiting.tuples, max(now - last, _LEAST), worked, measured)
        end, delay = now + worked, now + worked - taken
        utility = total(outputs, {output.name: delay for output in outputs}, kept)
        yield SimulatedBatch(now, end, order, delay, amount, utility)
        last, taken, now = now, now, max(end, now + order.interval, now + _LEAST)
