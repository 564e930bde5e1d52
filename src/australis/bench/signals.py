"""XStream's applications on Spark, from raw files in the page cache (XStream IV, Table I), and its figures 6 and 8."""

from __future__ import annotations

import json as json_
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Sheet

import australis as au
from australis.bench import signal_forms, signal_memory, signal_picture
from australis.bench.applications import APPLICATIONS, SOUNDS, record
from australis.bench.machine import machine
from australis.bench.signal_kernels import bare
from australis.connectors.source import Source, parts
from australis.connectors.sources import uri
from australis.connectors.sources.samples import Samples
from australis.engine.spark.session import session
from australis.errors import RunError, listing

if TYPE_CHECKING:
    from australis.engine.spark.session import SparkSession

PAPER = {
    "passchain": {"commercial": 0.1777, "borealis": 0.00547, "no segments": 0.0928, "xstream": 71.4},
    "statfilter": {"commercial": 0.0727, "borealis": 0.00705, "no segments": 0.0579, "xstream": 97.6},
    "silencefilter": {"commercial": 0.00458, "borealis": 0.0001428, "no segments": 0.0751, "xstream": 64.5},
    "detectaudio": {"xstream": 7.5},
    "pipeline": {"xstream": 4.3},
}
"""Million samples a second on a Pentium 4 of 2.8 GHz: Table I, and section II."""
LOADING = {"commercial": 4.2, "borealis": 8.1, "no segments": 2.24, "xstream": 0.2}
"""Seconds to load nine seconds of sound from CSV."""
GOAL = 10
RATE = 48_000
_FILE = 1 << 27
"""The samples of the files of an application, which are read repeatedly."""
_ALONE, _BARE = 1 << 26, 1 << 30
_LINES = 1 << 24
_NINE = 9 * 44_100


def main(
    samples: int = 1 << 32,
    data: Path | None = None,
    json: Path | None = None,
    plot: Path | None = None,
    only: str = "",
    repeat: int = 3,
    quick: bool = False,
) -> None:
    """Measure all applications, or those in `only`, and print the figures."""
    samples, lines, repeat = (1 << 20, 1 << 17, 1) if quick else (samples, min(samples, _LINES), repeat)
    chosen = only.split(",") if only else list(APPLICATIONS)
    for name in chosen:
        if name not in APPLICATIONS:
            raise RunError(f"there is no application `{name}`; there are {listing(APPLICATIONS)}")
    names = [name for name in APPLICATIONS if name in chosen]
    report: dict[str, Any] = {"samples": samples, "repeat": repeat, "load": os.getloadavg()[0]}
    spark, own_session = session(master="local[2]")
    report["machine"] = machine(spark)
    with tempfile.TemporaryDirectory() as temporary:
        folder = data or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        report["start"] = start(spark, folder, repeat)
        report["applications"] = {name: application(spark, name, folder, samples, repeat) for name in names}
        report["csv"] = text(spark, names[:1] if quick else names, folder, lines, repeat)
    if own_session:
        spark.stop()
    if not only:
        report["memory"] = signal_memory.main(quick)
        report["forms"] = signal_forms.main(quick)
    show(report)
    if plot is not None:
        signal_picture.draw(report, plot)
        plot.with_suffix(".md").write_text(markdown(report))
    if json is not None:
        json.write_text(json_.dumps(report, indent=2))


