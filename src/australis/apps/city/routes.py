"""Routes: the fastest way from everywhere to each place that objects go to, as the turn to take at every node."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from australis.apps.city.roads import Bytes, Longs, Reals, Roads
from australis.apps.city.vehicles import CLASSES
from australis.kernels.jit import kernel

NO_TURN = 255
_ROOM = 1 << 26
"""Bytes for turns. With more nodes objects go to fewer places."""
_LEAST_PLACES, _MOST_PLACES = 64, 1024


class Routes(NamedTuple):
    """A tree for each class of vehicles and place, which serves all objects that go there."""

    places: Longs
    """Nodes that objects go to."""
    turns: npt.NDArray[np.uint8]
    """By class, place and node: which of the edges that leave the node to take."""


class Backward(NamedTuple):
    """Edges by the node that they end at: those of node n are `edges[starts[n] : starts[n + 1]]`."""

    starts: Longs
    edges: Longs


def backward(roads: Roads) -> Backward:
    """The edges of roads by where they end."""
    counts = np.bincount(roads.ends, minlength=len(roads.x))
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return Backward(starts, np.argsort(roads.ends, kind="stable"))


def routes(roads: Roads, seed: int, objects: int = _MOST_PLACES) -> Routes:
    """The routes over empty roads, to as many places as so many objects may need."""
    nodes = len(roads.x)
    most = max(2, min(nodes, _MOST_PLACES, max(_LEAST_PLACES, objects), _ROOM // (nodes * len(CLASSES))))
    rng = np.random.default_rng((seed, 2))
    places = np.sort(rng.choice(nodes, most, replace=False)).astype(np.int64)
    trees = Routes(places, np.empty((len(CLASSES), most, nodes), np.uint8))
    renew(trees, roads, backward(roads), times(roads, np.ones(len(roads.ends))), 0, most)
    return trees


def times(roads: Roads, flow: Reals) -> Reals:
    """The seconds that each class of vehicles expects for each edge, which flows at a fraction of its limit.

    Classes that shun highways take them only if there is no other way.
    """
    speed = np.array([each.speed for each in CLASSES])[:, None] / 3.6
    shuns = np.array([each.shuns for each in CLASSES])[:, None] & (roads.kind == 0)
    seconds = roads.length / np.minimum(roads.limit * flow, speed)
    return np.where(shuns, 20.0 * seconds, seconds)


def renew(routes: Routes, roads: Roads, back: Backward, times: Reals, first: int, count: int) -> None:
    """Find the routes to `count` places from number `first` on again, for every class."""
    for class_ in range(len(times)):
        _trees(routes.places, first, count, roads.starts, roads.begins, *back, times[class_], routes.turns[class_])


@kernel
def _trees(
    places: Longs, first: int, count: int, starts: Longs, begins: Longs,
    back_starts: Longs, back_edges: Longs, time: Reals, turns: npt.NDArray[np.uint8],
) -> None:  # fmt: skip
    cost = np.empty(len(starts) - 1)
    # A node is in the heap once for each edge that improved it, at most.
    heap_cost, heap_node = np.empty(len(begins) + 1), np.empty(len(begins) + 1, np.int64)
    for place in range(first, first + count):
        at = place % len(places)
        fastest(places[at], starts, begins, back_starts, back_edges, time, cost, heap_cost, heap_node, turns[at])


@kernel
def fastest(
    place: int, starts: Longs, begins: Longs, back_starts: Longs, back_edges: Longs, time: Reals,
    cost: Reals, heap_cost: Reals, heap_node: Longs, turns: Bytes,
) -> None:  # fmt: skip
    """Dijkstra's algorithm, backward from a place: the cost of reaching it from each node, and the turn to take."""
    cost[:] = np.inf
    turns[:] = NO_TURN
    cost[place] = 0.0
    heap_cost[0], heap_node[0], size = 0.0, place, 1
    while size:
        top_cost, node = heap_cost[0], heap_node[0]
        size -= 1
        last_cost, last_node, hole = heap_cost[size], heap_node[size], 0
        while 2 * hole + 1 < size:
            child = 2 * hole + 1
            if child + 1 < size and heap_cost[child + 1] < heap_cost[child]:
                child += 1
            if heap_cost[child] >= last_cost:
                break
            heap_cost[hole], heap_node[hole] = heap_cost[child], heap_node[child]
            hole = child
        heap_cost[hole], heap_node[hole] = last_cost, last_node
        if top_cost > cost[node]:
            continue
        for slot in range(back_starts[node], back_starts[node + 1]):
            edge = back_edges[slot]
            before, through = begins[edge], top_cost + time[edge]
            if through < cost[before]:
                cost[before] = through
                turns[before] = edge - starts[before]
                hole = size
                size += 1
                while hole > 0 and heap_cost[(hole - 1) // 2] > through:
                    heap_cost[hole], heap_node[hole] = heap_cost[(hole - 1) // 2], heap_node[(hole - 1) // 2]
                    hole = (hole - 1) // 2
                heap_cost[hole], heap_node[hole] = through, before
