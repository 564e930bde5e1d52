"""Lanes: when vehicles change them, from the entrance ramp to the exit ramp (3.1.1).

A driver must change lanes to enter, to reach an exit, and to pass an accident. Otherwise drivers change to where it is
faster, or to the lane that they like. One who must change, or is stuck, asks the vehicle behind the gap to give way.
"""

from __future__ import annotations

import math

from australis.apps.linear_road.record import ENTRY, EXIT, FEET, SEGMENTS
from australis.apps.linear_road.simulation.following import acceleration
from australis.apps.linear_road.simulation.road import DRIVING, EXIT_FROM, EXIT_TO, HITTING, LENGTH, MERGE_FROM, Road
from australis.kernels.jit import inner

_REACH = 3500.0
"""Feet before an exit, for each lane that is between, from which a driver must move over."""
_SEEN = 1500.0
"""Feet before an accident from which a driver must leave its lane."""
_REST = 8
"""Seconds between two voluntary changes."""
_LOOKS = 4
"""A driver considers a voluntary change every so many seconds."""
_GAIN, _LIKED = 0.5, 1.0
"""What a change must gain in acceleration, and what a liked lane is worth, in feet a second squared."""
_CRAWLS, _FASTER = 15.0, 3.0
"""Feet a second below which a vehicle crawls, and how much faster a lane beside it must be to ask for a gap there."""
_ASKED = 200.0
"""Feet within which a vehicle behind is asked to give way."""
NO, MAY, MUST = 0, 1, 2
_CHANGES = ((2, 3), (1, 2), (ENTRY, 1), (1, EXIT), (2, 1), (3, 2))
"""From lane to lane, in an order in which nobody changes to the left twice."""


@inner
def _is_blocked(road: Road, way: int, lane: int, place: float) -> bool:
    """Whether there is an accident in a lane, within sight."""
    for i in range(len(road.sites)):
        if road.sites[i, 0] == way and road.sites[i, 1] == lane and 0.0 < road.sites[i, 2] - place < _SEEN:
            return True
    return False


@inner
def _need(road: Road, slot: int, source: int, target: int, now: int, blocks: bool) -> int:
    """Whether a driver must, may or will not change from a lane to the one beside it."""
    place = road.place[slot]
    if source == ENTRY:
        return MUST if place - math.floor(place / FEET) * FEET >= MERGE_FROM else NO
    left = road.exit[slot] * FEET + EXIT_TO - place
    if left < 0.0 and road.exit[slot] < SEGMENTS - 1:
        # The exit is missed: take the next one.
        road.exit[slot] += 1
        left += FEET
    if target == EXIT:
        return MUST if left <= EXIT_TO - EXIT_FROM else NO
    if blocks:
        if _is_blocked(road, road.way[slot], target, place):
            return NO
        if _is_blocked(road, road.way[slot], source, place):
            return MUST
    if target < source and left < _REACH * (source - 1):
        return MUST
    if target > source and left < _REACH * (target - 1) + FEET / 2:
        return NO
    return MAY if (slot + now) % _LOOKS == 0 and now - road.changed[slot] >= _REST else NO


@inner
def _fits(road: Road, slot: int, ahead: int, behind: int, must: bool) -> bool:
    """Whether there is room between two vehicles in the next lane, and nobody has to brake hard."""
    headway, brake, least = (0.25, 9.0, 3.0) if must else (0.4, 5.0, 4.0)
    place, speed = road.place[slot], road.speed[slot]
    if ahead >= 0:
        gap, closing = road.place[ahead] - LENGTH - place, speed - road.speed[ahead]
        if gap < least + headway * speed or (closing > 0.0 and closing * closing > 2.0 * brake * (gap - least)):
            return False
    if behind >= 0:
        if road.state[behind] == HITTING:
            return False
        gap, closing = place - LENGTH - road.place[behind], road.speed[behind] - speed
        if gap < least + headway * road.speed[behind]:
            return False
        if closing > 0.0 and closing * closing > 2.0 * brake * (gap - least):
            return False
    return True


