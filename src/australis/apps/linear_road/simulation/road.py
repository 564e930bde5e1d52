"""Road: one expressway, its lanes and ramps, and the vehicles on it (3, figure 2).

A place is the feet driven from the end where vehicles of a direction come from, so that both directions drive towards
greater places. A lane lists its vehicles from the foremost to the last. Both ramps lie on the side of lane 1: the one
to enter by in the first part of a segment, the one to leave by in the second.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from australis.apps.linear_road.record import EVERY, FEET, SEGMENTS
from australis.kernels.random import Chance, chance

Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.int8]
Longs = npt.NDArray[np.int64]

MPH = 5280.0 / 3600.0
"""A mile an hour in feet a second."""
LENGTH = 15.0
"""The length of a vehicle in feet. Its place is that of its front."""

ENTER_AT, MERGE_FROM, MERGE_TO = 100.0, 500.0, 1700.0
"""In each segment: where vehicles are put on the entrance ramp, and where they can leave it for lane 1."""
EXIT_FROM, EXIT_TO = 2000.0, 2800.0
"""In each segment: where vehicles can leave lane 1 for the exit ramp, which runs on for the rest of the segment."""
END = (SEGMENTS - 1) * FEET + EXIT_TO
"""Where the travel lanes end."""

FREE, DRIVING, BRAKING, HITTING = 0, 1, 2, 3
"""What a slot holds: no vehicle, one that drives, one that an accident stops, one that runs into it."""

SITES = 16
"""How many accidents an expressway can have at a time."""


class Road(NamedTuple):
    """Vehicles in slots, column by column, and the lanes that list them."""

    state: Bytes
    way: Bytes
    """The direction."""
    lane: Bytes
    phase: Bytes
    """The second in which it reports, modulo the seconds between reports."""
    likes: Bytes
    """The travel lane that it prefers."""
    vid: Words
    place: Floats
    speed: Floats
    wish: Floats
    """The speed with nothing ahead."""
    exit: Words
    """How many segments lie between the road's beginning and its exit."""
    changed: Words
    """When it last changed lanes."""
    gives: Words
    """The slot of a vehicle in another lane to which it gives way, or -1."""

    order: Words
    """By direction and lane: slots, the foremost first."""
    counts: Longs
    """By direction and lane: how many vehicles."""
    movers: Words
    """The vehicles that change lanes in this second."""
    free: Words
    """A stack of free slots."""
    frees: Longs
    """How many free slots, in an array of one."""
    waiting: Words
    """By direction and segment: vehicles that wait for the entrance ramp. They are not on the road."""
    due: Longs
    """How many vehicles report in a second, by the second modulo those between reports."""
    sites: Floats
    """Accidents: direction, lane, and place, or -1 for none."""
    chance: Chance


def road(seed: int, number: int, slots: int = 4096) -> Road:
    """An expressway without vehicles."""
    return Road(
        **_columns(slots),
        order=np.zeros((2, 5, slots), np.int32),
        counts=np.zeros((2, 5), np.int64),
        movers=np.zeros(slots, np.int32),
        free=np.arange(slots - 1, -1, -1, dtype=np.int32),
        frees=np.array([slots]),
        waiting=np.zeros((2, SEGMENTS), np.int32),
        due=np.zeros(EVERY, np.int64),
        sites=np.full((SITES, 3), -1.0),
        chance=chance(seed, number),
    )


def wider(road: Road) -> Road:
    """The same road with twice the slots."""
    slots = len(road.state)
    new = _columns(2 * slots)
    for name, column in new.items():
        column[:slots] = getattr(road, name)
    order = np.zeros((2, 5, 2 * slots), np.int32)
    order[:, :, :slots] = road.order
    frees = int(road.frees[0])
    free = np.zeros(2 * slots, np.int32)
    # The old free slots stay on top of the stack, so that vehicles stay close together in memory.
    free[:slots] = np.arange(2 * slots - 1, slots - 1, -1)
    free[slots : slots + frees] = road.free[:frees]
    return road._replace(
        **new, order=order, movers=np.zeros(2 * slots, np.int32), free=free, frees=np.array([slots + frees])
    )


def _columns(slots: int) -> dict[str, Any]:
    """The columns of vehicles."""
    types: dict[str, Any] = dict.fromkeys(("state", "way", "lane", "phase", "likes"), np.int8)
    types |= dict.fromkeys(("vid", "exit", "changed", "gives"), np.int32)
    types |= dict.fromkeys(("place", "speed", "wish"), np.float64)
    return {name: np.zeros(slots, types[name]) for name in types}
