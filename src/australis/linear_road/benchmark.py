"""The benchmark under way: the network, driven by a feed, on Spark, with its answers in one flat file (3.3)."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from australis.linear_road.answers import Answers
from australis.linear_road.driver import Driver
from australis.linear_road.estimate import Past
from australis.linear_road.feed import Feed
from australis.linear_road.network import network

if TYPE_CHECKING:
    from australis.run.spark import Run


def start(
    feed: Feed,
    output: Path,
    past: Past | None = None,
    *,
    speed: float = 1.0,
    lead: int = 0,
    **how: Any,
) -> Run:
    """Start it; `how` goes to `Network.start`. Those before `lead` seconds are taken at full speed."""
    began: dict[str, Run] = {}

    def seconds() -> float:
        """How long ago the clock of the stream began to run, 0 before that."""
        offset = began["run"].checkpoint.inputs().get("sent") if began else None
        if not offset or offset["began"] is None:
            return 0.0
        passed = (time.time_ns() // 1000 - int(offset["began"])) / 1e6
        return passed + (lead / speed if math.isfinite(speed) else 0.0)

    answers = Answers(Path(output), seconds)
    given: Mapping[str, Any] = {"sent": Driver(feed, speed, lead), **answers.sinks()}
    began["run"] = network(past).start(given, **how)
    return began["run"]
