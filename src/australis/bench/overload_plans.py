"""Plans that the overload benchmark compares with: the best one that a search finds, and random drops at the input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

from australis.qos.load import LoadModel, Machine
from australis.qos.ranks import NumberRank
from australis.qos.road_map import Demands, Mapper, RoadPlan
from australis.qos.shedding import ShedPlan, TupleKeep


def best_plan(model: LoadModel, inputs: Mapping[str, float], most: float, steps: int = 100) -> RoadPlan | None:
    """The plan of the greatest utility and at `most` a load, of those that keep any of so many parts of outputs.

    None fits if what may not be shed is too much by itself.
    """
    demands = Demands.of(model)
    mapper = Mapper(demands, tuple(model.shares(inputs)))
    outputs = model.network.outputs
    whole = {output.name: 1.0 for output in outputs}
    shed = [output.name for output in outputs if not output.qos.exact]
    best: RoadPlan | None = None
    for parts in product(range(steps, -1, -1), repeat=len(shed)):
        kept = whole | {name: part / steps for name, part in zip(shed, parts, strict=True)}
        worth = demands.utility(kept)
        if best is None or worth > best.utility:
            load = mapper.load(kept)
            if load <= most + 1e-9:
                best = RoadPlan(load, kept, worth)
    return best


def processor_time(model: LoadModel, inputs: Mapping[str, float], kept: Mapping[str, float]) -> float:
    """The processor seconds a second that tuples take by the model when each output gets its part."""
    alone = replace(model, machine=Machine(1, 1, model.machine.headroom))
    return Mapper(Demands.of(model), tuple(alone.shares(inputs))).load(kept)


def part_at_input(model: LoadModel, inputs: Mapping[str, float], load: float) -> float:
    """The part of all tuples to keep as they enter so that a load is left; what is dropped is still read."""
    shares = model.shares(inputs)
    reading = sum(share.busy for share in shares if share.work.kind == "source")
    rest = sum(share.busy for share in shares) - reading
    return min(max((load - reading) / rest, 0.0), 1.0) if rest else 1.0


def random_at_input(input: str, part: float) -> ShedPlan | None:
    """The plan that drops by chance as tuples enter, whatever they are for; none if all are kept."""
    return None if part >= 1 else ShedPlan({("input", input): (TupleKeep(NumberRank(), part),)})
