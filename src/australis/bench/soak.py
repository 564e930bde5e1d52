"""A long run at full speed: whether memory and the checkpoint level off."""

from __future__ import annotations

import json as json_
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Sheet

import australis as au
from australis.api.network import Network
from australis.connectors.sources.rate import Rate
from australis.engine.spark import processes
from australis.engine.spark.session import session

A_SECOND = 10_000
KEYS = 50_000
_ROWS = 12


def network() -> Network:
    """Windows by 200 segments, the last speed of 50,000 vehicles behind an exchange, and pairs within two seconds."""
    reports = au.stream("reports", "time bigint, vid int, seg int, mph int")
    stats = reports.aggregate(on="time", size=60, by="seg", n="count(*)", cars="count(distinct vid)", mph="avg(mph)")
    last = au.table("last", "vid int, speed int, times int", key="vid")
    seen = reports.write(last, speed="mph", times="coalesce(old.times, 0) + 1").filter("times % 100 = 0")
    slow = stats.filter("mph < 49").join(stats, "left.seg = right.seg", on="time", size=120)
    return au.network(stats=stats, seen=seen, slow=slow)


def source(net: Network, tuples: int) -> Rate:
    """A source whose tuples are all due at once. Their `time` runs as if they had come at their rate."""
    columns = {
        "time": f"n div {A_SECOND}",
        "vid": f"cast(n * 7919 % {KEYS} as int)",
        "seg": "cast(n * 31 % 200 as int)",
        "mph": "cast(n * 127 % 100 as int)",
    }
    return Rate(net.inputs[0].schema, A_SECOND, tuple(columns.items()), limit=tuples, began=0)


def main(hours: float = 1.0, json: Path | None = None) -> None:
    """Run, and print how memory and the checkpoint grew."""
    net, tuples = network(), int(hours * 3600 * A_SECOND)
    console = Console()
    spark, own_session = session(master="local[2,4]")
    samples: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        connectors = {"reports": source(net, tuples)} | {
            name: f"{folder}/{name}/" for name in ("stats", "seen", "slow")
        }
        start = time.monotonic()
        run = net.start(connectors, spark=spark, checkpoint=f"{folder}/checkpoint", partitions=2, train=A_SECOND * 60)
        with run:
            while not run.wait(0.2):
                taken = sum(each["taken"]["reports"] for each in run.progress)
                if run.progress and (not samples or samples[-1]["tuples"] != taken):
                    size = sum(path.stat().st_size for path in _files(Path(folder) / "checkpoint"))
                    samples.append(
                        {"seconds": time.monotonic() - start, "tuples": taken, "checkpoint": size} | processes.memory()
                    )
        took = time.monotonic() - start
    if own_session:
        spark.stop()
    chosen = samples[:: max(1, len(samples) // _ROWS)]
    sheet = Sheet("minutes of input", "driver", "Spark", "workers", "checkpoint", box=SIMPLE_HEAD)
    sheet.title = f"{tuples:,} tuples in {took:.0f} s: MB"
    for each in chosen:
        sizes = (f"{each[name] / 1e6:,.0f}" for name in ("driver", "spark", "workers", "checkpoint"))
        sheet.add_row(f"{each['tuples'] / A_SECOND / 60:.0f}", *sizes)
    console.print(sheet)
    if json is not None:
        json.write_text(json_.dumps({"tuples": tuples, "seconds": took, "samples": samples}, indent=2))


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path
