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
from australis.queries.answer_groups import check_name, group_answer
from australis.queries.answers import AnswerQuery, Told, is_own, objects_position, plan_answer
from australis.queries.cost import Sample
from australis.queries.group import aggregates, column_name, duplicate_column, map_columns, plan_group
from australis.queries.join import both, conjuncts, crosses, plan_join
from australis.queries.parse import parse
from australis.queries.query import FromItem, Item, Named, Query, Select, Source, Windowed
from australis.queries.scope import QueryScope, scope
from australis.queries.shared import Shared
from australis.queries.spatial import Moving
from australis.queries.union import plan_union
from australis.queries.window import WindowClause, from_table

Tables = Mapping[str, "Stream | Spec"]
_PLAIN = Moving()
T = TypeVar("T")


def _no_sample(name: str) -> None:
    """No sample of a stream."""


def _ignore(choice: str) -> None:
    """Ignores the choices that are made by cost."""


@check_arguments()
def sql(
    text: str,
    tables: Tables,
    *,
    moving: Moving = _PLAIN,
    slack: int = 0,
    sample: Sample = _no_sample,
    told: Told = _ignore,
) -> Stream:
    """The stream that a query describes, over streams (or schemas of inputs) by name.

    >>> str(sql("SELECT vid, mph * 1.6 AS kph FROM reports WHERE mph > 60", {"reports": "vid int, mph int"}).schema)
    'vid: int32\\nkph: double'

    `slack` is how many tuples late the streams may be, unless a window has its own. `moving` says how the objects
    of INSIDE and kNN report. `sample` gives the beginning of a stream, to measure what conditions select. `told` is
    called with each choice that is made by cost.
    """
    *before, last = parse(text)
    if any(each.output for each in before) or not last.output:
        raise last.piece.error("`sql` gives the stream of one query; make a network of several statements")

    def plan_all(planner: _Planner) -> Stream:
        for each in before:
            planner = planner.with_table(each.name, planner.in_statement(each.name).query(each.query))
        return planner.in_statement(last.name).query(last.query).stream

    return _plan_sharing(_planner(tables, moving, slack, sample, told), plan_all)


@check_arguments()
def sql_network(
    text: str,
    tables: Tables,
    *,
    moving: Moving = _PLAIN,
    slack: int = 0,
    sample: Sample = _no_sample,
    told: Told = _ignore,
) -> Network:
    """The network of one or more statements; a query that is not inserted into an output is the output `out`."""
    statements = parse(text)

    def plan_all(planner: _Planner) -> dict[str, Stream]:
        outputs: dict[str, Stream] = {}
        for each in statements:
            relation = planner.in_statement(each.name).query(each.query)
            if not each.output:
                planner = planner.with_table(each.name, relation)
            elif each.name in outputs:
                raise each.piece.error(
                    f"the output {each.name} is there already; insert into another, or use UNION ALL"
                )
            else:
                outputs[each.name] = relation.stream
        return outputs

    outputs = _plan_sharing(_planner(tables, moving, slack, sample, told), plan_all)
    if not outputs:
        raise NetworkError("all statements are views; add a query, so that something comes out")
    return built(outputs)


def _plan_sharing(planner: _Planner, plan_all: Callable[[_Planner], T]) -> T:
    """Plan a text, and a second time if it has spatial clauses, so that clauses about the same objects share a box."""
    first = replace(planner, told=_ignore)
    alone = plan_all(first)
    return plan_all(replace(planner, shared=Shared(first.shared.requests))) if first.shared.requests else alone


def _planner(tables: Tables, moving: Moving, slack: int, sample: Sample, told: Told) -> _Planner:
    streams = {name: table if isinstance(table, Stream) else stream(name, table) for name, table in tables.items()}
    relations = {name: Relation(table) for name, table in streams.items()}
    return _Planner(relations, moving, slack, cache(sample), told, Shared())


@dataclass(frozen=True)
class Relation:
    """The stream of a name or a query. If it is `signed`, its tuples are updates of an answer."""

    stream: Stream
    signed: bool = False


