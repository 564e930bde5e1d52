"""Iterated: parts of a stream as somebody's iterable gives them, one after another."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from australis.connectors import intake
from australis.connectors.source import Offset, Part, Split
from australis.connectors.sources.memory import MemorySource


class Iterated:
    """Parts in any form that `intake` takes, each asked for when the one before it was read.

    It is read once, in this process. An offset counts parts.

    >>> source = Iterated("cars", pa.schema({"vid": pa.int64()}), iter([{"vid": [1, 2]}, [{"vid": 3}]]))
    >>> source.placed(Path("spool")).batches[1].to_pydict()
    {'vid': [3]}
    """

    def __init__(self, input: str, schema: pa.Schema, parts: Iterable[Any]) -> None:
        self.schema = schema
        self._parts = (intake.batch(input, schema, part) for part in parts)
        self._waiting: deque[pa.RecordBatch] = deque()
        self._over = False

    @property
    def finite(self) -> bool:
        return True

    @property
    def timed(self) -> bool:
        return False

    def placed(self, spool: Path) -> MemorySource:
        """All of its parts, as any process can read them."""
        return MemorySource(tuple(self._parts) or (pa.RecordBatch.from_pylist([], self.schema),))

    def start(self) -> Offset:
        return {"parts": 0, "tuples": 0}

    def latest(self, offset: Offset, limit_rows: int) -> Offset:
        """The end of the next part, whatever its length."""
        part = next(self._parts, None)
        self._over = part is None
        if part is None:
            return offset
        self._waiting.append(part)
        return {"parts": offset["parts"] + 1, "tuples": offset["tuples"] + part.num_rows}

    def splits(self, start: Offset, end: Offset, count: int) -> list[Split]:
        return [Split((start["tuples"],))]

    def read(self, split: Split) -> Iterator[Part]:
        (first,) = split.pieces
        part = self._waiting.popleft()
        yield Part(part, np.arange(first + 1, first + part.num_rows + 1))

    def finished(self, offset: Offset) -> bool:
        return self._over

    def backlog(self, offset: Offset) -> int:
        """Nobody knows."""
        return 0
