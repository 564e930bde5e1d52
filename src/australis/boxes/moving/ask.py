"""Ask: queries about moving objects that are part of the network, as those of SQL are (SOLE 3.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, get_args, get_type_hints

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.arguments import Misfit, fit, shown, words
from australis.arrow.durations import Span
from australis.arrow.schema import schema
from australis.boxes.moving import check
from australis.boxes.moving import objects as known
from australis.boxes.moving import queries as asked
from australis.boxes.moving.families import Answering
from australis.boxes.moving.timing import silence
from australis.boxes.moving.watch import Watch
from australis.errors import ExpressionError, NetworkError, listing, near
from australis.expressions import Bound, Expr
from australis.model import parameters
from australis.model.box import EVERYWHERE, Key, Moment, Tables, Trains, bound
from australis.model.parameters import By, Expression, Length, columns, often, optional_expression, optional_span
from australis.model.train import Train, concat, empty

ROWS = schema(
    "query string, kind string, x double, y double, width double, height double, radius double, k bigint,"
    " shape string, focal bigint, condition string"
)
"""The queries as rows for `watch`."""


@dataclass(frozen=True)
class Question:
    """A query: a rectangle, a circle, a polygon or the k nearest, which may move with a focal object."""

    kind: str
    x: float | None = None
    y: float | None = None
    width: float | None = None
    height: float | None = None
    radius: float | None = None
    k: int | None = None
    shape: str | None = None
    focal: int | None = None
    condition: str | None = None

    def __str__(self) -> str:
        values = [(each.name, getattr(self, each.name)) for each in fields(self)[1:]]
        return " ".join([self.kind, *(f"{name}={value}" for name, value in values if value is not None)])


@dataclass(frozen=True)
class Ask(Answering):
    """What enters and leaves the answers of some queries, which are there from the first report on.

    It is a `watch` in as many partitions as there are: see there. Its second input, of `lead`, is there if a query has
    a focal object, or if objects time out. Only objects that satisfied `only` when they last reported are looked at: it
    is evaluated first, and reports of others that were not known before go no further. A query may have one of the
    named `conditions` beside.

    >>> from australis.testing import apply, rows, train
    >>> objects = train("id int, x double, y double", id=[1, 2], x=[0, 5], y=[0, 0])
    >>> rows(apply(Ask((("near", Question("circle", 1.0, 0.0, radius=2.0)),)), objects)[0])
    [('near', 1, 1)]
    """

    queries: tuple[tuple[str, Question], ...]
    id: str = "id"
    x: str = "x"
    y: str = "y"
    time: str | None = None
    timeout: Span | None = None
    only: Expr | None = None
    carry: tuple[str, ...] = ()
    earth: bool = False
    revise: bool = False
    conditions: tuple[tuple[str, Expr], ...] = ()
    ahead: Span | None = None
    every: Span | None = None

    kind: ClassVar[str] = "ask"
    composed: ClassVar[bool] = True

    @classmethod
    def make(
        cls,
        queries: Mapping[str, Mapping[str, Any]],
        *,
        id: str = "id",
        x: str = "x",
        y: str = "y",
        time: str | None = None,
        timeout: Length | None = None,
        only: Expression | None = None,
        where: Mapping[str, Expression] | None = None,
        carry: By = (),
        earth: bool = False,
        revise: bool = False,
        ahead: Length | None = None,
        every: Length | None = None,
    ) -> Ask:
        """Tell what enters and leaves the answers of queries known now, by name, among these moving objects."""
        return cls(
            questions(queries), id, x, y, time, optional_span(timeout), optional_expression(only), parameters.by(carry),
            earth, revise, columns(where or {}), optional_span(ahead), often(every),
        )  # fmt: skip

    def written(self) -> Mapping[str, object]:
        arguments = dict(super().written())
        where = arguments.pop("conditions")
        queries = {
            name: {key: value for key, value in asdict(query).items() if value is not None}
            for name, query in self.queries
        }
        return {**arguments, "queries": queries, "where": where}

    @property
    def led(self) -> bool:
        """Whether partitions need the focal objects, or the time, of others."""
        return self.timeout is not None or bool(self.focals)

    @property
    def each(self) -> bool:
        """Whether updates are given moment by moment, not after trains."""
        return self._watch.each

    @property
    def focals(self) -> tuple[int, ...]:
        return tuple(sorted({each.focal for _, each in self.queries if each.focal is not None}))

    @property
    def arity(self) -> int:
        return 1 + self.led

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        if not self.queries:
            raise NetworkError("there is no query to ask")
        check.objects(inputs[0], self.id, (self.x, self.y), self.carry)
        silence(inputs[0], self.time, self.timeout)
        self._only(inputs[0])
        unread = self._unread()
        if unread:
            raise NetworkError(f"the query {unread[0]} does not read: see docs/moving.md for what a kind must have")
        ports = self._watch.outputs(*self._inputs(*inputs))
        own = {"out": ports["out"], "refused": inputs[0]}
        return {**own, "candidates": ports["candidates"]} if self._nearest else own

    def keys(self, *inputs: pa.Schema) -> tuple[Key, ...] | None:
        together = self._watch.waits(inputs[0])
        return (((), ()) if together else ((self.id,), EVERYWHERE))[: self.arity]

    def tables(self, *inputs: pa.Schema) -> Tables:
        return self._watch.tables(*self._inputs(*inputs))

    def holds(self, *inputs: pa.Schema) -> str:
        which = "" if self.only is None else f" that satisfies `{self.only}`"
        return f"where each object{which} is{'' if self.timeout is None else f', for {self.timeout}'}"

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        schemas = [train.schema for train in trains]
        if not any(map(len, trains)) and not moment.end:
            return tuple(map(empty, self.outputs(*schemas).values()))
        fine = known.possible(trains[0], self.x, self.y, self.earth)
        possible = trains[0] if fine is None else trains[0].where(pa.array(fine))
        reports = self._selected(tables, possible)
        focal = trains[1] if self.led else empty(self._watch.focal(reports.schema))
        rows = empty(ROWS)
        if not len(tables["queries"]) and any(map(len, trains)):
            latest, size = max(int(train.ts.max()) for train in trains if len(train)), len(self.queries)
            number = min(int(train.number[0]) for train in trains if len(train)) - 1  # before the first report
            rows = Train(self._rows, np.full(size, latest), np.full(size, number))
        out, _, refused, *near = self._watch.step(tables, (reports, rows, focal), moment)
        if fine is not None:
            refused = by_number(refused, trains[0].where(pa.array(~fine)))
        return (out, refused, *near) if self._nearest else (out, refused)

    def _selected(self, tables: Tables, reports: Train) -> Train:
        """The reports of objects that satisfy the condition, and those of others that are known, which now go."""
        only = self._only(reports.schema)
        if only is None or not len(reports):
            return reports
        fits = only.mask(reports.view)
        fine = fits.to_numpy(zero_copy_only=False).copy()
        fails = np.flatnonzero(~fine)
        if not len(fails):
            return reports
        ids, x = reports[self.id], reports[self.x]
        failing = ids.take(fails)
        there = tables["objects"].lookup([failing], len(fails)) >= 0
        if self._watch.waits(reports.schema):
            there[:] = True  # reports that wait may tell of it
        fine[fails] = there | pc.is_in(failing, ids.filter(fits)).to_numpy(zero_copy_only=False)
        places = {self.x: pc.if_else(fits, x, pa.scalar(None, x.type))}
        columns = [places.get(name, reports.part(name)) for name in reports.schema.names]
        return reports.made(reports.schema, columns).where(pa.array(fine))

    @property
    def _nearest(self) -> bool:
        return any(each.kind == "knn" for _, each in self.queries)

    @cached_property
    def _watch(self) -> Watch:
        return Watch(
            self.id, self.x, self.y, self.time, self.timeout, self.conditions, self.carry, self.earth,
            revise=self.revise, spread=True, ahead=self.ahead, every=self.every,
        )  # fmt: skip

    @cached_property
    def _rows(self) -> pa.RecordBatch:
        rows = [{"query": name, **asdict(query)} for name, query in self.queries]
        return pa.RecordBatch.from_pylist(rows, schema=ROWS)

    def _unread(self) -> list[str]:
        """The queries that a watch would refuse."""
        none = np.zeros(len(self.queries), np.int64)
        names = [name for name, _ in self.conditions]
        good = asked.QueryRows(Train(self._rows, none, none), names, self.earth).good
        return [name for (name, _), fine in zip(self.queries, good, strict=True) if not fine]

    def _inputs(self, *inputs: pa.Schema) -> tuple[pa.Schema, ...]:
        """The inputs of the watch: objects, queries and focal objects."""
        return inputs[0], ROWS, inputs[1] if self.led else self._watch.focal(inputs[0])

    @bound
    def _only(self, objects: pa.Schema) -> Bound | None:
        if self.only is None:
            return None
        condition = self.only.bind(objects)
        if condition.type != pa.bool_():
            raise ExpressionError(f"the condition `{self.only}` gives a {condition.type}, not a boolean")
        return condition


def by_number(one: Train, other: Train) -> Train:
    """Tuples of two trains of one stream in the order in which they arrived."""
    both = concat(one.schema, [one, other])
    return both.take(np.argsort(both.number, kind="stable"))


def questions(written: Mapping[str, Mapping[str, Any]]) -> tuple[tuple[str, Question], ...]:
    """Named queries about moving objects; their numbers may be whole."""
    made = []
    known = get_type_hints(Question)
    for name, query in written.items():
        real: dict[str, Any] = {}
        for key, value in query.items():
            if key not in known:
                raise NetworkError(
                    f"the query {name} has no `{key}`; there are {listing(known)}{near(str(key), list(known))}"
                )
            try:
                fitting = fit(known[key], value)
            except Misfit as misfit:
                wanted = misfit.wanted or words(known[key])
                raise NetworkError(f"the query {name}: `{key}` is {wanted}, not {shown(value)}") from None
            real[key] = float(fitting) if isinstance(fitting, int) and float in get_args(known[key]) else fitting
        if "kind" not in real:
            raise NetworkError(f"the query {name} has no `kind`, such as `rectangle` or `knn`")
        made.append((name, Question(**real)))
    return tuple(made)
