"""A city, one object at a time: fastest ways with Python's heap, and journeys along them."""

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass


def costs(nodes: int, edges: Sequence[tuple[int, int, float]], place: int) -> list[float]:
    """Seconds from each node to a place, over edges (from, to, seconds)."""
    into: dict[int, list[tuple[int, float]]] = {}
    for begin, end, seconds in edges:
        into.setdefault(end, []).append((begin, seconds))
    found = [math.inf] * nodes
    found[place] = 0.0
    heap = [(0.0, place)]
    while heap:
        cost, node = heapq.heappop(heap)
        if cost > found[node]:
            continue
        for before, seconds in into.get(node, []):
            if cost + seconds < found[before]:
                found[before] = cost + seconds
                heapq.heappush(heap, (cost + seconds, before))
    return found


@dataclass
class Journey:
    """An object on an edge, some metres along."""

    edge: int
    along: float


def moved(
    journey: Journey, seconds: float, lengths: Sequence[float], speeds: Sequence[float], turn: dict[int, int | None]
) -> tuple[Journey, bool]:
    """Where it is after some seconds, and whether it arrived; `turn` gives the edge after each, or none at the end."""
    edge, along, left = journey.edge, journey.along, seconds
    while True:
        need = (lengths[edge] - along) / speeds[edge]
        if need > left:
            return Journey(edge, along + speeds[edge] * left), False
        left -= need
        following = turn[edge]
        if following is None:
            return Journey(edge, lengths[edge]), True
        edge, along = following, 0.0
        if left <= 0:
            return Journey(edge, along), False
