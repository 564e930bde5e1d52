"""Ramps: where vehicles enter, where they want to leave, and how many come in which minute (3.1.1)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from australis.apps.linear_road.record import EAST, ENTRY, EVERY, FEET, SEGMENTS, WEST
from australis.apps.linear_road.simulation.following import SPACE
from australis.apps.linear_road.simulation.lanes import insert
from australis.apps.linear_road.simulation.road import DRIVING, ENTER_AT, FREE, LENGTH, MPH, Longs, Road, Words
from australis.kernels.jit import inner
from australis.kernels.random import Chance, below, normal, poisson, uniform

MINUTES = np.array([0.0, 4.7, 10.0, 20.0])
ENTRIES = np.array([724.0, 503.0, 650.0, 800.0])
"""How many vehicles a minute want to enter an expressway at these minutes; between them the number changes evenly, and
after the last it stays. With more vehicles, many would wait at the ramps in a jam, and entries would not be uniform."""

_DOWNTOWN, _SPREAD = 50.0, 20.0
"""The exits' mean segment and standard deviation."""
_WISH, _SLOWEST, _FASTEST = 58.5, 20.0, 75.0
"""Wished speeds in mph: the middle of the normal distribution that they are drawn from, and their bounds."""
_APART = (12.5, 17.0, 16.0)
"""The standard deviations of wished speeds, for drivers who like lane 1, 2 and 3."""
_PAUSE = 600
"""The least seconds between two trips of a vehicle."""
_AGAIN = 1.0 / 15.0
"""The fraction of vehicles that would make another trip."""


class Idle(NamedTuple):
    """Vehicles between two trips, on no expressway, and how far vehicles are numbered."""

    vid: Words
    since: Words
    numbers: Longs
    """How many there are, and the number of the next new vehicle."""


def idle(room: int = 4096) -> Idle:
    return Idle(np.zeros(room, np.int32), np.zeros(room, np.int32), np.zeros(2, np.int64))


def enlarge(idle: Idle) -> Idle:
    """The same vehicles, with room for twice as many."""
    return idle._replace(vid=np.tile(idle.vid, 2), since=np.tile(idle.since, 2))


def entries(second: int) -> float:
    """How many vehicles want to enter an expressway in a second."""
    return float(np.interp(second / 60.0, MINUTES, ENTRIES)) / 60.0


@inner
def destination(state: Chance, segment: int) -> int:
    """The exit of a vehicle that enters in a segment: another one, by the normal distribution."""
    while True:
        to = math.floor(normal(state, _DOWNTOWN, _SPREAD) + 0.5)
        if 0 <= to < SEGMENTS and to != segment:
            return to


@inner
def draw_wish(state: Chance, lane: int) -> float:
    """Draw the speed of a driver who likes a lane with nothing ahead, in feet a second.

    It is drawn again until it is within the bounds. If it were only cut, many would drive at the very same speed.
    """
    while True:
        wish = normal(state, _WISH, _APART[lane - 1])
        if _SLOWEST <= wish <= _FASTEST:
            return wish * MPH


@inner
def _vehicle(idle: Idle, now: int, state: Chance) -> int:
    """The number of a vehicle that begins a trip: one that rested long enough, or a new one."""
    count = int(idle.numbers[0])
    if count:
        i = below(state, count)
        if now - idle.since[i] >= _PAUSE:
            vid = int(idle.vid[i])
            idle.numbers[0] = count - 1
            idle.vid[i], idle.since[i] = idle.vid[count - 1], idle.since[count - 1]
            return vid
    idle.numbers[1] += 1
    return int(idle.numbers[1] - 1)


@inner
def rest(idle: Idle, vid: int, now: int, state: Chance) -> None:
    """End a trip; some vehicles may begin another one later."""
    if uniform(state) < _AGAIN:
        count = int(idle.numbers[0])
        idle.vid[count], idle.since[count] = vid, now
        idle.numbers[0] = count + 1


@inner
def _place(road: Road, idle: Idle, way: int, ahead: int, begin: int, now: int) -> int:
    """Put a vehicle at the start of a ramp, and return its slot."""
    state = road.chance
    segment = begin if way == EAST else SEGMENTS - 1 - begin
    while True:
        to = destination(state, segment)
        if (to > segment) == (way == EAST):
            break
    road.frees[0] -= 1
    slot = int(road.free[road.frees[0]])
    place = begin * FEET + ENTER_AT
    speed = (18.0 + 16.0 * uniform(state)) * MPH
    if ahead >= 0:
        speed = min(speed, max(0.0, road.place[ahead] - LENGTH - SPACE - place))
    liked = uniform(state)
    road.state[slot], road.way[slot], road.lane[slot] = DRIVING, way, ENTRY
    road.phase[slot] = now % EVERY
    road.due[now % EVERY] += 1
    road.likes[slot] = 1 if liked < 0.2 else 2 if liked < 0.8 else 3
    road.vid[slot] = _vehicle(idle, now, state)
    road.place[slot], road.speed[slot] = place, speed
    road.wish[slot] = draw_wish(state, int(road.likes[slot]))
    road.exit[slot] = to if way == EAST else SEGMENTS - 1 - to
    road.changed[slot], road.gives[slot] = now, -1
    return slot


@inner
def enter(road: Road, idle: Idle, now: int, mean: float) -> None:
    """Let vehicles arrive at the ramps, and put on each ramp the next one if there is room."""
    state = road.chance
    for _ in range(poisson(state, mean)):
        segment = below(state, SEGMENTS)
        if destination(state, segment) > segment:
            road.waiting[EAST, segment] += 1
        else:
            road.waiting[WEST, SEGMENTS - 1 - segment] += 1
    for way in range(2):
        here = int(road.counts[way, ENTRY])
        moved, i = 0, 0
        for begin in range(SEGMENTS - 1, -1, -1):
            start = begin * FEET
            while i < here and road.place[road.order[way, ENTRY, i]] >= start:
                i += 1
            if not road.waiting[way, begin]:
                continue
            ahead = -1
            if i > 0 and road.place[road.order[way, ENTRY, i - 1]] < start + FEET:
                ahead = int(road.order[way, ENTRY, i - 1])
                if road.place[ahead] < start + ENTER_AT + 2.0 * (LENGTH + SPACE):
                    continue
            road.waiting[way, begin] -= 1
            road.movers[moved] = _place(road, idle, way, ahead, begin, now)
            moved += 1
        if moved:
            road.counts[way, ENTRY] = here + moved
            insert(road, way, ENTRY, here, moved)


@inner
def leave(road: Road, idle: Idle, slot: int, now: int) -> None:
    """Take a vehicle off the road; its lane is put in order by `close_up`."""
    rest(idle, int(road.vid[slot]), now, road.chance)
    road.state[slot] = FREE
    road.due[road.phase[slot]] -= 1
    road.free[road.frees[0]] = slot
    road.frees[0] += 1


@inner
def close_up(road: Road, lane: int) -> None:
    """List only vehicles that are still there."""
    for way in range(2):
        present = 0
        for i in range(road.counts[way, lane]):
            slot = road.order[way, lane, i]
            if road.state[slot] != FREE:
                road.order[way, lane, present] = slot
                present += 1
        road.counts[way, lane] = present
