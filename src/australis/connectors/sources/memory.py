"""Memory: batches as a source, for tests and notebooks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from australis.connectors.source import Offset, Part, Split
from australis.errors import RunError


@dataclass(frozen=True)
class MemorySource:
    """Tuples in memory: record batches of one schema. An offset is a number of tuples.

    >>> source = MemorySource((pa.record_batch({"vid": [1, 2, 3]}),))
    >>> end = source.latest(source.start(), limit_rows=2)
    >>> [part.tuples.to_pydict() for split in source.splits(source.start(), end, 1) for part in source.read(split)]
    [{'vid': [1, 2]}]
    """

    batches: tuple[pa.RecordBatch, ...]

    def __post_init__(self) -> None:
        if not self.batches or any(batch.schema != self.batches[0].schema for batch in self.batches):
            raise RunError("a memory source is made of at least one batch, and all of them have the same schema")

    @property
    def schema(self) -> pa.Schema:
        return self.batches[0].schema

    def origin(self, checkpoint: Path) -> str:
        return "tuples in memory"

    @property
    def finite(self) -> bool:
        return True

    @property
    def timed(self) -> bool:
        return False

    def start(self) -> Offset:
        return {"tuples": 0}

    def latest(self, offset: Offset, limit_rows: int) -> Offset:
        return {"tuples": offset["tuples"] + min(self.backlog(offset), limit_rows)}

    def splits(self, start: Offset, end: Offset, count: int) -> list[Split]:
        return [Split((part,)) for part in even(start["tuples"], end["tuples"], count)]

    def read(self, split: Split) -> Iterator[Part]:
        firsts = list(accumulate((batch.num_rows for batch in self.batches), initial=0))
        for begin, stop in split.pieces:
            for first, batch in zip(firsts, self.batches, strict=False):
                low, high = max(begin - first, 0), min(stop - first, batch.num_rows)
                if low < high:
                    yield Part(batch.slice(low, high - low), np.arange(first + low + 1, first + high + 1))

    def finished(self, offset: Offset) -> bool:
        return not self.backlog(offset)

    def backlog(self, offset: Offset) -> int:
        return sum(batch.num_rows for batch in self.batches) - int(offset["tuples"])


def even(begin: int, stop: int, count: int) -> list[tuple[int, int]]:
    """A range in at most so many parts of about the same length, none empty."""
    count = min(max(count, 1), stop - begin)
    bounds = [begin + (stop - begin) * part // count for part in range(count + 1)] if count else [begin]
    return list(pairwise(bounds))