def application(spark: SparkSession, name: str, folder: Path, samples: int, repeat: int) -> dict[str, Any]:
    """Measure an application on Spark, in one process, and its arithmetic alone. Medians, after a turn to warm up."""
    (input_,) = APPLICATIONS[name]().inputs
    channels = len(input_.schema) - 1
    files = record(folder, name, min(samples, _FILE) // 2 // channels)
    source = Samples(input_.schema, files, RATE, times=max(1, samples // _FILE))
    few = replace(source, times=min(source.times, _BARE // _FILE))
    figures: dict[str, Any] = dict(PAPER[name])
    figures["turns"] = _turns(partial(on_spark, spark, name, source, count(source)), repeat)
    figures["spark"] = statistics.median(figures["turns"])
    figures["times"] = figures["spark"] / figures["xstream"]
    figures["met"] = figures["times"] >= GOAL
    figures["alone"] = statistics.median(_turns(partial(alone, name, source), repeat))
    figures["kernel"] = statistics.median(_turns(partial(bare, name, few), repeat))
    figures["part"] = figures["spark"] / figures["kernel"]
    return figures


def start(spark: SparkSession, folder: Path, repeat: int) -> float:
    """The seconds of a run that has almost nothing to do."""
    few = folder / "few"
    few.mkdir(exist_ok=True)
    source = Samples(APPLICATIONS["passchain"]().inputs[0].schema, record(few, "passchain", 4096), RATE)
    speeds = _turns(partial(on_spark, spark, "passchain", source, count(source)), repeat)
    return count(source) / 1e6 / statistics.median(speeds)


def text(spark: SparkSession, names: list[str], folder: Path, lines: int, repeat: int) -> dict[str, Any]:
    """Measure from CSV, as the paper does: seconds to load nine seconds, and million samples a second with loading."""
    figures: dict[str, Any] = {"loading": dict(LOADING)}
    nine = folder / "nine.csv"
    _write(nine, "passchain", _NINE)
    schema = APPLICATIONS["passchain"]().inputs[0].schema
    loading = _turns(lambda: _seconds(lambda: list(parts(uri.source(f"{nine}?rate=44100", schema)))), repeat)
    figures["loading"]["ours"] = statistics.median(loading)
    for name in names:
        (input_,) = APPLICATIONS[name]().inputs
        channels = len(input_.schema) - 1
        path = folder / f"{SOUNDS[name].kind}.csv"
        _write(path, name, lines // channels)
        source = uri.source(f"{path}?rate={RATE}", input_.schema)
        turn = partial(on_spark, spark, name, source, lines // channels * channels)
        figures[name] = statistics.median(_turns(turn, repeat))
    return figures


def on_spark(spark: SparkSession, name: str, source: Source, samples: int) -> float:
    """Million samples a second, from the start of the query to its end."""
    net = APPLICATIONS[name]()
    with tempfile.TemporaryDirectory() as folder:
        sources = {net.inputs[0].name: source}
        run = partial(net.run, sources, spark=spark, checkpoint=f"{folder}/checkpoint", partitions=2)
        return samples / _seconds(run) / 1e6


def alone(name: str, source: Samples) -> float:
    """Million samples a second of the boxes in this process, on parts of files."""
    net = APPLICATIONS[name]()
    run, (input_,) = au.Local(net), net.inputs
    samples, begin = 0, time.perf_counter()
    for part in parts(source):
        run.push({input_.name: part.tuples})
        samples += int(part.tuples.num_rows) * min(source.size, source._length) * (len(source.schema) - 1)
        if samples >= _ALONE:
            break
    return samples / (time.perf_counter() - begin) / 1e6


def count(source: Samples) -> int:
    """How many samples a source has, of all channels."""
    return sum(Path(path).stat().st_size // 2 for path in source.paths) * source.times


def show(report: dict[str, Any]) -> None:
    """Print the tables."""
    console = Console()
    for title, columns, rows in tables(report):
        sheet = Sheet(box=SIMPLE_HEAD)
        for place, column in enumerate(columns):
            sheet.add_column(column, justify="right" if place else "left", no_wrap=not place)
        for row in rows:
            sheet.add_row(*row)
        console.print(title)
        console.print(sheet)


def markdown(report: dict[str, Any]) -> str:
    """The tables as Markdown."""
    where = ", ".join(f"{name} {value}" for name, value in report["machine"].items())
    text = [f"{where}, load {report['load']:.1f}\n"]
    for title, columns, rows in tables(report):
        lines = (columns, ["---"] * len(columns), *rows)
        text += [title, "", *(f"| {' | '.join(line)} |" for line in lines), ""]
    return "\n".join(text)


def tables(report: dict[str, Any]) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """The tables of a report: a title, the names of columns, and rows."""
    rows, more = [], []
    for name, each in report["applications"].items():
        systems = [_number(each.get(key)) for key in ("commercial", "borealis", "no segments", "xstream", "spark")]
        rows.append([name, *systems, f"{each['times']:.1f}", "met" if each["met"] else "not met"])
        speeds = (each["spark"], report["csv"].get(name), each["alone"], each["kernel"])
        more.append([name, *map(_number, speeds), f"{each['part']:.0%}"])
    title = f"Million samples a second, of {report['samples']:,}; a run of no length takes {report['start']:.2f} s"
    yield title, ["", "Commercial", "Borealis", "no segs", "XStream", "Spark", "times", "goal"], rows
    yield "Beside that", ["", "Spark", "from CSV", "one process", "kernel", "of kernel"], more
    loading = report["csv"]["loading"]
    seconds = [[f"{each:.2f}" for each in loading.values()]]
    yield "Seconds to load nine seconds of sound from CSV", list(loading), seconds
    for title, chart in ((signal_memory.TITLE, "memory"), (signal_forms.TITLE, "forms")):
        for name, table in report.get(chart, {}).items():
            cells = [[each if isinstance(each, str) else _number(each) for each in row] for row in table["rows"]]
            yield f"{title}: {name}", table["columns"], cells


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _turns(turn: Callable[[], float], repeat: int) -> list[float]:
    """Repeat a turn, after one to warm up. A single turn, for tests, has no warm-up."""
    if repeat > 1:
        turn()
    return [turn() for _ in range(repeat)]


def _seconds(work: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def _write(path: Path, name: str, frames: int) -> None:
    """Write a sound as CSV, with the names of channels and a line for each sample."""
    sound = replace(SOUNDS[name], seed=0)
    some = sound.frames(0, min(frames, 1 << 20))
    whole = np.concatenate([some] * -(-frames // len(some)))[:frames]
    (input_,) = APPLICATIONS[name]().inputs
    columns = input_.schema.names[1:]
    pyarrow.csv.write_csv(pa.table(dict(zip(columns, whole.T.copy(), strict=True))), path)
