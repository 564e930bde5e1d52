"""Driver: a source that makes each tuple available exactly at its time, or sooner (3.3)."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.apps.linear_road.feed import Feed
from australis.apps.linear_road.record import INPUT, REPORT
from australis.apps.linear_road.road import RoadFile, road
from australis.connectors.source import Clock, Offset, Part, Split
from australis.errors import RunError
from australis.model.train import Ints

_CHUNK = 1 << 16
_ROW_BITS = 16  # an arrival number has the second, the expressway's index and the row within the second
_MOST_BITS = 16  # of the expressway's index
_NUMBERS = 36  # bits that number the tuples of a batch
ROWS = (1 << _ROW_BITS) - 1
"""The most tuples of one second in a file."""
_HIGHER = ("xway", "vid", "qid")


@dataclass(frozen=True)
class Driver:
    """The tuples of a feed, each `time / speed` seconds after the start; all at once at infinite speed.

    Tuples before `lead` come at once at any speed, and the clock starts with the first tuple at `lead`. The feed has
    one file for each expressway, and its tuples are partitioned by expressway. An offset is a second: all tuples before
    it have come. It also tells when the clock `began`, so that tuples after the lead came when they were due, also of a
    run that is taken up again. What comes at once can wait, and came when it was taken.
    """

    feed: Feed
    speed: float = 1.0
    lead: int = 0
    clock: Clock | None = None

    def __post_init__(self) -> None:
        if not self.speed > 0:
            raise RunError(f"the speed is {self.speed}; give one above zero, or `max`")
        ways = [each.xway for each in self._roads if each.xway >= 0]
        if len(set(ways)) < len(ways):
            raise RunError("several files hold reports of one expressway; give a folder with one file for each")
        if self._place_bits > _MOST_BITS:
            raise RunError(f"{len(self.feed.files) * self.feed.copies} expressways are too many for one run")

    @property
    def schema(self) -> pa.Schema:
        return INPUT

    @property
    def by(self) -> tuple[str, ...] | None:
        return ("xway",)

    @property
    def finite(self) -> bool:
        return True

    @property
    def timed(self) -> bool:
        return True

    @property
    def urgent(self) -> bool:
        """Whether tuples have a time to come at: at infinite speed all are there at once, and wait."""
        return math.isfinite(self.speed)

    def placed(self, spool: Path) -> Driver:
        """The same for processes with another working folder."""
        files = tuple(file.absolute() for file in self.feed.files)
        return replace(self, feed=replace(self.feed, files=files))

    def start(self) -> Offset:
        return {"time": self.feed.since, "began": None}

    def latest(self, offset: Offset, limit_rows: int) -> Offset:
        now, began = int(offset["time"]), offset["began"]
        due = self.lead
        if now >= self.lead:
            began = self._now() if began is None else began
            due = self.end
            if math.isfinite(self.speed):
                due = self.lead + int((self._now() - began) * self.speed / 1e6) + 1
        end = min(due, self.end, now + (1 << _NUMBERS - self._number_bits))
        while end - now > 1 and self._rows(now, end) > limit_rows:
            end = now + max((end - now) // 2, 1)
        return {"time": end, "began": began} if end > now else offset

    def splits(self, start: Offset, end: Offset, count: int) -> list[Split]:
        return [Split(((start["time"], end["time"], end.get("began"), place, count),)) for place in range(count)]

    def before(self, split: Split) -> int:
        ((start, *_),) = split.pieces
        return int(start) << self._number_bits

    def read(self, split: Split) -> Iterator[Part]:
        for start, stop, began, place, count in split.pieces:
            step = max(1, (stop - start) * _CHUNK * count // max(self._rows(start, stop), 1))
            for second in range(start, stop, step):
                for part in self._chunk(second, min(second + step, stop), place, count):
                    clocked = self.urgent and second >= self.lead
                    yield replace(part, ts=self._due(began, part.tuples["time"].to_numpy())) if clocked else part

    def arrived(self, offset: Offset) -> int | None:
        """When the first second after an offset was due; none for what comes at once, until the clock has begun."""
        began = offset["began"]
        if not self.urgent or began is None or self.latest(offset, 1) == offset:
            return None
        return int(self._due(began, np.array([offset["time"]]))[0])

    def finished(self, offset: Offset) -> bool:
        return bool(offset["time"] >= self.end)

    def backlog(self, offset: Offset) -> int:
        """How many tuples are due already."""
        return self._rows(offset["time"], self.latest(offset, 1 << 62)["time"])

    @cached_property
    def end(self) -> int:
        """The second after that of the last tuple."""
        last = max((each.end for each in self._roads), default=0)
        return last if self.feed.until is None else min(last, self.feed.until)

    @property
    def _roads(self) -> list[RoadFile]:
        return [road(file) for file in self.feed.files]

    @property
    def _place_bits(self) -> int:
        """The bits of an expressway's index: reports of each have one, and then requests about each."""
        return (2 * len(self.feed.files) * self.feed.copies).bit_length()

    @property
    def _number_bits(self) -> int:
        return _ROW_BITS + self._place_bits

    def _due(self, began: int, times: npt.NDArray[Any]) -> Ints:
        """When tuples after the lead are due, in microseconds."""
        due: Ints = began + ((times.astype(np.int64) - self.lead) * (1e6 / self.speed)).astype(np.int64)
        return due

    def _rows(self, start: int, stop: int) -> int:
        return self.feed.copies * sum(each.row(stop) - each.row(start) for each in self._roads)

    def _now(self) -> int:
        return time.time_ns() // 1000 if self.clock is None else self.clock()

    def _chunk(self, start: int, stop: int, place: int, count: int) -> Iterator[Part]:
        """The tuples of a partition in some seconds: the reports of its expressways, and the requests about them."""
        copies, roads = np.arange(self.feed.copies), self._roads
        pieces: list[tuple[dict[str, npt.NDArray[Any]], Ints]] = []
        for at, each in enumerate(roads):
            for row, batch in each.between(start, stop):
                columns = {name: column.to_numpy() for name, column in zip(INPUT.names, batch.columns, strict=True)}
                own_copies = copies[(each.xway + copies * self.feed.xways) % count == place]
                number = self._numbers(columns["time"], row - each.row(int(columns["time"][0])))
                report = columns["type"] == REPORT
                requests = np.flatnonzero(~report)
                if len(requests):
                    pieces += self._requests(columns, number, requests, at + len(roads) * len(copies), place, count)
                    reports = np.flatnonzero(report)
                    columns, number = {name: column[reports] for name, column in columns.items()}, number[reports]
                if len(own_copies) and len(number):
                    pieces.append(self._tile(columns, number, own_copies, at))
        if pieces:
            yield _part(pieces)

    def _requests(
        self, columns: dict[str, npt.NDArray[Any]], number: Ints, rows: Ints, at: int, place: int, count: int
    ) -> Iterator[tuple[dict[str, npt.NDArray[Any]], Ints]]:
        """The requests of a partition: those about its expressways, whoever sent them.

        Copies whose expressways are numbered higher by the same remainder are in the partition for the same rows.
        """
        copies, xway = np.arange(self.feed.copies), columns["xway"][rows].astype(np.int64)
        higher = copies * self.feed.xways % count
        for remainder in np.unique(higher).tolist():
            own = rows[np.where(xway < 0, xway, xway + remainder) % count == place]
            if len(own):
                some = {name: column[own] for name, column in columns.items()}
                yield self._tile(some, number[own], copies[higher == remainder], at)

    def _tile(
        self, columns: dict[str, npt.NDArray[Any]], number: Ints, copies: Ints, at: int
    ) -> tuple[dict[str, npt.NDArray[Any]], Ints]:
        """Repeat rows for several copies, one after the other, with the numbers of each copy."""
        feed, places = self.feed, at + copies * len(self.feed.files)
        numbers = (number[None, :] + (places[:, None] << _ROW_BITS)).ravel()
        if len(copies) == 1 and not copies[0]:
            return columns, numbers
        higher = dict(zip(_HIGHER, (feed.xways, feed.vehicles, feed.queries), strict=True))
        tiled = {}
        for name, values in columns.items():
            if name in higher:
                more = (copies * higher[name]).astype(values.dtype)[:, None]
                tiled[name] = np.where(values < 0, values, values + more).ravel()
            else:
                tiled[name] = np.tile(values, len(copies))
        return tiled, numbers

    def _numbers(self, times: npt.NDArray[Any], before: int) -> Ints:
        """The arrival numbers of consecutive tuples: their second and their place in it, after `before` others."""
        wide = times.astype(np.int64)
        starts = np.flatnonzero(np.diff(wide, prepend=-1))
        place = np.arange(1, len(wide) + 1) - np.repeat(starts, np.diff(starts, append=len(wide)))
        place[: starts[1] if len(starts) > 1 else len(place)] += before
        if place.max() >= 1 << _ROW_BITS:
            raise RunError(f"more than {ROWS} tuples of one second in a file, near time {wide[0]}")
        return (wide << self._number_bits) + place


def _part(pieces: list[tuple[dict[str, npt.NDArray[Any]], Ints]]) -> Part:
    number = np.concatenate([number for _, number in pieces])
    columns = {name: np.concatenate([columns[name] for columns, _ in pieces]) for name in INPUT.names}
    if np.any(np.diff(number) < 0):
        order = np.argsort(number)
        number, columns = number[order], {name: values[order] for name, values in columns.items()}
    arrays = [pa.array(columns[column.name], column.type) for column in INPUT]
    return Part(pa.RecordBatch.from_arrays(arrays, schema=INPUT), number)
