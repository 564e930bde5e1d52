"""Control of a run: directives from the driver to the process that plans batches, through a small file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from australis.disk.wakeup import ring
from australis.engine.spark.shipping import ShippedJob

_FIRST = 1 << 28  # bytes
_MOST, _LEAST = 1 << 25, 1 << 10


@dataclass(frozen=True)
class Directive:
    """The network to run next, about how many tuples of each input a batch may take, and whether to stop.

    With `begin` the first batch does not wait for a tuple. `shed` is the plan by which tuples are left out, if any. A
    batch begins `interval` seconds after the one before, or later. `takes` are the branches that do not take all, and
    how many tuples they take of each of their inputs.
    """

    network: int
    limit: int
    stop: bool = False
    begin: bool = False
    shed: Mapping[str, Any] | None = None
    interval: float = 0.0
    takes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Control:
    """A folder of the driver's own. A bell there rings for every directive."""

    folder: str

    def write(self, directive: Directive) -> None:
        """Put a directive in the place of the one before."""
        path = Path(self.folder) / "directive"
        path.with_suffix(".tmp").write_text(json.dumps(asdict(directive)))
        path.with_suffix(".tmp").rename(path)
        ring(self.folder)

    def read(self) -> Directive:
        """The last directive."""
        return Directive(**json.loads((Path(self.folder) / "directive").read_text()))

    def write_job(self, number: int, job: ShippedJob) -> None:
        """Put down the job of a network, before a directive names the network."""
        (Path(self.folder) / f"job-{number}").write_bytes(job.name.encode() + job.data)

    def read_job(self, number: int) -> ShippedJob:
        """The job of a network."""
        data = (Path(self.folder) / f"job-{number}").read_bytes()
        return ShippedJob(data[:64].decode(), data[64:])

    @property
    def shared_folder(self) -> str:
        """The folder for large trains that go from task to task."""
        return f"{self.folder}/shared"


def first_limit(schemas: Iterable[pa.Schema]) -> int:
    """About how many tuples the first batch takes; how long that took tells how many the next may.

    >>> first_limit([pa.schema({"vid": pa.int64(), "name": pa.string()})])
    6710886
    """
    return min(_FIRST // max((sum(map(_width, schema)) for schema in schemas), default=1), _MOST)


def _width(column: pa.Field[Any]) -> int:
    """About how many bytes a value takes."""
    try:
        return max(1, int(column.type.bit_width) // 8)
    except ValueError:
        return 32


def paced(limit: int, taken: int, seconds: float, aim: float) -> int:
    """The limit after a batch that took so many tuples and seconds: the next one should take the time aimed at.

    Only a batch that was full tells how long a full one takes.

    >>> paced(1_000_000, 1_000_000, 0.8, aim=1), paced(1_000_000, 1_000_000, 4, aim=1), paced(1_000_000, 10, 0.1, aim=1)
    (1000000, 500000, 1000000)
    """
    if taken < limit // 2 and seconds < 2 * aim:
        return limit
    better = int(limit * min(max(aim / max(seconds, 1e-3), 0.5), 2.0))
    better = min(max(better, _LEAST), _MOST)
    return limit if 0.75 < better / limit < 1.3 else better
