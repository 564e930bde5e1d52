"""Overload: what outputs are worth beyond the capacity of the machine, beside random drops, none, and the best plan."""

from __future__ import annotations

import json as json_
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from australis.bench import overload_capacity as capacity_of
from australis.bench import overload_grid, overload_picture, overload_tables
from australis.bench.machine import machine
from australis.bench.overload_curves import QUICK, TrialSpan
from australis.bench.overload_grid import grid
from australis.bench.overload_moving import moving
from australis.bench.overload_network import INPUT, network, parts_of_cost, yields
from australis.bench.overload_priorities import priorities
from australis.bench.overload_rate_control import rate_control
from australis.bench.overload_semantic import semantic
from australis.bench.overload_steps import ONE, Setting, curves, steps
from australis.engine.spark.session import session
from australis.errors import RunError, listing, near

if TYPE_CHECKING:
    from collections.abc import Callable

    from australis.engine.spark.session import SparkSession
    from australis.qos.load import LoadModel

PARTS = ("capacity", "steps", "curves", "semantic", "rate-control", "grid", "priorities", "moving")
_OWN = {"priorities": priorities, "moving": moving}
"""The parts that have a network of their own, and so a capacity of their own."""
_QUICK_FACTORS = (0.9, ONE, 2.0, 5.0)


def main(
    only: str = "",
    capacity: float | None = None,
    headroom: float = 1.0,
    json: Path | None = None,
    plots: Path | None = None,
    quick: bool = False,
) -> None:
    """Measure all parts, or those in `only`, print the tables, and write figures and plots where they are asked for.

    The `capacity` in tuples a second is found by bisection unless it is given. The networks of `priorities` and of
    `moving` have others, so that a given one is for such a part only if nothing else is measured.
    """
    chosen = only.split(",") if only else list(PARTS)
    for name in chosen:
        if name not in PARTS:
            raise RunError(
                f"bench overload: there is no part `{name}`{near(name, PARTS) or ';'} there are {listing(PARTS)}"
            )
    if capacity is not None and not 0 < capacity < float("inf"):
        raise RunError(f"bench overload: a capacity is a number of tuples a second above 0, not {capacity:g}")
    console = Console()
    load = os.getloadavg()[0]
    if load > capacity_of.CORES / 4:
        console.print(f"the machine is busy with other work (load {load:.1f}): figures will be low", highlight=False)
    spark, own = session(master=f"local[{capacity_of.CORES}]")
    report: dict[str, Any] = {"machine": machine(spark) | {"load": load}, "headroom": headroom, "quick": quick}
    try:
        with _noting(console) as note:
            _measure(spark, report, chosen, capacity, quick, note, json)
    finally:
        if own:
            spark.stop()
    overload_tables.show(report, console)
    if plots is not None:
        for path in overload_picture.draw(report, plots):
            console.print(f"{path}", highlight=False)
        (plots / "overload.md").write_text(overload_tables.markdown(report))


def _measure(
    spark: SparkSession, report: dict[str, Any], chosen: list[str], capacity: float | None, quick: bool,
    note: Callable[[str], None], json: Path | None,
) -> None:  # fmt: skip
    """Measure the parts that are chosen, one after another, and keep what is known."""
    if not set(chosen) <= _OWN.keys():
        _measure_shedding(spark, report, chosen, capacity, quick, note, json)
    for name in (name for name in _OWN if name in chosen):
        given = capacity if set(chosen) == {name} else None  # that of another network says nothing
        report[name] = _OWN[name](spark, given, report["headroom"], quick, note)
        _save(report, json)
    _save(report, json)


def _measure_shedding(
    spark: SparkSession, report: dict[str, Any], chosen: list[str], capacity: float | None, quick: bool,
    note: Callable[[str], None], json: Path | None,
) -> None:  # fmt: skip
    """Measure the parts about the network of three branches that share their beginning."""
    net, span = network(), QUICK if quick else TrialSpan()
    if not quick:
        report["warming up"] = capacity_of.warm_up(spark, net, note)
    note("what the boxes cost, twice: the first time compiles")
    capacity_of.measured_costs(spark, net, 200_000)
    costs = capacity_of.measured_costs(spark, net, 1_000_000 if quick else 6_000_000)
    model = capacity_of.modelled(net, costs, report["headroom"])
    report["costs"] = _costs(model)
    full = capacity_of.modelled(net, costs, 1.0)
    report["capacity"] = {"predicted": capacity_of.predicted(full), "found": capacity}
    if capacity is None:
        guess = capacity_of.guessed(full)
        search, trials = capacity_of.found(spark, net, guess, 10 if quick else 60, 5 if quick else 7, note)
        capacity = search.held
        report["capacity"] |= {
            "found": capacity, "failed": search.failed, "tried": list(search.tried),
            "others": [trial.others for trial in trials],
        }  # fmt: skip
        _save(report, json)
        if not capacity:
            raise RunError("bench overload: no rate was held without shedding; give one with --capacity RATE")
    setting = Setting(spark, model, yields(), capacity, span, note)
    if "steps" in chosen:
        for each in steps(setting, _QUICK_FACTORS) if quick else steps(setting):
            report.setdefault("steps", []).append(each)
            _save(report, json)
    if "curves" in chosen:
        for each in curves(setting):
            report.setdefault("curves", []).append(each)
            _save(report, json)
    if "semantic" in chosen:
        report["semantic"] = semantic(setting)
        _save(report, json)
    if "rate-control" in chosen:
        report["rate control"] = rate_control(setting)
        _save(report, json)
    if "grid" in chosen:
        report["grid"] = grid(setting, (2.0,), overload_grid.QUICK) if quick else grid(setting)
        _save(report, json)


def _costs(model: LoadModel) -> dict[str, Any]:
    """What a tuple of the input costs, a batch, and the parts of the network."""
    shares = model.shares({INPUT: 1.0})
    of = {(share.work.kind, share.work.name): share.cores for share in shares}
    return {
        "tuple": sum(of.values()),
        "batch": model.costs.batch,
        "parts": parts_of_cost(of),
        "works": {f"{kind} {name}": seconds for (kind, name), seconds in of.items()},
    }


@contextmanager
def _noting(console: Console) -> Iterator[Callable[[str], None]]:
    """Shows what is being measured."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("")
        yield lambda what: progress.update(task, description=what)


def _save(report: dict[str, Any], json: Path | None) -> None:
    """Write the figures so far, since a run takes long."""
    if json is not None:
        json.write_text(json_.dumps(report, indent=2))
