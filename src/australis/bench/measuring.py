"""The cost of measuring: a task with and without it, in turn."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch

import australis as au
from australis.api.network import Network
from australis.bench import workloads
from australis.connectors.sources.files import Files
from australis.engine import task
from australis.engine.batch import Batch
from australis.engine.job import Job
from australis.engine.measures import TaskMeasures
from australis.engine.spark.prefork import MEMORY
from australis.engine.succession import planned
from australis.engine.superbox import Event, Passage
from australis.model.network import OUT
from australis.model.train import Train

T = TypeVar("T")


class NoMeasures(TaskMeasures):
    """Runs boxes and measures nothing."""

    def run(self, events: Iterable[Event | Passage], uncounted: Collection[tuple[str, str]] = ()) -> None:
        deque(events, maxlen=0)

    def count(self, source: str, port: str, train: Train) -> None:
        pass

    def read(self, input: str, train: Train, label: str = OUT, first: bool = True) -> None:
        pass

    def reading(self, input: str, parts: Iterable[T], label: str = OUT) -> Iterator[T]:
        return iter(parts)


def filters() -> Network:
    """Five filters in a row, of which it is counted which tuples pass which of them."""
    stream = au.stream("tuples", workloads.SCHEMA)
    for number, predicate in enumerate(("key != 7", "value > 3", "status >= 0", "item < 45000", "value < 90"), 1):
        stream = stream.filter(predicate, box=f"filter_{number}")
    return au.network(out=stream)


NETWORKS = {"windows": workloads.windows, "filters": filters}


def share(folder: Path, repeat: int, network: str) -> float:
    """The fraction of a task's time that measuring takes, for a network over the files of a folder."""
    net = NETWORKS[network]()
    (input,) = net.inputs
    source = Files(f"{folder}/*.parquet", input.schema)
    (split,) = source.splits(source.start(), source.latest(source.start(), 1 << 22), 1)
    times: dict[type[TaskMeasures], list[float]] = {TaskMeasures: [], NoMeasures: []}
    for turn in range(2 * repeat + 2):
        kind = (TaskMeasures, NoMeasures)[turn % 2]
        with tempfile.TemporaryDirectory() as checkpoint, patch.object(task, "TaskMeasures", kind):
            sources = {input.name: source}
            job = Job(net, planned(net, sources, 1), sources, checkpoint, 1)
            start = time.thread_time()
            task.read_splits(job, Batch(1, 0, True), 0, {input.name: split})
            if turn > 1:
                times[kind].append(time.thread_time() - start)
    measured, silent = (statistics.median(times[kind]) for kind in (TaskMeasures, NoMeasures))
    return measured / silent - 1


def share_apart(folder: Path, repeat: int, network: str) -> float:
    """The same in a process that keeps its memory, as Spark's tasks do."""
    command = [sys.executable, "-m", __name__, str(folder), str(repeat), network]
    result = subprocess.run(command, env={**os.environ, **MEMORY}, stdout=subprocess.PIPE, text=True, check=True)
    return float(result.stdout)


if __name__ == "__main__":
    print(share(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]))
