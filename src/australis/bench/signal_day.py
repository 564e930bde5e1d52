"""A day of four microphones through DETECTAUDIO: whether memory and the checkpoint level off (XStream II-A)."""

from __future__ import annotations

import json as json_
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Sheet

from australis.apps.sounds.simulate import simulate
from australis.apps.sounds.sounds import Sound
from australis.bench.applications import detectaudio
from australis.boxes.signals.column import segments
from australis.connectors.sources.samples import Samples
from australis.engine.spark import processes
from australis.engine.spark.session import session

MINUTE = 60
"""Seconds of sound, which are repeated."""
_ROWS = 12


class EventCounter:
    """A sink that counts events and their samples, and stores none."""

    def __init__(self) -> None:
        self.batch, self.events, self.samples = -1, 0, 0

    def last_batch(self, run: str, /) -> int | None:
        return None if self.batch < 0 else self.batch

    def write(self, run: str, batch_id: int, table: pa.Table, /) -> None:
        self.batch, self.events = batch_id, self.events + table.num_rows
        for column in table.columns[3:]:
            self.samples += sum(int(segments(chunk).sizes.sum()) for chunk in column.chunks)


def main(hours: float = 24.0, sites: int = 1, json: Path | None = None) -> None:
    """Run, and print how memory and the checkpoint grew, and how many calls were found."""
    net, sound, heard = detectaudio(), Sound("calls", channels=4), EventCounter()
    times, frames = max(1, round(hours * 3600 / MINUTE)), MINUTE * sound.rate
    expected = times * sites * len(sound.events(0, frames))
    spark, own_session = session(master="local[2,4]")
    samples: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        paths = tuple(f"{folder}/{site}.wav" for site in range(sites))
        for path in paths:
            simulate(sound, Path(path), frames)
        source = Samples(net.inputs[0].schema, paths, times=times)
        start = time.monotonic()
        run = net.start(
            {"array": source, "events": heard}, spark=spark, checkpoint=f"{folder}/checkpoint", partitions=2
        )
        with run:
            while not run.wait(0.2):
                frames_done = sum(each["taken"]["array"] for each in run.progress) * source.size / sites
                if run.progress and (not samples or samples[-1]["frames"] != frames_done):
                    size = sum(path.stat().st_size for path in _files(Path(folder) / "checkpoint"))
                    samples.append(
                        {"seconds": time.monotonic() - start, "frames": frames_done, "checkpoint": size}
                        | processes.memory()
                    )
        took = time.monotonic() - start
    if own_session:
        spark.stop()
    count = times * frames * sites * sound.channels
    sheet = Sheet("hours of sound", "driver", "Spark", "workers", "checkpoint", box=SIMPLE_HEAD)
    sheet.title = f"{count / 1e9:,.2f} G samples in {took:.0f} s, {count / took / 1e6:,.0f} M a second: MB"
    for each in samples[:: max(1, len(samples) // _ROWS)]:
        sizes = (f"{each[name] / 1e6:,.1f}" for name in ("driver", "spark", "workers", "checkpoint"))
        sheet.add_row(f"{each['frames'] / sound.rate / 3600:.2f}", *sizes)
    console = Console()
    console.print(sheet)
    console.print(f"{heard.events:,} events of {expected:,} calls, with {heard.samples:,} samples")
    if json is not None:
        figures = {
            "samples": count, "seconds": took, "events": heard.events, "calls": expected, "kept": heard.samples,
            "memory": samples,
        }  # fmt: skip
        json.write_text(json_.dumps(figures, indent=2))


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path
