"""Answers: the spatial clauses of a query planned over its stream of objects, below its joins (SOLE 3.3)."""

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
from australis.queries.shared import Shared, Wanted
from australis.queries.spatial import Inside, Moving, NearestClause

RESERVED = (QUERY, SIGN, K, AWAY)
Told = Callable[[str], None]


@dataclass(frozen=True)
class AnswerQuery:
    """What a SELECT asks of its objects: its clauses, what WHERE says of them alone, and what else it says."""

    select: Select
    own: tuple[Node, ...]
    rest: tuple[Node, ...]
    moving: Moving
    sample: pa.RecordBatch | None
    told: Told
    shared: Shared
    statement: str


def place(scopes: Sequence[QueryScope], select: Select, moving: Moving) -> int:
    """Which of the tables in FROM the spatial clauses are about: the one that has the columns of moving objects."""
    wanted, piece = [moving.id, moving.x, moving.y], select.spatial[0][1]
    fits = [at for at, each in enumerate(scopes) if all(each.find(name) for name in wanted)]
    streams = [at for at in fits if not scopes[at].stream.static]
    if not streams:
        why = "stored, and so does not move" if fits else f"a stream with the columns {listing(wanted)}"
        asked = f"what FROM has is {why}" if fits else f"FROM lacks {why}"
        raise piece.error(f"{asked}; if objects report otherwise, say so with `moving` (--moving id=vid,x=lon,y=lat)")
    tables = [scopes[at].columns[0].table for at in streams]
    if len(streams) > 1:
        raise piece.error(
            f"{' and '.join(tables)} may both be meant; put the clause in a subquery, as in"
            f" FROM (SELECT * FROM {tables[0]} {piece.text}) AS {tables[0]}"
        )
    if scopes[streams[0]].sign is not None:
        raise piece.error(f"{tables[0]} is an answer already; put all clauses where the stream of reports is read")
    return streams[0]


def own(part: Node, scopes: Sequence[QueryScope], at: int) -> bool:
    """Whether a condition is about the objects alone."""
    others = [each for number, each in enumerate(scopes) if number != at]
    return bool(names(part)) and all(
        scopes[at].find(name) and not any(other.find(name) for other in others) for name in names(part)
    )


def _used(asked: AnswerQuery, objects: QueryScope) -> set[str]:
    """The columns of objects that a SELECT uses, but for what WHERE says of them alone."""
    select, found = asked.select, set[str]()
    every = {each.held for each in objects.columns}
    for item in select.items:
        if item.star and item.of in (None, objects.columns[0].table):
            return every
    pieces = [item.piece for item in select.items if not item.star]
    pieces += [*select.groups, *([] if select.having is None else [select.having])]
    pieces += [join.on for join in select.joins if join.on is not None]
    for piece in pieces:
        found.update(piece.expr.columns)
    found |= {name for join in select.joins for name in join.using}
    found |= {name for part in asked.rest for name in names(part)}
    return {held for name in found for held in objects.find(name)}


def answers(given: QueryScope, asked: AnswerQuery) -> QueryScope:
    """The updates of a query's answer among its objects."""
    objects = _apart(given, asked.shared)
    moving, clauses, where = asked.moving, asked.select.spatial, asked.select.where
    held = [objects.held(name, clauses[0][1]) for name in (moving.id, moving.x, moving.y)]
    time = None if moving.time is None else objects.held(moving.time, clauses[0][1])
    by_name = replace(moving, id=held[0], x=held[1], y=held[2], time=time)
    carry = _used(asked, objects)
    condition, first = None, False
    if asked.own and where is not None:
        condition = objects.resolved(where, of(both(*asked.own)))
        with where.telling():
            objects.stream.filter(condition)  # refuses what is no predicate
        first = _selection_first(objects, asked, condition)
        carry |= set() if first else set(condition.columns)
    stream = objects.stream
    for number, (clause, piece) in enumerate(clauses):
        chained = {*held, *([] if time is None else [time])} if number + 1 < len(clauses) else set()
        with piece.telling():
            carried = tuple(name for name in stream.schema.names if name in carry | chained and name != held[0])
            only = condition if first and number == 0 else None
            wanted = Wanted(asked.statement, clause, stream, objects.stream, by_name, carried, only)
            stream = asked.shared.answer(wanted)
        asked.told(f"{piece.text} of {objects.columns[0].table}{', below the join' if asked.select.joins else ''}")
        if condition is not None and not first and number == 0:
            stream = stream.filter(condition)
        if chained:
            stream = _as_reports(stream, held[1])
    return replace(objects, stream=stream, sign=SIGN)


def _selection_first(objects: QueryScope, asked: AnswerQuery, condition: Expr) -> bool:
    """Whether the conditions are evaluated before the clauses; they must be, where only k objects are wanted."""
    text = f"the selection `{condition}`"
    clauses = [clause for clause, _ in asked.select.spatial]
    if any(isinstance(clause, NearestClause) for clause in clauses):
        asked.told(f"{text} first: kNN is of the objects that satisfy it")
        return True
    clause = clauses[0]
    assert isinstance(clause, Inside)
    sample = asked.sample
    if sample is not None:
        sample = sample.rename_columns(objects.stream.schema.names)
    inside = cost.inside(clause, asked.moving, asked.sample)
    costs = cost.Costs(cost.selected(condition, sample), inside, cost.predicate(condition))
    wanted = asked.moving.first
    first = costs.selection_first < costs.inside_first if wanted is None else wanted == "selection"
    order = "first" if first else "after INSIDE"
    asked.told(
        f"{text} {order}: {costs.selection_first:.0f} ns a report if first, {costs.inside_first:.0f} if after;"
        f" it passes {costs.selected}, INSIDE {costs.inside}"
    )
    return first


def _as_reports(updates: Stream, x: str) -> Stream:
    """Updates as reports of objects: one that leaves is nowhere."""
    placed = apply("case", apply(">", Name(SIGN), Literal(0)), Name(x), Literal(None))
    columns = {name: of(placed if name == x else Name(name)) for name in updates.schema.names if name not in RESERVED}
    return updates.map(columns)


def _apart(objects: QueryScope, shared: Shared) -> QueryScope:
    """The objects with other names for columns that updates have of their own."""
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
    columns = tuple(Column(each.table, each.name, fresh[each.held]) for each in objects.columns)
    return QueryScope(stream, columns, objects.sign)
