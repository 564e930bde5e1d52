"""`stream.moving`: the methods of streams that draw boxes for moving objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from australis.api.methods.moving import MovingMethods
from australis.api.stream import Stream
from australis.arguments import check_arguments
from australis.boxes.moving import Ask, Lead, Nearest, Watch
from australis.boxes.moving.queries import K
from australis.errors import NetworkError, Subject, placed
from australis.model.parameters import By, Expression, Length


@dataclass(frozen=True)
class MovingObjects(MovingMethods):
    """A stream, with a method for each box for moving objects. `watch` and `ask` draw several where they need them."""

    stream: Stream

    @property
    def _stream(self) -> Stream:
        return self.stream

    @check_arguments(name_errors=True)
    def watch(
        self,
        queries: Stream,
        *,
        id: str = "id",
        x: str = "x",
        y: str = "y",
        time: str | None = None,
        timeout: Length | None = None,
        ahead: Length | None = None,
        every: Length | None = None,
        where: Mapping[str, Expression] | None = None,
        carry: By = (),
        earth: bool = False,
        cache: float | None = None,
        speed: float | None = None,
        budget: int | None = None,
        shed: str = "objects",
        revise: bool = False,
        spread: int | None = None,
        box: str | None = None,
    ) -> Stream:
        """Tell what enters (`sign` 1) and leaves (-1) the answers of queries about these moving objects.

        `where` names conditions that queries may ask of objects, `carry` columns of the object that updates have too.
        With `revise`, members whose carried values change leave and enter again. Answers are told after `every` report,
        after a span of the objects' time, or after every train (`"train"`). `spread` lets so many partitions share all
        queries. See docs/moving.md for the columns of queries, and for `cache`, `speed`, `budget` and `shed`.
        """
        with placed(Subject("watch", box)):
            if spread is not None and spread < 1:
                raise NetworkError(f"`spread` is a number of partitions, 1 or more, not {spread}")
            share = budget if budget is None or spread is None else max(1, budget // spread)
            watch = Watch.make(
                id=id, x=x, y=y, time=time, timeout=timeout, where=where, carry=carry, earth=earth, cache=cache,
                speed=speed, budget=share, shed=shed, revise=revise, spread=spread is not None, ahead=ahead,
                every=every,
            )  # fmt: skip
            if spread is None:
                return self.stream.draw(watch, queries, name=box)
            conditions = tuple(name for name, _ in watch.conditions)
            lead = Lead(
                id, x, y, time, watch.timeout, None, conditions, cache is not None, earth, watch.ahead, watch.each
            )
            updates = self.stream.draw(watch, queries, self.stream.draw(lead, queries), name=box)
            return _with_nearest(updates, id, revise, watch.each) if K in queries.schema.names else updates

    @check_arguments(name_errors=True)
    def ask(
        self,
        queries: Mapping[str, Mapping[str, Any]],
        *,
        id: str = "id",
        x: str = "x",
        y: str = "y",
        time: str | None = None,
        timeout: Length | None = None,
        ahead: Length | None = None,
        every: Length | None = None,
        only: Expression | None = None,
        where: Mapping[str, Expression] | None = None,
        carry: By = (),
        earth: bool = False,
        revise: bool = False,
        focal: Stream | None = None,
        box: str | None = None,
    ) -> Stream:
        """Tell what enters and leaves the answers of queries that are known now, by name, among these moving objects.

        Only objects that satisfy `only` are looked at; `where` names conditions that queries may have. Focal objects
        may be of another stream, `focal`, of such objects.
        """
        with placed(Subject("ask", box)):
            ask = Ask.make(
                queries, id=id, x=x, y=y, time=time, timeout=timeout, only=only, where=where, carry=carry, earth=earth,
                revise=revise, ahead=ahead, every=every,
            )  # fmt: skip
            leads = []
            if ask.led:
                lead = Lead(id, x, y, time, ask.timeout, focals=ask.focals, earth=earth, ahead=ask.ahead, each=ask.each)
                leads.append((focal or self.stream).draw(lead))
            updates = self.stream.draw(ask, *leads, name=box)
            kinds = {query.kind for _, query in ask.queries}
            if kinds == {"knn"}:
                return replace(_nearest(updates, id, revise, ask.each), beside=updates)
            return _with_nearest(updates, id, revise, ask.each) if "knn" in kinds else updates


def _with_nearest(updates: Stream, id: str, revise: bool, each: bool) -> Stream:
    """The updates of all queries: those of the k nearest are merged from what partitions have found."""
    return replace(updates.union(_nearest(updates, id, revise, each)), beside=updates)


def _nearest(updates: Stream, id: str, revise: bool, each: bool) -> Stream:
    with placed(Subject(Nearest.kind)):
        return updates.port("candidates").draw(Nearest(id, revise, each))
