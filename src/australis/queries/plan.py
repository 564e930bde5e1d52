"""Plan a query as a stream of boxes: filters, maps, joins, unions, aggregates and questions about moving objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeVar

from australis.api.network import Network
from australis.api.network import network as built
from australis.api.stream import Stream, stream
from australis.arguments import check_arguments
from australis.arrow.schema import Spec
from australis.boxes.moving.watch import SIGN
from australis.errors import ExpressionError, NetworkError, listing, near, unknown
from australis.expressions import Expr
from australis.expressions.expression import of
from australis.expressions.node import Name, Node
from australis.queries.answers import AnswerQuery, Told, answers, own, place
from australis.queries.cost import Sample
from australis.queries.group import aggregates, grouped, mapped, named, twice
from australis.queries.join import both, conjuncts, crosses, joined
from australis.queries.parse import parse
from australis.queries.query import FromItem, Item, Named, Query, Select, Source, Windowed
from australis.queries.scope import QueryScope, scope
from australis.queries.shared import Shared
from australis.queries.spatial import Moving
from australis.queries.tallied import check_name, tallied
from australis.queries.union import united
from australis.queries.window import WindowClause, from_table

Tables = Mapping[str, "Stream | Spec"]
_PLAIN = Moving()
T = TypeVar("T")


def _none(name: str) -> None:
    """The sample of a stream of which nothing is known."""


def _nobody(choice: str) -> None:
    """Who is told of choices if nobody asks."""


@check_arguments()
def sql(
    text: str,
    tables: Tables,
    *,
    moving: Moving = _PLAIN,
    slack: int = 0,
    sample: Sample = _none,
    told: Told = _nobody,
) -> Stream:
    """The stream that a query describes, over streams (or schemas of inputs) by name.

    >>> str(sql("SELECT vid, mph * 1.6 AS kph FROM reports WHERE mph > 60", {"reports": "vid int, mph int"}).schema)
    'vid: int32\\nkph: double'

    `slack` is how many tuples late the streams may be, where a window does not say. `moving` says how the objects of
    INSIDE and kNN report, `sample` gives the beginning of a stream to measure what conditions select, and `told` is
    called with each choice that is made by cost.
    """
    *before, last = parse(text)
    if any(each.output for each in before) or not last.output:
        raise last.piece.error("`sql` gives the stream of one query; make a network of several statements")

    def planned(planner: _Planner) -> Stream:
        for each in before:
            planner = planner.knowing(each.name, planner.named(each.name).query(each.query))
        return planner.named(last.name).query(last.query).stream

    return _shared(_planner(tables, moving, slack, sample, told), planned)


@check_arguments()
def sql_network(
    text: str,
    tables: Tables,
    *,
    moving: Moving = _PLAIN,
    slack: int = 0,
    sample: Sample = _none,
    told: Told = _nobody,
) -> Network:
    """The network of one or more statements; a query that is not inserted into an output is the output `out`."""
    statements = parse(text)

    def planned(planner: _Planner) -> dict[str, Stream]:
        outputs: dict[str, Stream] = {}
        for each in statements:
            made = planner.named(each.name).query(each.query)
            if not each.output:
                planner = planner.knowing(each.name, made)
            elif each.name in outputs:
                raise each.piece.error(
                    f"the output {each.name} is there already; insert into another, or use UNION ALL"
                )
            else:
                outputs[each.name] = made.stream
        return outputs

    outputs = _shared(_planner(tables, moving, slack, sample, told), planned)
    if not outputs:
        raise NetworkError("all statements are views; add a query, so that something comes out")
    return built(outputs)


def _shared(planner: _Planner, planned: Callable[[_Planner], T]) -> T:
    """What is planned of a text, once more if spatial clauses are found: those about the same objects share a box."""
    first = replace(planner, told=_nobody)
    made = planned(first)
    return planned(replace(planner, shared=Shared(first.shared.wanted))) if first.shared.wanted else made


def _planner(tables: Tables, moving: Moving, slack: int, sample: Sample, told: Told) -> _Planner:
    known = {name: made if isinstance(made, Stream) else stream(name, made) for name, made in tables.items()}
    relations = {name: Relation(made) for name, made in known.items()}
    return _Planner(relations, moving, slack, cache(sample), told, Shared())


@dataclass(frozen=True)
class Relation:
    """What a name or a query stands for: a stream, whose tuples are updates of an answer if it is `signed`."""

    stream: Stream
    signed: bool = False


@dataclass(frozen=True)
class _Planner:
    """What names of tables mean where a query stands."""

    tables: Mapping[str, Relation]
    moving: Moving
    slack: int
    sample: Sample
    told: Told
    shared: Shared
    statement: str = ""

    def named(self, statement: str) -> _Planner:
        return replace(self, statement=statement)

    def knowing(self, name: str, made: Relation) -> _Planner:
        return replace(self, tables={**self.tables, name: made})

    def query(self, query: Query) -> Relation:
        planner = self
        for name, view in query.views:
            planner = planner.knowing(name, planner.query(view))
        parts = [planner.select(s) if isinstance(s, Select) else planner.query(s) for s in query.selects]
        if len(parts) == 1:
            return parts[0]
        if len({part.signed for part in parts}) > 1:
            raise query.piece.error("some parts of the UNION ALL are answers, which change, and others streams")
        return Relation(united([part.stream for part in parts], query.piece), parts[0].signed)

    def select(self, select: Select) -> Relation:
        whole, window, rest = self._from(select)
        where = select.where
        if where is not None and rest:
            predicate = whole.resolved(where, of(both(*rest)))
            with where.telling():
                whole = replace(whole, stream=whole.stream.filter(predicate))
        if select.distinct is not None and whole.sign is None:
            raise select.distinct.error("a stream has no end, so doubles are told within windows: group by one")
        made = self._selected(select, whole, window)
        if select.distinct is not None:
            columns = [name for name in made.schema.names if name != SIGN]
            with select.distinct.telling():
                made = made.moving.distinct(columns).map({name: of(Name(name)) for name in (SIGN, *columns)})
        return Relation(made, whole.sign is not None)

    def _selected(self, select: Select, whole: QueryScope, window: WindowClause | None) -> Stream:
        if select.groups or any(not item.star and aggregates(item.piece.expr.node) for item in select.items):
            stars = [item for item in select.items if item.star]
            if stars:
                raise stars[0].piece.error("`*` has all columns, and a group only those that it is by; name them")
            if whole.sign is not None:
                return tallied(select, whole, list(select.items))
            return grouped(select, whole, window, list(select.items), self.slack)
        if select.having is not None:
            raise select.having.error("HAVING is about groups; write WHERE, or GROUP BY")
        if window is not None:
            raise window.piece.error("the rows of a window are aggregated: add GROUP BY window_start")
        return _projected(select, whole)

    def _from(self, select: Select) -> tuple[QueryScope, WindowClause | None, list[Node]]:
        """What a SELECT is from, its window, and what WHERE says beyond how tables after a comma are joined."""
        parts = [select.first, *(join.part for join in select.joins)]
        made = [self._part(part) for part in parts]
        scopes, window = [each for each, _ in made], made[0][1]
        for join, (_, another) in zip(select.joins, made[1:], strict=True):
            if window or another:
                raise join.part.piece.error("windows are not joined: aggregate them in subqueries, and join these")
        rest = list(conjuncts(select.where.expr)) if select.where is not None else []
        if select.spatial:
            scopes, rest = self._asked(select, parts, scopes, window, rest)
        whole = scopes[0]
        for join, other in zip(select.joins, scopes[1:], strict=True):
            where, said = join.piece, list(conjuncts(join.on.expr if join.on else None))
            if join.on is None and not join.using and select.where is not None:
                sides = (*whole.columns, *other.columns)
                said = [part for part in rest if crosses(part, whole, other, sides)]
                where, rest = select.where if said else where, [part for part in rest if part not in said]
            whole = joined(whole, other, said, join.using, self.slack, where)
        return whole, window, rest

    def _asked(
        self,
        select: Select,
        parts: list[FromItem],
        scopes: list[QueryScope],
        window: WindowClause | None,
        rest: list[Node],
    ) -> tuple[list[QueryScope], list[Node]]:
        """The tables of FROM, with the answer in place of the objects, and what WHERE says beyond it."""
        if window is not None:
            raise window.piece.error("INSIDE and kNN ask what is there now, so there are no windows; leave this out")
        at = place(scopes, select, self.moving)
        mine = tuple(part for part in rest if own(part, scopes, at))
        others = [part for part in rest if part not in mine]
        source = parts[at].source
        sample = self.sample(source.name) if isinstance(source, Named) else None
        asked = AnswerQuery(select, mine, tuple(others), self.moving, sample, self.told, self.shared, self.statement)
        return [answers(each, asked) if n == at else each for n, each in enumerate(scopes)], others

    def _part(self, part: FromItem) -> tuple[QueryScope, WindowClause | None]:
        if isinstance(part.source, Windowed):
            held = self._source(part.source.source)
            if held.signed:
                raise part.source.piece.error("an answer is what is there now, so it has no windows; group by columns")
            return scope(held.stream, part.name), from_table(part.source, held.stream.schema)
        held = self._source(part.source)
        return scope(held.stream, part.name, held.signed), None

    def _source(self, source: Source) -> Relation:
        if isinstance(source, Query):
            return self.query(source)
        if isinstance(source, Windowed):
            raise source.piece.error("a window of windows: aggregate the inner one in a subquery first")
        return self._named(source)

    def _named(self, named: Named) -> Relation:
        if named.name not in self.tables:
            hint = near(named.name, self.tables) or "."
            raise ExpressionError(
                f"there is no stream `{named.name}`{hint} There are {listing(self.tables)}",
                named.piece.place(),
                unknown(named.name, self.tables),
            )
        return self.tables[named.name]


def _projected(select: Select, whole: QueryScope) -> Stream:
    """The columns of a SELECT without groups."""
    columns: dict[str, Expr] = {} if whole.sign is None else {SIGN: of(Name(whole.sign))}
    for item in select.items:
        if whole.sign is not None:
            check_name(item)
        for name, made in _columns(item, whole):
            if name in columns:
                raise twice(item, name)
            columns[name] = made
            with item.piece.telling():
                made.bind(whole.stream.schema)
    return mapped(whole.stream, columns, select.piece)


def _columns(item: Item, whole: QueryScope) -> Iterator[tuple[str, Expr]]:
    """The columns that an item of a SELECT stands for."""
    if not item.star:
        yield named(item), whole.resolved(item.piece)
        return
    those = [each for each in whole.columns if item.of in (None, each.table)]
    if not those:
        tables = dict.fromkeys(each.table for each in whole.columns)
        raise item.piece.error(f"there is no table `{item.of}` in FROM; there are {listing(tables)}")
    seen: set[str] = set()
    for each in those:
        if each.held not in seen:
            seen.add(each.held)
            yield each.name if item.of or len(whole.find(each.name)) == 1 else each.held, of(Name(each.held))
