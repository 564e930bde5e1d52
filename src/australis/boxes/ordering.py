"""Ordering: what the order of an input lets an optimizer do to it."""

from __future__ import annotations

import pyarrow as pa

from australis.expressions import Expr
from australis.model.ascent import Ascent
from australis.model.order import Order


def columns_of(order: Order) -> frozenset[str]:
    """The columns that an order goes by."""
    return frozenset((*order.by, *(() if order.counts else (order.on,))))


def takes_whole_groups(order: Order, predicate: Expr, stream: pa.Schema) -> bool:
    """Whether a predicate removes all tuples of a group or none.

    Of a group of floating numbers it may remove some: 0.0 and -0.0 are one group.
    """
    return set(predicate.columns) <= set(order.by) and not any(
        pa.types.is_floating(stream.field(name).type) for name in predicate.columns
    )


def never_late(order: Order, stream: Ascent) -> bool:
    """Whether a stream is known to ascend as an order says, so that no tuple is late, even where some are removed."""
    return order.counts or stream.disorder(order.on, set(order.by)) is None
