"""Control of a run from batch to batch: what the driver tells the process that plans batches, through a small file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from australis.disk.wakeup import ring
from australis.engine.spark.shipping import Sent

_FIRST = 1 << 28  # bytes
_MOST, _LEAST = 1 << 25, 1 << 10


@dataclass(frozen=True)
class Directive:
    """The network to run next, about how many tuples of each input a batch may take, and whether to stop.

    A run that is to `begin` does so without waiting for a tuple.
    """

    network: int
    limit: int
    stop: bool = False
    begin: bool = False


@dataclass(frozen=True)
class Control:
    """A folder of the driver's own. A bell there rings for every order."""

    folder: str

    def give(self, order: Directive) -> None:
        path = Path(self.folder) / "order"
        path.with_suffix(".tmp").write_text(json.dumps(asdict(order)))
        path.with_suffix(".tmp").rename(path)
        ring(self.folder)

    def order(self) -> Directive:
        return Directive(**json.loads((Path(self.folder) / "order").read_text()))

    def put(self, number: int, sent: Sent) -> None:
        """Lay a job ready, before an order names its network."""
        (Path(self.folder) / f"job-{number}").write_bytes(sent.name.encode() + sent.data)

    def job(self, number: int) -> Sent:
        data = (Path(self.folder) / f"job-{number}").read_bytes()
        return Sent(data[:64].decode(), data[64:])

    @property
    def aside(self) -> str:
        """Where trains may be laid that go from task to task."""
        return f"{self.folder}/aside"


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
