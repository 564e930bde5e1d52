"""The methods of streams that make boxes for moving objects: functions, which the class of streams takes in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from australis.arguments import check_arguments
from australis.boxes import parameters
from australis.boxes.moving import Ask, Distinct, Lead, Meet, Nearest, Tally, Watch
from australis.boxes.moving.queries import K
from australis.boxes.parameters import By, Expression, Function, Length
from australis.errors import NetworkError
from australis.model.box import Box
from australis.model.validation import telling

if TYPE_CHECKING:
    from australis.api.stream import Stream


@check_arguments(telling=True)
def watch(
    self: Stream,
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

    `where` names conditions that queries may ask of objects, `carry` columns of the object that updates have too; with
    `revise`, members whose carried values change leave and enter again. Answers are told after `every` report, after a
    span of the objects' time, or after every train (`"train"`). `spread` lets so many partitions share all queries. See
    docs/moving.md for the columns of queries, and for `cache`, `speed`, `budget` and `shed`.
    """
    with telling(f"watch {box}" if box else "watch"):
        silent = None if timeout is None else parameters.span(timeout)
        leeway = None if ahead is None else parameters.span(ahead)
        often = parameters.often(every)
        conditions = parameters.columns(where or {})
        if spread is not None and spread < 1:
            raise NetworkError(f"`spread` is a number of partitions, 1 or more, not {spread}")
        share = budget if budget is None or spread is None else max(1, budget // spread)
        made = Watch(
            id, x, y, time, silent, conditions, parameters.by(carry), earth, cache, speed, share, shed, revise,
            spread is not None, leeway, often,
        )  # fmt: skip
        if spread is None:
            return self._main(made, box, queries)
        names = tuple(name for name, _ in conditions)
        forgets = cache is not None
        lead = Lead(id, x, y, time, silent, None, names, forgets, earth, leeway, made.each)
        found = self._main(made, box, queries, self._main(lead, None, queries))
        if K not in queries.schema.names:
            return found
        return _merged(found, id, revise, made.each)


@check_arguments(telling=True)
def ask(
    self: Stream,
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
    with telling(f"ask {box}" if box else "ask"):
        silent = None if timeout is None else parameters.span(timeout)
        leeway = None if ahead is None else parameters.span(ahead)
        often = parameters.often(every)
        condition = None if only is None else parameters.expression(only)
        asked = parameters.questions(queries)
        conditions = parameters.columns(where or {})
        carried = parameters.by(carry)
        made = Ask(asked, id, x, y, time, silent, condition, carried, earth, revise, conditions, leeway, often)
        told = []
        if made.led:
            lead = Lead(id, x, y, time, silent, focals=made.focals, earth=earth, ahead=leeway, each=made.each)
            told.append((focal or self)._main(lead, None))
        found = self._main(made, box, *told)
        kinds = {query.kind for _, query in asked}
        if "knn" not in kinds:
            return found
        if len(kinds) > 1:
            return _merged(found, id, revise, made.each)
        return replace(_main(found.port("candidates"), Nearest(id, revise, made.each)), beside=found)


@check_arguments(telling=True)
def tally(
    self: Stream,
    functions: Mapping[str, Function] | None = None,
    /,
    *,
    by: By = (),
    sign: str = "sign",
    box: str | None = None,
    **more: Function,
) -> Stream:
    """Aggregate what is there now, by group, among updates; gives the old values (-1) and the new (1) of a change."""
    with telling(f"tally {box}" if box else "tally"):
        made = parameters.functions({**(functions or {}), **more})
        return self._main(Tally(parameters.by(by), made, sign), box)


@check_arguments(telling=True)
def meet(
    self: Stream, other: Stream, predicate: Expression | None = None, sign: str = "sign", box: str | None = None
) -> Stream:
    """Tell which pairs of what is there now, here and in `other`, come (`sign` 1) and go (-1), by updates of both."""
    with telling(f"meet {box}" if box else "meet"):
        return self._main(Meet(None if predicate is None else parameters.expression(predicate), sign), box, other)


@check_arguments(telling=True)
def distinct(self: Stream, by: By, sign: str = "sign", box: str | None = None) -> Stream:
    """Tell which values of some columns get a first supporter (`sign` 1) among updates, or lose the last (-1)."""
    return _main(self, Distinct(parameters.by(by), sign), box)


def _merged(found: Stream, id: str, revise: bool, each: bool) -> Stream:
    """The updates of all queries: those of the k nearest are merged from what partitions have found."""
    return replace(found.union(_main(found.port("candidates"), Nearest(id, revise, each))), beside=found)


def _main(stream: Stream, box: Box, name: str | None = None) -> Stream:
    with telling(f"{box.kind} {name}" if name else box.kind):
        return stream._main(box, name)
