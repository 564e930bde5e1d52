"""Mergers: the k nearest of the candidates of all partitions, moment by moment within one train (SOLE 3.2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from australis.boxes.moving.overlaps import FoundUpdates, joined
from australis.boxes.moving.placements import Placements
from australis.boxes.moving.rankings import (
    RankingRoom,
    RankingUpdates,
    changes,
    hold,
    nearest_at,
    scratch_for,
    sort,
    stages_of,
)
from australis.boxes.moving.regions import Floats
from australis.kernels.jit import inner
from australis.model.train import Bools, Ints


class Events(NamedTuple):
    """What was told of candidates, in the order of queries and then of moments, with k from then on."""

    queries: Ints
    moments: Ints
    k: Ints


class Candidates(NamedTuple):
    """The candidates of each query: order[starts[q]:stops[q]] are their places, `away` is by place."""

    queries: Ints
    order: Ints
    away: Floats
    starts: Ints
    stops: Ints
    first_event: Ints
    """The events of each query, from this one up to before the other."""
    last_event: Ints
    k: Ints
    """What it asks for before all events."""


def mergers(
    placed: Placements, away: Floats, queries: Ints, events: Events, k: Ints, again: Bools, moments: int
) -> tuple[FoundUpdates, Bools]:
    """The updates of queries, in place of versions of them, and which objects are members at the end, by slot.

    Candidates have places as objects do, each with the query that it is of; `k` is by slot of queries, before all.
    """
    order = np.lexsort((np.arange(len(queries)), queries))
    asking = np.unique(events.queries)
    starts, stops = np.searchsorted(queries[order], asking), np.searchsorted(queries[order], asking, side="right")
    bounds = np.searchsorted(events.queries, asking), np.searchsorted(events.queries, asking, side="right")
    most = int((stops - starts).max(initial=1))
    scratch = scratch_for(most, most, int(placed.slots.max(initial=0)) + 1)
    member = np.zeros(len(scratch.seen), np.bool_)
    room, at, parts = max(1 << 16, 4 * most), np.zeros(1, np.int64), []
    candidates = Candidates(asking, order, away, starts, stops, *bounds, k[asking])
    while at[0] < len(asking):
        out = RankingUpdates(FoundUpdates(*np.empty((4, room), np.int64)), np.empty(room))
        count = _mergers(placed, candidates, events, again, moments, at, scratch, out, member)
        parts.append(FoundUpdates(*(each[:count] for each in out.found)))
        room = room if count else 2 * room
        scratch.seen[:] = -1
    return joined(parts), member


@inner
def _sort(placed: Placements, candidates: Candidates, nth: int, scratch: RankingRoom) -> int:
    """Sort the candidates of a query that have a place; gives how many there are."""
    size = 0
    for i in range(candidates.starts[nth], candidates.stops[nth]):
        place = candidates.order[i]
        if not np.isnan(candidates.away[place]):
            scratch.places[size], scratch.far[size] = place, candidates.away[place]
            size += 1
    sort(scratch.places, scratch.far, size, placed.points.id)
    return size


@inner
def _mergers(
    placed: Placements, candidates: Candidates, events: Events, again: Bools, moments: int, at: Ints,
    scratch: RankingRoom, out: RankingUpdates, member: Bools,
) -> int:  # fmt: skip
    """Go on from the query `at` while there is room, and mark who is a member at the end."""
    count, stamp = 0, 0
    for nth in range(at[0], len(candidates.queries)):
        begun, members = count, 0
        size = _sort(placed, candidates, nth, scratch)
        stages = stages_of(placed, scratch, size, -1, moments)
        wanted, event = candidates.k[nth], candidates.first_event[nth]
        for stage in range(-1, stages):
            moment = -1 if stage < 0 else scratch.moments[stage]
            while event < candidates.last_event[nth] and events.moments[event] <= moment:
                wanted = events.k[event]
                event += 1
            fresh = nearest_at(moment, placed, wanted, scratch, size)
            if moment >= 0:
                if count + members + 2 * fresh > len(out.away):
                    at[0] = nth
                    return begun
                turn = (candidates.queries[nth], moment, stamp)
                count = changes(placed, turn, members, fresh, again, False, False, scratch, out, count)
                stamp += 2
            hold(scratch, fresh)
            members = fresh
        for i in range(members):
            member[placed.slots[scratch.held[i]]] = True
    at[0] = len(candidates.queries)
    return count
