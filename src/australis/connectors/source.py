"""Sources: where tuples come from. Anything between two offsets of a source can be read again, the same as before.

An offset is a small dict that JSON can hold. A runner asks a source how far the next batch may go, cuts what lies
between in splits, and reads those anywhere: sources and splits pickle, and hold no open file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import pyarrow as pa

from australis.connectors.dead_letters import Letter
from australis.expressions import Expr
from australis.model.train import Ints

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

    `ts` is when the tuples came, in microseconds: one time for all of them, or one for each. It is as constant as
    `number`: it comes from what is stored or from the offset, never from the clock of the process that reads. Tuples of
    a part without it came when their batch was planned.

    `skipped` tuples are missing because they matter to nobody (see `Selective`). They keep their places: `places` says
    where each of the others stands among all of them, from 0 on, if some are missing.
    """

    tuples: pa.RecordBatch
    number: Ints
    letters: tuple[Letter, ...] = ()
    ts: Ints | int | None = None
    skipped: int = 0
    places: Ints | None = None

    @property
    def length(self) -> int:
        """How many places it has."""
        return self.tuples.num_rows + self.skipped

    def between(self, begin: int, stop: int) -> pa.RecordBatch:
        """The tuples from one place to before another."""
        if self.places is not None:
            begin, stop = np.searchsorted(self.places, (begin, stop)).tolist()
        return self.tuples.slice(begin, max(stop - begin, 0))


class Source(Protocol):
    """Where the tuples of an input come from."""

    @property
    def schema(self) -> pa.Schema:
        """The columns that it gives."""
        ...

    @property
    def finite(self) -> bool:
        """Whether it is known to have an end."""
        ...

    @property
    def timed(self) -> bool:
        """Whether its tuples come by the clock. Those of a source that is not timed are there from the beginning."""
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


@runtime_checkable
class Divided(Protocol):
    """A source whose splits are divided by columns: each time it gives a split for every partition, empty ones too,
    and tuples with the same values of the columns are in the split of the same place.

    Splits are not in order then: their tuples arrive in the order of their numbers.
    """

    @property
    def by(self) -> tuple[str, ...] | None: ...

    def before(self, split: Split) -> int:
        """A number below those of all that lies between the offsets of a split, by less than 2 to the 36th."""
        ...


@runtime_checkable
class Stamped(Protocol):
    """A source that says when its tuples came (`Part.ts`).

    The times ascend along it. A time of its own clock that lies after the batch's is taken for the batch's.
    """

    def arrived(self, offset: Offset) -> int | None:
        """A time before which nothing came of what lies after an offset.

        None if nothing is there after it now, or only what can wait: that has no times.
        """
        ...


@runtime_checkable
class Urgent(Protocol):
    """A source whose tuples may come whether a run takes them or not. Under load these are shed; others can wait."""

    @property
    def urgent(self) -> bool: ...


@runtime_checkable
class Selective(Protocol):
    """A source that can leave tuples unread if it is told which of them matter.

    Offsets and splits stay the same, and so do numbers and places of the tuples that it gives.
    """

    def usable(self, predicate: Expr) -> Expr | None:
        """The part of a predicate by which it knows what to leave out; None if there is none."""
        ...

    def where(self, predicate: Expr) -> Source:
        """The same source, without some of the tuples for which such a part is false or null."""
        ...


@runtime_checkable
class Positioned(Protocol):
    """A source whose offsets can be compared, so that branches of a network may be at positions of their own in it.

    An offset may tell more than its position, such as what its batch was made of.
    """

    def position(self, offset: Offset) -> tuple[int, ...]:
        """Where an offset is: it rises along the source, and is the same however batches came there."""
        ...

    def cut(self, end: Offset, sooner: Offset) -> Offset:
        """An offset that `latest` gave for some start, brought back to the position of one between that start and it.

        It follows the same start.
        """
        ...


@runtime_checkable
class Bounded(Protocol):
    """A source that holds only so much, and refuses what comes beyond that."""

    def filled(self) -> float:
        """The part of it that waits to be read, or is being read."""
        ...


@runtime_checkable
class Mapped(Protocol):
    """A source that may lie in memory: its parts are there at once then, and a thread that reads ahead disturbs."""

    @property
    def mapped(self) -> bool: ...


@runtime_checkable
class Releasing(Protocol):
    """A source that keeps what it gives until it is told that nobody needs it."""

    def release(self, offset: Offset) -> None:
        """What lies before an offset will not be read again. Any process may say so, and again."""
        ...


@runtime_checkable
class Ringing(Protocol):
    """A source that rings a bell when something has come; all others are looked at again and again."""

    @property
    def bell(self) -> str:
        """The folder where it rings."""
        ...


@runtime_checkable
class Known(Protocol):
    """A source that says what it is, by which a checkpoint knows it again; of others it knows the class."""

    def origin(self, checkpoint: Path) -> str:
        """What it is and where, in a few words. What lies in the checkpoint's folder is there wherever that is."""
        ...


@runtime_checkable
class Placed(Protocol):
    """A source that not every process can read as it is: its path is relative, or it has nowhere to keep tuples yet."""

    def placed(self, spool: Path) -> Source:
        """The same source for any process. It keeps what it takes in in the folder `spool`, unless it has its own."""
        ...


class Closing(Protocol):
    """What was opened and is closed at the end."""

    def close(self) -> None: ...


@runtime_checkable
class Opened(Protocol):
    """A source that takes something in while a run goes on. The runner opens it before the first batch."""

    def open(self) -> Closing:
        """Begin to take in, in this process."""
        ...


def selected(source: Source, predicate: Expr | None) -> Source:
    """A source without tuples for which a predicate does not hold, as far as it can leave them unread."""
    return source.where(predicate) if predicate is not None and isinstance(source, Selective) else source


def parts(source: Source, limit_rows: int = 1 << 20) -> Iterator[Part]:
    """All that a source has now, in order."""
    start = source.start()
    while (end := source.latest(start, limit_rows)) != start:
        for split in source.splits(start, end, 1):
            yield from source.read(split)
        start = end
