"""Reports one after another: what each of them changes in the answers of all queries (SOLE 5.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from australis.arrow.columns import Values
from australis.boxes.moving import leading
from australis.boxes.moving import objects as known
from australis.boxes.moving import queries as asked
from australis.boxes.moving.moments import Carried
from australis.boxes.moving.overlaps import FoundUpdates, overlaps
from australis.boxes.moving.placements import Placements, PlaceReports, placements
from australis.boxes.moving.rankings import Ranked, rankings
from australis.boxes.moving.regions import NEAREST, Floats, Points
from australis.boxes.moving.versions import RegionVersions, versions
from australis.model.box import Tables, Trains
from australis.model.table import Table
from australis.model.train import Bools, Ints, Train

if TYPE_CHECKING:
    from australis.boxes.moving.watch import Watch


class TrainClock(NamedTuple):
    """The latest time at each number at which a tuple arrives."""

    numbers: Ints
    nows: Values
    first: Any
    """The time before all of them."""

    def at(self, number: int) -> Any:
        place = int(np.searchsorted(self.numbers, number, side="right")) - 1
        return self.first if place < 0 else self.nows[place]


class Told(NamedTuple):
    """Updates that leave by a port: tuples without what it carries, and the rest."""

    found: FoundUpdates
    away: Floats


def step(
    box: Watch, tables: Tables, trains: Trains, clock: TrainClock | None, schemas: tuple[pa.Schema, ...]
) -> Trains:
    """The updates of some reports, and the candidates among them where there are other partitions."""
    reports, focal = trains[0], trains[2] if box.spread else None
    objects, queries = tables["objects"], tables["queries"]
    stored, touched = objects.alive.copy(), objects.touched.copy()
    both = [each for each in (reports, focal) if each is not None]
    numbers = np.unique(np.concatenate([each.number for each in both]))
    nows = None if clock is None else clock.nows[np.searchsorted(clock.numbers, numbers)]
    timeout = box._timeout(reports.schema)
    place_reports, columns = _reports(box, objects, reports, numbers)
    there = known.padded(stored, len(objects.alive))
    placed = placements(objects, there, place_reports, len(numbers), nows, timeout)
    moved, guides, points = placed, objects, known.points(objects, there)
    if focal is not None:
        guides = tables["leaders"]
        moved, points = _guides(box, guides, focal, numbers, nows, timeout)
    region_versions = versions(
        queries, queries.alive, leading.slots(guides, queries), points, moved, len(numbers), box.earth
    )
    moving = len(placed.slots)
    nearest = region_versions.regions.kind == NEAREST
    if nearest.any() or (region_versions.before >= 0).any():
        placed = _with(placed, objects, there, len(numbers))
    resting = np.arange(moving, len(placed.slots))
    carried = Carried(objects, reports, box.carry, placed)
    again = carried.again() if box.revise else np.zeros(len(placed.slots), np.bool_)
    updates = overlaps(placed, resting, region_versions, np.flatnonzero(~nearest), again, len(numbers))
    tell = box.spread
    ranked = rankings(placed, resting, region_versions, np.flatnonzero(nearest), queries[asked.K], again, tell)
    _limit(queries, ranked)
    stamps = np.full(len(numbers), np.iinfo(np.int64).max)
    for each in both:
        np.minimum.at(stamps, np.searchsorted(numbers, each.number), each.ts)
    near = Told(ranked.found, ranked.away)
    plain = Told(updates, np.zeros(len(updates.signs)))
    if not tell:
        plain = Told(*_joined(plain, near))
    out = [_train(box, tables, schemas[0], plain, placed, region_versions, carried, numbers, stamps, False)]
    if len(schemas) > 1:
        out.append(_train(box, tables, schemas[1], near, placed, region_versions, carried, numbers, stamps, True))
    _write(box, tables, reports, columns, placed, moving, (stored, touched))
    if focal is not None:
        _lead(box, tables, focal, nows, timeout)
    return tuple(out)


def _reports(box: Watch, objects: Table, reports: Train, numbers: Ints) -> tuple[PlaceReports, dict[str, Values]]:
    named = known.named(reports, box.id)
    slots = objects.find([reports[box.id].take(named)], len(named))
    columns, placed = known.columns(reports, box.x, box.y, box.time, box._conditions(reports.schema))
    times = columns.get(known.TIME, np.zeros(len(reports), np.int64))
    x, y, mask = (columns[name][named] for name in (known.X, known.Y, known.MASK))
    moments = np.searchsorted(numbers, reports.number[named])
    return PlaceReports(slots, moments, named, x, y, mask, times[named], placed[named]), columns


def _guides(
    box: Watch, leaders: Table, focal: Train, numbers: Ints, nows: Values | None, timeout: Any
) -> tuple[Placements, Points]:
    """Where focal objects are, moment by moment, and before all of them."""
    there = leaders.alive.copy()
    named = known.named(focal, box.id)
    slots = leaders.find([focal[box.id].cast(pa.int64()).take(named)], len(named))
    there = known.padded(there, len(leaders.alive))
    x, y = known.coordinate(focal, box.x)[named], known.coordinate(focal, box.y)[named]
    times, timed = known.times(focal, box.time)
    placed = np.isfinite(x) & np.isfinite(y) & timed[named]
    moments = np.searchsorted(numbers, focal.number[named])
    place_reports = PlaceReports(slots, moments, named, x, y, np.zeros(len(named), np.int64), times[named], placed)
    return placements(leaders, there, place_reports, len(numbers), nows, timeout), known.points(leaders, there)


def _with(placed: Placements, objects: Table, there: Bools, moments: int) -> Placements:
    """The placements, followed by those of objects that did not report."""
    rest = there.copy()
    rest[placed.slots] = False
    slots = np.flatnonzero(rest)
    none, points = np.full(len(slots), -1), placed.points
    x, y, mask = objects[known.X][slots], objects[known.Y][slots], objects[known.MASK][slots]
    identifiers = objects[objects.key[0]][slots].astype(np.int64)
    both = Points(*(np.concatenate(pair) for pair in zip(points, (x, y, mask, identifiers), strict=True)))
    more = (slots, none, np.full(len(slots), moments), none, objects[known.TIME][slots])
    where, since, until, row, time = (np.concatenate(pair) for pair in zip(placed[:5], more, strict=True))
    return Placements(
        where,
        since,
        until,
        row,
        time,
        both,
        np.concatenate([placed.before, none]),
        np.concatenate([placed.after, none]),
    )


def _limit(queries: Table, ranked: Ranked) -> None:
    """Write how far kNN queries reach now."""
    queries["limit"][ranked.queries] = ranked.limits
    queries["tie"][ranked.queries] = ranked.ties
    queries.touched[ranked.queries] = True


def _joined(one: Told, other: Told) -> tuple[FoundUpdates, Floats]:
    updates = FoundUpdates(*(np.concatenate(pair) for pair in zip(one.found, other.found, strict=True)))
    return updates, np.concatenate([one.away, other.away])


def _train(
    box: Watch, tables: Tables, schema: pa.Schema, told: Told, placed: Placements, region_versions: RegionVersions,
    carried: Carried, numbers: Ints, stamps: Ints, candidates: bool,
) -> Train:  # fmt: skip
    """Updates as tuples, moment by moment, those that leave first."""
    objects, queries = tables["objects"], tables["queries"]
    updates, slots, asking = told.found, placed.slots[told.found.places], region_versions.queries[told.found.versions]
    order = np.lexsort((placed.points.id[updates.places], asking, updates.signs, updates.moments))
    rows = carried.told(updates, box.revise)[order]
    updates, slots, asking = FoundUpdates(*(each[order] for each in updates)), slots[order], asking[order]
    arrays = [queries.get(asked.QUERY, asking), pa.array(updates.signs.astype(np.int8)), objects.get(box.id, slots)]
    if candidates:
        arrays += [pa.array(queries[asked.K][asking]), pa.array(told.away[order])]
    arrays += [carried.columns[name].take(rows) for name in box.carry]
    tuples = pa.RecordBatch.from_arrays(arrays, schema=schema)
    return Train(tuples, stamps[updates.moments], numbers[updates.moments])


def _write(
    box: Watch, tables: Tables, reports: Train, columns: dict[str, Values], placed: Placements, moving: int,
    kept: tuple[Bools, Bools],
) -> None:  # fmt: skip
    """Put the last place of each object in the table; those that are nowhere go."""
    objects = tables["objects"]
    last = np.flatnonzero(placed.after[:moving] < 0)
    there = ~np.isnan(placed.points.x[last])
    rows, slots = placed.row[last], placed.slots[last]
    fresh = there & (rows >= 0)
    known.put(objects, slots[fresh], rows[fresh], columns, reports)
    gone = slots[~there]
    known.forget(objects, gone[objects.alive[gone]], *kept)


def _lead(box: Watch, tables: Tables, focal: Train, nows: Values | None, timeout: Any) -> None:
    leading.report(tables["leaders"], focal, (box.id, box.x, box.y), box.time)
    none = np.zeros(len(tables["queries"].alive), np.bool_)
    oldest = None if nows is None or not len(nows) else nows[-1].item() - timeout
    leading.forget(tables["leaders"], tables["queries"], none, oldest)
