"""Shared: the spatial clauses of all statements about the same objects are queries of one box (SOLE 3.2, 4)."""

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
class Wanted:
    """A clause of a statement, and the objects that it is about, of which only those count that satisfy `only`."""

    statement: str
    clause: Inside | NearestClause
    objects: Stream
    focal: Stream
    moving: Moving
    """By the names of columns in the stream."""
    carry: tuple[str, ...]
    only: Expr | None

    @property
    def key(self) -> Hashable:
        """What clauses have in common that one box can answer.

        They carry the same, so that none is told of changes in columns that it does not have.
        """
        return self.objects, self.focal, self.moving, self.carry


class Shared:
    """Answers to clauses, one by one: with a box for each, or, where it is known what will be wanted, with few.

    So a text is planned twice, the second time knowing what the first one `wanted`.
    """

    def __init__(self, known: Sequence[Wanted] = ()) -> None:
        self.wanted: list[Wanted] = []
        self.groups = _groups(known)
        self.places = {
            at: (number, place) for number, group in enumerate(self.groups) for place, at in enumerate(group)
        }
        self.known = known
        self.made: dict[int, tuple[Stream, ...]] = {}
        self.renamed: dict[Stream, Stream] = {}

    def rename(self, stream: Stream, names: Mapping[str, str]) -> Stream:
        """A stream with other names for its columns, the same for whoever asks."""
        if stream not in self.renamed:
            self.renamed[stream] = stream.map({to: of(Name(name)) for name, to in names.items()})
        return self.renamed[stream]

    def answer(self, wanted: Wanted) -> Stream:
        """The updates of the answer to one clause."""
        at = len(self.wanted)
        self.wanted.append(wanted)
        if at not in self.places:
            return _asked(wanted, [wanted])[0]
        number, place = self.places[at]
        if number not in self.made:
            self.made[number] = _asked(wanted, [self.known[each] for each in self.groups[number]])
        return self.made[number][place]


def _groups(known: Sequence[Wanted]) -> list[list[int]]:
    """Which clauses are answered together: a box has room for some conditions only."""
    conditions: dict[Hashable, dict[Expr, int]] = {}
    groups: dict[Hashable, list[int]] = {}
    for at, each in enumerate(known):
        mine = conditions.setdefault(each.key, {})
        number = 0 if each.only is None else mine.setdefault(each.only, len(mine))
        groups.setdefault((each.key, number // MOST_CONDITIONS), []).append(at)
    return list(groups.values())


def _asked(first: Wanted, group: Sequence[Wanted]) -> tuple[Stream, ...]:
    """The answers of clauses about the objects of the first.

    A condition of all is evaluated first; otherwise those are passed over that satisfy none, if all clauses have one.
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
            clause = clause.turned()
        queries[_free(each.statement, queries)] = {**clause.question, "condition": condition}
    moving = first.moving
    found = first.objects.moving.ask(
        queries, id=moving.id, x=moving.x, y=moving.y, time=moving.time, timeout=moving.timeout, earth=moving.earth,
        every=moving.every, ahead=moving.ahead, only=only,
        where={name: condition for condition, name in names.items()}, carry=first.carry, revise=True, focal=first.focal,
    )  # fmt: skip
    if len(group) == 1:
        return (found,)
    return found.route(*(of(apply("=", Name(QUERY), Literal(name))) for name in queries))[:-1]


def _free(name: str, taken: Mapping[str, object]) -> str:
    """A name that is not taken, such as the one given."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    return free
