"""Weeks: artificial but plausible traffic of the ten weeks before today, the same for the same seed (3.1.3)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from australis.apps.linear_road.record import EAST, SEGMENTS, WEST
from australis.kernels.jit import inner, kernel

DAYS = 70
"""Day 1 is yesterday."""
MINUTES = 1440
WEEKDAYS = 7
PLACES = 2 * SEGMENTS
"""The segments of both directions: those of the east, then those of the west."""

Loads = npt.NDArray[np.float64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_A, _B, _C, _D = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_UNIT = 2.0**-53
_SPAN, _STRETCH = 15, 10  # minutes and segments over which the traffic of a day differs from that of its weekday
_KNOTS = MINUTES // _SPAN + 1
_SIDES = SEGMENTS // _STRETCH + 1


def weekday(day: int) -> int:
    """The weekday of a day: 1 to 7, of which 6 and 7 are a weekend. Today, day 0, is a 1.

    >>> [weekday(day) for day in (0, 1, 2, 7, 70)]
    [1, 7, 6, 1, 1]
    """
    return -day % WEEKDAYS + 1


def loads(weekday: int) -> Loads:
    """How full the road is on a weekday, about 0 to 1, by minute and place.

    Downtown is around segment 50. People drive there in the morning and back in the evening, so that the two directions
    fill at opposite ends; at a weekend they go out in the afternoon.
    """
    minute = np.arange(MINUTES)[:, None, None]
    segment = np.arange(SEGMENTS)
    downtown = _bell(segment, SEGMENTS / 2, 24)
    from_west = (1 + np.tanh((SEGMENTS / 2 - segment) / 15)) / 2
    inwards = np.stack([from_west, 1 - from_west])[[EAST, WEST]]
    day = 0.08 + 0.22 * _bell(minute, 810, 330)
    if weekday > 5:
        rush = _bell(minute, 870, 180) * (0.2 + 0.2 * inwards)
    else:
        rush = _bell(minute, 480, 75) * (0.3 + 0.5 * inwards) + _bell(minute, 1050, 95) * (0.8 - 0.5 * inwards)
    full: Loads = (day + rush) * (0.4 + 0.6 * downtown)
    return full.reshape(MINUTES, PLACES)


def _bell(at: npt.NDArray[np.int64], middle: float, width: float) -> npt.NDArray[np.float64]:
    shape: Loads = np.exp(-(((at - middle) / width) ** 2))
    return shape


@inner
def _mix(state: np.uint64, value: int) -> np.uint64:
    """Splitmix64 of a state and one more number."""
    bits = state + _GOLDEN * (np.uint64(value) + np.uint64(1))
    bits = (bits ^ (bits >> _A)) * _FIRST
    bits = (bits ^ (bits >> _B)) * _SECOND
    return np.uint64(bits ^ (bits >> _C))


@inner
def _share(bits: np.uint64) -> float:
    """Random bits as a number from 0 to 1."""
    return float(bits >> _D) * _UNIT


@inner
def toll(lav: float, cnt: float) -> float:
    """The toll by table 2 if there is no accident."""
    return 2 * (cnt - 50) * (cnt - 50) if lav < 40 and cnt > 50 else 0 * cnt


@inner
def _swell(state: np.uint64, minute: int, place: int) -> float:
    """A smooth surface, 0 to 1, over the minutes and the places of a direction."""
    knot, side = minute // _SPAN, place % SEGMENTS // _STRETCH
    x, y = minute % _SPAN / _SPAN, place % _STRETCH / _STRETCH
    corner = (place // SEGMENTS * _KNOTS + knot) * _SIDES + side
    early = (1 - y) * _share(_mix(state, corner)) + y * _share(_mix(state, corner + 1))
    late = (1 - y) * _share(_mix(state, corner + _SIDES)) + y * _share(_mix(state, corner + _SIDES + 1))
    return (1 - x) * early + x * late


@kernel
def traffic(
    loads: Loads,
    seed: int,
    xway: int,
    day: int,
    lav: npt.NDArray[np.int16],
    cnt: npt.NDArray[np.int16],
    tolls: npt.NDArray[np.int32],
) -> None:
    """Fill in the average speeds, counts and tolls of a day, by minute and place.

    The day as a whole, stretches of it, and each minute of a segment vary around the weekday.
    """
    state = _mix(_mix(_mix(np.uint64(0), seed), xway), day)
    whole = 0.9 + 0.2 * _share(state)
    fine = _mix(state, 1)
    for minute in range(MINUTES):
        for place in range(PLACES):
            load = loads[minute, place] * whole * (0.8 + 0.4 * _swell(state, minute, place))
            row = minute * PLACES + place
            bits = _mix(fine, row)
            speed = 72 - 58 * load**1.5 + 6 * (_share(bits) - 0.5)
            cars = 150 * load + 8 * (_share(_mix(bits, 0)) - 0.5)
            lav[row] = min(max(round(speed), 5), 75)
            cnt[row] = min(max(round(cars), 0), 150)
            tolls[row] = toll(lav[row], cnt[row])


@kernel
def tolls_paid(seed: int, xway: int, vids: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """What vehicles paid, by vehicle and day.

    A vehicle has a habit: how likely it drives on a day. If it drove, it paid the same toll for some segments.
    """
    tolls = np.zeros(len(vids) * DAYS, np.int32)
    state = _mix(_mix(np.uint64(1), seed), xway)
    for number in range(len(vids)):
        vehicle = _mix(state, vids[number])
        habit = 0.1 + 0.8 * _share(vehicle)
        for day in range(1, DAYS + 1):
            bits = _mix(vehicle, day)
            chance = habit if -day % WEEKDAYS < 5 else habit / 2
            if _share(bits) < chance:
                segments = int(8 * _share(_mix(bits, 0)))
                tolls[number * DAYS + day - 1] = segments * toll(0.0, 51.0 + int(50 * _share(_mix(bits, 1))))
    return tolls
