"""The optimizer: filters that a run puts in a better order, and outputs that share what is equal (Aurora 3.1, 3.2).

Reordering: five filters in their worst order, beside the best order without rules, and how soon a run is near it.
Sharing: ten outputs that are drawn apart with the same first half, beside a network that is drawn with one.
Skipping: a Parquet file that is sorted by a column, of which a filter on that column keeps a twentieth.
"""

from __future__ import annotations

import json as json_
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Sheet

import australis as au
from australis.api.network import Network
from australis.bench.machine import machine
from australis.bench.overload_network import INPUT, SCHEMA, source
from australis.engine.spark.session import session
from australis.errors import RunError

if TYPE_CHECKING:
    from australis.engine.spark.session import SparkSession

FILTERS = {
    "ahead_3": "overload_ahead(mph, 90.0, 300) > 40",
    "ahead_2": "overload_ahead(mph, 80.0, 200) > 20",
    "ahead_1": "overload_ahead(mph, 70.0, 100) > 10",
    "lane": "seg % 4 = 1",
    "odd": "vid % 10 = 3",
}
"""In the worst order: what is dear and lets most through comes first."""
SLOWER = 3.0
"""How many times slower the worst order must be, else nothing is shown."""
NEAR = 0.9
"""From which part of the best speed on an order is as good as the best."""
SOON = 20.0
"""Within how many seconds it should be."""
OUTPUTS = 10
DEARER = 1.1
"""How many times one first half and ten second halves it may cost."""
_TRAIN = 200_000
_TUPLES = 2_000_000
_GROUP = 100_000  # rows of a row group
_RATE = 1e9  # tuples a second: more than any machine takes, so that batches are always full


