"""Accidents: vehicles that stopped at one position of a travel lane, and who is warned of them (tables 3 and 4)."""

from __future__ import annotations

import numpy as np

from australis.apps.linear_road.record import EAST, ENTRY, EVERY, EXIT, FEET, SEGMENTS
from australis.apps.linear_road.validation.arrays import Bools, Ints
from australis.apps.linear_road.validation.reports import Reports
from australis.kernels.jit import kernel

REPORTS_TO_STOP = 4
REACH = 4
"""How many segments downstream an accident concerns a vehicle, besides its own."""


def accidents(reports: Reports) -> Bools:
    """Whether there was an accident, by minute and place."""
    still = _still(reports.previous, reports.place, reports.lane, reports.pos)
    stopped = np.flatnonzero((still >= REPORTS_TO_STOP) & (reports.lane > ENTRY) & (reports.lane < EXIT))
    road = reports.place[stopped].astype(np.int64) // SEGMENTS
    spot = (road * (EXIT + 1) + reports.lane[stopped]) * (SEGMENTS * FEET) + reports.pos[stopped]
    place = road * SEGMENTS + reports.pos[stopped] // FEET
    vid, time = reports.vid[stopped], reports.time[stopped]
    order = np.lexsort((time, spot))
    marks = np.zeros((reports.minutes, reports.places), np.bool_)
    _meet(vid[order], time[order], spot[order], place[order], marks)
    return marks


def nearest(marks: Bools) -> Ints:
    """The segment of the nearest accident of the minute before, at most four downstream, or -1; by minute and place."""
    before = np.zeros_like(marks)
    before[1:] = marks[:-1]
    roads = before.reshape(len(marks), -1, 2, SEGMENTS)
    near = np.full(roads.shape, -1, np.int64)
    segments = np.arange(SEGMENTS)
    for direction in (0, 1):
        for far in range(REACH, -1, -1):
            down = np.minimum(segments + far, SEGMENTS - 1) if direction == EAST else np.maximum(segments - far, 0)
            here = near[:, :, direction]
            near[:, :, direction] = np.where(roads[:, :, direction][..., down], down, here)
    return near.reshape(marks.shape)


@kernel
def _still(previous: Ints, place: Ints, lane: Ints, pos: Ints) -> Ints:
    """How many reports in a row, up to this one, came from its position; at most four are counted."""
    still = np.ones(len(previous), np.int8)
    for i in range(len(previous)):
        j = previous[i]
        if j >= 0 and lane[j] == lane[i] and pos[j] == pos[i] and place[j] // SEGMENTS == place[i] // SEGMENTS:
            still[i] = min(still[j] + 1, REPORTS_TO_STOP)
    return still


@kernel
def _meet(vid: Ints, time: Ints, spot: Ints, place: Ints, marks: Bools) -> None:
    """Mark the minutes in which two vehicles are stopped at a spot, each for 30 s from each of its reports.

    The latest report before one of the same spot, of another vehicle, shares the most seconds with it: from the later
    report to the end of the earlier one's 30 s.
    """
    for i in range(len(vid)):
        j = i - 1
        while j >= 0 and spot[j] == spot[i] and time[j] > time[i] - EVERY:
            if vid[j] != vid[i]:
                marks[time[i] // 60 + 1, place[i]] = True
                marks[(time[j] + EVERY - 1) // 60 + 1, place[i]] = True
                break
            j -= 1
