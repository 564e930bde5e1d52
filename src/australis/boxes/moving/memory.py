"""Memory: which objects are kept, and which are shed while there are more than the budget allows (SOLE 5.2, 6.1)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from australis.boxes.moving import lightening
from australis.boxes.moving import objects as known
from australis.boxes.moving.grid import CellGrid, grid
from australis.boxes.moving.interest import interest
from australis.boxes.moving.lightening import Choice
from australis.boxes.moving.nearest import limit
from australis.boxes.moving.queries import ACCURACY, MISSED, QUERY, K
from australis.boxes.moving.regions import NEAREST, POLYGON, Floats, Points, Regions
from australis.boxes.moving.shedding import Interest, accuracies, drop, restore, spare
from australis.boxes.moving.shrinking import around, shrunk
from australis.model.box import Tables, Trains
from australis.model.table import Table
from australis.model.train import Bools, Ints, Train

if TYPE_CHECKING:
    from australis.boxes.moving.watch import Watch


def remember(
    box: Watch,
    tables: Tables,
    trains: Trains,
    whole: CellGrid,
    after: Regions,
    leaders: Ints,
    gone: Bools,
    reported: Ints,
    part: float | None,
) -> Floats | None:
    """Free the objects that no query wants, and shed some if there is a budget, or if answers are told in part.

    Gives the accuracies after that, and marks in `gone` the objects that go.
    """
    objects, queries = tables["objects"], tables["queries"]
    if box.cache is None and part is None:
        return None
    width = box._width(*(train.schema for train in trains[:2]))
    everyone = known.points(objects, objects.alive & ~gone)
    wants = wanted(queries, everyone, whole, after, leaders, None if box.cache is None else width)
    if box.cache is not None:
        gone |= objects.alive & (wants.counts == 0)
    if box.budget is None and part is None:
        return None
    shed, accessed = objects[known.SHED] & ~np.isnan(everyone.x), np.zeros(len(objects.alive), np.bool_)
    accessed[reported] = True
    wants, answers = strict(wants, queries, after, box.cache is not None)
    accuracy = np.tile(queries[ACCURACY], 2)
    if part is not None:
        if box.spread:  # the nearest of a partition may be none of the nearest of all
            accuracy[np.tile(queries["kind"] == NEAREST, 2)] = 1.0
        back = accessed if box.budget is not None else np.ones(len(shed), np.bool_)
        shrink_to = partial(_shrink_to, queries, after, wants, _led(leaders, len(shed)), width, accuracy)
        choice = Choice(answers, _led(leaders, len(shed)), back, shrink_to if box.shed == "queries" else None)
        parts = lightening.lighten(tables["lightened"], wants, choice, everyone.id, shed, accuracy, part)
    if box.budget is not None and (part is None or _kept(wants, everyone, shed) > box.budget):
        if box.shed == "objects":
            lighten(wants, everyone, accuracy, shed, accessed, leaders, box.budget)
        else:
            shrink(wants, queries, after, shed, leaders, width, accuracy, box.budget)
        parts = accuracies(wants, shed)
    objects.touched |= shed != objects[known.SHED]
    objects[known.SHED][:] = shed
    if part is not None:
        lightening.count_reports(tables["lightened"], shed, reported)
    least: Floats = parts.reshape(2, -1).min(axis=0)
    return least


def changed_accuracies(queries: Table, accuracies: Floats, there: Bools, trains: Trains, number: int) -> Train:
    """The accuracies of the queries that are `there`, where they have changed since they were last given."""
    changed = np.flatnonzero(there & (queries[MISSED] != 1 - accuracies))
    queries[MISSED][changed] = 1 - accuracies[changed]
    queries.touched[changed] = True
    columns = [queries.get(QUERY, changed), pa.array(accuracies[changed])]
    tuples = pa.RecordBatch.from_arrays(columns, schema=accuracy_schema(trains[1].schema))
    latest = max(int(train.ts.max()) for train in trains if len(train))
    return Train(tuples, np.full(len(changed), latest), np.full(len(changed), number))


def accuracy_schema(queries: pa.Schema) -> pa.Schema:
    return pa.schema([queries.field(QUERY), pa.field(ACCURACY, pa.float64())])


def wanted(
    queries: Table, everyone: Points, visible: CellGrid, after: Regions, leaders: Ints, width: float | None
) -> Interest:
    """How many queries want each object, in their regions, in the caches around these, or as their focal object.

    Without caches it is not counted.
    """
    placed = np.flatnonzero(after.west <= after.east)
    there = np.flatnonzero(~np.isnan(everyone.x))
    whole = visible if len(there) == len(visible.slots) else grid(everyone, everyone, there)
    if width is None:
        return Interest(whole, after, placed, np.empty(0, np.int64))
    full = around(queries, after, placed, width, np.zeros(len(after.kind)))
    counts = interest(whole, full, placed, len(everyone.x))
    counts[leaders[leaders >= 0]] += 1
    return Interest(whole, full, placed, counts)


def strict(wants: Interest, queries: Table, after: Regions, cached: bool) -> tuple[Interest, Ints]:
    """With queries twice where caches or bounds make their regions wider: as such, and as their answers are.

    Gives the answers among the regions, too; where there are no caches, it is only these.

    So an answer has the accuracy too, not only the region with its cache. What a kNN query must have so much of are its
    k nearest with all shadows among them.
    """
    size, full = len(after.kind), wants.regions
    names = [name for name in Regions._fields if name not in ("starts", "edges", "earth")]
    bare = after._replace(**{name: getattr(after, name).copy() for name in names})
    nearest = wants.queries[after.kind[wants.queries] == NEAREST]
    limit(wants.grid, bare, nearest, queries[K])
    wider = (full.west != bare.west) | (full.limit != bare.limit) | (bare.kind == POLYGON)
    both = {name: np.concatenate([getattr(full, name), getattr(bare, name)]) for name in names}
    both["starts"] = np.concatenate([bare.starts[:-1], bare.starts])  # a polygon with its cache is a rectangle
    regions = bare._replace(**both)  # type: ignore[arg-type]
    if not cached:
        return wants._replace(regions=regions, queries=size + wants.queries), size + wants.queries
    twice = np.concatenate([wants.queries, size + wants.queries[wider[wants.queries]]])
    return wants._replace(regions=regions, queries=twice), wants.queries + size * wider[wants.queries]


def lighten(
    wants: Interest, everyone: Points, accuracy: Floats, shed: Bools, accessed: Bools, leaders: Ints, budget: int
) -> None:
    """Shed objects beyond the budget, among those that were accessed: an object is shed only when it reports."""
    restore(wants, shed, accuracy)
    led = _led(leaders, len(shed))
    shed[led] = False
    surplus = _kept(wants, everyone, shed) - budget
    if surplus > 0:
        candidates = ~np.isnan(everyone.x) & (wants.counts > 0) & ~shed & accessed & ~led
        left = spare(wants, shed, accuracy)
        drop(wants, everyone.id, shed, candidates, left, surplus, np.ones(len(shed), np.int64))


def shrink(
    wants: Interest, queries: Table, after: Regions, shed: Bools, leaders: Ints, width: float, accuracy: Floats,
    budget: int,
) -> None:  # fmt: skip
    """Shrink queries if they want too many objects, and shed the objects that no query wants then."""
    shed[:] = False
    if np.count_nonzero(wants.counts) > budget:
        led, each = _led(leaders, len(shed)), np.ones(len(shed), np.int64)
        shed[:] = (wants.counts > 0) & ~shrunk(queries, after, wants, led, width, accuracy, budget, each)


def _shrink_to(
    queries: Table, after: Regions, wants: Interest, led: Bools, width: float, accuracy: Floats, weights: Ints,
    most: float,
) -> Bools:  # fmt: skip
    return shrunk(queries, after, wants._replace(counts=weights), led, width, accuracy, most, weights)


def _kept(wants: Interest, everyone: Points, shed: Bools) -> int:
    """How many objects that queries want are not shed."""
    return int(np.count_nonzero(~np.isnan(everyone.x) & (wants.counts > 0) & ~shed))


def _led(leaders: Ints, objects: int) -> Bools:
    """Which objects are focal."""
    led = np.zeros(objects, np.bool_)
    led[leaders[leaders >= 0]] = True
    return led
