"""Journeys: how long a drive is expected to take and what it is expected to cost (3.2.3)."""

from __future__ import annotations

import numpy as np

from australis.apps.linear_road.record import EAST, SEGMENTS, WEST
from australis.apps.linear_road.validation.arrays import Floats, Ints
from australis.apps.linear_road.validation.history import PastTolls
from australis.apps.linear_road.validation.tolls import CROWD, SLOW
from australis.errors import RunError
from australis.kernels.jit import kernel

DAY = 24 * 60
SHAPE = (7, DAY, 2, SEGMENTS)
LEEWAYS = (0.0, 1e-9, -1e-9)
"""Minutes by which a sum of fractions that comes to a full minute may be rounded to either side of it."""
_EXACT = 1 << 20
"""Sums of fractions with this denominator are not rounded at all."""

Journeys = tuple[Floats, Floats]
"""Seconds and tolls; -1 and 0 if a segment on the way has no history."""


def journeys(history: PastTolls, xway: Ints, sinit: Ints, send: Ints, dow: Ints, tod: Ints) -> tuple[Journeys, ...]:
    """The right answers to requests, for each of the leeways. They differ if a full minute is met."""
    unknown = np.where(sinit == send, 0.0, -1.0)
    answers = [(unknown.copy(), np.zeros(len(xway))) for _ in LEEWAYS]
    for each in np.unique(xway):
        weekly = history.weekly(int(each))
        if weekly is None:
            continue
        if weekly[0].shape != SHAPE or weekly[1].shape != SHAPE:
            raise RunError(f"the history of expressway {each} has the shape {weekly[0].shape}; give {SHAPE}")
        rows = np.flatnonzero(xway == each)
        for leeway, (seconds, tolls) in zip(LEEWAYS, answers, strict=True):
            seconds[rows], tolls[rows] = _drive(*weekly, sinit[rows], send[rows], dow[rows], tod[rows], leeway)
    return tuple(answers)


@kernel
def _drive(
    lav: Floats, cnt: Floats, sinit: Ints, send: Ints, dow: Ints, tod: Ints, leeway: float
) -> tuple[Floats, Floats]:
    seconds, tolls = np.zeros(len(sinit)), np.zeros(len(sinit))
    for i in range(len(sinit)):
        direction, step = (EAST, 1) if sinit[i] < send[i] else (WEST, -1)
        spent, toll, rounded = 0.0, 0.0, False
        for segment in range(sinit[i], send[i], step):
            minute = int(np.floor(tod[i] + spent + (leeway if rounded else 0.0))) - 1
            day = (dow[i] - 1 + minute // DAY) % 7
            speed, cars = lav[day, minute % DAY, direction, segment], cnt[day, minute % DAY, direction, segment]
            if not speed > 0:
                spent, toll = -1 / 60, 0.0
                break
            if speed < SLOW and cars > CROWD:
                toll += 2 * (cars - CROWD) ** 2
            spent += 60 / speed
            rounded |= _EXACT * spent != np.floor(_EXACT * spent)
        seconds[i], tolls[i] = 60 * spent, toll
    return seconds, tolls
