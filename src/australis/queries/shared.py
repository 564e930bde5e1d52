"""Shared answers: one box answers the spatial clauses of all statements about the same objects (SOLE 3.2, 4)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from australis.api.stream import Stream
from australis.boxes.moving.queries import QUERY
from australis.boxes.moving.watch import MOST_CONDITIONS
from australis.expressions import Expr
from australis.expressions.expression import of
from australis.expressions.node import Literal, Name, apply
from australis.queries.spatial import Inside, Moving, NearestClause


@dataclass(frozen=True)
class ClauseRequest:
    """A spatial clause of a statement, and the objects that it is about; objects count if they satisfy `only`."""

    statement: str
    clause: Inside | NearestClause
    objects: Stream
    focal: Stream
    moving: Moving
    """Its columns are by their names in the stream."""
    carry: tuple[str, ...]
    only: Expr | None

    @property
    def key(self) -> Hashable:
        """Clauses with the same key can share a box.

        They carry the same columns, so that none gets updates for changes in columns that it does not have.
        """
        return self.objects, self.focal, self.moving, self.carry


class Shared:
    """Plans the answers to clauses, one after the other: with a box for each, or with shared boxes.

    Sharing needs to know all clauses beforehand. So a text is planned twice, the second time with the `requests` of
    the first.
    """

    def __init__(self, planned: Sequence[ClauseRequest] = ()) -> None:
        self.requests: list[ClauseRequest] = []
        self.groups = _groups(planned)
        self.places = {
            at: (number, place) for number, group in enumerate(self.groups) for place, at in enumerate(group)
        }
        self.planned = planned
        self.answers: dict[int, tuple[Stream, ...]] = {}
        self.renamed: dict[Stream, Stream] = {}

    def rename(self, stream: Stream, names: Mapping[str, str]) -> Stream:
        """A stream with its columns renamed; the same stream at every call."""
        if stream not in self.renamed:
            self.renamed[stream] = stream.map({to: of(Name(name)) for name, to in names.items()})
        return self.renamed[stream]

    def answer(self, request: ClauseRequest) -> Stream:
        """The updates of the answer to one clause."""
        at = len(self.requests)
        self.requests.append(request)
        if at not in self.places:
            return _answer_together(request, [request])[0]
        number, place = self.places[at]
        if number not in self.answers:
            self.answers[number] = _answer_together(request, [self.planned[each] for each in self.groups[number]])
        return self.answers[number][place]


def _groups(requests: Sequence[ClauseRequest]) -> list[list[int]]:
    """The positions of clauses that share a box. A box has room for a limited number of conditions."""
    conditions: dict[Hashable, dict[Expr, int]] = {}
    groups: dict[Hashable, list[int]] = {}
    for at, each in enumerate(requests):
        numbers = conditions.setdefault(each.key, {})
        number = 0 if each.only is None else numbers.setdefault(each.only, len(numbers))
        groups.setdefault((each.key, number // MOST_CONDITIONS), []).append(at)
    return list(groups.values())


def _answer_together(first: ClauseRequest, group: Sequence[ClauseRequest]) -> tuple[Stream, ...]:
    """Plan a box that answers clauses about the objects of the first, and return the stream of each.

    A condition that all clauses share is evaluated first. If they have different ones, objects that satisfy none are
    dropped first.
    """
    distinct = dict.fromkeys(each.only for each in group)
    some = [condition for condition in distinct if condition is not None]
    names = {condition: f"c{number}" for number, condition in enumerate(some, 1)} if len(distinct) > 1 else {}
    only = None if None in distinct else some[0] if len(some) == 1 else of(apply("or", *(each.node for each in some)))
    queries: dict[str, Mapping[str, Any]] = {}
    for each in group:
        condition = None if each.only is None else names.get(each.only)
        clause = each.clause
        if first.moving.earth and isinstance(clause, Inside):
            clause = clause.on_earth()
        queries[_free_name(each.statement, queries)] = {**clause.question, "condition": condition}
    moving = first.moving
    updates = first.objects.moving.ask(
        queries, id=moving.id, x=moving.x, y=moving.y, time=moving.time, timeout=moving.timeout, earth=moving.earth,
        every=moving.every, ahead=moving.ahead, only=only,
        where={name: condition for condition, name in names.items()}, carry=first.carry, revise=True, focal=first.focal,
    )  # fmt: skip
    if len(group) == 1:
        return (updates,)
    return updates.route(*(of(apply("=", Name(QUERY), Literal(name))) for name in queries))[:-1]


def _free_name(name: str, used: Mapping[str, object]) -> str:
    """A name that is not used yet: `name`, or `name` with a number."""
    number, free = 1, name
    while free in used:
        number += 1
        free = f"{name}_{number}"
    return free
