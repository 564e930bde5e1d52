"""Rate: the largest number of expressways that a run at real time answers right and in time (3.3)."""

from __future__ import annotations

import math
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from australis.apps.linear_road.benchmark import Benchmark
from australis.apps.linear_road.estimate import PastTraffic
from australis.apps.linear_road.feed import Feed
from australis.apps.linear_road.validation import Verdict, validate
from australis.engine.spark import processes
from australis.errors import RunError

if TYPE_CHECKING:
    from australis.engine.spark.session import SparkSession

OnProgress = Callable[[str], None]
_TICK = 0.5


@dataclass(frozen=True)
class Span:
    """The part of the input that is used: from `since` on, at full speed up to `lead`, at real time up to `until`."""

    since: int
    lead: int
    until: int

    def __str__(self) -> str:
        begins = f"seconds {self.since} to {self.lead} at full speed, then " if self.lead > self.since else "seconds "
        return f"{begins}{self.lead} to {self.until} at real time"


@dataclass(frozen=True)
class Trial:
    """A run with a number of expressways, and what it needed."""

    xways: int
    copied: int
    """How many of them each simulated one is presented as."""
    verdict: Verdict
    warm: float
    """Seconds that the part at full speed took."""
    reports: int
    """Tuples of the part at real time."""
    cores: float
    """Processors in use on average at real time, by all processes."""
    memory: int
    """The most bytes that all processes held."""
    batch: float
    """Seconds that a batch took at real time, the median."""
    worst: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"verdict": self.verdict.as_dict()}


def trial(
    feed: Feed,
    span: Span,
    past: PastTraffic | None = None,
    *,
    spark: SparkSession,
    on_progress: OnProgress | None = None,
) -> Trial:
    """Run a feed over a span, and validate the answers of the part at real time."""
    part = replace(feed, since=span.since, until=span.until)
    with tempfile.TemporaryDirectory(prefix="australis-") as folder:
        output = Path(folder) / "answers.csv"
        bench = Benchmark(part, output, past, lead=span.lead, since=span.lead)
        started, live, used, most = time.monotonic(), 0.0, 0.0, 0
        run = bench.start(spark=spark, checkpoint=Path(folder) / "checkpoint")
        with run:
            while not run.wait(_TICK):
                most = max(most, sum(processes.memory().values()))
                if not live and bench.seconds() > 0:
                    live, used = time.monotonic(), processes.seconds()
                if on_progress is not None:
                    on_progress(_progress(bench, span))
            ended, spent = time.monotonic(), processes.seconds()
            batches = list(run.progress)
        if on_progress is not None:
            on_progress("validating")
        verdict = validate(part, output, past, since=span.lead)
    last = [each for each in batches if each["delay"].get("tolls") is not None][-(span.until - span.lead) :]
    times = [each["seconds"] for each in last]
    return Trial(
        feed.xways * feed.copies,
        feed.copies,
        verdict,
        warm=live - started,
        reports=sum(each["taken"]["sent"] for each in last),
        cores=(spent - used) / (ended - live),
        memory=most,
        batch=statistics.median(times),
        worst=max(times),
    )


def _progress(bench: Benchmark, span: Span) -> str:
    run = bench.run
    assert run is not None
    second = run.checkpoint.log.inputs().get("sent", {}).get("time", span.since)
    late = "" if second < span.lead else f", {bench.seconds() - second:.1f} s behind"
    return f"{bench.feed.xways * bench.feed.copies} expressways: second {second} of {span.until}{late}"


def ratings(
    feed: Feed,
    span: Span,
    first: int,
    most: int,
    past: Callable[[Feed], PastTraffic | None],
    *,
    spark: SparkSession,
    on_progress: OnProgress | None = None,
) -> Iterator[Trial]:
    """Run trials with more and more expressways until one fails, then between. The largest that passed is the rating.

    Numbers of expressways are multiples of those that were simulated. It ends when the rating is known to a tenth.
    """
    if not span.since <= span.lead < span.until:
        raise RunError(f"{span}: give seconds in this order, and some at real time")
    copies, passed, failed = max(1, first // feed.xways), 0, math.inf
    limit = max(1, most // feed.xways)
    while copies > passed and copies < failed:
        copied = replace(feed, copies=copies)
        result = trial(copied, span, past(copied), spark=spark, on_progress=on_progress)
        yield result
        if result.verdict.ok:
            passed = copies
            copies = min(2 * copies, limit) if failed == math.inf else (passed + int(failed)) // 2
        else:
            failed = copies
            copies = (passed + copies) // 2
        if passed == limit or failed - passed <= max(1, passed // 10):
            return
