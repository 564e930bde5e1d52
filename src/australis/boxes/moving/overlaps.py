"""Overlaps: who comes into the regions of queries, and leaves them, moment by moment within one train (SOLE 5.3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from australis.boxes.moving.differences import differences
from australis.boxes.moving.grid import CellGrid, cells_of, grid, rows_of
from australis.boxes.moving.placements import Placements
from australis.boxes.moving.regions import Regions, contains
from australis.boxes.moving.versions import RegionVersions
from australis.kernels.jit import inner
from australis.model.train import Bools, Ints

_MOST = 1 << 20


class FoundUpdates(NamedTuple):
    """Updates: the sign, the version of the query, the place of the object, the moment."""

    signs: Ints
    versions: Ints
    places: Ints
    moments: Ints


def overlaps(
    placed: Placements, resting: Ints, versions: RegionVersions, selected: Ints, again: Bools, moments: int
) -> FoundUpdates:
    """The updates of range queries, of which `selected` are the versions.

    A pair of a version and a place is a member while both are there, if the place lies in the region. So an update is
    where a pair begins or ends, unless another pair of the two goes on. Objects that rest (the places from `resting`
    on) matter only where a region moves. Places that are told `again` end and begin in any case.
    """
    moving = len(placed.slots) - len(resting)
    somewhere = np.flatnonzero(~np.isnan(placed.points.x[:moving]))
    parts = []
    if len(somewhere) and len(selected):
        cells = grid(placed.points, placed.points, somewhere)
        parts.append(_pairs(cells, placed, versions, selected, again, moments))
    there = resting[~np.isnan(placed.points.x[resting])]
    moved = selected[(versions.before[selected] >= 0) | (versions.after[selected] >= 0)]
    if len(there) and len(moved):
        cells = grid(placed.points, placed.points, there)
        for other, sign, when in ((versions.before, 1, versions.since), (versions.after, -1, versions.until)):
            followed = moved[other[moved] >= 0]
            asking, places = differences(cells, versions.regions, _other(versions.regions, other), followed)
            parts.append(FoundUpdates(np.full(len(asking), sign), asking, places, when[asking]))
    return joined(parts)


def joined(parts: list[FoundUpdates]) -> FoundUpdates:
    none = np.empty(0, np.int64)
    return FoundUpdates(
        *(np.concatenate(arrays) for arrays in zip(FoundUpdates(none, none, none, none), *parts, strict=True))
    )


def _other(regions: Regions, other: Ints) -> Regions:
    """The regions of other versions, in the places of these."""
    at = np.maximum(other, 0)
    names = [name for name in regions._fields if name not in ("starts", "edges", "earth")]
    return regions._replace(**{name: getattr(regions, name)[at] for name in names})


def _pairs(
    cells: CellGrid, placed: Placements, versions: RegionVersions, selected: Ints, again: Bools, moments: int
) -> FoundUpdates:
    at, out = np.zeros(2, np.int64), []
    room = max(_MOST, 2 * int(np.diff(cells.starts).max()))
    while at[0] < len(selected):
        updates = FoundUpdates(*np.empty((4, room), np.int64))
        count = _overlaps(cells, placed, versions, selected, again, moments, at, updates)
        out.append(FoundUpdates(*(each[:count] for each in updates)))
    return joined(out)


@inner
def _overlaps(
    cells: CellGrid,
    placed: Placements,
    versions: RegionVersions,
    selected: Ints,
    again: Bools,
    moments: int,
    at: Ints,
    updates: FoundUpdates,
) -> int:
    """Go on from `at` (a version, a cell) while there is room for all updates of a cell."""
    regions, count = versions.regions, 0
    for nth in range(at[0], len(selected)):
        version = selected[nth]
        begun, at[1] = at[1], 0
        bottom, top = rows_of(cells, regions, version)
        for row in range(bottom, top + 1):
            first, last = cells_of(cells, regions, version, row)
            for spot in range(max(first, begun), last + 1):
                if count + 2 * (cells.starts[spot + 1] - cells.starts[spot]) > len(updates.signs):
                    at[0], at[1] = nth, spot
                    return count
                for i in range(cells.starts[spot], cells.starts[spot + 1]):
                    if not contains(regions, version, cells.x[i], cells.y[i], cells.mask[i], cells.id[i]):
                        continue
                    place = cells.slots[i]
                    since = max(versions.since[version], placed.since[place])
                    until = min(versions.until[version], placed.until[place])
                    if since >= until:
                        continue
                    if since >= 0:
                        anew = placed.since[place] == since
                        other = placed.before[place] if anew else place
                        query = versions.before[version] if versions.since[version] == since else version
                        if (anew and again[place]) or not _inside(placed, regions, query, other):
                            updates.signs[count], updates.versions[count] = 1, version
                            updates.places[count], updates.moments[count] = place, since
                            count += 1
                    if until < moments:
                        anew = placed.until[place] == until
                        other = placed.after[place] if anew else place
                        query = versions.after[version] if versions.until[version] == until else version
                        if (anew and again[other]) or not _inside(placed, regions, query, other):
                            updates.signs[count], updates.versions[count] = -1, version
                            updates.places[count], updates.moments[count] = place, until
                            count += 1
    at[0] = len(selected)
    return count


@inner
def _inside(placed: Placements, regions: Regions, version: int, place: int) -> bool:
    if version < 0 or place < 0:
        return False
    points = placed.points
    return contains(regions, version, points.x[place], points.y[place], points.mask[place], points.id[place])
