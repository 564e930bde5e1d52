"""Tolls: what each vehicle is told on entering a segment, and charged on leaving it (3.2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from australis.apps.linear_road.record import EXIT
from australis.apps.linear_road.validation.accidents import accidents, nearest
from australis.apps.linear_road.validation.arrays import Ints, Numbers
from australis.apps.linear_road.validation.reports import Reports
from australis.apps.linear_road.validation.statistics import statistics
from australis.kernels.jit import kernel, longer

CROWD, SLOW = 50, 40
"""A segment costs a toll if more cars than this drive more slowly than this."""


@dataclass(frozen=True)
class Tolls:
    """Toll notifications, accident alerts and charges of a file, each in order of vehicles and of their times."""

    notified: tuple[Ints, Ints, Ints, Ints]
    """The vehicle, the time, LAV and toll."""
    alerted: tuple[Ints, Ints, Ints]
    """The vehicle, the time and the segment of the accident."""
    charged: tuple[Ints, Ints, Ints]
    """The vehicle, the time and the toll, if it is above 0."""


def toll(lav: Numbers, cars: Numbers) -> Numbers:
    """The toll of table 2 if there is no accident. Averages of past weeks need not be whole."""
    return np.where((lav < SLOW) & (cars > CROWD), 2 * (cars - CROWD) ** 2, 0)


def tolls(reports: Reports, file: Path) -> Tolls:
    stats = statistics(reports, file)
    near = nearest(accidents(reports))
    before = np.zeros_like(stats.cars)
    before[1:] = stats.cars[:-1]
    price = np.where(near < 0, toll(stats.lav, before), 0)

    was = reports.place[reports.previous]
    entered = (reports.previous < 0) | (was != reports.place)
    notified = np.flatnonzero(entered & (reports.lane != EXIT))
    vid, time, cell = reports.vid[notified], reports.time[notified], (reports.minute[notified], reports.place[notified])
    warned = np.flatnonzero(near[cell] >= 0)
    quoted = np.zeros(len(reports.vid), np.int64)
    quoted[notified] = price[cell]
    row, amount = _charges(reports.previous, entered, reports.lane, quoted)
    return Tolls(
        (vid, time, stats.lav[cell], price[cell]),
        (vid[warned], time[warned], near[cell][warned]),
        (reports.vid[row], reports.time[row], amount),
    )


@kernel
def _charges(previous: Ints, entered: Ints, lane: Ints, quoted: Ints) -> tuple[Ints, Ints]:
    """The reports that show a vehicle in another segment of its trip, with what was quoted for the one before.

    A quote stands until the next segment or the exit ramp.
    """
    rows, amounts = np.zeros(1024, np.int64), np.zeros(1024, np.int64)
    count = 0
    for i in range(len(previous)):
        j = previous[i]
        if j < 0:
            continue
        if not entered[i]:
            if lane[i] != EXIT:
                quoted[i] = quoted[j]
        elif quoted[j] > 0:
            if count == len(rows):
                rows, amounts = longer(rows), longer(amounts)
            rows[count], amounts[count] = i, quoted[j]
            count += 1
    return rows[:count], amounts[:count]
