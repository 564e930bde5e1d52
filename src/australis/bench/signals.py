"""XStream's applications on Spark, from raw files in the page cache (XStream IV, Table I)."""

from __future__ import annotations

import json as json_
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Sheet

import australis as au
from australis.bench.applications import APPLICATIONS, record
from australis.run.session import session
from australis.run.source import parts
from australis.run.sources.samples import Samples
from australis.signals.column import Segments
from australis.signals.measures import MEASURES
from australis.signals.steps import STEPS
from australis.signals.wavelet import Wavelet

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAPER = {"passchain": 71.4, "statfilter": 97.6, "silencefilter": 64.5, "detectaudio": 7.5, "pipeline": 4.3}
"""Million samples a second, on a Pentium 4 of 2.8 GHz."""
RATE = 48_000
_TURNS = 3
_ALONE = 1 << 23


def main(samples: int = 1 << 28, data: Path | None = None, json: Path | None = None, only: str = "") -> None:
    """Measure all of them, or one, and show the figures."""
    figures: dict[str, dict[str, float]] = {}
    spark, ours = session(master="local[2]")
    with tempfile.TemporaryDirectory() as temporary:
        folder = data or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name, made in APPLICATIONS.items():
            if only not in ("", name):
                continue
            (input_,) = made().inputs
            channels = len(input_.schema) - 1
            source = Samples(input_.schema, record(folder, name, samples // channels), RATE)
            figures[name] = {
                "paper": PAPER[name],
                "spark": _best(partial(_on_spark, spark, name, source)),
                "alone": _best(partial(_alone, name, source)),
                "kernel": _best(partial(_bare, name)) if name in KERNELS else float("nan"),
            }
    if ours:
        spark.stop()
    sheet = Sheet("application", "paper", "Spark", "times", "one process", "kernel", box=SIMPLE_HEAD)
    sheet.title = "million samples a second"
    for name, each in figures.items():
        times = each["spark"] / each["paper"]
        numbers = (f"{each[key]:,.0f}" for key in ("alone", "kernel"))
        sheet.add_row(name, f"{each['paper']}", f"{each['spark']:,.0f}", f"{times:.1f}", *numbers)
    Console().print(sheet)
    if json is not None:
        json.write_text(json_.dumps(figures, indent=2))


def _best(turn: Callable[[], float]) -> float:
    """The best of some turns, after one to warm up."""
    turn()
    return max(turn() for _ in range(_TURNS))


def _samples(source: Samples) -> int:
    return sum(Path(path).stat().st_size // 2 for path in source.paths)


def _on_spark(spark: SparkSession, name: str, source: Samples) -> float:
    net = APPLICATIONS[name]()
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        net.run({net.inputs[0].name: source}, spark=spark, checkpoint=f"{folder}/checkpoint", partitions=2)
        return _samples(source) / (time.perf_counter() - start) / 1e6


def _alone(name: str, source: Samples) -> float:
    """The boxes in this process, on samples in memory."""
    net = APPLICATIONS[name]()
    batches: list[Any] = []
    count = 0
    for part in parts(source):
        batches.append(part.tuples)
        count += int(part.tuples.num_rows) * source.size * (len(source.schema) - 1)
        if count >= _ALONE:
            break
    run = au.Local(net)
    start = time.perf_counter()
    for batch in batches:
        run.push({net.inputs[0].name: batch})
    return count / (time.perf_counter() - start) / 1e6


def _windows(size: int) -> Segments:
    samples = (np.arange(_ALONE) * 7919 % 6007 - 3000).astype(np.int16)
    count = _ALONE // size
    sizes, one = np.full(count, size, np.int32), np.ones(count, np.int64)
    offsets = np.arange(count, dtype=np.int32) * size
    return Segments(samples, offsets, sizes, offsets.astype(np.int64), one, one, 0 * one)


def _statistics(windows: Segments) -> None:
    MEASURES["std"].of(windows)


def _scores(windows: Segments) -> None:
    block = windows.block(np.arange(len(windows)), 128)[:, :32]
    for name in ("hann", "fft", "abs"):
        block = STEPS[name].apply(block)
    block[:, 3:5].sum(axis=1)


def _leaks(windows: Segments) -> None:
    wavelet, rest = Wavelet(4), windows
    for _ in range(4):
        rest, detail = wavelet._halved(rest)
        MEASURES["trimpeak"].of(detail)


KERNELS: dict[str, tuple[int, Callable[[Segments], None]]] = {
    "statfilter": (4096, _statistics),
    "silencefilter": (4096, _statistics),
    "detectaudio": (128, _scores),
    "pipeline": (8192, _leaks),
}
"""What does the arithmetic, on windows of so many samples (of one channel)."""


def _bare(name: str) -> float:
    size, kernel = KERNELS[name]
    windows = _windows(size)
    start = time.perf_counter()
    kernel(windows)
    return _ALONE / (time.perf_counter() - start) / 1e6
