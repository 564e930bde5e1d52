"""Trains as a whole: what all of their tuples together change in the answers of all queries (SOLE 5.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from australis.boxes.moving import leading, lightening, memory, shadows
from australis.boxes.moving import objects as known
from australis.boxes.moving import queries as asked
from australis.boxes.moving.grid import CellGrid, grid
from australis.boxes.moving.nearest import distances, limit
from australis.boxes.moving.placing import moved, regions
from australis.boxes.moving.regions import NEAREST, Points, Regions
from australis.boxes.moving.revising import Before
from australis.boxes.moving.stamps import Stamps
from australis.boxes.moving.timing import oldest
from australis.boxes.moving.updates import Updates, candidates, only, updates
from australis.model.box import Moment, Tables, Trains
from australis.model.table import Table
from australis.model.train import Bools, Ints, Train

if TYPE_CHECKING:
    from australis.boxes.moving.watch import Watch


class StepRows(NamedTuple):
    """The trains of a step, their rows that can be used, and the slots that these are about."""

    trains: Trains
    there: Bools
    """The objects that there were before, and the queries."""
    asking: Bools
    named: Ints
    """The rows of reports with an identifier, and the slots of their objects."""
    reported: Ints
    queries: asked.QueryRows
    good: Ints
    """The rows of queries that can be read, and the slots of these."""
    registered: Ints


class Scene(NamedTuple):
    """Where objects and the regions of queries are at a moment, and the slots of the queries' focal objects."""

    points: Points
    leaders: Ints
    regions: Regions


class Written(NamedTuple):
    """What changed when the rows were written in the tables."""

    was: Before
    """What objects carried before."""
    told: Ints | None
    """The `ts` of the reports of focal objects, where these are told of."""
    gone: Bools
    """The objects that are nowhere, or have been silent too long."""
    removed: Bools
    """The queries that are removed."""


def step(
    box: Watch, tables: Tables, trains: Trains, moment: Moment, schemas: Sequence[pa.Schema], apart: bool = False
) -> Trains:
    """The updates of all tuples at once, the queries that cannot be read, candidates and accuracies if there are any.

    Updates that come `apart` have the numbers of the queries that they are of.
    """
    objects, queries = tables["objects"], tables["queries"]
    stored, touched = objects.alive.copy(), objects.touched.copy()
    recalled = None if box.budget is None else shadows.recall(objects, tables["shadows"])
    rows = _rows(box, tables, trains)
    before = _scene(box, tables, rows.there, rows.asking)
    written = _write(box, tables, rows)
    leaders = np.where(written.removed, -1, leading.slots(objects, queries))
    part = _part(box, tables, moment)
    back = rows.reported if part is None else rows.reported[:0]  # who is left out stays so, unless it leads a query
    _unshed(objects, np.concatenate([back, leaders[leaders >= 0]]))
    after = _scene(box, tables, objects.alive & ~written.gone, queries.alive & ~written.removed)
    cells = _cells(queries, before, after)
    accuracies = memory.remember(box, tables, trains, cells, after.regions, leaders, written.gone, rows.reported, part)
    if accuracies is not None:
        after = after._replace(points=_visible(objects, objects.alive & ~written.gone))
        cells = _cells(queries, before, after)
    number = max(moment.number, *(int(train.number[-1]) for train in trains if len(train)))
    numbers = np.full(len(queries.alive), number)
    if apart:
        numbers[rows.registered] = trains[1].number[rows.good]
    ports = _trains(box, tables, schemas, rows, written, before, after, cells, numbers)
    out = [ports[0], trains[1].where(pa.array(~rows.queries.good)), *ports[1:]]
    if "lightened" in tables and part is None:
        lightening.forget(tables["lightened"])
        accuracies = np.ones(len(queries.alive)) if accuracies is None else accuracies
    if accuracies is not None:
        there = queries.alive & ~written.removed
        out.append(memory.changed_accuracies(queries, accuracies, there, trains, number))
    gone = written.gone
    if recalled is not None:
        gone |= shadows.conceal(objects, tables["shadows"], recalled, gone)
    known.forget(objects, np.flatnonzero(gone & objects.alive), stored, touched)
    queries.free(np.flatnonzero(written.removed))
    if box.cache is not None:
        objects.compact(0.5 if box.budget is None else shadows.ROOM)
    return tuple(out)


