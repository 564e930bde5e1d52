"""The demonstration: twenty minutes of an expressway with an accident, answered on Spark, validated, and drawn."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from australis.errors import RunError
from australis.linear_road.benchmark import Benchmark
from australis.linear_road.feed import Feed, feed
from australis.linear_road.report import report
from australis.linear_road.simulation.simulate import simulate
from australis.linear_road.validation import Verdict, validate
from australis.run.session import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECONDS = 1200
SPEED = 20.0
PAGE = "linear_road.html"


def demo(
    out: Path, told: Callable[[str], None], seconds: int = SECONDS, seed: int = 1, speed: float = SPEED
) -> tuple[Verdict, Path]:
    """Do it in a folder; the verdict, and the page that is left there."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"{out}: {error.strerror}; give another folder with --out") from None
    told(f"simulating {seconds // 60} minutes of an expressway")
    simulate(out / "road", seconds=seconds, seed=seed)
    stream, answers = feed(out / "road"), out / "answers.csv"
    for old in (answers, answers.with_name(f".{answers.name}.journal")):
        old.unlink(missing_ok=True)
    told("starting Spark")
    spark, ours = session()
    try:
        _warmed(stream, spark, told)
        bench = Benchmark(stream, answers, speed=speed)
        with bench.start(spark=spark) as run:
            while not run.wait(0.5):
                second = run.checkpoint.inputs().get("sent", {}).get("time", 0)
                told(f"answering at {speed:g} times real time: minute {second / 60:.0f} of {seconds // 60}")
            batches = list(run.progress)
    finally:
        if ours:
            spark.stop()
    told("validating every answer")
    verdict = validate(stream, answers, speed=speed)
    told("drawing")
    about = f"{seconds // 60} minutes of one expressway at {speed:g} times real time, on Spark on this machine."
    page = out / PAGE
    page.write_text(report(stream, answers, verdict, speed, batches, about))
    return verdict, page


def _warmed(stream: Feed, spark: SparkSession, told: Callable[[str], None]) -> None:
    """Run the first half minute for nothing, so that no answer waits for processes to start."""
    told("warming up")
    with tempfile.TemporaryDirectory(prefix="australis-") as folder:
        short = replace(stream, until=30)
        Benchmark(short, Path(folder) / "answers.csv", speed=math.inf).start(spark=spark).wait()
