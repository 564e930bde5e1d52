"""Estimate: the travel time and the tolls of a journey, from the averages of ten weeks (3.2.3)."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from australis.kernels.jit import kernel
from australis.model.train import Ints

Weeks = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]


class PastTraffic(Protocol):
    """The history of the weeks before, as far as the network asks it."""

    def tolls(self, vid: npt.ArrayLike, day: npt.ArrayLike, xway: npt.ArrayLike) -> Ints:
        """What vehicles paid on days on expressways; 0 if nothing is known."""
        ...

    def weekly(self, xway: int) -> Weeks | None:
        """Average speeds and numbers of vehicles, by weekday, minute, direction and segment."""
        ...


def estimates(past: PastTraffic | None, xway: Any, sinit: Any, send: Any, dow: Any, tod: Any) -> tuple[Ints, Ints]:
    """Seconds and tolls of journeys, rounded; -1 and 0 if nothing is known of a segment on the way."""
    requests = [np.asarray(column, np.int64) for column in (xway, sinit, send, dow, tod)]
    seconds, tolls = np.where(requests[1] == requests[2], 0, -1), np.zeros(len(requests[0]), np.int64)
    if past is None or not len(seconds):
        return seconds, tolls
    order = np.argsort(requests[0], kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(requests[0][order])) + 1):
        weeks = past.weekly(int(requests[0][rows[0]]))
        if weeks is not None:
            sinit_, send_, dow_, tod_ = (column[rows] for column in requests[1:])
            journeys(*weeks, sinit_, send_, dow_, tod_, rows, seconds, tolls)
    return seconds, tolls


@kernel
def journeys(
    lav: npt.NDArray[np.float64],
    cnt: npt.NDArray[np.float64],
    sinit: Ints,
    send: Ints,
    dow: Ints,
    tod: Ints,
    rows: Ints,
    seconds: Ints,
    tolls: Ints,
) -> None:
    """Drive from segment to segment, each at the speed of the minute at which it is reached."""
    days, minutes = lav.shape[0], lav.shape[1]
    for i in range(len(rows)):
        direction, step = (0, 1) if sinit[i] < send[i] else (1, -1)
        passed, toll = 0.0, 0.0
        for seg in range(sinit[i], send[i], step):
            minute = int(np.floor(tod[i] - 1 + passed))
            day = (dow[i] - 1 + minute // minutes) % days
            speed, cars = lav[day, minute % minutes, direction, seg], cnt[day, minute % minutes, direction, seg]
            if not speed > 0:
                passed, toll = -1.0 / 60, 0.0
                break
            passed += 60.0 / speed
            if speed < 40 and cars > 50:
                toll += 2 * (cars - 50) ** 2
        seconds[rows[i]] = int(np.floor(passed * 60 + 0.5))
        tolls[rows[i]] = int(np.floor(toll + 0.5))
