"""Labels: the parameters of a box as people read them, in explanations and pictures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from australis.errors import listing
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