def _rows(box: Watch, tables: Tables, trains: Trains) -> StepRows:
    """Find a slot for every object and query that there are rows of."""
    reports, rows = trains[:2]
    objects, queries = tables["objects"], tables["queries"]
    there, asking = objects.alive.copy(), queries.alive.copy()
    wanted = asked.QueryRows(rows, [name for name, _ in box.conditions], box.earth)
    good, named = np.flatnonzero(wanted.good), known.named(reports, box.id)
    registered = queries.find([rows[asked.QUERY].take(good)], len(good))
    reported = objects.find([reports[box.id].take(named)], len(named))
    there, asking = known.padded(there, len(objects.alive)), known.padded(asking, len(queries.alive))
    return StepRows(trains, there, asking, named, reported, wanted, good, registered)


def _visible(objects: Table, there: Bools) -> Points:
    """The points of the objects that are `there` and not shed."""
    return known.points(objects, there & ~objects[known.SHED])


def _scene(box: Watch, tables: Tables, there: Bools, asking: Bools) -> Scene:
    """The scene of the objects that are `there` and the queries that are `asking`."""
    queries, points = tables["queries"], _visible(tables["objects"], there)
    guides, leaders = points, leading.slots(tables["leaders" if box.spread else "objects"], queries)
    if box.spread:
        guides = leading.points(tables["leaders"])
    return Scene(points, leaders, regions(queries, asking, guides, leaders, box.earth))


def _write(box: Watch, tables: Tables, rows: StepRows) -> Written:
    """Write the last report of each object and focal object, and the last row of each query."""
    reports, objects, queries = rows.trains[0], tables["objects"], tables["queries"]
    told = None
    if box.spread:
        told = leading.report(tables["leaders"], rows.trains[2], (box.id, box.x, box.y), box.time)
    last = known.latest(rows.reported, len(objects.alive))
    was = Before(objects, box.carry if box.revise else (), rows.reported[last])
    gone = _report(box, tables, reports, rows.reported[last], rows.named[last])
    last = known.latest(rows.registered, len(queries.alive))
    removed = _register(queries, rows.queries, rows.registered[last], rows.good[last])
    if box.spread:
        since = oldest(tables["clock"], box._timeout(reports.schema))
        leading.forget(tables["leaders"], queries, removed, since)
    return Written(was, told, gone, removed)


def _report(box: Watch, tables: Tables, reports: Train, slots: Ints, rows: Ints) -> Bools:
    """Write the last report of each object; which objects are nowhere after it, or have been silent too long."""
    objects = tables["objects"]
    columns, placed = known.columns(reports, box.x, box.y, box.time, box._conditions(reports.schema))
    gone = np.zeros(len(objects.alive), np.bool_)
    gone[slots] = ~placed[rows]
    known.put(objects, slots[placed[rows]], rows[placed[rows]], columns, reports)
    since = oldest(tables["clock"], box._timeout(reports.schema))
    if since is not None:
        gone |= objects.alive & (objects[known.TIME] < since)
    return gone


def _register(queries: Table, wanted: asked.QueryRows, slots: Ints, rows: Ints) -> Bools:
    """Write the last row of each query; which queries are removed."""
    removed = np.zeros(len(queries.alive), np.bool_)
    removed[slots] = wanted.removes[rows]
    kept = ~wanted.removes[rows]
    wanted.put(queries, slots[kept], rows[kept])
    return removed


