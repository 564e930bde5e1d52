"""Survey: what the reports of an expressway add up to, for pictures of it (3.1.1, 3.2.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from australis.apps.linear_road.feed import Feed
from australis.apps.linear_road.half_minute import HalfMinute, choose_expressway, half_minutes
from australis.apps.linear_road.record import (
    BALANCE,
    EAST,
    ENTRY,
    EVERY,
    EXIT,
    EXPENDITURE,
    FEET,
    SEGMENTS,
    TRAVEL,
    WEST,
)
from australis.errors import RunError

PARTS = 4
"""The number of parts of a segment."""
LANES = 5
FASTEST = 100
EARLY = 300
"""Seconds from the start in which traffic flows freely."""
_PLACES = 2 * SEGMENTS
_STOPPED = 4  # reports in a row from one position
_REACH = 5  # segments whose vehicles are warned of an accident

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class SeenAccident:
    """Two vehicles or more that stand at one position of a travel lane, from one second to another."""

    dir: int
    feet: int
    start: int
    end: int


@dataclass(frozen=True)
class RoadSurvey:
    """An expressway by half minutes, by seconds, or by minutes, from the first one on."""

    xway: int
    files: tuple[Path, ...]
    speeds: Array
    """Sums of speeds in travel lanes, by half minute, direction and part of a segment."""
    seen: Array
    """The number of reports in these sums."""
    reports: Array
    """By second."""
    entries: Array
    """Trips that begin, by half minute."""
    road: Array
    """Vehicles on the road, by half minute."""
    begun: Array
    """Trips that begin, by direction and segment."""
    lanes: Array
    """Reports by lane and speed."""
    early: Array
    """Reports of the first five minutes, by lane and speed."""
    tolls: Array
    """By minute, direction and segment."""
    accidents: tuple[SeenAccident, ...]
    totals: dict[str, int]


def survey(feed: Feed, xway: int | None = None, on_progress: Callable[[int], None] | None = None) -> RoadSurvey:
    """Add up the reports of an expressway, by default of the first one.

    `on_progress` is called with the second that was reached.
    """
    speeds, counts, reports, entries, wrecks = [], [], [], [], []
    minute: list[tuple[Array, Array, Array]] = []
    minutes: list[tuple[Array, Array]] = []
    lanes, vehicles = np.zeros((2, LANES, FASTEST + 1), np.int64), np.zeros(0, np.int64)
    begun = np.zeros(_PLACES, np.int64)
    names = ("balance", "expenditure", "travel", "notifications", "alerts")
    totals = dict.fromkeys(names, 0)
    feed, xway = choose_expressway(feed, xway)
    for number, half_minute in enumerate(half_minutes(feed, xway)):
        driving = (half_minute.lane > ENTRY) & (half_minute.lane < EXIT)
        part = (half_minute.dir * SEGMENTS * PARTS + half_minute.pos * PARTS // FEET)[driving]
        speeds.append(np.bincount(part, half_minute.spd[driving], _PLACES * PARTS))
        counts.append(np.bincount(part, minlength=_PLACES * PARTS))
        reports.append(np.bincount(half_minute.time - number * EVERY, minlength=EVERY))
        entries.append(int(np.count_nonzero(half_minute.first)))
        np.add.at(lanes[int(number < EARLY // EVERY)], (half_minute.lane, np.minimum(half_minute.spd, FASTEST)), 1)
        new = np.unique(half_minute.vid[half_minute.first])
        new = new[~_among(new, vehicles)]
        vehicles = np.insert(vehicles, np.searchsorted(vehicles, new), new)
        wrecks.append(_wrecks(half_minute))

        place = half_minute.dir * SEGMENTS + half_minute.seg
        begun += np.bincount(place[half_minute.first], minlength=_PLACES)
        minute.append((place, half_minute.vid, half_minute.spd))
        if number % 2:
            minutes.append(_minute(minute))
            minute.clear()
        entered = half_minute.crossed & (half_minute.lane != EXIT)
        totals["notifications"] += int(np.count_nonzero(entered))
        totals["alerts"] += int(np.count_nonzero(_segments_warned(wrecks, number // 2 - 1)[place[entered]]))
        answerable = half_minute.requests[_among(half_minute.requesters, vehicles)]
        for name, type in zip(names, (BALANCE, EXPENDITURE, TRAVEL), strict=False):
            totals[name] += int(np.count_nonzero(answerable == type))
        if on_progress is not None:
            on_progress((number + 1) * EVERY)
    if minute:
        minutes.append(_minute(minute))
    cars, averages = (np.array(columns) for columns in zip(*minutes, strict=True))
    accidents = _accidents(wrecks)
    every = np.concatenate(reports)
    if not every.any():
        raise RunError(f"no vehicle reports from expressway {xway}; leave it out to see the first one")
    totals |= {"reports": int(every.sum()), "vehicles": len(vehicles), "accidents": len(accidents)}
    reached = np.array([_segments_warned(wrecks, number - 1) for number in range(len(cars))])
    shape = (-1, 2, SEGMENTS * PARTS)
    return RoadSurvey(
        xway,
        feed.files,
        np.array(speeds).reshape(shape),
        np.array(counts).reshape(shape),
        every,
        np.array(entries),
        every.reshape(-1, EVERY).sum(1),
        begun.reshape(2, SEGMENTS),
        lanes.sum(0),
        lanes[1],
        _tolls(cars, averages, reached).reshape(-1, 2, SEGMENTS),
        accidents,
        totals,
    )


def _among(values: Array, sorted: Array) -> Array:
    """Whether values are among sorted ones; `numpy.isin` would sort them again."""
    at = np.searchsorted(sorted, values)
    return (at < len(sorted)) & (sorted.take(at, mode="clip") == values) if len(sorted) else np.zeros_like(at, np.bool_)


def _minute(reports: list[tuple[Array, Array, Array]]) -> tuple[Array, Array]:
    """Cars and their average speed in each segment in a minute: a car's reports are averaged first."""
    place, vid, speed = (np.concatenate(columns) for columns in zip(*reports, strict=True))
    cars, which = np.unique(place << 32 | vid, return_inverse=True)
    means = np.bincount(which, speed) / np.bincount(which) if len(cars) else np.zeros(0)
    count = np.bincount(cars >> 32, minlength=_PLACES)
    sums = np.bincount(cars >> 32, means, _PLACES)
    return count, np.divide(sums, count, out=np.full(_PLACES, np.nan), where=count > 0)


