"""Linear Road one tuple at a time, in fractions: all answers that are due, straight from the tables of section 3."""

import functools
import math
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import csv, ipc

from australis.apps.linear_road.record import INPUT


class Row(NamedTuple):
    """A tuple that a vehicle sends."""

    type: int
    time: int
    vid: int
    spd: int = -1
    xway: int = -1
    lane: int = -1
    dir: int = -1
    seg: int = -1
    pos: int = -1
    qid: int = -1
    sinit: int = -1
    send: int = -1
    dow: int = -1
    tod: int = -1
    day: int = -1


Line = tuple[Any, ...]
"""The fields of an answer; Emit is Time."""
Place = tuple[int, int, int]
"""An expressway, a direction, a segment."""


def report(
    time: int, vid: int, seg: int, *, spd: int = 50, lane: int = 1, way: int = 0, xway: int = 0, feet: int = 0
) -> Row:
    """A report from so many feet into a segment; `way` is 0 eastbound and 1 westbound."""
    return Row(0, time, vid, spd, xway, lane, way, seg, seg * 5280 + feet)


def balance(time: int, vid: int, qid: int) -> Row:
    return Row(2, time, vid, qid=qid)


def expenditure(time: int, vid: int, qid: int, xway: int, day: int) -> Row:
    return Row(3, time, vid, xway=xway, qid=qid, day=day)


def travel(time: int, vid: int, qid: int, sinit: int, send: int, dow: int = 1, tod: int = 1, xway: int = 0) -> Row:
    return Row(4, time, vid, xway=xway, qid=qid, sinit=sinit, send=send, dow=dow, tod=tod)


def write(file: Path, rows: Iterable[Row]) -> Path:
    """Write tuples in order of time."""
    ordered = sorted(rows, key=lambda row: row.time)
    columns = list(zip(*ordered, strict=True)) or [()] * len(INPUT)
    table = pa.table([pa.array(column, field.type) for column, field in zip(columns, INPUT, strict=True)], INPUT)
    if file.suffix == ".arrow":
        with ipc.new_file(file, INPUT) as opened:
            opened.write_table(table, 7)
    else:
        csv.write_csv(table, file, csv.WriteOptions(include_header=False))
    return file


class Past:
    """A history in memory: tolls by vehicle, day and expressway; Lav and Cnt by weekday, minute, direction, segment."""

    def __init__(
        self,
        paid: dict[tuple[int, int, int], int] | None = None,
        lav: dict[tuple[int, int, int, int], float] | None = None,
        cnt: dict[tuple[int, int, int, int], float] | None = None,
        everywhere: float = math.nan,
    ) -> None:
        self.paid = paid or {}
        self.lav, self.cnt = np.full((7, 1440, 2, 100), everywhere), np.zeros((7, 1440, 2, 100))
        for table, given in ((self.lav, lav), (self.cnt, cnt)):
            for (day, minute, way, segment), value in (given or {}).items():
                table[day - 1, minute - 1, way, segment] = value

    def tolls(self, vid: Any, day: Any, xway: Any) -> Any:
        return np.array([self.paid.get(key, 0) for key in zip(*map(np.ndarray.tolist, (vid, day, xway)), strict=True)])

    def weekly(self, xway: int) -> tuple[Any, Any] | None:
        return (self.lav, self.cnt) if xway == 0 else None


