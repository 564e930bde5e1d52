"""Flood: Linear Road when travel times are asked for at three times the rate that fits beside its reports (3.2, 3.3).

Reports of so many expressways come as take half of the machine, and three times as many requests for travel times as
the other half can answer. Then reports alone come at one and a half times what the machine holds.
"""

from __future__ import annotations

import json as json_
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Sheet

from australis.apps.linear_road.census import census
from australis.apps.linear_road.feed import feed
from australis.apps.linear_road.flood import flood
from australis.apps.linear_road.history import generate
from australis.apps.linear_road.network_file import network_text
from australis.apps.linear_road.record import LIMITS, TRAVEL
from australis.apps.linear_road.road_history import open_history
from australis.apps.linear_road.simulation.simulate import simulate
from australis.apps.linear_road.validation.verdict import NAMES
from australis.bench.flood_load import FloodLoad
from australis.bench.flood_trial import FloodRoads, FloodTrial, measured, run_trial
from australis.bench.machine import machine
from australis.bench.overload_capacity import CORES
from australis.engine.spark.session import session
from australis.qos.load import HEADROOM, Machine

if TYPE_CHECKING:
    from australis.engine.spark.session import SparkSession

TIMES = 3.0
"""How many times what fits is asked."""
BEYOND = 1.5
"""How many times what the machine holds is reported, alone."""
_WARM = 3
"""Seconds of the flood that come in the lead, so that what a request costs is known."""


@dataclass(frozen=True)
class Scale:
    """How long all takes."""

    simulated: int = 1800
    """Seconds of traffic that are simulated; the last of them are used."""
    measured: int = 30
    """Seconds of it by which costs are measured."""
    guess: int = 200
    """So many expressways."""
    lead: int = 20_000_000
    """Tuples that come at full speed before each trial, in some batches: so long it is learned what they cost."""
    live: int = 60
    """Seconds of the flood, and of reports beyond capacity at most."""
    after: float = 10.0
    """How many seconds more the latter go on after it was said that they are too much."""


QUICK = Scale(simulated=600, measured=15, guess=300, lead=10_000_000, live=15, after=3.0)


def main(quick: bool = False, headroom: float = HEADROOM, data: Path | None = None, json: Path | None = None) -> None:
    """Measure, print the tables, and write the figures to `json` if it is given. The input is kept in `data`."""
    scale, console, load = QUICK if quick else Scale(), Console(), os.getloadavg()[0]
    if load > CORES / 4:
        console.print(f"the machine is busy with other work (load {load:.1f}): figures will be low", highlight=False)
    spark, own = session(master=f"local[{CORES}]")
    report: dict[str, Any] = {"machine": machine(spark) | {"load": load}, "headroom": headroom, "quick": quick}
    try:
        with console.status("") as status, _folder(data) as folder:
            _measure(spark, report, scale, folder, Machine(CORES, CORES, headroom), status.update)
    finally:
        if own:
            spark.stop()
    for sheet in sheets(report):
        console.print(sheet)
    for line in lines(report):
        console.print(line, highlight=False)
    if json is not None:
        json.write_text(json_.dumps(report, indent=2))


@contextmanager
def _folder(data: Path | None) -> Iterator[Path]:
    if data is not None:
        yield data
        return
    with tempfile.TemporaryDirectory(prefix="australis-") as folder:
        yield Path(folder)