def _tolls(cars: Array, averages: Array, reached: Array) -> Array:
    """Tolls by table 2: from the cars of the minute before, and the average speed of the five minutes before."""
    tolls = np.zeros_like(cars)
    for number in range(1, len(cars)):
        before = averages[max(number - 5, 0) : number]
        minutes = np.count_nonzero(~np.isnan(before), axis=0)
        lav = np.nansum(before, axis=0) // np.maximum(minutes, 1)
        count = cars[number - 1]
        charged = (minutes > 0) & (lav < 40) & (count > 50) & ~reached[number]
        tolls[number] = np.where(charged, 2 * (count - 50) ** 2, 0)
    return tolls


def _wrecks(half_minute: HalfMinute) -> Array:
    """Positions of travel lanes at which two vehicles or more are stopped: direction, feet and lane in one number."""
    stopped = (half_minute.still >= _STOPPED) & (half_minute.lane > ENTRY) & (half_minute.lane < EXIT)
    keys = (half_minute.dir * SEGMENTS * FEET + half_minute.pos) * LANES + half_minute.lane
    positions, vehicles = np.unique(keys[stopped], return_counts=True)
    return positions[vehicles > 1]


def _segments_warned(wrecks: list[Array], minute: int) -> Array:
    """The segments that are warned of the accidents of a minute. Accidents of the half minute before last into it."""
    here = np.zeros((2, SEGMENTS), np.bool_)
    if minute < 0:
        return here.ravel()
    keys = np.concatenate(wrecks[max(2 * minute - 1, 0) : 2 * minute + 2])
    here.ravel()[keys // LANES // FEET] = True
    reached = np.zeros_like(here)
    for ahead in range(_REACH):
        reached[EAST, : SEGMENTS - ahead] |= here[EAST, ahead:]
        reached[WEST, ahead:] |= here[WEST, : SEGMENTS - ahead]
    return reached.ravel()


def _accidents(wrecks: list[Array]) -> tuple[SeenAccident, ...]:
    """Each accident once, in order of their starts. One that goes on in the next half minute is the same."""
    accidents: list[SeenAccident] = []
    under_way: dict[int, int] = {}
    for number, keys in enumerate([*wrecks, np.zeros(0, np.int64)]):
        stopped = set(keys.tolist())
        for key in sorted(set(under_way) - stopped):
            dir, feet = divmod(key // LANES, SEGMENTS * FEET)
            accidents.append(SeenAccident(dir, feet, under_way.pop(key) * EVERY, number * EVERY))
        for key in stopped:
            under_way.setdefault(key, number)
    return tuple(sorted(accidents, key=lambda accident: accident.start))
