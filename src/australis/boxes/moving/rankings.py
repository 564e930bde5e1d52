"""Rankings: who is among the k nearest of a query, moment by moment within one train (SOLE 3.2, 5.3)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from australis.boxes.moving.grid import CellGrid, cells_between, cells_of, grid, rows_between, rows_of
from australis.boxes.moving.nearest import before, guess
from australis.boxes.moving.overlaps import FoundUpdates, joined
from australis.boxes.moving.placements import Placements
from australis.boxes.moving.regions import LAST, Floats, apart, contains, distance, measured, reach
from australis.boxes.moving.versions import RegionVersions
from australis.kernels.jit import inner
from australis.model.train import Bools, Ints

_ENOUGH, _CANDIDATES, _UPDATES = range(3)


class RankingRoom(NamedTuple):
    """Room for the candidates of one version of a query, and for its members."""

    places: Ints
    far: Floats
    moments: Ints
    held: Ints
    fresh: Ints
    near: Floats
    seen: Ints
    """By object: when it was last a member, and which of them."""
    which: Ints


class RankingUpdates(NamedTuple):
    """Room for updates, and for the measures of distances of those that enter."""

    found: FoundUpdates
    away: Floats


class Reaches(NamedTuple):
    """How far queries reach at the end, by their order, and whether that is known."""

    limits: Floats
    ties: Ints
    affected: Bools


class Ranked(NamedTuple):
    """Updates with the measures of distances, and the limits and ties of queries at the end, where these changed."""

    found: FoundUpdates
    away: Floats
    queries: Ints
    limits: Floats
    ties: Ints


def rankings(
    placed: Placements,
    resting: Ints,
    versions: RegionVersions,
    selected: Ints,
    k: Ints,
    again: Bools,
    tell: bool,
) -> Ranked:
    """The updates of kNN queries, of which `selected` are the versions, in order; `k` is by slot of queries.

    Candidates are the places within a radius in which there are k objects at each moment. With `tell`, members that lie
    elsewhere, or whose query does, are told of again.
    """
    somewhere = ~np.isnan(placed.points.x)
    moving = np.flatnonzero(somewhere[: len(placed.slots) - len(resting)])
    everything = grid(placed.points, placed.points, np.flatnonzero(somewhere))
    changed = grid(placed.points, placed.points, moving)
    starts = selected[versions.before[selected] < 0]
    ends = selected[versions.after[selected] < 0]
    wanted = np.minimum(k[versions.queries[starts]], len(placed.slots) + 1)
    objects, most = int(placed.slots.max(initial=0)) + 1, int(wanted.max(initial=1))
    reaches = Reaches(np.zeros(len(starts)), np.zeros(len(starts), np.int64), np.zeros(len(starts), np.bool_))
    size, room, at, parts, aways = 256, max(1 << 16, 4 * most), np.zeros(2, np.int64), [], []
    while at[0] < len(starts):
        scratch = scratch_for(size, most, objects)
        out = RankingUpdates(FoundUpdates(*np.empty((4, room), np.int64)), np.zeros(room))
        at[1] = _ENOUGH
        count = _rankings(
            everything, changed, placed, versions, (starts, ends), wanted, again, tell, at, scratch, out, reaches
        )
        parts.append(FoundUpdates(*(each[:count] for each in out.found)))
        aways.append(out.away[:count])
        size = 2 * size if at[1] == _CANDIDATES else size
        room = 2 * room if at[1] == _UPDATES and not count else room
    here = np.flatnonzero(reaches.affected)
    away = np.concatenate([np.empty(0), *aways])
    return Ranked(joined(parts), away, versions.queries[starts[here]], reaches.limits[here], reaches.ties[here])


def scratch_for(size: int, most: int, objects: int) -> RankingRoom:
    return RankingRoom(
        np.empty(size, np.int64), np.empty(size), np.empty(2 * size, np.int64), np.empty(most, np.int64),
        np.empty(most, np.int64), np.empty(most), np.full(objects, -1, np.int64), np.empty(objects, np.int64),
    )  # fmt: skip


@inner
def _rankings(
    everything: CellGrid, changed: CellGrid, placed: Placements, versions: RegionVersions, spans: tuple[Ints, Ints],
    wanted: Ints, again: Bools, tell: bool, at: Ints, scratch: RankingRoom, out: RankingUpdates, reaches: Reaches,
) -> int:  # fmt: skip
    """Rank from the query `at` on while there is room, and write beside it what there was not enough of.

    A query has the versions of its span, from the first to the last.
    """
    starts, ends = spans
    regions, count, stamp = versions.regions, 0, 0
    for nth in range(at[0], len(starts)):
        begun, members, known = count, 0, False
        if starts[nth] == ends[nth] and not _touched(changed, versions, starts[nth]):
            continue
        limit = regions.limit[starts[nth]]
        near = distance(limit, regions.earth) if limit < math.inf else 0.0
        radius = max(near, guess(everything, wanted[nth], regions.earth))
        for version in range(starts[nth], ends[nth] + 1):
            size, stages, somewhere = 0, 0, regions.west[version] <= regions.east[version]
            if somewhere:
                size, stages, radius = _rank(everything, placed, versions, version, wanted[nth], radius, scratch)
                if size < 0:
                    at[0], at[1] = nth, _CANDIDATES
                    return begun
            for stage in range(-1, stages):
                moment = versions.since[version] if stage < 0 else scratch.moments[stage]
                if count + 3 * wanted[nth] > len(out.away):
                    at[0], at[1] = nth, _UPDATES
                    return begun
                fresh = nearest_at(moment, placed, wanted[nth], scratch, size)
                if moment >= 0:
                    turn = (version, moment, stamp)
                    retold = tell and stage < 0
                    count = changes(placed, turn, members, fresh, again, tell, retold, scratch, out, count)
                    stamp += 2
                hold(scratch, fresh)
                members, known = fresh, size > 0 or somewhere
        reaches.affected[nth] = known
        reaches.limits[nth], reaches.ties[nth] = math.inf, LAST
        if members and members == wanted[nth]:
            reaches.limits[nth] = scratch.near[members - 1]
            reaches.ties[nth] = placed.points.id[scratch.held[members - 1]]
    at[0] = len(starts)
    return count


@inner
def _rank(
    cells: CellGrid, placed: Placements, versions: RegionVersions, version: int, wanted: int, radius: float,
    scratch: RankingRoom,
) -> tuple[int, int, float]:  # fmt: skip
    """Sort enough candidates of a version; gives how many, -1 if there is no room, their stages, and the radius."""
    since, until = versions.since[version], versions.until[version]
    while True:
        size, whole = _gather(cells, placed, versions, version, radius, scratch)
        if size < 0:
            return size, 0, radius
        sort(scratch.places, scratch.far, size, placed.points.id)
        stages = stages_of(placed, scratch, size, since, until)
        if whole or _enough(placed, scratch, size, stages, since, wanted):
            return size, stages, radius
        radius *= 2


@inner
def nearest_at(moment: int, placed: Placements, wanted: int, scratch: RankingRoom, size: int) -> int:
    """Put the nearest candidates at a moment among the fresh ones; gives how many there are."""
    fresh = 0
    for i in range(size):
        if fresh == wanted:
            break
        place = scratch.places[i]
        if placed.since[place] <= moment < placed.until[place]:
            scratch.fresh[fresh], scratch.near[fresh] = place, scratch.far[i]
            fresh += 1
    return fresh


@inner
def hold(scratch: RankingRoom, fresh: int) -> None:
    """Let the fresh ones be the members."""
    for i in range(fresh):
        scratch.held[i] = scratch.fresh[i]


@inner
def _touched(changed: CellGrid, versions: RegionVersions, version: int) -> bool:
    """Whether any place of an object that moves lies in the circle of a query."""
    regions = versions.regions
    bottom, top = rows_of(changed, regions, version)
    for row in range(bottom, top + 1):
        first, last = cells_of(changed, regions, version, row)
        for i in range(changed.starts[first], changed.starts[last + 1]):
            if contains(regions, version, changed.x[i], changed.y[i], changed.mask[i], changed.id[i]):
                return True
    return False


@inner
def _gather(
    cells: CellGrid, placed: Placements, versions: RegionVersions, version: int, radius: float, scratch: RankingRoom
) -> tuple[int, bool]:
    """The places within a radius while a version lasts; -1 if there is no room for them; and whether these are all."""
    regions = versions.regions
    x, y, earth, need = regions.x[version], regions.y[version], regions.earth, regions.need[version]
    west, east, south, north = reach(x, y, radius, earth)
    bottom, top = rows_between(cells, south, north)
    whole = top - bottom + 1 == cells.sides[1]
    if whole:
        for row in range(bottom, top + 1):
            first, last = cells_between(cells, row, west, east)
            whole = whole and last - first + 1 == cells.sides[0]
    most, count = math.inf if whole else measured(radius, earth), 0
    for row in range(bottom, top + 1):
        first, last = cells_between(cells, row, west, east)
        for i in range(cells.starts[first], cells.starts[last + 1]):
            place = cells.slots[i]
            if need & ~cells.mask[i]:
                continue
            if placed.since[place] >= versions.until[version] or placed.until[place] <= versions.since[version]:
                continue
            far = apart(cells.x[i], cells.y[i], x, y, earth)
            if far > most:
                continue
            if count == len(scratch.far):
                return -1, whole
            scratch.places[count], scratch.far[count] = place, far
            count += 1
    return count, whole


@inner
def sort(places: Ints, far: Floats, size: int, identifiers: Ints) -> None:
    """The nearest first, of those equally far the smaller identifiers: in steps that become shorter."""
    gap = 1
    while gap < size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, size):
            place, away, at = places[i], far[i], i
            while at >= gap and before(away, identifiers[place], far[at - gap], identifiers[places[at - gap]]):
                places[at], far[at] = places[at - gap], far[at - gap]
                at -= gap
            places[at], far[at] = place, away
        gap //= 3


@inner
def stages_of(placed: Placements, scratch: RankingRoom, size: int, since: int, until: int) -> int:
    """The moments between two at which a candidate comes or goes, in order; how many there are."""
    count = 0
    for i in range(size):
        place = scratch.places[i]
        if since < placed.since[place] < until:
            scratch.moments[count] = placed.since[place]
            count += 1
        if since < placed.until[place] < until:
            scratch.moments[count] = placed.until[place]
            count += 1
    _ascend(scratch.moments, count)
    kept = 0
    for i in range(count):
        if kept == 0 or scratch.moments[i] != scratch.moments[kept - 1]:
            scratch.moments[kept] = scratch.moments[i]
            kept += 1
    return kept


@inner
def _ascend(values: Ints, size: int) -> None:
    gap = 1
    while gap < size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, size):
            value, at = values[i], i
            while at >= gap and values[at - gap] > value:
                values[at] = values[at - gap]
                at -= gap
            values[at] = value
        gap //= 3


@inner
def _enough(placed: Placements, scratch: RankingRoom, size: int, stages: int, since: int, wanted: int) -> bool:
    """Whether at all moments there are as many candidates as are wanted."""
    for stage in range(-1, stages):
        moment, count = since if stage < 0 else scratch.moments[stage], 0
        for i in range(size):
            place = scratch.places[i]
            if placed.since[place] <= moment < placed.until[place]:
                count += 1
                if count == wanted:
                    break
        if count < wanted:
            return False
    return True


@inner
def _put(out: RankingUpdates, count: int, sign: int, turn: tuple[int, int, int], place: int, away: float) -> int:
    """Add an update; how many they are then."""
    out.found.signs[count], out.found.versions[count] = sign, turn[0]
    out.found.places[count], out.found.moments[count] = place, turn[1]
    out.away[count] = away
    return count + 1


@inner
def changes(
    placed: Placements, turn: tuple[int, int, int], members: int, fresh: int, again: Bools, tell: bool, retold: bool,
    scratch: RankingRoom, out: RankingUpdates, count: int,
) -> int:  # fmt: skip
    """Add the updates of members that came and went; gives how many updates there are then.

    A turn has a version, a moment, and a stamp: each one two more than the stamp before.
    """
    stamp = turn[2]
    for i in range(members):
        slot = placed.slots[scratch.held[i]]
        scratch.seen[slot], scratch.which[slot] = stamp, i
    for i in range(fresh):
        place = scratch.fresh[i]
        slot = placed.slots[place]
        told, stays = retold, scratch.seen[slot] == stamp
        if stays:
            old = scratch.held[scratch.which[slot]]
            scratch.seen[slot] = stamp + 1
            other = old != place
            told = (told or other) if tell else other and again[place]
            if told and not tell:
                count = _put(out, count, -1, turn, old, 0.0)
        if told or not stays:
            count = _put(out, count, 1, turn, place, scratch.near[i])
    for i in range(members):
        place = scratch.held[i]
        if scratch.seen[placed.slots[place]] == stamp:
            count = _put(out, count, -1, turn, place, 0.0)
    return count