def main(seconds: float = 40.0, quick: bool = False, json: Path | None = None) -> None:
    """Measure, print the tables, and write JSON to `json` if it is given; fails if the worst order is not slow."""
    seconds, tuples = (10.0, _TUPLES // 10) if quick else (seconds, _TUPLES)
    console, load = Console(), os.getloadavg()[0]
    spark, own = session(master="local[2]")
    try:
        with console.status("") as status:
            report = {
                "machine": machine(spark) | {"load": load},
                "reordering": reordering(spark, seconds, status.update),
                "sharing": sharing(spark, tuples, status.update),
                "skipping": skipping(spark, 5 * tuples, status.update),
            }
    finally:
        if own:
            spark.stop()
    console.print(_reordering_sheet(report["reordering"]))
    console.print(_sharing_sheet(report["sharing"]))
    console.print(_skipping_sheet(report["skipping"]))
    if json is not None:
        json.write_text(json_.dumps(report, indent=2))
    if report["reordering"]["slower"] < SLOWER:
        raise RunError(
            f"bench optimizer: the worst order of the filters is only {report['reordering']['slower']:.1f} times slower"
            f" than the best, not {SLOWER:g}: this shows nothing"
        )


def filters(names: Sequence[str]) -> Network:
    """The filters in an order."""
    stream = au.stream(INPUT, SCHEMA)
    for name in names:
        stream = stream.filter(FILTERS[name], box=name)
    return au.network(out=stream)


def reordering(spark: SparkSession, seconds: float, note: Callable[[str], None]) -> dict[str, Any]:
    """Tuples a second in the best and the worst order, and batch by batch of a run that begins with the worst."""
    worst, best = tuple(FILTERS), tuple(reversed(FILTERS))
    speeds: dict[str, list[tuple[float, float]]] = {}
    for name, order, optimize in (("best", best, False), ("worst", worst, False), ("optimized", worst, True)):
        note(f"reordering: {name}")
        speeds[name] = _speeds(spark, filters(order), seconds, optimize)
    steady = {name: statistics.median(speed for _, speed in each[len(each) // 2 :]) for name, each in speeds.items()}
    return {
        "batches": speeds,
        "speed": steady,
        "slower": steady["best"] / steady["worst"],
        "soon": soon(speeds["optimized"], steady["best"]),
    }


def _speeds(spark: SparkSession, network: Network, seconds: float, optimize: bool) -> list[tuple[float, float]]:
    """When each batch was done, in seconds after the first, and its tuples a second."""
    speeds: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        options: dict[str, Any] = {"checkpoint": f"{folder}/checkpoint", "train": _TRAIN, "optimize": optimize}
        with network.start({INPUT: source(_RATE, None, 0)}, spark=spark, **options) as run:
            first, version = 0.0, 0
            while not first or time.monotonic() < first + seconds:
                run.wait(0.02)
                for each in [each for each in list(run.progress) if each["batch"] > version]:
                    version, now = each["batch"], time.monotonic()
                    first = first or now
                    speeds.append((now - first, each["taken"][INPUT] / each["seconds"]))
    return speeds


def soon(speeds: Sequence[tuple[float, float]], best: float) -> float | None:
    """The second from which on the batches are about as fast as the best, five at a time; none if none is.

    >>> soon([(1.0, 10.0), (2.0, 95.0), (3.0, 97.0), (4.0, 99.0), (5.0, 80.0), (6.0, 99.0)], 100.0)
    2.0
    """
    for place in range(len(speeds) - 4):
        some = speeds[place : place + 5]
        if some[0][1] >= NEAR * best and statistics.median(speed for _, speed in some) >= NEAR * best:
            return some[0][0]
    return None


def halves(shared: bool) -> Network:
    """Ten outputs with a first half of their own, or with one for all."""

    def first(name: str) -> Any:
        driven = {"vid": "vid", "mph": "mph", "soon": "overload_ahead(mph, 70.0, 200)"}
        return au.stream(INPUT, SCHEMA).filter("mph >= 5", box=f"moving_{name}").map(driven, box=f"driven_{name}")

    one = first("all")
    outputs = {}
    for number in range(OUTPUTS):
        half = one if shared else first(str(number))
        outputs[f"out_{number}"] = half.filter(f"soon > {40 + number}", box=f"fast_{number}")
    return au.network(outputs)


def sharing(spark: SparkSession, tuples: int, note: Callable[[str], None]) -> dict[str, Any]:
    """The tuples that first halves took, by those of the input, and the processor seconds of all boxes."""
    ways: dict[str, dict[str, float]] = {}
    halves_of = (("warm", True, False), ("one", True, False), ("apart", False, False), ("optimized", False, True))
    for name, shared, optimize in halves_of:
        note(f"sharing: {name}")
        ways[name] = _counted(spark, halves(shared), tuples, optimize)
    return {"ways": ways, "ratio": ways["optimized"]["seconds"] / ways["one"]["seconds"]}


def _counted(spark: SparkSession, network: Network, tuples: int, optimize: bool) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        options: dict[str, Any] = {"checkpoint": f"{folder}/checkpoint", "train": tuples // 20, "optimize": optimize}
        run = network.run({INPUT: source(_RATE, tuples, 0)}, spark=spark, **options)
        boxes = run.totals.boxes
    taken = sum(each.taken for name, each in boxes.items() if name.startswith(("moving", "driven")))
    return {"first": taken / tuples, "seconds": sum(each.seconds for each in boxes.values())}


def skipping(spark: SparkSession, tuples: int, note: Callable[[str], None]) -> dict[str, Any]:
    """The seconds of runs over a sorted file with and without the rule, and the part of the tuples that was skipped."""
    with tempfile.TemporaryDirectory() as folder:
        path, time_ = Path(folder) / "sorted.parquet", np.arange(tuples)
        columns = {"time": time_, "vid": time_ * 2654435761 % 100_000, "mph": time_ * 40503 % 100}
        pa.parquet.write_table(pa.table(columns), path, row_group_size=_GROUP)
        late = au.stream("sorted", "time bigint, vid bigint, mph bigint").filter(f"time >= {tuples * 19 // 20}")
        network = au.network(out=late.aggregate(on="time", size=tuples // 100, by="mph", n="count(*)"))
        ways: dict[str, dict[str, float]] = {}
        for name, optimize in (("warm", False), ("all read", False), ("skipped", True)):
            note(f"skipping: {name}")
            began = time.perf_counter()
            run = network.run(sorted=path, spark=spark, optimize=optimize)
            took = time.perf_counter() - began
            reading = run.totals.costs["source"]["sorted"][0]
            ways[name] = {"seconds": took, "reading": reading, "part": run.totals.skipped.get("sorted", 0) / tuples}
    return {"ways": ways, "ratio": ways["all read"]["seconds"] / ways["skipped"]["seconds"]}


def _skipping_sheet(report: dict[str, Any]) -> Sheet:
    sheet = Sheet("", "seconds", "processor seconds of reading", "skipped", box=SIMPLE_HEAD)
    sheet.title = f"A filter that keeps 5% of a sorted Parquet file: {report['ratio']:.1f} times faster"
    for name, way in report["ways"].items():
        if name != "warm":
            sheet.add_row(name, f"{way['seconds']:.2f}", f"{way['reading']:.2f}", f"{way['part']:.0%}")
    return sheet


def _reordering_sheet(report: dict[str, Any]) -> Sheet:
    sheet = Sheet("", "M tuples/s", "of the best", box=SIMPLE_HEAD)
    when = "not" if report["soon"] is None else f"after {report['soon']:.0f} s"
    sheet.title = f"Five filters: as good as the best order {when} (to reach: {SOON:g} s)"
    for name, speed in report["speed"].items():
        sheet.add_row(name, f"{speed / 1e6:.2f}", f"{speed / report['speed']['best']:.2f}")
    return sheet


def _sharing_sheet(report: dict[str, Any]) -> Sheet:
    sheet = Sheet("", "boxes of first halves took", "seconds of boxes", box=SIMPLE_HEAD)
    sheet.title = f"Ten outputs with one first half: {report['ratio']:.2f} times as drawn with one (most: {DEARER})"
    for name, way in report["ways"].items():
        if name != "warm":
            sheet.add_row(name, f"{way['first']:.2f} tuples a tuple", f"{way['seconds']:.2f}")
    return sheet
