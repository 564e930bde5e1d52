"""The demonstration: twenty minutes of an expressway that fills up, answered on Spark, validated, and drawn."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from australis.apps.linear_road.benchmark import Benchmark
from australis.apps.linear_road.feed import Feed, feed
from australis.apps.linear_road.record import ALERT, TOLL
from australis.apps.linear_road.report import report
from australis.apps.linear_road.simulation.simulate import simulate
from australis.apps.linear_road.validation import Verdict, validate
from australis.apps.linear_road.validation.answers import answers
from australis.engine.spark.session import session
from australis.errors import RunError

if TYPE_CHECKING:
    from australis.engine.spark.session import SparkSession

SECONDS = 1200
LEAD = 1800
"""Seconds of traffic that come first, all at once. In the next twenty minutes the road jams, and tolls begin."""
SPEED = 20.0
PAGE = "linear_road.html"


@dataclass(frozen=True)
class Demonstration:
    """The results of the demonstration."""

    verdict: Verdict
    page: Path
    traffic: str
    """What happened on the road, in a sentence or two."""


def demo(
    out: Path,
    on_progress: Callable[[str], None],
    seconds: int = SECONDS,
    seed: int = 1,
    speed: float = SPEED,
    lead: int = LEAD,
) -> Demonstration:
    """Run the demonstration in a folder. The `lead` is taken first, and not validated."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"{out}: {error.strerror}; give another folder with --out") from None
    end = (lead + seconds) // 60
    on_progress(f"simulating {end} minutes of an expressway")
    simulate(
        out / "road",
        seconds=lead + seconds,
        seed=seed,
        replace=True,
        on_progress=lambda second: on_progress(f"simulating minute {second // 60} of {end}"),
    )
    stream, output = feed(out / "road"), out / "answers.csv"
    for old in (output, output.with_name(f".{output.name}.journal")):
        old.unlink(missing_ok=True)
    on_progress("starting Spark")
    spark, own_session = session()
    try:
        _warm_up(stream, spark, on_progress)
        bench = Benchmark(stream, output, speed=speed, lead=lead, since=lead)
        with bench.start(spark=spark) as run:
            while not run.wait(0.5):
                second = run.checkpoint.log.inputs().get("sent", {}).get("time", 0)
                pace = "at once" if second < lead else f"at {speed:g} times real time"
                on_progress(f"answering {pace}: minute {second // 60} of {end}")
            batches = list(run.progress)
    finally:
        if own_session:
            spark.stop()
    on_progress("validating every answer")
    verdict = validate(stream, output, speed=speed, since=lead)
    on_progress("drawing")
    about = (
        f"Minutes {lead // 60} to {end} of one expressway at {speed:g} times real time, on Spark on this machine."
        " Accidents are cleared 10 to 20 minutes after they are detected; a toll is due where more than 50 vehicles"
        " go slower than 40 mph, away from an accident."
    )
    page = out / PAGE
    page.write_text(report(stream, output, verdict, speed, batches, about))
    return Demonstration(verdict, page, _traffic(stream, output, lead))


def _traffic(stream: Feed, output: Path, lead: int) -> str:
    """Who was charged and who was warned, as the answers say."""
    read = answers(output).answers
    toll, alerts = read[TOLL].second, len(read[ALERT].time)
    charged = toll[toll > 0]
    accidents = sum(each["cleared"] is None or each["cleared"] >= lead for each in stream.note["accidents"])
    tolls = f"{len(charged):,} of {len(toll):,} notifications named a toll"
    if len(charged):
        tolls += f", {charged.max():,.0f} at most"
    return f"{tolls}.\n{alerts:,} alerts warned of accidents, of which there were {accidents} on the road."


def _warm_up(stream: Feed, spark: SparkSession, on_progress: Callable[[str], None]) -> None:
    """Run the first half minute once, so that no answer waits for processes to start."""
    on_progress("warming up")
    with tempfile.TemporaryDirectory(prefix="australis-") as folder:
        short = replace(stream, until=30)
        Benchmark(short, Path(folder) / "answers.csv", speed=math.inf).start(spark=spark).wait()
