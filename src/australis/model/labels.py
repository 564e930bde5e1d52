"""The parameters of a box as people read them, in explanations and pictures, and in network files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from australis.errors import listing
from australis.expressions import Aggregation, Expr
from australis.model.order import Order
from australis.model.table import Keyed


def parameter(name: str, value: Any) -> Iterator[str]:
    """The lines of a parameter; no line if it has no value.

    >>> list(parameter("by", ("xway", "seg"))), list(parameter("timeout", None))
    (['by xway, seg'], [])
    """
    if value is None or value == "":
        return
    if isinstance(value, Order):
        yield f"{value}" if name == "order" else f"{name} {value}"
    elif isinstance(value, Keyed):
        yield f"table {value.name}"
    elif not isinstance(value, tuple):
        yield f"{name} {value}"
    elif all(isinstance(part, tuple) for part in value):
        yield from (f"{column} = {expression}" for column, expression in value)
    elif all(isinstance(part, int | float) for part in value):
        yield f"{name} {listing(map(str, value), 8)}"
    elif len(value) == 1:
        yield f"by {value[0]}" if name == "by" else str(value[0])
    elif all(isinstance(part, str) for part in value):
        yield f"{name} {listing(value)}"
    else:
        yield from (f"{place}: {part}" for place, part in enumerate(value, start=1))


def as_written(value: Any) -> Any:
    """A parameter as a network file holds it: texts, numbers, lists and mappings.

    >>> as_written(("xway", "seg")), as_written(Order("time")), as_written(Order("time", 2, ("vid",)))
    (['xway', 'seg'], 'time', {'on': 'time', 'slack': 2, 'by': 'vid'})
    """
    match value:
        case Expr() | Aggregation():
            return str(value)
        case Order():
            return value.on if not value.slack and not value.by else _order(value)
        case Keyed():
            return value.name
        case (str() as only,):
            return only
        case tuple() if value and all(isinstance(each, tuple) for each in value):
            return {name: as_written(each) for name, each in value}
        case tuple():
            return [as_written(each) for each in value]
    return value


def _order(order: Order) -> dict[str, Any]:
    arguments = {"on": order.on, "slack": order.slack, "by": as_written(order.by)}
    return {name: value for name, value in arguments.items() if value}
