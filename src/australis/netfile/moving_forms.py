"""The forms of boxes for moving objects."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pydantic import ConfigDict, Field

from australis.arrow.durations import Span
from australis.boxes import parameters
from australis.boxes.moving import Ask, Distinct, Lead, Meet, Nearest, Tally, Watch
from australis.model.box import Box
from australis.netfile.form import Expression, Form, Tables, texts
from australis.netfile.plain_forms import plain_form


class WatchForm(Form):
    of = Watch
    id: str = "id"
    x: str = "x"
    y: str = "y"
    time: str | None = None
    timeout: Span | None = None
    where: dict[str, Expression] = Field({})
    carry: str | list[str] = Field([])
    earth: bool = False
    cache: int | float | None = None
    speed: int | float | None = None
    budget: int | None = None
    shed: str = "objects"
    revise: bool = False
    spread: bool = False
    ahead: Span | None = None
    every: Span | None = None

    @classmethod
    def short(cls, box: Watch) -> object:
        plain = {name: getattr(box, name) for name in cls.model_fields if name not in ("where", "carry")}
        given = {**plain, "where": texts(box.conditions), "carry": list(box.carry)}
        return {name: value for name, value in given.items() if value != cls.model_fields[name].default}

    def box(self, tables: Tables, arity: int) -> Box:
        timeout = None if self.timeout is None else parameters.span(self.timeout)
        conditions, carry = parameters.columns(self.where), parameters.by(self.carry)
        ahead = None if self.ahead is None else parameters.span(self.ahead)
        plain = (self.earth, self.cache, self.speed, self.budget, self.shed, self.revise, self.spread, ahead)
        every = parameters.often(self.every)
        return Watch(self.id, self.x, self.y, self.time, timeout, conditions, carry, *plain, every)


class DistinctForm(Form):
    of = Distinct
    by: str | list[str]
    sign: str = "sign"

    @classmethod
    def long(cls, written: object) -> object:
        return written if isinstance(written, dict) else {"by": written}

    @classmethod
    def short(cls, box: Distinct) -> object:
        by = box.by[0] if len(box.by) == 1 else list(box.by)
        return by if box.sign == "sign" else {"by": by, "sign": box.sign}

    def box(self, tables: Tables, arity: int) -> Box:
        return Distinct(parameters.by(self.by), self.sign)


_ASKED = ("queries", "only", "where", "carry")


class AskForm(Form):
    of = Ask
    queries: dict[str, dict[str, Any]]
    id: str = "id"
    x: str = "x"
    y: str = "y"
    time: str | None = None
    timeout: Span | None = None
    only: Expression | None = None
    where: dict[str, Expression] = Field({})
    carry: str | list[str] = Field([])
    earth: bool = False
    revise: bool = False
    ahead: Span | None = None
    every: Span | None = None

    @classmethod
    def short(cls, box: Ask) -> object:
        queries = {
            name: {key: value for key, value in asdict(query).items() if value is not None}
            for name, query in box.queries
        }
        plain = {name: getattr(box, name) for name in cls.model_fields if name not in _ASKED}
        only = None if box.only is None else str(box.only)
        given = {"queries": queries, **plain, "only": only, "where": texts(box.conditions), "carry": list(box.carry)}
        return {name: value for name, value in given.items() if value != cls.model_fields[name].default}

    def box(self, tables: Tables, arity: int) -> Box:
        return Ask(
            parameters.questions(self.queries),
            self.id,
            self.x,
            self.y,
            self.time,
            None if self.timeout is None else parameters.span(self.timeout),
            None if self.only is None else parameters.expression(self.only),
            parameters.by(self.carry),
            self.earth,
            self.revise,
            parameters.columns(self.where),
            None if self.ahead is None else parameters.span(self.ahead),
            parameters.often(self.every),
        )


class TallyForm(Form):
    model_config = ConfigDict(extra="allow")
    of = Tally
    made = "functions"
    by: str | list[str] = Field([])
    sign: str = "sign"
    functions: dict[str, str] | None = None

    @classmethod
    def short(cls, box: Tally) -> object:
        sign = None if box.sign == "sign" else box.sign
        return cls.with_columns({"by": list(box.by) or None, "sign": sign}, texts(box.functions))

    def box(self, tables: Tables, arity: int) -> Box:
        return Tally(parameters.by(self.by), parameters.functions(self.columns_made()), self.sign)


class MeetForm(Form):
    of = Meet
    where: Expression | None = None
    sign: str = "sign"

    @classmethod
    def short(cls, box: Meet) -> object:
        where = {} if box.predicate is None else {"where": str(box.predicate)}
        return where if box.sign == "sign" else {**where, "sign": box.sign}

    def box(self, tables: Tables, arity: int) -> Box:
        return Meet(None if self.where is None else parameters.expression(self.where), self.sign)


MOVING: tuple[type[Form], ...] = (
    WatchForm,
    DistinctForm,
    AskForm,
    TallyForm,
    MeetForm,
    plain_form(Lead),
    plain_form(Nearest),
)
