"""Road history: looks up vehicles, segments and weekdays in the mapped files of a history (3.1.3, 3.2.3)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import ipc

from australis.apps.linear_road.feed import Feed
from australis.apps.linear_road.record import SEGMENTS
from australis.apps.linear_road.weeks import DAYS, MINUTES, PLACES, WEEKDAYS
from australis.arrow.schema import schema
from australis.errors import RunError

NOTE = "history.json"
"""The file that is written last: a folder that has it is complete."""
VERSION = 1
TABLES = {
    "tolls": schema("vid int, day tinyint, xway smallint, tolls int"),
    "segments": schema(
        "day tinyint, min smallint, xway smallint, dir tinyint, seg tinyint, lav smallint, cnt smallint, toll int"
    ),
    "weekly": schema("dow tinyint, min smallint, dir tinyint, seg tinyint, lav double, cnt double"),
}
"""The folders, each with a file for each expressway."""

Integers = npt.NDArray[np.int64]
Columns = dict[str, npt.NDArray[Any]]
_TYPES: dict[pa.DataType, Any] = {
    pa.int8(): np.int8,
    pa.int16(): np.int16,
    pa.int32(): np.int32,
    pa.float64(): np.float64,
}


def file(folder: Path, table: str, xway: int, ending: str = "arrow") -> Path:
    """The path of a table of an expressway."""
    return folder / table / f"xway-{xway:03}.{ending}"


@dataclass(frozen=True)
class RoadHistory:
    """The history of an input and of its copies. A process maps a file when it first reads from it.

    An expressway of a copy is numbered `step` higher than in the copy before, and a vehicle `vehicles` higher.
    """

    path: Path
    drivers: dict[int, int]
    """How many vehicles have a history on each expressway."""
    copies: int = 1
    step: int = 1
    vehicles: int = 0
    _mapped: dict[tuple[str, int], list[pa.RecordBatch]] = field(default_factory=dict, compare=False, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return RoadHistory, (self.path, self.drivers, self.copies, self.step, self.vehicles)

    def tolls(self, vid: npt.ArrayLike, day: npt.ArrayLike, xway: npt.ArrayLike) -> Integers:
        """What vehicles paid on days on expressways; 0 if there is no row."""
        vids, days, xways = _align(vid, day, xway)
        copy, xways = self._original(xways)
        vids = vids - copy * self.vehicles
        paid = np.zeros(len(vids), np.int64)
        valid = (days >= 1) & (days <= DAYS) & (vids >= 0)
        if self.copies > 1:
            valid &= vids < self.vehicles
        for one in self._among(xways):
            (batch,) = self._table("tolls", one)
            chosen = valid & (xways == one)
            paid[chosen] = _tolls(_column(batch, "vid"), _column(batch, "tolls"), vids[chosen], days[chosen])
        return paid

    def weekly(self, xway: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None:
        """Average Lav and Cnt of ten weeks, by weekday, minute (both from 0), direction and segment."""
        _, (original,) = self._original(np.array([xway]))
        if original not in self.drivers:
            return None
        (batch,) = self._table("weekly", int(original))
        shape = (WEEKDAYS, MINUTES, 2, SEGMENTS)
        return _column(batch, "lav").reshape(shape), _column(batch, "cnt").reshape(shape)

    def segment(
        self, day: npt.ArrayLike, minute: npt.ArrayLike, xway: npt.ArrayLike, dir: npt.ArrayLike, seg: npt.ArrayLike
    ) -> tuple[Integers, Integers, Integers]:
        """Lav, Cnt and Toll of segments at minutes of days; -1, 0 and 0 if there is no row."""
        days, minutes, xways, dirs, segs = _align(day, minute, xway, dir, seg)
        _, xways = self._original(xways)
        lav, cnt, toll = np.full(len(days), -1), np.zeros(len(days), np.int64), np.zeros(len(days), np.int64)
        valid = (minutes >= 1) & (minutes <= MINUTES) & (segs >= 0) & (segs < SEGMENTS) & ((dirs == 0) | (dirs == 1))
        rows = (minutes - 1) * PLACES + dirs * SEGMENTS + segs
        for one in self._among(xways):
            batches = self._table("segments", one)
            of_one = valid & (xways == one) & (days >= 1) & (days <= DAYS)
            for date in np.unique(days[of_one]).tolist():
                chosen = of_one & (days == date)
                for name, values in (("lav", lav), ("cnt", cnt), ("toll", toll)):
                    values[chosen] = _column(batches[date - 1], name)[rows[chosen]]
        return lav, cnt, toll

    def _original(self, xways: Integers) -> tuple[Integers, Integers]:
        """The copies that expressways belong to, and the expressways that they copy; -1 for others."""
        if self.copies == 1:
            return np.zeros_like(xways), xways
        copy = xways // self.step
        return copy, np.where((copy >= 0) & (copy < self.copies), xways - copy * self.step, -1)

    def _among(self, xways: Integers) -> list[int]:
        if len(xways) == 1:  # a single expressway is common, and `unique` is slow to start
            return [one for one in xways.tolist() if one in self.drivers]
        return [one for one in np.unique(xways).tolist() if one in self.drivers]

    def _table(self, table: str, xway: int) -> list[pa.RecordBatch]:
        """The batches of a file, mapped but not read."""
        batches = self._mapped.get((table, xway))
        if batches is None:
            batches = self._mapped[table, xway] = _map(file(self.path, table, xway), table, self.drivers[xway])
        return batches


def open_history(path: str | Path, feed: Feed | None = None) -> RoadHistory:
    """Open the history in a folder; with a feed of several copies, also for the copies."""
    path = Path(path)
    note = read_note(path)
    if note is None:
        raise RunError(f"{path}: there is no history here; `australis linear-road history` makes one")
    try:
        drivers = {int(xway): int(count) for xway, count in note["xways"].items()}
        numbers = {name: int(note["numbers"][name]) for name in ("xways", "vehicles")}
    except (KeyError, TypeError, ValueError, AttributeError):
        raise RunError(f"{path / NOTE}: does not say which expressways there are; make the history again") from None
    for xway in drivers:
        for table in TABLES:
            if not file(path, table, xway).is_file():
                raise RunError(f"{file(path, table, xway)}: is missing; make the history again")
    if feed is None:
        return RoadHistory(path, drivers)
    counted = {"xways": feed.xways, "vehicles": feed.vehicles}
    if feed.vehicles and numbers["vehicles"] and counted != numbers:
        sizes = [f"{n['xways']} expressways and {n['vehicles']} vehicles" for n in (numbers, counted)]
        raise RunError(f"{path}: is the history of {sizes[0]}, and this input has {sizes[1]}; make the history again")
    return RoadHistory(path, drivers, feed.copies, feed.xways, feed.vehicles)


def read_note(path: Path) -> dict[str, Any] | None:
    """Read the note of the history in a folder; None if there is none."""
    if not (path / NOTE).is_file():
        return None
    try:
        note = json.loads((path / NOTE).read_text())
        version = note["version"]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise RunError(f"{path / NOTE}: cannot be read ({error!r}); is this the folder of a history?") from None
    if version != VERSION:
        raise RunError(f"{path}: a history of version {version}, and this is {VERSION}; delete it and make it again")
    return dict(note)


def _map(path: Path, table: str, vehicles: int) -> list[pa.RecordBatch]:
    rows = {"tolls": [vehicles * DAYS], "segments": [MINUTES * PLACES] * DAYS, "weekly": [WEEKDAYS * MINUTES * PLACES]}
    try:
        reader = ipc.open_file(pa.memory_map(str(path)))
        batches = [reader.get_batch(number) for number in range(reader.num_record_batches)]
    except (pa.ArrowException, OSError) as error:
        raise RunError(f"{path}: cannot be read ({str(error).strip()}); make the history again") from None
    if reader.schema != TABLES[table] or [batch.num_rows for batch in batches] != rows[table]:
        raise RunError(f"{path}: is not what the history says about it; make the history again")
    return batches


def _column(batch: pa.RecordBatch, name: str) -> npt.NDArray[Any]:
    """A column as a view of the mapped file. Arrow's `to_numpy` would load pandas first, which takes a second."""
    column = batch[name]
    buffer: Any = column.buffers()[1]
    return np.frombuffer(buffer, _TYPES[column.type], len(column))


def _align(*columns: npt.ArrayLike) -> list[Integers]:
    """The columns as arrays of one length."""
    arrays = [np.atleast_1d(np.asarray(each, np.int64)) for each in columns]
    if len({array.shape for array in arrays}) > 1:
        arrays = [np.array(array) for array in np.broadcast_arrays(*arrays)]
    return arrays


def _tolls(
    vids: npt.NDArray[np.int32], tolls: npt.NDArray[np.int32], keys: Integers, days: Integers
) -> npt.NDArray[np.int32]:
    """Find the tolls of vehicles by bisection. Each has a row for every day, so this reads few pages."""
    count = len(vids) // DAYS
    low = np.zeros(len(keys), np.int64)
    for bit in reversed(range((count - 1).bit_length())):
        probe = np.minimum(low + (1 << bit), count - 1)
        low = np.where(vids[probe * DAYS] <= keys, probe, low)
    return np.where(vids[low * DAYS] == keys, tolls[low * DAYS + days - 1], 0)
