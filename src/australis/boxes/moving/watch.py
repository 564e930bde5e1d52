"""Watch: the shared operator that answers queries about moving objects, by what enters and leaves (SOLE 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from australis.arrow.durations import Span, seconds
from australis.boxes.moving import admission, check, holding, leading, shadows
from australis.boxes.moving import objects as known
from australis.boxes.moving import queries as asked
from australis.boxes.moving.families import Answering
from australis.boxes.moving.grid import CellGrid, grid
from australis.boxes.moving.nearest import distances, limit
from australis.boxes.moving.placing import moved, regions
from australis.boxes.moving.regions import NEAREST, Points, Regions
from australis.boxes.moving.revising import Before
from australis.boxes.moving.stamps import Stamps
from australis.boxes.moving.timing import TRAIN, clock, leeway, often, oldest, silence, time_type
from australis.boxes.moving.updates import Updates, candidates, only, updates
from australis.errors import ExpressionError, NetworkError, SchemaError, listing, near
from australis.expressions import Bound, Expr
from australis.model.box import EVERYWHERE, Key, Moment, Tables, Trains, bound, unchanged
from australis.model.order import Order
from australis.model.table import Table
from australis.model.train import Bools, Ints, Train, concat, empty

SIGN, AWAY = "sign", "away"
MOST_CONDITIONS = 62
_SHED = ("objects", "queries")


@dataclass(frozen=True)
class Watch(Answering):
    """What enters (sign 1) and leaves (sign -1) the answers of the queries on the right among the objects on the left.

    After every report the answer of a query, the sum of its updates, is the set of the objects in its region as all
    were last reported; with `every`, after each span of their time, or after each train. What comes and goes in between
    leaves no trace, and no update repeats. A report of what cannot be leaves by `refused_reports`. An object that
    reports no place, or that has been silent for longer than `timeout` by the latest time of any report, is in no
    answer. A report without an identifier only tells the time.

    A query registers, changes and leaves by rows on the right: see docs/moving.md. A row that cannot be read leaves by
    `refused`, and its query stays as it was. Updates carry the arrival number of the tuple that made them, or of the
    last of the train.

    With a `cache` only significant objects are kept: those in the region of a query, or so near that they may be in it
    before they report again. A new query then sees the others as they report. With a `budget`, if more than so many are
    left, those that fewest queries want are shed, or queries shrink (`shed="queries"`), as far as the accuracies allow
    that queries ask for. The port `accuracy` tells what these are whenever they change.

    An update has what the object carried in its last report. With `revise`, a member whose carried values change leaves
    with the old ones and enters with the new, so that what leaves is always what entered.

    With `spread` it is one of many partitions, which have all queries and some objects each. A third input tells all of
    them where focal objects are, and what time it is; the k nearest of its own objects leave by `candidates`.

    >>> from australis.testing import apply, rows, train
    >>> objects = train("id int, x double, y double", id=[1, 2], x=[0, 5], y=[0, 0])
    >>> queries = train("query int, kind string, x double, y double, radius double",
    ...     query=[7], kind=["circle"], x=[1], y=[0], radius=[2], first=3)
    >>> rows(apply(Watch(), objects, queries)[0])
    [(7, 1, 1)]
    """

    id: str = "id"
    x: str = "x"
    y: str = "y"
    time: str | None = None
    timeout: Span | None = None
    conditions: tuple[tuple[str, Expr], ...] = ()
    carry: tuple[str, ...] = ()
    earth: bool = False
    cache: float | None = None
    speed: float | None = None
    budget: int | None = None
    shed: str = "objects"
    revise: bool = False
    spread: bool = False
    ahead: Span | None = None
    every: Span | None = None

    kind: ClassVar[str] = "watch"

    @property
    def arity(self) -> int:
        return 3 if self.spread else 2

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        objects, queries = inputs[:2]
        check.objects(objects, self.id, (self.x, self.y), self.carry)
        check.queries(queries)
        self._conditions(objects)
        self._timeout(objects)
        self._width(objects, queries)
        self._span(objects)
        self._leeway(objects)
        ports = {"out": self._updates(objects, queries), "refused": queries, "refused_reports": objects}
        if self.spread:
            check.focal(inputs[2], self.focal(objects))
            ports |= {"candidates": candidate(ports["out"])} if asked.K in queries.names else {}
        if self.budget is None:
            return ports
        if self.cache is None or self.budget < 1:
            raise NetworkError(
                "a `budget` is a number of objects, of which only significant ones are kept: give `cache`"
            )
        if self.shed not in _SHED:
            raise NetworkError(f"`shed` is one of {listing(_SHED)}, not `{self.shed}`{near(self.shed, _SHED)}")
        return {**ports, "accuracy": admission.accuracy(queries)}

    def focal(self, objects: pa.Schema) -> pa.Schema:
        """What the third input has."""
        time = None if self.time is None else objects.field(self.time)
        return leading.schema(objects.field(self.id), self.x, self.y, time)

    def keys(self, *inputs: pa.Schema) -> tuple[Key, ...] | None:
        """Objects by their identifiers, with every query in each partition, unless objects must be seen together."""
        if self._span(inputs[0]) is not None:
            return ((),) * self.arity
        if self.spread:
            return (self.id,), EVERYWHERE, EVERYWHERE
        _, queries = inputs
        together = self.timeout is not None or self.budget is not None or {asked.FOCAL, asked.K} & set(queries.names)
        return ((), ()) if together else ((self.id,), EVERYWHERE)

    def tables(self, *inputs: pa.Schema) -> Tables:
        objects, queries = inputs[:2]
        time = time_type(objects, self.time)
        carried = [objects.field(name) for name in self.carry]
        made = {
            "objects": known.table(objects.field(self.id), carried, time),
            "queries": asked.table(queries),
            "clock": clock(objects, self.time),
            **({"leaders": leading.table(self.id, time)} if self.spread else {}),
        }
        if self._span(objects) is not None:
            made |= holding.tables(inputs)
        if self.budget is not None:
            made["shadows"] = shadows.table(made["objects"], self.timeout is not None, bool(self.conditions))
        return made

    def waits(self, objects: pa.Schema) -> bool:
        """Whether tuples wait until a span of time is over."""
        return self._span(objects) is not None

    def holds(self, *inputs: pa.Schema) -> str:
        each = "each object" if self.cache is None else "each object in or near the region of a query"
        return f"where {each} is{'' if self.timeout is None else f', for {self.timeout}'}; each query"

    @property
    def each(self) -> bool:
        """Whether answers are told of moment by moment, not after trains."""
        return self.every != TRAIN and (self.every is not None or self.cache is None)

    def passes(self, port: str, *inputs: pa.Schema) -> Mapping[int, Mapping[str, str]]:
        return {1: unchanged(inputs[1])} if port == "refused" else super().passes(port, *inputs)

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        ports = self.outputs(*(train.schema for train in trains))
        ending = moment.end and self._span(trains[0].schema) is not None and holding.waits(tables, self.arity)
        if not any(map(len, trains)) and not ending:
            return tuple(map(empty, ports.values()))
        before = tables["clock"]["now"][0].item() if len(tables["clock"]) else None
        trains, refused = admission.believed(self, tables, trains)
        now = tables["clock"]["now"][0].item() if len(tables["clock"]) else None
        if self._span(trains[0].schema) is not None:
            trains, before = admission.released(self, tables, trains, moment)
        if not any(map(len, trains)):
            return tuple(refused if name == "refused_reports" else empty(schema) for name, schema in ports.items())
        if not self.each:
            out, wrong, *more = self._together(tables, trains, moment)
            return (out, wrong, refused, *more)
        out_, wrong_, near = admission.moments(self, tables, trains, before, now, ports)
        made = {"out": out_, "refused": wrong_, "refused_reports": [refused], "candidates": near}
        return tuple(concat(schema, made[name]) for name, schema in ports.items())

    def _together(self, tables: Tables, trains: Trains, moment: Moment, apart: bool = False) -> Trains:
        """All tuples of trains at once; updates that come `apart` have the numbers of the queries that they are of."""
        reports, rows = trains[:2]
        objects, queries = tables["objects"], tables["queries"]
        stored, touched = objects.alive.copy(), objects.touched.copy()
        recalled = None if self.budget is None else shadows.recall(objects, tables["shadows"])
        there, asking = objects.alive.copy(), queries.alive.copy()
        wanted = asked.QueryRows(rows, [name for name, _ in self.conditions], self.earth)
        good, named = np.flatnonzero(wanted.good), known.named(reports, self.id)
        registered = queries.find([rows[asked.QUERY].take(good)], len(good))
        reported = objects.find([reports[self.id].take(named)], len(named))
        there, asking = _padded(there, len(objects.alive)), _padded(asking, len(queries.alive))

        old = known.points(objects, there & ~objects[known.SHED])
        before = regions(queries, asking, *self._guides(tables, old), self.earth)
        told = self._follow(tables, trains[2]) if self.spread else None
        last = known.latest(reported, len(objects.alive))
        was = Before(objects, self.carry if self.revise else (), reported[last])
        gone = self._report(tables, reports, reported[last], named[last])
        last = known.latest(registered, len(queries.alive))
        removed = self._register(queries, wanted, registered[last], good[last])
        if self.spread:
            leading.forget(tables["leaders"], queries, removed, self._oldest(tables, reports.schema))

        leaders = np.where(removed, -1, self._leaders(tables))
        _unshed(objects, np.concatenate([reported, leaders[leaders >= 0]]))
        new = known.points(objects, objects.alive & ~gone & ~objects[known.SHED])
        guides = self._guides(tables, new)
        after = regions(queries, queries.alive & ~removed, *guides, self.earth)
        whole = grid(new, old, np.flatnonzero(~np.isnan(new.x)))
        self._limit(queries, whole, after)
        part = admission.remember(self, tables, trains, whole, after, leaders, gone, reported)
        if part is not None:
            new = known.points(objects, objects.alive & ~gone & ~objects[known.SHED])
            whole = grid(new, old, np.flatnonzero(~np.isnan(new.x)))
            self._limit(queries, whole, after)
        anew = moved(before, after)
        anew[registered] = True
        again = was.revised(there) if self.revise else np.zeros(len(there), np.bool_)
        stamps = Stamps(trains, (reported, named), (registered, good), guides[1], told)
        number = max(moment.number, *(int(train.number[-1]) for train in trains if len(train)))
        numbers = np.full(len(queries.alive), number)
        if apart:
            numbers[registered] = rows.number[good]
        near = None
        if self.spread and asked.K in rows.schema.names:
            kinds = before.kind == NEAREST, after.kind == NEAREST
            fresh = (before.x != after.x) | (before.y != after.y)
            fresh[registered] = True
            changes = again | (old.x != new.x) | (old.y != new.y)
            near = candidates(old, new, only(before, kinds[0]), only(after, kinds[1]), anew, fresh, changes)
            before, after = only(before, ~kinds[0]), only(after, ~kinds[1])
        found = updates(old, new, before, after, anew, whole, again)
        schema = self._updates(reports.schema, rows.schema)
        out = [self._train(tables, schema, found, was, stamps, numbers), rows.where(pa.array(~wanted.good))]
        if near is not None:
            more = [pa.array(queries[asked.K][near.queries]), pa.array(distances(after, new, *near[:2]))]
            out.append(self._train(tables, candidate(schema), near, was, stamps, numbers, more))
        if part is not None:
            out.append(admission.accuracy_told(self, queries, part, queries.alive & ~removed, trains, number))
        if recalled is not None:
            gone |= shadows.conceal(objects, tables["shadows"], recalled, gone)
        self._free(objects, np.flatnonzero(gone & objects.alive), stored, touched)
        queries.free(np.flatnonzero(removed))
        if self.cache is not None:
            objects.compact(0.5 if self.budget is None else shadows.ROOM)
        return tuple(out)

    def _guides(self, tables: Tables, points: Points) -> tuple[Points, Ints]:
        """Where focal objects are, and the slots of the queries' ones there."""
        if self.spread:
            return leading.points(tables["leaders"]), leading.slots(tables["leaders"], tables["queries"])
        return points, self._leaders(tables)

    def _follow(self, tables: Tables, told: Train) -> Ints:
        """Write where focal objects are; when each of them was told of, by slot."""
        times, timed = np.zeros(len(told), np.int64), np.ones(len(told), np.bool_)
        if self.time is not None:
            times, timed = Order(self.time).places(told)
        return leading.report(tables["leaders"], told, (self.id, self.x, self.y), times, timed)

    def _oldest(self, tables: Tables, objects: pa.Schema) -> Any:
        """The earliest time of objects that have not been silent for too long."""
        return oldest(tables["clock"], self._timeout(objects))

    def _report(self, tables: Tables, reports: Train, slots: Ints, rows: Ints) -> Bools:
        """Write the last report of each object; which objects are nowhere after it, or have been silent too long."""
        objects = tables["objects"]
        columns = {
            known.X: known.coordinate(reports, self.x),
            known.Y: known.coordinate(reports, self.y),
            known.MASK: known.masks(reports, self._conditions(reports.schema)),
        }
        placed = np.isfinite(columns[known.X]) & np.isfinite(columns[known.Y])
        gone = np.zeros(len(objects.alive), np.bool_)
        if self.time is not None:
            columns[known.TIME], timed = Order(self.time).places(reports)
            placed &= timed
        gone[slots] = ~placed[rows]
        known.put(objects, slots[placed[rows]], rows[placed[rows]], columns, reports)
        oldest = self._oldest(tables, reports.schema)
        if oldest is not None:
            gone |= objects.alive & (objects[known.TIME] < oldest)
        return gone

    def _register(self, queries: Table, wanted: asked.QueryRows, slots: Ints, rows: Ints) -> Bools:
        """Write the last row of each query; which queries are removed."""
        removed = np.zeros(len(queries.alive), np.bool_)
        removed[slots] = wanted.removes[rows]
        kept = ~wanted.removes[rows]
        wanted.put(queries, slots[kept], rows[kept])
        return removed

    def _leaders(self, tables: Tables) -> Ints:
        """The slots of the queries' focal objects."""
        return leading.slots(tables["objects"], tables["queries"])

    def _limit(self, queries: Table, whole: CellGrid, after: Regions) -> None:
        """Find how far kNN queries reach now."""
        nearest = np.flatnonzero((after.kind == NEAREST) & (after.west <= after.east))
        limit(whole, after, nearest, queries[asked.K])
        for name, values in (("limit", after.limit), ("tie", after.tie)):
            changed = nearest[queries[name][nearest] != values[nearest]]
            queries[name][changed] = values[changed]
            queries.touched[changed] = True

    def _train(
        self, tables: Tables, schema: pa.Schema, found: Updates, was: Before, stamps: Stamps, numbers: Ints,
        more: Sequence[pa.Array[Any]] = (),
    ) -> Train:  # fmt: skip
        """Updates as tuples; those that leave with what they carried before."""
        objects, queries = tables["objects"], tables["queries"]
        sign = np.ones(len(found.queries), np.int8)
        sign[: found.leaving] = -1
        arrays = [queries.get(asked.QUERY, found.queries), pa.array(sign), objects.get(self.id, found.objects), *more]
        arrays += [was.column(name, found.objects, found.leaving) for name in self.carry]
        tuples = pa.RecordBatch.from_arrays(arrays, schema=schema)
        made = Train(tuples, stamps.of(found), numbers[found.queries])
        several = len(made) > 0 and bool((made.number[1:] < made.number[:-1]).any())
        return made.take(np.argsort(made.number, kind="stable")) if several else made

    def _free(self, objects: Table, gone: Ints, stored: Bools, touched: Bools) -> None:
        """Forget objects; those that came and went within the step leave no trace among the changes."""
        objects.free(gone)
        objects.touched[gone] = _padded(stored | touched, len(objects.alive))[gone]

    @bound
    def _updates(self, objects: pa.Schema, queries: pa.Schema) -> pa.Schema:
        fields = [queries.field(asked.QUERY), pa.field(SIGN, pa.int8()), objects.field(self.id)]
        fields += [objects.field(name) for name in self.carry]
        names = [field.name for field in fields]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise SchemaError(f"updates would have two columns `{twice[0]}`: map the objects' to another name first")
        return pa.schema(fields)

    @bound
    def _conditions(self, objects: pa.Schema) -> list[Bound]:
        if len(self.conditions) > MOST_CONDITIONS:
            raise NetworkError(f"{len(self.conditions)} conditions are too many: there is room for {MOST_CONDITIONS}")
        made = [condition.bind(objects) for _, condition in self.conditions]
        for (name, condition), each in zip(self.conditions, made, strict=True):
            if each.type != pa.bool_():
                raise ExpressionError(f"the condition {name}, `{condition}`, gives a {each.type}, not a boolean")
        return made

    @bound
    def _timeout(self, objects: pa.Schema) -> Any:
        return silence(objects, self.time, self.timeout)

    @bound
    def _leeway(self, objects: pa.Schema) -> float:
        return leeway(objects, self.time, self.timeout, self.ahead, self._span(objects))

    @bound
    def _span(self, objects: pa.Schema) -> Any:
        """The span of time after which answers are told, if it is one."""
        if self.every is not None and self.every != TRAIN and self.cache is not None:
            raise NetworkError(
                f"with a `cache` it is decided after each train who is kept: `every` is `train` then, not {self.every}"
            )
        return often(objects, self.time, self.every)

    @bound
    def _width(self, objects: pa.Schema, queries: pa.Schema) -> float:
        """How wide the cache around a region is that changes in one way, by moving or as that of a kNN query does.

        An object is seen where it last reported. From one report of an object to its next, at most a timeout later, a
        focal object's last report can be replaced by one two timeouts younger: so far apart may the two places lie.
        """
        if self.cache is None or not {asked.FOCAL, asked.K} & set(queries.names) or self.cache == 0:
            return 0.0
        if not 0 <= self.cache <= 1:
            raise NetworkError(f"`cache` is a part of what is surely enough, between 0 and 1, not {self.cache}")
        if self.speed is None or self.timeout is None:
            raise NetworkError("how wide a cache must be follows from `speed` and `timeout`: give both")
        self._timeout(objects)
        return 2 * self.cache * self.speed * seconds(self.timeout)


def candidate(updates: pa.Schema) -> pa.Schema:
    """Updates of the k nearest in a partition, with k and how far they are, as measures of distance go."""
    fields = list(updates)
    for name in (asked.K, AWAY):
        if name in updates.names:
            raise SchemaError(f"candidates would have two columns `{name}`: map the objects' to another name first")
    return pa.schema([*fields[:3], pa.field(asked.K, pa.int64()), pa.field(AWAY, pa.float64()), *fields[3:]])


def _unshed(objects: Table, slots: Ints) -> None:
    objects.touched[slots] |= objects[known.SHED][slots]
    objects[known.SHED][slots] = False


def _padded(flags: Bools, size: int) -> Bools:
    return np.concatenate([flags, np.zeros(size - len(flags), np.bool_)])
