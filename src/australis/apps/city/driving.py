"""Driving: objects begin, move along their routes and end, a moment at a time (SOLE 7)."""

from __future__ import annotations

import numpy as np

from australis.apps.city.roads import Bytes, Longs, Reals, Roads
from australis.apps.city.routes import Routes
from australis.apps.city.vehicles import CLASSES, Vehicles
from australis.kernels.jit import inner, kernel
from australis.kernels.random import Chance, below, uniform

SHARES = np.cumsum([each.share for each in CLASSES]) / sum(each.share for each in CLASSES)
SPEEDS = np.array([each.speed for each in CLASSES]) / 3.6


@inner
def _set_out(slot: int, node: int, all_: Vehicles, roads: Roads, routes: Routes, chance: Chance) -> None:
    """Choose a place to go to, and take the first turn."""
    place = below(chance, len(routes.places))
    if routes.places[place] == node:
        place = (place + 1) % len(routes.places)
    all_.place[slot] = place
    all_.edge[slot] = roads.starts[node] + routes.turns[all_.kind[slot], place, node]
    all_.along[slot] = 0.0
    all_.speed[slot] = 0.0


@inner
def _begin(slot: int, all_: Vehicles, roads: Roads, routes: Routes, shares: Reals, chance: Chance) -> None:
    """Begin a new object at a random node."""
    all_.number[slot] = all_.made[0]
    all_.made[0] += 1
    drawn, kind = uniform(chance), 0
    while kind < len(shares) - 1 and drawn >= shares[kind]:
        kind += 1
    all_.kind[slot] = kind
    all_.manner[slot] = 0.8 + 0.3 * uniform(chance)
    _set_out(slot, below(chance, len(roads.x)), all_, roads, routes, chance)


@kernel
def begin(all_: Vehicles, roads: Roads, routes: Routes, speeds: Reals, shares: Reals, chance: Chance) -> None:
    """Begin all objects, each somewhere along its first road and at its speed there."""
    for slot in range(len(all_.number)):
        _begin(slot, all_, roads, routes, shares, chance)
        edge = all_.edge[slot]
        all_.along[slot] = uniform(chance) * roads.length[edge]
        all_.speed[slot] = min(roads.limit[edge], speeds[all_.kind[slot]]) * all_.manner[slot]


@kernel
def drive(
    seconds: float, all_: Vehicles, roads: Roads, routes: Routes, flow: Reals, speeds: Reals, shares: Reals,
    vanish: bool, chance: Chance,
) -> int:  # fmt: skip
    """Move all objects for some seconds. Objects that arrive vanish and others begin, or they go on elsewhere.

    Returns how many arrived. An object that arrives waits until the next moment.
    """
    arrived = 0
    for slot in range(len(all_.number)):
        left, kind = seconds, all_.kind[slot]
        while left > 0.0:
            edge = all_.edge[slot]
            speed = min(roads.limit[edge] * flow[edge], speeds[kind]) * all_.manner[slot]
            all_.speed[slot] = speed
            need = (roads.length[edge] - all_.along[slot]) / speed
            if need > left:
                all_.along[slot] += speed * left
                break
            left -= need
            node = roads.ends[edge]
            if node != routes.places[all_.place[slot]]:
                all_.edge[slot] = roads.starts[node] + routes.turns[kind, all_.place[slot], node]
                all_.along[slot] = 0.0
                continue
            arrived += 1
            if vanish:
                _begin(slot, all_, roads, routes, shares, chance)
            else:
                _set_out(slot, node, all_, roads, routes, chance)
            break
    return arrived


@kernel
def flows(edges: Longs, roads: Roads, flow: Reals) -> None:
    """Compute the fraction of its limit at which each road flows, by how full it is (Bureau of Public Roads)."""
    flow[:] = 0.0
    for edge in edges:
        flow[edge] += 1.0
    for edge in range(len(flow)):
        full = flow[edge] / roads.room[edge]
        flow[edge] = max(0.1, 1.0 / (1.0 + 4.0 * full**4))


@kernel
def places(all_: Vehicles, roads: Roads, slots: Longs, x: Reals, y: Reals, kind: Bytes) -> None:
    """Compute the positions and classes of some objects."""
    for row in range(len(slots)):
        slot = slots[row]
        edge = all_.edge[slot]
        part = all_.along[slot] / roads.length[edge]
        here, there = roads.begins[edge], roads.ends[edge]
        x[row] = roads.x[here] + part * (roads.x[there] - roads.x[here])
        y[row] = roads.y[here] + part * (roads.y[there] - roads.y[here])
        kind[row] = all_.kind[slot]
