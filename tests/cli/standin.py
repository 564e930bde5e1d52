"""A run that has done what a test says, without Spark."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import australis as au
from australis.api.network import Network
from australis.engine import measures
from australis.engine.delays import histogram
from australis.engine.log import Log
from australis.engine.service import Service
from australis.engine.totals import Totals
from australis.plan.rules import Firing

REPORTS = au.stream("reports", "time int, vid int, mph int")
FAST = au.network(fast=REPORTS.filter("mph > 60", box="speeding"))


class Checkpoint:
    def __init__(self, path: Path) -> None:
        self.path, self.log = path, Log(path / "query")


class StandIn:
    """What the progress and the metrics of a run are made of."""

    def __init__(self, path: Path, network: Network = FAST) -> None:
        self.network = self.optimized = network
        self.checkpoint = Checkpoint(path)
        self.firings: list[tuple[int, Firing]] = []
        self.totals = self.since_start = Totals()
        self.letters = 0
        self.progress: list[dict[str, Any]] = []
        self.waiting: dict[str, int] | Exception = {"reports": 5}
        self.asked = 0
        self.service = Service()
        self.notices: tuple[tuple[int, str], ...] = ()

    def backlog(self) -> dict[str, int]:
        self.asked += 1
        if isinstance(self.waiting, Exception):
            raise self.waiting
        return self.waiting

    def batch(
        self,
        taken: int,
        given: int,
        letters: int = 0,
        worst: float | None = 0.5,
        seconds: float = 0.25,
        more: Mapping[str, int] | None = None,
    ) -> None:
        """One more is done, in two partitions; `more` is what each gives on further ports."""
        self.letters += letters
        number = len(self.progress) + 1
        rows = []
        for at in range(2):
            place = {"batch": number, "name": "speeding", "partition": at, "taken": taken // 2}
            rows.append({**place, "kind": "box", "port": "out", "seconds": 0.125, "given": given // 2})
            for port, count in {"out": given // 2, "rest": (taken - given) // 2, **(more or {})}.items():
                rows.append({**place, "kind": "arrow", "port": port, "given": count})
            read = {"batch": number, "kind": "source", "name": "reports", "port": "out", "partition": at}
            rows.append({**read, "seconds": 0.25, "given": taken // 2})
            sent = {"batch": number, "kind": "exchange", "name": "speeding", "port": "out", "partition": at}
            rows.append({**sent, "seconds": 0.0625, "taken": given // 2})
        rows.append({"batch": number, "kind": "sink", "name": "fast", "seconds": 0.5, "taken": given})
        rows.append({"batch": number, "kind": "batch", "seconds": seconds, "fixed": seconds / 2})
        if worst is not None:
            delays = histogram(np.full(given, worst / 2), np.ones(given, np.int64))
            late = {"delay": worst / 2, "worst": worst, "age": worst, "oldest": 2 * worst, "delays": delays}
            rows.append({"batch": number, "kind": "output", "name": "fast", "given": given, **late})
        table = pa.RecordBatch.from_pylist(rows, measures.SCHEMA)
        entry: Mapping[str, Any] = {
            "batch": number, "taken": {"reports": taken}, "given": {"fast": given}, "delay": {"fast": worst},
            "seconds": seconds, "letters": self.letters, "late": {}, "refused": {}, "shed": {}, "skipped": {},
            **self.service.progress(),
        }  # fmt: skip
        self.progress.append(dict(entry))
        self.totals.add(dict(entry), [table], letters)
