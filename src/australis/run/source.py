"""Sources: where tuples come from. Anything between two offsets of a source can be read again, the same as before.

An offset is a small dict that JSON can hold. A runner asks a source how far the next batch may go, cuts what lies
between in splits, and reads those anywhere: sources and splits pickle, and hold no open file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import pyarrow as pa

from australis.run.letters import Letter
from australis.train import Ints

Offset: TypeAlias = dict[str, Any]
Clock: TypeAlias = Callable[[], int]
"""Gives the wall-clock time in microseconds."""


@dataclass(frozen=True)
class Split:
    """What one task reads: pieces of a source, in its order. Only the source knows what a piece is."""

    pieces: tuple[Any, ...]


@dataclass(frozen=True)
class Part:
    """Some tuples of a source in their order, and what could not be read among them.

    `number` is the arrival order within the source. It is a place in the source: greater than zero, rising along it,
    with gaps, and the same however the source was split and whenever it is read.
    """

    tuples: pa.RecordBatch
    number: Ints
    letters: tuple[Letter, ...] = ()


class Source(Protocol):
    """Where the tuples of an input come from."""

    @property
    def schema(self) -> pa.Schema:
        """The columns that it gives."""
        ...

    def start(self) -> Offset:
        """The first offset."""
        ...

    def latest(self, offset: Offset, limit_rows: int) -> Offset:
        """How far the batch after an offset may go now: about `limit_rows` tuples, or the same offset for none."""
        ...

    def splits(self, start: Offset, end: Offset, count: int) -> list[Split]:
        """What lies between an offset and the one that `latest` gave for it, in at most `count` splits in order."""
        ...

    def read(self, split: Split) -> Iterator[Part]:
        """The tuples of a split."""
        ...

    def finished(self, offset: Offset) -> bool:
        """Whether nothing will ever come after an offset."""
        ...

    def backlog(self, offset: Offset) -> int:
        """About how many tuples are there after an offset."""
        ...


def parts(source: Source, limit_rows: int = 1 << 20) -> Iterator[Part]:
    """All that a source has now, in order."""
    start = source.start()
    while (end := source.latest(start, limit_rows)) != start:
        for split in source.splits(start, end, 1):
            yield from source.read(split)
        start = end
