"""Accidents: one in every 20 minutes of an expressway, in a random place, until it is cleared (3.1.1).

A vehicle brakes to a stop and the one behind it runs into it. Both report that one position until they are let go, 10
to 20 minutes after the accident could be detected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from australis.apps.linear_road.record import EVERY, FEET, SEGMENTS
from australis.apps.linear_road.simulation.reports import position
from australis.apps.linear_road.simulation.road import BRAKING, DRIVING, HITTING, SITES, Road
from australis.kernels.jit import inner
from australis.kernels.random import uniform

_PERIOD = 1200
_MADE = 240
"""Seconds that it takes to detect an accident, with some to spare."""
_CLEAR = 600, 1140
"""The bounds of the seconds from the detection until both drive on. Their next reports show it, within 20 minutes."""
_NEAR = 500.0
"""The most feet between the two vehicles of a coming accident."""


@dataclass
class Accident:
    """A planned accident, and what became of it. Times are -1 until they are known."""

    xway: int
    begin: int
    way: int
    lane: int
    place: float
    site: int
    """Its row in the road's table of accidents."""
    slots: tuple[int, ...] = ()
    """The slots of the vehicle that is hit and of the one that hits it."""
    vids: tuple[int, ...] = ()
    first: tuple[int, ...] = (-1, -1)
    """When each of the two first reports the position."""
    pos: int = -1
    detected: int = -1
    release: int = -1
    cleared: int = -1

    def note(self) -> dict[str, Any]:
        """The accident as the note of a simulation has it."""
        return {
            "xway": self.xway,
            "dir": self.way,
            "lane": self.lane,
            "seg": self.pos // FEET,
            "pos": self.pos,
            "vids": list(self.vids),
            "first": min(self.first),
            "detected": self.detected,
            "cleared": self.cleared if self.cleared >= 0 else None,
        }


def plan(road: Road, xway: int, seconds: int) -> list[Accident]:
    """Plan an accident for every 20 minutes that begin, if there is time to detect it."""
    accidents = []
    for number, start in enumerate(range(0, seconds, _PERIOD)):
        room = min(_PERIOD, seconds - start) - _MADE
        draws = [uniform(road.chance) for _ in range(4)]
        if room > 0:
            way, lane, place = int(draws[1] * 2), 1 + int(draws[2] * 3), draws[3] * (SEGMENTS - 1) * FEET
            accidents.append(Accident(xway, start + int(draws[0] * room), way, lane, place, number % SITES))
    return accidents


@inner
def _pair(road: Road, way: int, lane: int, place: float) -> int:
    """The index in a lane of the vehicle nearest to a place that has another one close behind it, or -1."""
    best, index = 1e9, -1
    for i in range(road.counts[way, lane] - 1):
        one, two = road.order[way, lane, i], road.order[way, lane, i + 1]
        away = abs(road.place[one] - place)
        close = road.place[one] - road.place[two] < _NEAR
        inside = road.place[one] < (SEGMENTS - 1) * FEET
        if away < best and close and inside and road.state[one] == DRIVING and road.state[two] == DRIVING:
            best, index = away, i
    return index


def tend(accident: Accident, road: Road, now: int, seconds: int) -> None:
    """Let an accident happen, be detected and be cleared, each when it is time."""
    if now < accident.begin or accident.cleared >= 0:
        return
    if not accident.slots:
        if now < seconds - _MADE:
            _happen(accident, road)
    elif accident.detected < 0:
        _stand(accident, road, now)
    elif now == accident.release:
        road.state[list(accident.slots)] = DRIVING
        road.sites[accident.site] = -1.0
    elif now > accident.release:
        due = [slot for slot in accident.slots if road.phase[slot] == now % EVERY]
        if any(position(road, slot) != accident.pos for slot in due):
            accident.cleared = now


def _happen(accident: Accident, road: Road) -> None:
    """Choose two vehicles. If there are none, try again in the next second."""
    way, lane = accident.way, accident.lane
    i = _pair(road, way, lane, accident.place)
    if i >= 0:
        one, two = accident.slots = tuple(road.order[way, lane, i : i + 2].tolist())
        accident.vids = tuple(road.vid[[one, two]].tolist())
        road.state[one], road.state[two] = BRAKING, HITTING
        road.sites[accident.site] = way, lane, road.place[one]


def _stand(accident: Accident, road: Road, now: int) -> None:
    """Record the first reports from the position, and when they make the accident known."""
    one, two = accident.slots
    stopped = road.speed[one] == 0.0, road.speed[two] == 0.0 and road.place[one] == road.place[two]
    accident.first = tuple(
        now if first < 0 and stand and road.phase[slot] == now % EVERY else first
        for first, stand, slot in zip(accident.first, stopped, accident.slots, strict=True)
    )
    if min(accident.first) >= 0:
        least, most = _CLEAR
        accident.pos = position(road, one)
        accident.detected = max(accident.first) + 3 * EVERY
        accident.release = accident.detected + least + int(uniform(road.chance) * (most - least))
        road.sites[accident.site, 2] = road.place[one]
