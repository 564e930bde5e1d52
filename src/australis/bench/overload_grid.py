"""A coarse grid of plans that are really run: whether one of them is worth more than what the controller chooses."""

from __future__ import annotations

from itertools import product
from typing import Any

from australis.bench import overload_figures as figures
from australis.bench.overload_curves import TrialSpan, step
from australis.bench.overload_network import INPUT
from australis.bench.overload_steps import Setting
from australis.bench.overload_trial import run_trial
from australis.qos.road_map import Demands, Mapper
from australis.qos.shedder import Shedder

FACTORS = (2.0, 5.0)
PARTS = (0.0, 0.2, 0.35, 0.5, 0.75, 1.0)
QUICK = (0.0, 0.2, 0.5)
_FAR = 1.3
"""Plans whose load is so many times what the machine holds are not run: they fall behind from the first second."""


def grid(
    setting: Setting, factors: tuple[float, ...] = FACTORS, parts: tuple[float, ...] = PARTS
) -> list[dict[str, Any]]:
    """For each load, the plans that were run and the utility that was measured of them, the best first."""
    return [_grid(setting, factor, parts) for factor in factors]


def _grid(setting: Setting, factor: float, parts: tuple[float, ...]) -> dict[str, Any]:
    net, model = setting.network, setting.model
    mapper = Mapper(Demands.of(model), tuple(model.shares({INPUT: factor * setting.capacity})))
    whole = {output.name: 1.0 for output in net.outputs}
    shed = [output.name for output in net.outputs if not output.qos.exact]
    span = TrialSpan(setting.span.lead, min(setting.span.load, 12.0), 0.0)
    plans: list[dict[str, Any]] = []
    for each in product(parts, repeat=len(shed)):
        kept = whole | dict(zip(shed, each, strict=True))
        load = mapper.load(kept)
        if load > _FAR * setting.most:
            continue
        setting.note(f"grid at {factor:g} times: {', '.join(f'{name} {kept[name]:.0%}' for name in shed)}")
        plan, _ = Shedder(net).plan(kept)
        trial = run_trial(
            setting.spark,
            net,
            step(factor, setting.capacity, span),
            span.end,
            shed=False,
            headroom=model.machine.headroom,
            plans=[(span.begin, plan)],
        )
        worths = figures.utilities(net, trial, setting.yields, span.steady, span.end)
        plans.append({"kept": kept, "load": load, "utility": figures.total(net, worths), "others": trial.others})
    plans.sort(key=lambda plan: -plan["utility"])
    return {"factor": factor, "plans": plans}
