"""Plan a query as a stream of boxes: filters, maps, joins, unions and aggregates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from australis.build import network as built
from australis.errors import NetworkError, listing, near
from australis.expr import Expr
from australis.expr.expression import of
from australis.expr.node import Name, Node
from australis.network import Network
from australis.schema import Spec
from australis.sql.group import aggregates, grouped, mapped, named, twice
from australis.sql.join import both, conjuncts, crosses, joined
from australis.sql.parse import parse
from australis.sql.query import Item, Named, Part, Query, Select, Source, Windowed
from australis.sql.scope import Scope, scope
from australis.sql.spatial import Spatial, unplanned
from australis.sql.union import united
from australis.sql.window import Window, from_table
from australis.stream import Stream, stream

Tables = Mapping[str, "Stream | Spec"]


def sql(text: str, tables: Tables, *, spatial: Spatial = unplanned, slack: int = 0) -> Stream:
    """The stream that a query describes, over streams (or schemas of inputs) by name.

    >>> str(sql("SELECT vid, mph * 1.6 AS kph FROM reports WHERE mph > 60", {"reports": "vid int, mph int"}).schema)
    'vid: int32\\nkph: double'

    `slack` is how many tuples late the streams may be, where a window does not say. `spatial` plans INSIDE and kNN.
    """
    *before, last = parse(text)
    if any(each.output for each in before) or not last.output:
        raise last.piece.error("`sql` gives the stream of one query; make a network of several statements")
    planner = _planner(tables, spatial, slack)
    for each in before:
        planner = planner.knowing(each.name, planner.query(each.query))
    return planner.query(last.query)


def network(text: str, tables: Tables, *, spatial: Spatial = unplanned, slack: int = 0) -> Network:
    """The network of one or more statements; a query that is not inserted into an output is the output `out`."""
    planner = _planner(tables, spatial, slack)
    outputs: dict[str, Stream] = {}
    for each in parse(text):
        made = planner.query(each.query)
        if not each.output:
            planner = planner.knowing(each.name, made)
        elif each.name in outputs:
            raise each.piece.error(f"the output {each.name} is there already; insert into another, or use UNION ALL")
        else:
            outputs[each.name] = made
    if not outputs:
        raise NetworkError("all statements are views; add a query, so that something comes out")
    return built(outputs)


def _planner(tables: Tables, spatial: Spatial, slack: int) -> _Planner:
    known = {name: made if isinstance(made, Stream) else stream(name, made) for name, made in tables.items()}
    return _Planner(known, spatial, slack)


@dataclass(frozen=True)
class _Planner:
    """What names of tables mean where a query stands."""

    tables: Mapping[str, Stream]
    spatial: Spatial
    slack: int

    def knowing(self, name: str, made: Stream) -> _Planner:
        return replace(self, tables={**self.tables, name: made})

    def query(self, query: Query) -> Stream:
        planner = self
        for name, view in query.views:
            planner = planner.knowing(name, planner.query(view))
        parts = [planner.select(s) if isinstance(s, Select) else planner.query(s) for s in query.selects]
        return parts[0] if len(parts) == 1 else united(parts, query.piece)

    def select(self, select: Select) -> Stream:
        whole, window, used = self._from(select)
        where = select.where
        rest = [part for part in conjuncts(where.expr) if part not in used] if where is not None else []
        if where is not None and rest:
            predicate = whole.resolved(where, of(both(*rest)))
            with where.telling():
                whole = replace(whole, stream=whole.stream.filter(predicate))
        for clause, piece in select.spatial:
            with piece.telling():
                whole = replace(whole, stream=self.spatial(whole.stream, clause))
        if select.groups or any(not item.star and aggregates(item.piece.expr.node) for item in select.items):
            stars = [item for item in select.items if item.star]
            if stars:
                raise stars[0].piece.error("`*` has all columns, and a group only those that it is by; name them")
            return grouped(select, whole, window, list(select.items), self.slack)
        if select.having is not None:
            raise select.having.error("HAVING is about groups; write WHERE, or GROUP BY")
        if window is not None:
            raise window.piece.error("the rows of a window are aggregated: add GROUP BY window_start")
        return _projected(select, whole)

    def _from(self, select: Select) -> tuple[Scope, Window | None, list[Node]]:
        """What a SELECT is from, its window, and the parts of WHERE that say how tables after a comma are joined."""
        whole, window = self._part(select.first)
        used: list[Node] = []
        for join in select.joins:
            other, other_window = self._part(join.part)
            if window or other_window:
                raise join.part.piece.error("windows are not joined: aggregate them in subqueries, and join these")
            where, parts = join.piece, list(conjuncts(join.on.expr if join.on else None))
            if join.on is None and not join.using and select.where is not None:
                sides = (*whole.columns, *other.columns)
                parts = [part for part in conjuncts(select.where.expr) if crosses(part, whole, other, sides)]
                where, used = select.where if parts else where, used + parts
            whole = joined(whole, other, parts, join.using, self.slack, where)
        return whole, window, used

    def _part(self, part: Part) -> tuple[Scope, Window | None]:
        if isinstance(part.source, Windowed):
            made = scope(self._source(part.source.source), part.name)
            return made, from_table(part.source, made.stream.schema)
        return scope(self._source(part.source), part.name), None

    def _source(self, source: Source) -> Stream:
        if isinstance(source, Query):
            return self.query(source)
        if isinstance(source, Windowed):
            raise source.piece.error("a window of windows: aggregate the inner one in a subquery first")
        return self._named(source)

    def _named(self, named: Named) -> Stream:
        if named.name not in self.tables:
            hint = near(named.name, self.tables) or "."
            raise named.piece.error(f"there is no stream `{named.name}`{hint} There are {listing(self.tables)}")
        return self.tables[named.name]


def _projected(select: Select, whole: Scope) -> Stream:
    """The columns of a SELECT without groups."""
    columns: dict[str, Expr] = {}
    for item in select.items:
        for name, made in _columns(item, whole):
            if name in columns:
                raise twice(item, name)
            columns[name] = made
            with item.piece.telling():
                made.bind(whole.stream.schema)
    return mapped(whole.stream, columns, select.piece)


def _columns(item: Item, whole: Scope) -> Iterator[tuple[str, Expr]]:
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
