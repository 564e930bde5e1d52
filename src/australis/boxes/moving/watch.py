"""Watch: the shared operator that answers queries about moving objects, by what enters and leaves (SOLE 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from australis.arrow.durations import Span, seconds
from australis.boxes.moving import admission, check, holding, leading, lightening, memory, shadows, trainwise
from australis.boxes.moving import objects as known
from australis.boxes.moving import queries as asked
from australis.boxes.moving.families import Answering
from australis.boxes.moving.timing import TRAIN, clock, latest, leeway, often, silence, time_type
from australis.errors import ExpressionError, NetworkError, SchemaError, listing, near
from australis.expressions import Bound, Expr
from australis.model import parameters
from australis.model.box import EVERYWHERE, OUT, Key, Moment, Tables, Trains, bound, unchanged
from australis.model.lightened import Lightened
from australis.model.parameters import By, Expression, Length, columns, optional_span
from australis.model.train import concat, empty

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
    that queries ask for. The port `accuracy` tells what these are whenever they change. Told to work with less, it
    leaves objects out of answers in the same ways, as far as accuracies allow, if updates are given after trains.

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
    composed: ClassVar[bool] = True

    @classmethod
    def make(
        cls,
        *,
        id: str = "id",
        x: str = "x",
        y: str = "y",
        time: str | None = None,
        timeout: Length | None = None,
        where: Mapping[str, Expression] | None = None,
        carry: By = (),
        earth: bool = False,
        cache: float | None = None,
        speed: float | None = None,
        budget: int | None = None,
        shed: str = "objects",
        revise: bool = False,
        spread: bool = False,
        ahead: Length | None = None,
        every: Length | None = None,
    ) -> Watch:
        """Tell what enters and leaves the answers of queries about these moving objects; see docs/moving.md."""
        return cls(
            id, x, y, time, optional_span(timeout), columns(where or {}), parameters.by(carry), earth, cache, speed,
            budget, shed, revise, spread, optional_span(ahead), parameters.often(every),
        )  # fmt: skip

    def written(self) -> Mapping[str, object]:
        arguments = dict(super().written())
        where = arguments.pop("conditions")
        return {**arguments, "where": where}

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
        if self.budget is not None and (self.cache is None or self.budget < 1):
            raise NetworkError(
                "a `budget` is a number of objects, of which only significant ones are kept: give `cache`"
            )
        if self.shed not in _SHED:
            raise NetworkError(f"`shed` is one of {listing(_SHED)}, not `{self.shed}`{near(self.shed, _SHED)}")
        told = self.budget is not None or self.lightens(*inputs)
        return {**ports, "accuracy": memory.accuracy_schema(queries)} if told else ports

    def focal(self, objects: pa.Schema) -> pa.Schema:
        """The schema of the third input."""
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
        kept = {
            "objects": known.table(objects.field(self.id), carried, time),
            "queries": asked.table(queries),
            "clock": clock(objects, self.time),
            **({"leaders": leading.table(self.id, time)} if self.spread else {}),
        }
        if self._span(objects) is not None:
            kept |= holding.tables(inputs)
        if self.budget is not None:
            kept["shadows"] = shadows.table(kept["objects"], self.timeout is not None, bool(self.conditions))
        if self.lightens(*inputs):
            kept["lightened"] = lightening.table()
        return kept

    def lightens(self, *inputs: pa.Schema) -> frozenset[str]:
        """Its answers, where queries say with which accuracy they are content, and trains are taken as a whole."""
        return frozenset() if self.each or asked.ACCURACY not in inputs[1].names else frozenset({OUT})

    def lightened(self, tables: Tables) -> Lightened:
        return lightening.read(tables["lightened"])

    def waits(self, objects: pa.Schema) -> bool:
        """Whether tuples wait until a span of time is over."""
        return self._span(objects) is not None

    def holds(self, *inputs: pa.Schema) -> str:
        each = "each object" if self.cache is None else "each object in or near the region of a query"
        return f"where {each} is{'' if self.timeout is None else f', for {self.timeout}'}; each query"

    @property
    def each(self) -> bool:
        """Whether updates are given moment by moment, not after trains."""
        return self.every != TRAIN and (self.every is not None or self.cache is None)

    def passes(self, port: str, *inputs: pa.Schema) -> Mapping[int, Mapping[str, str]]:
        return {1: unchanged(inputs[1])} if port == "refused" else super().passes(port, *inputs)

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        ports = self.outputs(*(train.schema for train in trains))
        ending = moment.end and self._span(trains[0].schema) is not None and holding.waits(tables, self.arity)
        if not any(map(len, trains)) and not ending:
            return tuple(map(empty, ports.values()))
        before = latest(tables["clock"])
        trains, refused = admission.believed(self, tables, trains)
        now = latest(tables["clock"])
        if self._span(trains[0].schema) is not None:
            trains, before = admission.released(self, tables, trains, moment)
        if not any(map(len, trains)):
            return tuple(refused if name == "refused_reports" else empty(schema) for name, schema in ports.items())
        schemas = tuple(ports[name] for name in ("out", "candidates") if name in ports)
        if not self.each:
            out, wrong, *more = trainwise.step(self, tables, trains, moment, schemas)
            return (out, wrong, refused, *more)
        updates, wrongs, candidates = admission.moments(self, tables, trains, before, now, schemas)
        parts = {"out": updates, "refused": wrongs, "refused_reports": [refused], "candidates": candidates}
        return tuple(concat(schema, parts[name]) for name, schema in ports.items())

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
        conditions = [condition.bind(objects) for _, condition in self.conditions]
        for (name, condition), each in zip(self.conditions, conditions, strict=True):
            if each.type != pa.bool_():
                raise ExpressionError(f"the condition {name}, `{condition}`, gives a {each.type}, not a boolean")
        return conditions

    @bound
    def _timeout(self, objects: pa.Schema) -> Any:
        return silence(objects, self.time, self.timeout)

    @bound
    def _leeway(self, objects: pa.Schema) -> float:
        return leeway(objects, self.time, self.timeout, self.ahead, self._span(objects))

    @bound
    def _span(self, objects: pa.Schema) -> Any:
        """The span of time after which updates are given, if `every` is one."""
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
