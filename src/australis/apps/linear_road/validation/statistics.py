"""Statistics: the cars of a segment in each minute, and their latest average velocity (table 2)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from australis.apps.linear_road.validation.arrays import Ints
from australis.apps.linear_road.validation.reports import Reports
from australis.errors import RunError
from australis.kernels.jit import kernel

_SHARE = 60
"""A car's average of up to six reports is a whole number of sixtieths."""
_NEAR = 1e-9


@dataclass(frozen=True)
class Statistics:
    """Tables by minute and place."""

    cars: Ints
    """How many vehicles reported in the minute."""
    lav: Ints
    """The average of the five minutes before, rounded down; -1 if there is no report in them."""


def statistics(reports: Reports, file: Path) -> Statistics:
    cars = np.zeros((reports.minutes, reports.places), np.int64)
    speeds = np.zeros_like(cars)
    often = _count(reports.vid, reports.time, reports.place, reports.spd, cars, speeds)
    if often >= 0:
        raise RunError(
            f"{file}: vehicle {reports.vid[often]} reports more than six times in the minute of time"
            f" {reports.time[often]}; reports are 30 s apart"
        )
    return Statistics(cars, averages(cars, speeds))


@kernel
def _count(vid: Ints, time: Ints, place: Ints, spd: Ints, cars: Ints, speeds: Ints) -> int:
    """Add up each car's average once, at its first report of the minute from the place."""
    for i in range(len(vid)):
        minute = time[i] // 60
        j = i - 1
        while j >= 0 and vid[j] == vid[i] and time[j] // 60 == minute and place[j] != place[i]:
            j -= 1
        if j >= 0 and vid[j] == vid[i] and time[j] // 60 == minute:
            continue
        total, count = 0, 0
        j = i
        while j < len(vid) and vid[j] == vid[i] and time[j] // 60 == minute:
            if place[j] == place[i]:
                total += spd[j]
                count += 1
            j += 1
        if count > 6:
            return i
        cars[minute + 1, place[i]] += 1
        speeds[minute + 1, place[i]] += _SHARE * total // count
    return -1


@kernel
def averages(cars: Ints, speeds: Ints) -> Ints:
    """LAV by minute and place, from the cars and the sums of their averages in sixtieths."""
    lav = np.full(cars.shape, -1, np.int64)
    for minute in range(1, len(cars)):
        first = max(0, minute - 5)
        for place in range(cars.shape[1]):
            full, whole = 0, 0
            for m in range(first, minute):
                if cars[m, place]:
                    full += 1
                    whole += speeds[m, place] // cars[m, place]
            if full:
                rest = _whole_of_rests(cars[first:minute, place], speeds[first:minute, place])
                lav[minute, place] = (whole + rest) // (_SHARE * full)
    return lav


@kernel
def _whole_of_rests(cars: Ints, speeds: Ints) -> int:
    """The sum of what whole numbers leave of speeds / cars, rounded down exactly.

    A double decides unless it is next to a whole number. The sum is then compared with that number over the common
    denominator. Both sides may wrap, but their difference is known to be below the denominator (under 10 to the 27th
    with 250,000 cars a segment) times 1e-9, so what is left after wrapping is the difference itself.
    """
    near = 0.0
    for m in range(len(cars)):
        if cars[m]:
            near += (speeds[m] % cars[m]) / cars[m]
    whole = int(np.rint(near))
    if abs(near - whole) > _NEAR:
        return int(np.floor(near))
    above, below = np.int64(0), np.int64(1)
    for m in range(len(cars)):
        if cars[m]:
            above = above * cars[m] + (speeds[m] % cars[m]) * below
            below = below * cars[m]
    return whole if above - whole * below >= 0 else whole - 1
