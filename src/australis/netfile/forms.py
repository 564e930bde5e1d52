"""How each box is written in a network file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from australis.arrow.durations import Span
from australis.boxes import (
    Aggregate,
    BSort,
    Filter,
    Join,
    Map,
    Read,
    Resample,
    Route,
    Union,
    Write,
    parameters,
    signals,
)
from australis.errors import NetworkError, listing, near
from australis.expressions import Expr
from australis.model.box import Box
from australis.model.order import Order
from australis.model.table import Keyed
from australis.netfile.form import Expression, Form, Tables, texts
from australis.netfile.models import MisreadError, read
from australis.netfile.moving_forms import MOVING
from australis.netfile.plain_forms import plain_form


class OrderForm(BaseModel):
    """An order in full."""

    model_config = ConfigDict(extra="forbid", strict=True)
    on: str
    slack: int = 0
    by: str | list[str] = Field([])


class FilterForm(Form):
    of: ClassVar[type[Any]] = Filter
    predicates: list[Expression]

    @classmethod
    def long(cls, written: object) -> object:
        return {"predicates": written if isinstance(written, list) else [written]}

    @classmethod
    def short(cls, box: Filter) -> object:
        return str(box.predicate)

    def box(self, tables: Tables, arity: int) -> Box:
        return Filter(parameters.conjunction(self.predicates))


class RouteForm(FilterForm):
    of: ClassVar[type[Any]] = Route

    @classmethod
    def short(cls, box: Route) -> object:  # type: ignore[override]
        return [str(predicate) for predicate in box.predicates]

    def box(self, tables: Tables, arity: int) -> Box:
        return Route(tuple(map(parameters.expression, self.predicates)))


class MapForm(Form):
    of: ClassVar[type[Any]] = Map
    columns: dict[str, Expression]

    @classmethod
    def long(cls, written: object) -> object:
        explicit = isinstance(written, dict) and list(written) == ["columns"] and isinstance(written["columns"], dict)
        return written if explicit else {"columns": written}

    @classmethod
    def short(cls, box: Map) -> object:
        return texts(box.columns)

    def box(self, tables: Tables, arity: int) -> Box:
        made: Box = self.of(parameters.columns(self.columns))
        return made


class ApplyForm(MapForm):
    of = signals.Apply


class UnionForm(Form):
    of = Union
    on: str = ""

    @classmethod
    def short(cls, box: Union) -> object:
        return {"on": box.on} if box.on else {}

    def box(self, tables: Tables, arity: int) -> Box:
        return Union(arity, self.on)


class BSortForm(Form):
    of = BSort
    on: str
    slack: int = 0
    by: str | list[str] = Field([])

    @classmethod
    def long(cls, written: object) -> object:
        return {"on": written} if isinstance(written, str) else written

    @classmethod
    def short(cls, box: BSort) -> object:
        return _order(box.order)

    def box(self, tables: Tables, arity: int) -> Box:
        return BSort(parameters.order(self.on, self.slack, self.by))


class AggregateForm(Form):
    model_config = ConfigDict(extra="allow")
    of = Aggregate
    made = "functions"
    on: str
    size: Span | None = None
    advance: Span | None = None
    by: str | list[str] = Field([])
    slack: int = 0
    timeout: Span | None = None
    partial: bool = False
    functions: dict[str, str] | None = None

    @classmethod
    def short(cls, box: Aggregate) -> object:
        advance = str(box.advance) if isinstance(box.advance, Expr) else box.advance
        order = _order(box.order)
        arguments = {
            **(order if isinstance(order, dict) else {"on": order}),
            "size": box.size,
            "advance": None if advance == box.size else advance,
            "timeout": box.timeout,
            "partial": box.partial or None,
        }
        return cls.with_columns(arguments, texts(box.functions))

    def box(self, tables: Tables, arity: int) -> Box:
        functions = parameters.functions(_functions(self))
        advance = self.size if self.advance is None else self.advance
        if advance is None:
            raise NetworkError("give `size`, or `advance` with a predicate, or both")
        return Aggregate(
            functions,
            parameters.order(self.on, self.slack, self.by),
            None if self.size is None else parameters.span(self.size),
            parameters.advance(advance),
            None if self.timeout is None else parameters.span(self.timeout),
            self.partial,
        )


class JoinForm(Form):
    of = Join
    where: Expression | None = None
    on: Any = None
    size: Span | None = None

    @classmethod
    def short(cls, box: Join) -> object:
        where = None if box.predicate is None else str(box.predicate)
        return cls.with_columns({"where": where, "on": _sides(box.left, box.right), "size": box.size}, {})

    def box(self, tables: Tables, arity: int) -> Box:
        left, right = _orders(self.on)
        return Join(
            left,
            right,
            None if self.size is None else parameters.span(self.size),
            None if self.where is None else parameters.expression(self.where),
        )


class ResampleForm(Form):
    model_config = ConfigDict(extra="allow")
    of = Resample
    made = "functions"
    on: Any
    size: Span
    functions: dict[str, str] | None = None

    @classmethod
    def short(cls, box: Resample) -> object:
        return cls.with_columns({"on": _sides(box.left, box.right), "size": box.size}, texts(box.functions))

    def box(self, tables: Tables, arity: int) -> Box:
        left, right = _orders(self.on)
        if left is None or right is None:
            raise NetworkError("both sides need an order: give `on`")
        return Resample(parameters.functions(_functions(self)), left, right, parameters.span(self.size))


class WriteForm(Form):
    model_config = ConfigDict(extra="allow")
    of = Write
    made = "columns"
    table: str
    returning: dict[str, Expression] | None = None
    columns: dict[str, Expression] | None = None

    @classmethod
    def short(cls, box: Write) -> object:
        returning = texts(box.returning) or None
        return cls.with_columns({"table": box.table.name, "returning": returning}, texts(box.columns))

    def box(self, tables: Tables, arity: int) -> Box:
        written = parameters.columns(self.columns_made())
        return Write(_table(self.table, tables), written, parameters.columns(self.returning or {}))


class ReadForm(Form):
    of = Read
    table: str
    columns: str | list[str] = Field([])

    @classmethod
    def long(cls, written: object) -> object:
        return {"table": written} if isinstance(written, str) else written

    @classmethod
    def short(cls, box: Read) -> object:
        return {"table": box.table.name, "columns": list(box.columns)} if box.columns else box.table.name

    def box(self, tables: Tables, arity: int) -> Box:
        return Read(_table(self.table, tables), parameters.by(self.columns))


_EVERY: tuple[type[Form], ...] = (
    FilterForm, RouteForm, MapForm, UnionForm, BSortForm, AggregateForm, JoinForm, ResampleForm, WriteForm, ReadForm,
    ApplyForm, *MOVING, *map(plain_form, signals.PLAIN),
)  # fmt: skip

FORMS: Mapping[str, type[Form]] = {form.of.kind: form for form in _EVERY}


def _functions(form: AggregateForm | ResampleForm) -> dict[str, str]:
    """The window functions; a misspelt argument ends up among them."""
    functions = form.columns_made()
    for name, text in functions.items():
        if not isinstance(text, str):
            arguments = list(type(form).model_fields)
            raise NetworkError(
                f"`{name}: {text}` is no window function such as `avg(mph)`, and no argument; the arguments are"
                f" {listing(arguments)}{near(name, arguments)}"
            )
    return functions


def _table(name: str, tables: Tables) -> Keyed:
    if name not in tables:
        raise NetworkError(f"there is no table {name}; there are {listing(tables)}{near(name, tables)}")
    return tables[name]


def _order(order: Order) -> Any:
    """An order as a column's name, or in full."""
    if not order.slack and not order.by:
        return order.on
    slack = {"slack": order.slack} if order.slack else {}
    return {"on": order.on, **slack, **({"by": list(order.by)} if order.by else {})}


def _sides(left: Order | None, right: Order | None) -> object:
    if left == right:
        return None if left is None else _order(left)
    return [None if side is None else _order(side) for side in (left, right)]


def _orders(written: object) -> tuple[Order | None, Order | None]:
    """The orders of two sides: one for both, or a list of two."""
    if isinstance(written, list):
        return parameters.sides([_side(side) for side in written])
    return parameters.sides(_side(written))


def _side(written: object) -> Order | None:
    if written is None:
        return None
    try:
        form = read(OrderForm, {"on": written} if isinstance(written, str) else written)
    except MisreadError as error:
        raise MisreadError(f"`on`: {error}", ("on",)) from error
    return parameters.order(form.on, form.slack, form.by)