@dataclass(frozen=True)
class _Planner:
    """Plans queries. `tables` has what the names of tables mean for the query at hand."""

    tables: Mapping[str, Relation]
    moving: Moving
    slack: int
    sample: Sample
    told: Told
    shared: Shared
    statement: str = ""

    def in_statement(self, statement: str) -> _Planner:
        return replace(self, statement=statement)

    def with_table(self, name: str, relation: Relation) -> _Planner:
        return replace(self, tables={**self.tables, name: relation})

    def query(self, query: Query) -> Relation:
        planner = self
        for name, view in query.views:
            planner = planner.with_table(name, planner.query(view))
        parts = [planner.select(s) if isinstance(s, Select) else planner.query(s) for s in query.selects]
        if len(parts) == 1:
            return parts[0]
        if len({part.signed for part in parts}) > 1:
            raise query.piece.error("some parts of the UNION ALL are answers, which change, and others streams")
        return Relation(plan_union([part.stream for part in parts], query.piece), parts[0].signed)

    def select(self, select: Select) -> Relation:
        whole, window, rest = self._from(select)
        where = select.where
        if where is not None and rest:
            predicate = whole.resolve(where, of(both(*rest)))
            with where.locate_errors():
                whole = replace(whole, stream=whole.stream.filter(predicate))
        if select.distinct is not None and whole.sign is None:
            raise select.distinct.error("a stream has no end, so doubles are told within windows: group by one")
        stream = self._select_columns(select, whole, window)
        if select.distinct is not None:
            columns = [name for name in stream.schema.names if name != SIGN]
            with select.distinct.locate_errors():
                stream = stream.moving.distinct(columns).map({name: of(Name(name)) for name in (SIGN, *columns)})
        return Relation(stream, whole.sign is not None)

    def _select_columns(self, select: Select, whole: QueryScope, window: WindowClause | None) -> Stream:
        if select.groups or any(not item.star and aggregates(item.piece.expr.node) for item in select.items):
            stars = [item for item in select.items if item.star]
            if stars:
                raise stars[0].piece.error("`*` has all columns, and a group only those that it is by; name them")
            if whole.sign is not None:
                return group_answer(select, whole, list(select.items))
            return plan_group(select, whole, window, list(select.items), self.slack)
        if select.having is not None:
            raise select.having.error("HAVING is about groups; write WHERE, or GROUP BY")
        if window is not None:
            raise window.piece.error("the rows of a window are aggregated: add GROUP BY window_start")
        return _project(select, whole)

    def _from(self, select: Select) -> tuple[QueryScope, WindowClause | None, list[Node]]:
        """The scope of FROM, its window, and the conditions of WHERE that are not conditions of joins."""
        parts = [select.first, *(join.part for join in select.joins)]
        planned = [self._part(part) for part in parts]
        scopes, window = [each for each, _ in planned], planned[0][1]
        for join, (_, another) in zip(select.joins, planned[1:], strict=True):
            if window or another:
                raise join.part.piece.error("windows are not joined: aggregate them in subqueries, and join these")
        rest = list(conjuncts(select.where.expr)) if select.where is not None else []
        if select.spatial:
            scopes, rest = self._with_answer(select, parts, scopes, window, rest)
        whole = scopes[0]
        for join, other in zip(select.joins, scopes[1:], strict=True):
            where, said = join.piece, list(conjuncts(join.on.expr if join.on else None))
            if join.on is None and not join.using and select.where is not None:
                sides = (*whole.columns, *other.columns)
                said = [part for part in rest if crosses(part, whole, other, sides)]
                where, rest = select.where if said else where, [part for part in rest if part not in said]
            whole = plan_join(whole, other, said, join.using, self.slack, where)
        return whole, window, rest

    def _with_answer(
        self,
        select: Select,
        parts: list[FromItem],
        scopes: list[QueryScope],
        window: WindowClause | None,
        rest: list[Node],
    ) -> tuple[list[QueryScope], list[Node]]:
        """The tables of FROM with the answer in place of the objects, and the conditions of WHERE that are left."""
        if window is not None:
            raise window.piece.error("INSIDE and kNN ask what is there now, so there are no windows; leave this out")
        at = objects_position(scopes, select, self.moving)
        about_objects = tuple(part for part in rest if is_own(part, scopes, at))
        others = [part for part in rest if part not in about_objects]
        source = parts[at].source
        sample = self.sample(source.name) if isinstance(source, Named) else None
        query = AnswerQuery(
            select, about_objects, tuple(others), self.moving, sample, self.told, self.shared, self.statement
        )
        return [plan_answer(each, query) if n == at else each for n, each in enumerate(scopes)], others

    def _part(self, part: FromItem) -> tuple[QueryScope, WindowClause | None]:
        if isinstance(part.source, Windowed):
            relation = self._source(part.source.source)
            if relation.signed:
                raise part.source.piece.error("an answer is what is there now, so it has no windows; group by columns")
            return scope(relation.stream, part.name), from_table(part.source, relation.stream.schema)
        relation = self._source(part.source)
        return scope(relation.stream, part.name, relation.signed), None

    def _source(self, source: Source) -> Relation:
        if isinstance(source, Query):
            return self.query(source)
        if isinstance(source, Windowed):
            raise source.piece.error("a window of windows: aggregate the inner one in a subquery first")
        return self._table(source)

    def _table(self, table: Named) -> Relation:
        if table.name not in self.tables:
            hint = near(table.name, self.tables) or "."
            raise ExpressionError(
                f"there is no stream `{table.name}`{hint} There are {listing(self.tables)}",
                table.piece.place(),
                unknown(table.name, self.tables),
            )
        return self.tables[table.name]


def _project(select: Select, whole: QueryScope) -> Stream:
    """Plan the columns of a SELECT without groups."""
    columns: dict[str, Expr] = {} if whole.sign is None else {SIGN: of(Name(whole.sign))}
    for item in select.items:
        if whole.sign is not None:
            check_name(item)
        for name, expression in _columns(item, whole):
            if name in columns:
                raise duplicate_column(item, name)
            columns[name] = expression
            with item.piece.locate_errors():
                expression.bind(whole.stream.schema)
    return map_columns(whole.stream, columns, select.piece)


def _columns(item: Item, whole: QueryScope) -> Iterator[tuple[str, Expr]]:
    """The columns that an item of a SELECT stands for."""
    if not item.star:
        yield column_name(item), whole.resolve(item.piece)
        return
    columns = [each for each in whole.columns if item.of in (None, each.table)]
    if not columns:
        tables = dict.fromkeys(each.table for each in whole.columns)
        raise item.piece.error(f"there is no table `{item.of}` in FROM; there are {listing(tables)}")
    emitted: set[str] = set()
    for each in columns:
        if each.stream_name not in emitted:
            emitted.add(each.stream_name)
            yield (
                each.name if item.of or len(whole.find(each.name)) == 1 else each.stream_name,
                of(Name(each.stream_name)),
            )
