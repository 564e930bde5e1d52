"""Answers: plans the spatial clauses of a query over its stream of objects, below its joins (SOLE 3.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from australis.api.stream import Stream
from australis.boxes.moving.queries import QUERY, K
from australis.boxes.moving.watch import AWAY, SIGN
from australis.errors import listing
from australis.expressions import Expr
from australis.expressions.expression import of
from australis.expressions.node import Literal, Name, Node, apply, names
from australis.queries import cost
from australis.queries.join import both
from australis.queries.query import Select
from australis.queries.scope import Column, QueryScope
from australis.queries.shared import ClauseRequest, Shared
from australis.queries.spatial import Inside, Moving, NearestClause

RESERVED = (QUERY, SIGN, K, AWAY)
Told = Callable[[str], None]


@dataclass(frozen=True)
class AnswerQuery:
    """What a SELECT asks of its objects. `own` are the conditions about the objects alone, `rest` the others."""

    select: Select
    own: tuple[Node, ...]
    rest: tuple[Node, ...]
    moving: Moving
    sample: pa.RecordBatch | None
    told: Told
    shared: Shared
    statement: str


def objects_position(scopes: Sequence[QueryScope], select: Select, moving: Moving) -> int:
    """The position in FROM of the table that the spatial clauses are about: it has the columns of moving objects."""
    columns, piece = [moving.id, moving.x, moving.y], select.spatial[0][1]
    fits = [at for at, each in enumerate(scopes) if all(each.find(name) for name in columns)]
    streams = [at for at in fits if not scopes[at].stream.static]
    if not streams:
        missing = f"FROM lacks a stream with the columns {listing(columns)}"
        why = "what FROM has is stored, and so does not move" if fits else missing
        raise piece.error(f"{why}; if objects report otherwise, say so with `moving` (--moving id=vid,x=lon,y=lat)")
    tables = [scopes[at].columns[0].table for at in streams]
    if len(streams) > 1:
        raise piece.error(
            f"{' and '.join(tables)} may both be meant; put the clause in a subquery, as in"
            f" FROM (SELECT * FROM {tables[0]} {piece.text}) AS {tables[0]}"
        )
    if scopes[streams[0]].sign is not None:
        raise piece.error(f"{tables[0]} is an answer already; put all clauses where the stream of reports is read")
    return streams[0]


def is_own(part: Node, scopes: Sequence[QueryScope], at: int) -> bool:
    """Whether a condition is about the table at a position alone."""
    others = [each for number, each in enumerate(scopes) if number != at]
    return bool(names(part)) and all(
        scopes[at].find(name) and not any(other.find(name) for other in others) for name in names(part)
    )


def _used_columns(query: AnswerQuery, objects: QueryScope) -> set[str]:
    """The columns of objects that a SELECT uses, apart from the conditions about them alone."""
    select, used = query.select, set[str]()
    every = {each.stream_name for each in objects.columns}
    for item in select.items:
        if item.star and item.of in (None, objects.columns[0].table):
            return every
    pieces = [item.piece for item in select.items if not item.star]
    pieces += [*select.groups, *([] if select.having is None else [select.having])]
    pieces += [join.on for join in select.joins if join.on is not None]
    for piece in pieces:
        used.update(piece.expr.columns)
    used |= {name for join in select.joins for name in join.using}
    used |= {name for part in query.rest for name in names(part)}
    return {column for name in used for column in objects.find(name)}


def plan_answer(scope: QueryScope, query: AnswerQuery) -> QueryScope:
    """The updates of a query's answer, in place of its objects."""
    objects = _without_reserved(scope, query.shared)
    moving, clauses, where = query.moving, query.select.spatial, query.select.where
    place_columns = [objects.column(name, clauses[0][1]) for name in (moving.id, moving.x, moving.y)]
    time = None if moving.time is None else objects.column(moving.time, clauses[0][1])
    by_name = replace(moving, id=place_columns[0], x=place_columns[1], y=place_columns[2], time=time)
    carry = _used_columns(query, objects)
    condition, first = None, False
    if query.own and where is not None:
        condition = objects.resolve(where, of(both(*query.own)))
        with where.locate_errors():
            objects.stream.filter(condition)  # refuses what is no predicate
        first = _selection_first(objects, query, condition)
        carry |= set() if first else set(condition.columns)
    stream = objects.stream
    for number, (clause, piece) in enumerate(clauses):
        chained = {*place_columns, *([] if time is None else [time])} if number + 1 < len(clauses) else set()
        with piece.locate_errors():
            carried = tuple(
                name for name in stream.schema.names if name in carry | chained and name != place_columns[0]
            )
            only = condition if first and number == 0 else None
            request = ClauseRequest(query.statement, clause, stream, objects.stream, by_name, carried, only)
            stream = query.shared.answer(request)
        query.told(f"{piece.text} of {objects.columns[0].table}{', below the join' if query.select.joins else ''}")
        if condition is not None and not first and number == 0:
            stream = stream.filter(condition)
        if chained:
            stream = _as_reports(stream, place_columns[1])
    return replace(objects, stream=stream, sign=SIGN)


def _selection_first(objects: QueryScope, query: AnswerQuery, condition: Expr) -> bool:
    """Whether the conditions are evaluated before the clauses, by cost. With kNN they must be."""
    text = f"the selection `{condition}`"
    clauses = [clause for clause, _ in query.select.spatial]
    if any(isinstance(clause, NearestClause) for clause in clauses):
        query.told(f"{text} first: kNN is of the objects that satisfy it")
        return True
    clause = clauses[0]
    assert isinstance(clause, Inside)
    sample = query.sample
    if sample is not None:
        sample = sample.rename_columns(objects.stream.schema.names)
    inside = cost.inside(clause, query.moving, query.sample)
    costs = cost.OrderCosts(cost.selected(condition, sample), inside, cost.predicate(condition))
    choice = query.moving.first
    first = costs.selection_first < costs.inside_first if choice is None else choice == "selection"
    order = "first" if first else "after INSIDE"
    query.told(
        f"{text} {order}: {costs.selection_first:.0f} ns a report if first, {costs.inside_first:.0f} if after;"
        f" it passes {costs.selected}, INSIDE {costs.inside}"
    )
    return first


def _as_reports(updates: Stream, x: str) -> Stream:
    """Updates as reports of objects. An object that leaves has no place."""
    placed = apply("case", apply(">", Name(SIGN), Literal(0)), Name(x), Literal(None))
    columns = {name: of(placed if name == x else Name(name)) for name in updates.schema.names if name not in RESERVED}
    return updates.map(columns)


def _without_reserved(objects: QueryScope, shared: Shared) -> QueryScope:
    """The objects, with other names for the columns that updates have themselves."""
    names = objects.stream.schema.names
    if not set(RESERVED) & set(names):
        return objects
    fresh: dict[str, str] = {}
    for name in names:
        to = name
        while to in RESERVED or (to != name and to in {*names, *fresh.values()}):
            to += "_"
        fresh[name] = to
    stream = shared.rename(objects.stream, fresh)
    columns = tuple(Column(each.table, each.name, fresh[each.stream_name]) for each in objects.columns)
    return QueryScope(stream, columns, objects.sign)
