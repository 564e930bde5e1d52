"""Following: how fast a vehicle drives behind another, and how vehicles move (3.1.1, the traffic spacing model).

The model is the intelligent driver model (Treiber, Hennecke, Helbing 2000).
"""

from __future__ import annotations

import math

from australis.apps.linear_road.record import ENTRY, EXIT, FEET
from australis.apps.linear_road.simulation.road import BRAKING, END, HITTING, LENGTH, MERGE_TO, MPH, Road
from australis.kernels.jit import inner

STEPS = 2
"""Moves in a second."""
_STEP = 1.0 / STEPS

SPACE = 6.5
"""Feet to a standing vehicle ahead."""
_HEADWAY = 0.75
"""Seconds to a moving one."""
_RISE, _FALL = 5.0, 6.5
"""Comfortable acceleration and braking, in feet a second squared."""
_BLEND = 2.0 * math.sqrt(_RISE * _FALL)
_HARDEST = 28.0
_CRASH = 20.0
_TOUCH = 1.0
"""No vehicle comes closer to the one ahead, whatever the model says."""
_RAMP_SPEED, _RAMP_FALL = 40.0 * MPH, 2.0
"""What vehicles slow down to on the exit ramp, and how fast. From 75 mph they still report once, within 30 s, on it."""
_CRAWL = 10.0
"""The least speed of a vehicle that runs into another, in feet a second."""


@inner
def acceleration(speed: float, wish: float, gap: float, closing: float) -> float:
    """The acceleration of a vehicle, with a gap to the one ahead that closes at some speed."""
    ratio = speed / wish
    space = SPACE + max(0.0, speed * _HEADWAY + speed * closing / _BLEND)
    near = space / max(gap, 0.5)
    return _RISE * (1.0 - ratio * ratio * ratio * ratio - near * near)


@inner
def _choose_acceleration(road: Road, slot: int, ahead: int, lane: int) -> float:
    """The acceleration that a driver chooses; `ahead` is the slot of the vehicle ahead, or -1."""
    place, speed, wish = road.place[slot], road.speed[slot], road.wish[slot]
    gap, closing = 1e9, 0.0
    if ahead >= 0:
        gap, closing = road.place[ahead] - LENGTH - place, speed - road.speed[ahead]
    if lane == EXIT:
        slow = -_RAMP_FALL if speed > _RAMP_SPEED else 0.0
        return max(min(slow, acceleration(speed, 2.0 * wish, gap, closing)), -_HARDEST)
    chosen = acceleration(speed, wish, gap, closing)
    if lane == ENTRY:
        wall = math.floor(place / FEET) * FEET + MERGE_TO - place
        chosen = min(chosen, acceleration(speed, wish, wall, speed))
    elif place > END - FEET:
        chosen = min(chosen, acceleration(speed, wish, END - place, speed))
    other = road.gives[slot]
    if other >= 0:
        gap, closing = road.place[other] - LENGTH - place, speed - road.speed[other]
        chosen = min(chosen, max(acceleration(speed, wish, max(gap, 2.0), closing), -_FALL))
    return max(chosen, -_HARDEST)


@inner
def _drive(road: Road, slot: int, ahead: int, lane: int) -> None:
    place, speed = road.place[slot], road.speed[slot]
    if road.state[slot] == BRAKING:
        chosen = -_CRASH
    else:
        chosen = _choose_acceleration(road, slot, ahead, lane)
    speed = max(0.0, speed + chosen * _STEP)
    there = place + speed * _STEP
    if ahead >= 0 and there > road.place[ahead] - LENGTH - _TOUCH:
        there = max(place, road.place[ahead] - LENGTH - _TOUCH)
        speed = (there - place) / _STEP
    road.place[slot], road.speed[slot] = there, speed


@inner
def _hit(road: Road, slot: int, ahead: int) -> None:
    """Run into the vehicle ahead. Once that one stands, stand at the same place."""
    left = road.place[ahead] - road.place[slot]
    speed = max(min(road.speed[slot], math.sqrt(2.0 * _CRASH * left)), _CRAWL)
    if road.speed[ahead] == 0.0 and speed * _STEP >= left:
        road.place[slot], road.speed[slot] = road.place[ahead], 0.0
    else:
        there = min(road.place[slot] + speed * _STEP, road.place[ahead] - _TOUCH)
        there = max(there, road.place[slot])
        road.speed[slot] = (there - road.place[slot]) / _STEP
        road.place[slot] = there


@inner
def move(road: Road) -> None:
    """Move every vehicle on by one second."""
    for step in range(STEPS):
        for way in range(2):
            for lane in range(5):
                ahead = -1
                for i in range(road.counts[way, lane]):
                    slot = int(road.order[way, lane, i])
                    if road.state[slot] == HITTING:
                        _hit(road, slot, ahead)
                    else:
                        _drive(road, slot, ahead, lane)
                    if step == STEPS - 1:
                        road.gives[slot] = -1
                    ahead = slot
