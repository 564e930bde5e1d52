"""Mergers: the k nearest of the candidates of all partitions, moment by moment within one train (SOLE 3.2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from australis.boxes.moving.overlaps import FoundUpdates, joined
from australis.boxes.moving.placements import Placements
from australis.boxes.moving.rankings import RankingRoom, changes, scratch_for, sort, stages_of
from australis.boxes.moving.regions import Floats
from australis.kernels.jit import inner
from australis.model.train import Bools, Ints


class Events(NamedTuple):
    """What was told of candidates, in the order of queries and then of moments, with k from then on."""

    queries: Ints
    moments: Ints
    k: Ints


def mergers(
    placed: Placements, away: Floats, queries: Ints, events: Events, k: Ints, again: Bools, moments: int
) -> tuple[FoundUpdates, Bools]:
    """The updates of queries, in place of versions of them, and which objects are members at the end, by slot.

    Candidates have places as objects do, each with the query that it is of; `k` is by slot of queries, before all.
    """
    order = np.lexsort((np.arange(len(queries)), queries))
    asking = np.unique(events.queries)
    starts, stops = np.searchsorted(queries[order], asking), np.searchsorted(queries[order], asking, side="right")
    told = np.searchsorted(events.queries, asking), np.searchsorted(events.queries, asking, side="right")
    most = int((stops - starts).max(initial=1))
    scratch = scratch_for(most, most, int(placed.slots.max(initial=0)) + 1)
    member = np.zeros(len(scratch.seen), np.bool_)
    room, at, parts = max(1 << 16, 4 * most), np.zeros(1, np.int64), []
    while at[0] < len(asking):
        found, spare = FoundUpdates(*np.empty((4, room), np.int64)), np.empty(room)
        count = _mergers(
            placed, away, order, asking, starts, stops, told, events, k, again, moments, at, scratch, found, spare,
            member,
        )  # fmt: skip
        parts.append(FoundUpdates(*(each[:count] for each in found)))
        room = room if count else 2 * room
        scratch.seen[:] = -1
    return joined(parts), member


@inner
def _mergers(
    placed: Placements, away: Floats, order: Ints, asking: Ints, starts: Ints, stops: Ints, told: tuple[Ints, Ints],
    events: Events, k: Ints, again: Bools, moments: int, at: Ints, scratch: RankingRoom, found: FoundUpdates,
    spare: Floats, member: Bools,
) -> int:  # fmt: skip
    count, stamp = 0, 0
    for nth in range(at[0], len(asking)):
        begun, members, size = count, 0, 0
        for i in range(starts[nth], stops[nth]):
            if not np.isnan(away[order[i]]):
                scratch.places[size], scratch.far[size] = order[i], away[order[i]]
                size += 1
        sort(scratch.places, scratch.far, size, placed.points.id)
        stages = stages_of(placed, scratch, size, -1, moments)
        wanted, event = k[asking[nth]], told[0][nth]
        for stage in range(-1, stages):
            moment = -1 if stage < 0 else scratch.moments[stage]
            while event < told[1][nth] and events.moments[event] <= moment:
                wanted = events.k[event]
                event += 1
            fresh = 0
            for i in range(size):
                if fresh == wanted:
                    break
                place = scratch.places[i]
                if placed.since[place] <= moment < placed.until[place]:
                    scratch.fresh[fresh] = place
                    fresh += 1
            if moment >= 0:
                if count + members + 2 * fresh > len(spare):
                    at[0] = nth
                    return begun
                query = asking[nth]
                count = changes(
                    placed, query, moment, members, fresh, again, False, False, stamp, scratch, found, spare, count
                )
                stamp += 2
            for i in range(fresh):
                scratch.held[i] = scratch.fresh[i]
            members = fresh
        for i in range(members):
            member[placed.slots[scratch.held[i]]] = True
    at[0] = len(asking)
    return count
