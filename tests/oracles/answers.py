"""The answers of spatial queries, recomputed row by row from the last report of each object."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from tests.oracles.moving import World

Row = dict[str, Any]
Query = Callable[[World], Iterable[tuple[Any, ...]]]


class Sums:
    """What updates add up to: how often each row is there. None is there less often than never."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[Any, ...]] = Counter()

    def add(self, updates: Iterable[tuple[Any, ...]]) -> None:
        for sign, *row in updates:
            self.counts[tuple(row)] += sign
        assert all(count >= 0 for count in self.counts.values()), self.counts

    def rows(self) -> Counter[tuple[Any, ...]]:
        return +self.counts


def among(world: World, kind: str, focal: int | None = None, **query: Any) -> list[Row]:
    """The last reports of the objects in the answer of a query."""
    asked = {"kind": kind, "focal": focal, **query}
    return [world.objects[each] for each in sorted(world.answer(asked))]


def where(rows: Iterable[Row], world: World) -> World:
    """A world of some objects only, with all others as focal ones: a query is then among these."""
    part = Part(timeout=world.timeout)
    part.whole, part.now = world, world.now
    part.objects = {row["id"]: row for row in rows}
    return part


class Part(World):
    """Some of the objects of a world."""

    whole: World

    def place(self, query: Row) -> tuple[float, float] | None:
        return self.whole.place(query)