@inner
def _gains(road: Road, slot: int, source: int, target: int, present: int, ahead: int) -> bool:
    """Whether a change from behind `present` to behind `ahead` is worth it."""
    speed, wish, place = road.speed[slot], road.wish[slot], road.place[slot]
    # The slower it goes, the less it matters which lane one likes.
    liking = _LIKED * speed / wish
    liked = road.likes[slot]
    towards = liked != source and (liked > source) == (target > source)
    worth = (liking if towards else -liking) - _GAIN * speed / wish
    if present >= 0:
        worth -= acceleration(speed, wish, road.place[present] - LENGTH - place, speed - road.speed[present])
    else:
        worth -= acceleration(speed, wish, 1e9, 0.0)
    if ahead >= 0:
        worth += acceleration(speed, wish, road.place[ahead] - LENGTH - place, speed - road.speed[ahead])
    else:
        worth += acceleration(speed, wish, 1e9, 0.0)
    return bool(worth > 0.0)


@inner
def _stuck(road: Road, slot: int, behind: int) -> bool:
    """Whether a vehicle crawls beside a lane that moves faster."""
    return bool(behind >= 0 and road.speed[slot] < _CRAWLS and road.speed[behind] > road.speed[slot] + _FASTER)


@inner
def _ask(road: Road, slot: int, ahead: int, behind: int) -> None:
    """Ask for a gap, and fall back behind the vehicle ahead of it."""
    if behind >= 0 and road.place[slot] - road.place[behind] < _ASKED:
        road.gives[behind] = slot
    if ahead >= 0 and road.place[ahead] - road.place[slot] < _ASKED:
        road.gives[slot] = ahead


@inner
def _shift(road: Road, way: int, source: int, target: int, now: int, blocks: bool) -> None:
    """Let vehicles of a lane change to the one beside it, from the foremost to the last."""
    own, other = road.order[way, source], road.order[way, target]
    here, there = int(road.counts[way, source]), int(road.counts[way, target])
    staying, moved, j, present = 0, 0, 0, -1
    for i in range(here):
        slot = int(own[i])
        need = NO
        if road.state[slot] == DRIVING:
            need = _need(road, slot, source, target, now, blocks)
        goes = False
        if need != NO:
            while j < there and road.place[other[j]] > road.place[slot]:
                j += 1
            ahead = int(other[j - 1]) if j > 0 else -1
            behind = int(other[j]) if j < there else -1
            if moved > 0 and (ahead < 0 or road.place[road.movers[moved - 1]] < road.place[ahead]):
                ahead = int(road.movers[moved - 1])
            goes = _fits(road, slot, ahead, behind, need == MUST)
            if need == MAY and not _gains(road, slot, source, target, present, ahead):
                goes = False
            elif not goes and (need == MUST or _stuck(road, slot, behind)):
                _ask(road, slot, ahead, behind)
        if goes:
            road.lane[slot] = target
            road.changed[slot] = now
            road.movers[moved] = slot
            moved += 1
        else:
            own[staying] = present = slot
            staying += 1
    road.counts[way, source] = staying
    if moved:
        road.counts[way, target] = there + moved
        insert(road, way, target, there, moved)


@inner
def insert(road: Road, way: int, lane: int, there: int, moved: int) -> None:
    """Put the movers, which are in order, among the vehicles that are in a lane already."""
    order = road.order[way, lane]
    i, j, k = there - 1, moved - 1, there + moved - 1
    while j >= 0:
        if i >= 0 and road.place[order[i]] < road.place[road.movers[j]]:
            order[k] = order[i]
            i -= 1
        else:
            order[k] = road.movers[j]
            j -= 1
        k -= 1


@inner
def change(road: Road, now: int) -> None:
    """Let every vehicle change lanes at most once, first to the left, then to the right."""
    blocks = False
    for i in range(len(road.sites)):
        blocks = blocks or road.sites[i, 0] >= 0.0
    for way in range(2):
        for source, target in _CHANGES:
            _shift(road, way, source, target, now, blocks)