def _measure(
    spark: SparkSession, report: dict[str, Any], scale: Scale, folder: Path, where: Machine,
    note: Callable[[str], None],
) -> None:  # fmt: skip
    """Make the input, measure costs, and do both trials; figures go to the report."""
    road, end, live = folder / f"road-{scale.simulated}", scale.simulated, scale.simulated - scale.live
    if not (road / "history").exists():
        note(f"simulating {scale.simulated} seconds of an expressway")
        simulate(road, seconds=scale.simulated, replace=True)
        note("making its history")
        generate(feed(road), road / "history", spark=spark)
    file = folder / "road.yaml"
    file.write_text(network_text(flood=True))

    def roads(path: Path, copies: int, since: int) -> FloodRoads:
        stream = replace(feed(path, copies), since=since)
        return FloodRoads(stream, open_history(road / "history", stream), file)

    def begin(copies: int) -> int:
        """When the lead begins."""
        return max(live - max(round(scale.lead / copies / a_second), _WARM), 0)

    base = replace(feed(road, 1), since=live)
    counts = census(base)
    a_second = sum(counts.values()) / scale.live
    flood(feed(road), folder / "half", a_second, end - scale.measured, end, replace=True)
    half = roads(folder / "half", scale.guess, end - scale.measured)
    for turn in ("the first time compiles", "the second time"):
        note(f"what tuples cost: {turn}")
        model = measured(spark, half, where)
    load = FloodLoad(model, {kind: count / sum(counts.values()) for kind, count in counts.items()})
    copies = max(round(load.reports / 2 / a_second), 1)
    rate = TIMES * load.journeys / 2
    report["load"] = {
        "reports": load.reports, "journeys": load.journeys, "batch": model.costs.batch, "a_second": a_second,
        "copies": copies, "reported": copies * a_second, "asked": rate,
    }  # fmt: skip
    note(f"{copies} expressways, and {rate:,.0f} requests for travel times a second")
    flood(feed(road), folder / "flooded", rate / copies, live - _WARM, end, replace=True)
    trial = run_trial(spark, roads(folder / "flooded", copies, begin(copies)), live, where.headroom)
    report["flood"] = _flooded(trial, load.kept(copies * a_second, rate))
    many = max(round(BEYOND * load.hopeless / a_second), 1)
    note(f"the reports of {many} expressways alone")
    alone = run_trial(spark, roads(road, many, begin(many)), live, where.headroom, enough=scale.after)
    report["beyond"] = _beyond(alone, many)


def _flooded(trial: FloodTrial, fits: float) -> dict[str, Any]:
    verdict = trial.verdict
    assert verdict is not None
    (travel,) = (tally for tally in verdict.tallies if tally.type == TRAVEL)
    return {
        "verdict": verdict.as_dict(),
        "right": verdict.right,
        "wrong": sum(tally.wrong + tally.doubled + tally.unasked for tally in verdict.tallies),
        "missing": {NAMES[tally.type]: tally.missing for tally in verdict.tallies if tally.missing},
        "shed": {NAMES[tally.type]: tally.shed for tally in verdict.tallies if tally.shed},
        "answered": travel.right / max(travel.due, 1),
        "fits": fits,
        "said": trial.said,
    }


def _beyond(trial: FloodTrial, copies: int) -> dict[str, Any]:
    return {"copies": copies, "shed": sum(trial.shed.values()), "taken": trial.taken, "said": trial.said}


def sheets(report: dict[str, Any]) -> Iterator[Sheet]:
    """The tables for people: how late answers were, and how many travel times there were."""
    load, flooded = report["load"], report["flood"]
    title = f"{load['copies']} expressways ({load['reported']:,.0f} tuples a second) and {load['asked']:,.0f} requests"
    sheet = Sheet("answers", "due", "missing", "p99 s", "worst s", "limit s", box=SIMPLE_HEAD)
    sheet.title, sheet.title_justify = f"{title} a second", "left"
    for column in sheet.columns[1:]:
        column.justify = "right"
    for kind, limit in LIMITS.items():
        tally = flooded["verdict"]["answers"][NAMES[kind]]
        times = ("-" if each is None else f"{each:.2f}" for each in (tally["p99"], tally["worst"]))
        counts = (f"{tally[name]:,}" for name in ("due", "missing"))
        sheet.add_row(NAMES[kind], *counts, *times, f"{limit:g}")
    yield sheet


def lines(report: dict[str, Any]) -> Iterator[str]:
    """What the tables mean, in words."""
    flooded, beyond = report["flood"], report["beyond"]
    yield f"travel times answered: {flooded['answered']:.1%}; by the model {flooded['fits']:.1%} fit"
    counted = "as many as are missing" if flooded["missing"] == flooded["shed"] else "NOT as many as are missing"
    yield f"wrong: {flooded['wrong']}; shed: {sum(flooded['shed'].values()):,}, {counted}"
    yield f"reports alone, {BEYOND:g} times what the machine holds ({beyond['copies']} expressways): " + _said(beyond)


def _said(beyond: dict[str, Any]) -> str:
    shed = "nothing shed" if not beyond["shed"] else f"{beyond['shed']:,} tuples SHED"
    if not beyond["said"]:
        return f"{shed}, and NOT said to be too much"
    (seconds, line), *_ = beyond["said"]
    return f"{shed}; after {seconds:.1f} s it said: {line}"
