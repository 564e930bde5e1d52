"""Replay: files made available as their own times come, at their own speed or a multiple of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import types

from australis.arrow.compute import pc
from australis.connectors.source import Clock, Offset, Part, Split
from australis.connectors.sources.files import PLACE_BITS, Files
from australis.connectors.sources.form import packed
from australis.errors import RunError, listing, near
from australis.model.train import Ints

_AHEAD = 1 << 20  # how many tuples a backlog is counted in

FASTEST = 1e12
"""The speed at which nothing waits for its time."""


@dataclass(frozen=True)
class DueTimes:
    """When tuples are due, from the latest time at or before each: all times are in microseconds."""

    began: int
    first: int | None
    reached: int | None
    """The latest time before them; None before the first."""
    speed: float

    def at(self, times: Ints) -> Ints:
        """When tuples of such times are due; those before the first time are due at the beginning."""
        after = np.maximum(times - float(self.first or 0), 0.0) / self.speed
        due: Ints = self.began + after.astype(np.int64)
        return due


@dataclass(frozen=True)
class Replay:
    """The tuples of files, each when it is due: the time in column `on`, counted from the first, `speed` times as fast.

    Times are numbers of seconds, or timestamps, and rise along the files; a tuple behind a later one waits with it. One
    without a time is due with the one before it. An offset holds that of the files, the wall-clock time at which the
    replay began and the first time of the stream, so that a run that is taken up again has only fallen behind. It also
    tells the latest time that was `reached`, and whether the batch was in `order`, so that no split of it must look at
    those before it. Tuples came when they were due.
    """

    files: Files
    on: str
    speed: float = 1.0
    began: int | None = None
    """The wall-clock time in microseconds at which the first tuple is due; if not given, when the run starts."""
    clock: Clock | None = None

    def __post_init__(self) -> None:
        if self.on not in self.schema.names:
            hint = near(self.on, self.schema.names)
            raise RunError(f"replay: no column {self.on}; there are {listing(self.schema.names)}{hint}")
        kind = self.schema.field(self.on).type
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_timestamp(kind)):
            raise RunError(f"replay: column {self.on} is {kind}; it needs numbers of seconds, or timestamps")
        if not 0 < self.speed < inf:
            raise RunError(f"replay: the speed is {self.speed}; give one above zero, such as speed=10")

    @property
    def schema(self) -> pa.Schema:
        return self.files.schema

    def origin(self, checkpoint: Path) -> str:
        return f"a replay of {self.files.spelled} by {self.on}"

    @property
    def finite(self) -> bool:
        return self.files.finite

    @property
    def timed(self) -> bool:
        return True

    @property
    def urgent(self) -> bool:
        """Whether tuples have a time to come at: at the greatest speed all are there at once, and wait."""
        return self.speed < FASTEST

    def placed(self, spool: Path) -> Replay:
        return replace(self, files=self.files.placed(spool))

    def start(self) -> Offset:
        return {"began": self._now() if self.began is None else self.began, "first": None, "at": self.files.start()}

    def latest(self, offset: Offset, limit_rows: int) -> Offset:
        end = self.files.latest(offset["at"], limit_rows)
        first, passed, reached, order = offset["first"], 0, offset.get("reached"), True
        for file, *_ in end["files"]:
            if packed(file):
                raise RunError(f"{file}: a compressed file is read whole, and cannot be replayed; unpack it")
        for split in self._times.splits(offset["at"], end, 1):
            for part in self._times.read(split):
                times = _microseconds(part.tuples.column(self.on))
                known = np.flatnonzero(times != _NONE)
                if first is None and len(known):
                    first = int(times[known[0]])
                due = (first or 0) + int((self._now() - offset["began"]) * self.speed)
                late = known[times[known] > due]
                rising = _rising(times[: late[0]] if len(late) else times, reached)
                order &= bool((rising == times[: len(rising)]).all())
                reached = int(rising[-1]) if len(rising) else reached
                if len(late):
                    if not passed + late[0]:
                        return offset
                    at = _before(end, int(part.number[late[0]]))
                    return {**offset, "first": first, "at": at, "reached": reached, "order": order}
                passed += len(times)
        if end == offset["at"]:
            return offset
        return {**offset, "first": first, "at": end, "reached": reached, "order": order}

    def splits(self, start: Offset, end: Offset, count: int) -> list[Split]:
        splits = self.files.splits(start["at"], end["at"], count)
        reached = [start.get("reached")]
        for split in splits[:-1]:
            # In a batch that is in order, each tuple is due at its own time, whatever comes before it.
            reached.append(reached[0] if end.get("order") else self._reached(split, reached[-1]))
        return [
            Split((DueTimes(end["began"], end["first"], latest, self.speed), *split.pieces))
            for split, latest in zip(splits, reached, strict=False)
        ]

    def read(self, split: Split) -> Iterator[Part]:
        due, *pieces = split.pieces
        reached = due.reached
        for part in self.files.read(Split(tuple(pieces))):
            rising = _rising(_microseconds(part.tuples.column(self.on)), reached)
            reached = int(rising[-1]) if len(rising) else reached
            yield replace(part, ts=due.at(rising))

    def position(self, offset: Offset) -> tuple[int, ...]:
        return self.files.position(offset["at"])

    def cut(self, end: Offset, sooner: Offset) -> Offset:
        at = self.files.cut(end["at"], sooner["at"])
        return {**end, "first": sooner["first"], "reached": sooner.get("reached"), "at": at}

    def arrived(self, offset: Offset) -> int | None:
        """When the last tuple before an offset was due, which the next one waits with at least."""
        if self.latest(offset, 1) == offset:
            return None
        due = DueTimes(offset["began"], offset["first"], offset.get("reached"), self.speed)
        return offset["began"] if due.reached is None else int(due.at(np.array([due.reached]))[0])

    def finished(self, offset: Offset) -> bool:
        return self.files.finished(offset["at"])

    def backlog(self, offset: Offset) -> int:
        """Those that are due already, counted up to about a million."""
        end = self.latest(offset, _AHEAD)
        return sum(
            part.tuples.num_rows
            for split in self._times.splits(offset["at"], end["at"], 1)
            for part in self._times.read(split)
        )

    def _reached(self, split: Split, reached: int | None) -> int | None:
        """The latest time up to the end of a split."""
        for part in self._times.read(split):
            rising = _rising(_microseconds(part.tuples.column(self.on)), reached)
            reached = int(rising[-1]) if len(rising) else reached
        return reached

    @cached_property
    def _times(self) -> Files:
        """The same files, read for their times alone."""
        time = self.schema.field(self.on).with_nullable(True)
        narrow = pa.schema([time]) if self.files.header else self.schema
        return replace(self.files, schema=narrow, strict=False)

    def _now(self) -> int:
        return time.time_ns() // 1000 if self.clock is None else self.clock()


_NONE = np.iinfo(np.int64).min


def _microseconds(column: pa.Array) -> Ints:  # type: ignore[type-arg]
    if types.is_timestamp(column.type):
        moments = column.cast(pa.timestamp("us", column.type.tz), safe=False).cast(pa.int64())
    else:
        moments = pc.cast(pc.round(pc.multiply(column.cast(pa.float64()), 1e6)), pa.int64(), safe=False)
    return moments.fill_null(_NONE).to_numpy(zero_copy_only=False)


def _rising(times: Ints, reached: int | None) -> Ints:
    """The latest time at or before each tuple; that of none is the least number."""
    latest: Ints = np.maximum(np.maximum.accumulate(times), _NONE if reached is None else reached)
    return latest


def _before(end: Offset, number: int) -> Offset:
    """The offset of the files just before the tuple of an arrival number."""
    place, position = number - 1 >> PLACE_BITS, number - 1 & (1 << PLACE_BITS) - 1
    *files, (name, _, size, changed) = end["files"][: place - end["before"] + 1]
    return {**end, "files": [*files, [name, position, size, changed]], "rest": True}