def _part(box: Watch, tables: Tables, moment: Moment) -> float | None:
    """The part of answers that is told, until all objects are back that were left out; none if none are."""
    if "lightened" not in tables:
        return None
    hidden = box.budget is None and bool(tables["objects"][known.SHED].any())
    return moment.part if moment.part < 1 or hidden else None


def _unshed(objects: Table, slots: Ints) -> None:
    """Mark objects as not shed."""
    objects.touched[slots] |= objects[known.SHED][slots]
    objects[known.SHED][slots] = False


def _cells(queries: Table, before: Scene, after: Scene) -> CellGrid:
    """The grid of all objects, by which it is found how far kNN queries reach now."""
    cells = grid(after.points, before.points, np.flatnonzero(~np.isnan(after.points.x)))
    placed = after.regions
    nearest = np.flatnonzero((placed.kind == NEAREST) & (placed.west <= placed.east))
    limit(cells, placed, nearest, queries[asked.K])
    for name, values in (("limit", placed.limit), ("tie", placed.tie)):
        changed = nearest[queries[name][nearest] != values[nearest]]
        queries[name][changed] = values[changed]
        queries.touched[changed] = True
    return cells


def _trains(
    box: Watch, tables: Tables, schemas: Sequence[pa.Schema], rows: StepRows, written: Written, before: Scene,
    after: Scene, cells: CellGrid, numbers: Ints,
) -> list[Train]:  # fmt: skip
    """The updates from one moment to the other, and the candidates if these have a schema too."""
    reported, registered = (rows.reported, rows.named), (rows.registered, rows.good)
    stamps = Stamps(rows.trains, reported, registered, after.leaders, written.told)
    anew = moved(before.regions, after.regions)
    anew[rows.registered] = True
    again = written.was.revised(rows.there) if box.revise else np.zeros(len(rows.there), np.bool_)
    near = None
    if len(schemas) > 1:
        near = _candidates(before, after, anew, again, rows.registered)
        before, after = _without_nearest(before), _without_nearest(after)
    changes = updates(before.points, after.points, before.regions, after.regions, anew, cells, again)
    out = [_train(box, tables, schemas[0], changes, written.was, stamps, numbers)]
    if near is not None:
        away = distances(after.regions, after.points, *near[:2])
        more = [pa.array(tables["queries"][asked.K][near.queries]), pa.array(away)]
        out.append(_train(box, tables, schemas[1], near, written.was, stamps, numbers, more))
    return out


def _candidates(before: Scene, after: Scene, anew: Bools, again: Bools, registered: Ints) -> Updates:
    """The updates of the k nearest objects in this partition."""
    old, new = before.regions, after.regions
    fresh = (old.x != new.x) | (old.y != new.y)
    fresh[registered] = True
    changed = again | (before.points.x != after.points.x) | (before.points.y != after.points.y)
    old, new = only(old, old.kind == NEAREST), only(new, new.kind == NEAREST)
    return candidates(before.points, after.points, old, new, anew, fresh, changed)


def _without_nearest(scene: Scene) -> Scene:
    return scene._replace(regions=only(scene.regions, scene.regions.kind != NEAREST))


def _train(
    box: Watch, tables: Tables, schema: pa.Schema, changes: Updates, was: Before, stamps: Stamps, numbers: Ints,
    more: Sequence[pa.Array[Any]] = (),
) -> Train:  # fmt: skip
    """Updates as tuples; those that leave with what they carried before."""
    objects, queries = tables["objects"], tables["queries"]
    sign = np.ones(len(changes.queries), np.int8)
    sign[: changes.leaving] = -1
    arrays = [queries.get(asked.QUERY, changes.queries), pa.array(sign), objects.get(box.id, changes.objects), *more]
    arrays += [was.column(name, changes.objects, changes.leaving) for name in box.carry]
    train = Train(pa.RecordBatch.from_arrays(arrays, schema=schema), stamps.of(changes), numbers[changes.queries])
    several = len(train) > 0 and bool((train.number[1:] < train.number[:-1]).any())
    return train.take(np.argsort(train.number, kind="stable")) if several else train