class Road:
    """All that is to be known of a feed."""

    def __init__(self, rows: Iterable[Row], past: Past | None = None) -> None:
        self.rows = sorted(rows, key=lambda row: row.time)
        self.past = past
        self.reports = {(row.vid, row.time): row for row in self.rows if row.type == 0}
        self.cars: dict[tuple[int, Place], dict[int, list[int]]] = {}
        """The speeds that each car reports in a minute from a place."""
        for row in self.reports.values():
            self.cars.setdefault((minute(row.time), place(row)), {}).setdefault(row.vid, []).append(row.spd)
        self.lav = functools.cache(self._lav)
        self.accidents = self._accidents()

    def answers(self) -> list[Line]:
        """Every answer that is due."""
        found: list[Line] = []
        for row in self.rows:
            match row.type:
                case 0 if self.notifies(row):
                    found.append(
                        (0, row.vid, row.time, row.time, self.lav(minute(row.time), place(row)), self.toll(row))
                    )
                    near = self.nearest(row)
                    found += [(1, row.time, row.time, row.vid, near)] if near is not None else []
                case 2:
                    found.append((2, row.time, row.time, row.time, row.qid, self.balance(row.vid, row.time)))
                case 3:
                    paid = self.past.paid.get((row.vid, row.day, row.xway), 0) if self.past else 0
                    found.append((3, row.time, row.time, row.qid, paid))
                case 4:
                    found.append((4, row.time, row.time, row.qid, *self.journey(row)))
        return found

    def before(self, row: Row) -> Row | None:
        """The report of the same trip 30 s earlier: a trip stays on one side of one expressway."""
        found = self.reports.get((row.vid, row.time - 30))
        return found if found and (found.xway, found.dir) == (row.xway, row.dir) else None

    def enters(self, row: Row) -> bool:
        before = self.before(row)
        return before is None or before.seg != row.seg

    def notifies(self, row: Row) -> bool:
        return self.enters(row) and row.lane != 4

    def _lav(self, number: int, where: Place) -> int:
        minutes = []
        for back in range(1, 6):
            cars = [mean(speeds) for speeds in self.cars.get((number - back, where), {}).values()]
            minutes += [mean(cars)] if cars else []
        return math.floor(mean(minutes)) if minutes else -1

    def toll(self, row: Row) -> int:
        cars = len(self.cars.get((minute(row.time) - 1, place(row)), ()))
        if self.lav(minute(row.time), place(row)) < 40 and cars > 50 and self.nearest(row) is None:
            return 2 * (cars - 50) ** 2
        return 0

    def _accidents(self) -> set[tuple[int, Place]]:
        """The minutes and places of accidents: seconds at which two vehicles are stopped at one position."""
        stopped: dict[Any, set[int]] = {}
        for row in self.reports.values():
            last = [self.reports.get((row.vid, row.time - 30 * i)) for i in range(4)]
            spots = {(each.xway, each.lane, each.pos, each.dir) if each else None for each in last}
            if len(spots) == 1 and row.lane in (1, 2, 3):
                for second in range(row.time, row.time + 30):
                    stopped.setdefault((second, row.xway, row.lane, row.pos, row.dir), set()).add(row.vid)
        return {
            (minute(second), (xway, way, pos // 5280))
            for (second, xway, _, pos, way), vids in stopped.items()
            if len(vids) > 1
        }

    def nearest(self, row: Row) -> int | None:
        for far in range(5):
            segment = min(row.seg + far, 99) if row.dir == 0 else max(row.seg - far, 0)
            if (minute(row.time) - 1, (row.xway, row.dir, segment)) in self.accidents:
                return segment
        return None

    def quote(self, row: Row) -> int:
        """The toll that stands for the segment of a report; none on the exit ramp."""
        if row.lane == 4:
            return 0
        before = self.before(row)
        return self.toll(row) if before is None or before.seg != row.seg else self.quote(before)

    def balance(self, vid: int, time: int) -> int:
        """All charges up to a second."""
        total = 0
        for row in self.reports.values():
            before = self.before(row)
            if row.vid == vid and row.time <= time and before and before.seg != row.seg:
                total += self.quote(before)
        return total

    def journey(self, row: Row) -> tuple[float, float]:
        if row.sinit == row.send:
            return 0, 0
        weekly = self.past.weekly(row.xway) if self.past else None
        if weekly is None:
            return -1, 0
        way, step = (0, 1) if row.sinit < row.send else (1, -1)
        now, toll = Fraction(row.tod), Fraction(0)
        for segment in range(row.sinit, row.send, step):
            days, minute_ = divmod(math.floor(now) - 1, 1440)
            lav, cnt = (float(table[(row.dow - 1 + days) % 7, minute_, way, segment]) for table in weekly)
            if math.isnan(lav):
                return -1, 0
            now += 60 / Fraction(lav)
            toll += 2 * (Fraction(cnt) - 50) ** 2 if lav < 40 and cnt > 50 else 0
        return float(60 * (now - row.tod)), float(toll)


def minute(time: int) -> int:
    return time // 60 + 1


def place(row: Row) -> Place:
    return row.xway, row.dir, row.seg


def mean(values: list[Any]) -> Fraction:
    return Fraction(sum(values), 1) / len(values)
