"""The benchmark: the network, its driver, and the sinks of its answers (3.3)."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from australis.api.network import Network
from australis.apps.linear_road.answers import AnswerLog
from australis.apps.linear_road.driver import Driver
from australis.apps.linear_road.estimate import PastTraffic
from australis.apps.linear_road.feed import Feed
from australis.apps.linear_road.network import network
from australis.apps.linear_road.network_file import read_network

if TYPE_CHECKING:
    from australis.engine.spark.run import Run


@dataclass
class Benchmark:
    """A feed at a speed, with the seconds before `lead` at once. `network` and `named` are the arguments of a run."""

    feed: Feed
    output: Path
    past: PastTraffic | None = None
    speed: float = 1.0
    lead: int = 0
    since: int = 0
    """Answers to requests before this second are not written."""
    file: Path | None = None
    """A file with the network and its graphs, else the network alone: nothing is shed then."""
    run: Run | None = None
    """The run. Answers get the time of its clock, which starts with its first batch after the lead."""

    @cached_property
    def network(self) -> Network:
        return network(self.past) if self.file is None else read_network(self.file, self.past)

    @property
    def named(self) -> dict[str, Any]:
        return {
            "sent": Driver(self.feed, self.speed, self.lead),
            **AnswerLog(self.output, self.seconds, self.since).sinks(),
        }

    def start(self, **options: Any) -> Run:
        """Start a run; `options` go to `Network.start`."""
        self.watch(run := self.network.start(self.named, **options))
        return run

    def watch(self, run: Run) -> None:
        """Use the clock of a run."""
        self.run = run

    def seconds(self) -> float:
        """How long ago a tuple of time 0 was due at this speed; 0 before the clock has started."""
        offset = self.run.checkpoint.log.inputs().get("sent") if self.run is not None else None
        if not offset or offset["began"] is None:
            return 0.0
        passed = (time.time_ns() // 1000 - int(offset["began"])) / 1e6
        return passed + (self.lead / self.speed if math.isfinite(self.speed) else 0.0)
