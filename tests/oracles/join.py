"""Join one tuple at a time (Aurora 5.2.2.3)."""

from collections.abc import Callable
from typing import Any

from tests.oracles.order import Order
from tests.oracles.tuples import Out, Stream, Tuple, out, passed

Matches = Callable[[dict[str, Any], dict[str, Any]], bool | None]


def join(
    left: Stream, right: Stream, orders: tuple[Order | None, Order | None], size: Any, matches: Matches
) -> tuple[list[Out], list[Out], list[Out]]:
    """Pairs, late lefts and late rights; a side without an order is a table that is there before the stream."""
    arrivals = sorted([(each.number, 0, each) for each in left] + [(each.number, 1, each) for each in right],
                      key=lambda arrival: arrival[:2])  # fmt: skip
    held: tuple[list[tuple[Any, Tuple]], list[tuple[Any, Tuple]]] = ([], [])
    late: tuple[Stream, Stream] = ([], [])
    pairs: list[Out] = []
    for number, side, each in arrivals:
        order, other = orders[side], orders[1 - side]
        value = 0 if order is None else order.arrive(each)
        if value is None:
            late[side].append(each)
            continue
        partners = [
            (place, partner)
            for place, partner in held[1 - side]
            if (order is None or other is None or abs(value - place) <= size)
            and (matches(each.row, partner.row) if side == 0 else matches(partner.row, each.row))
        ]
        for _, partner in sorted(partners, key=lambda found: found[0]):
            t, u = (each, partner) if side == 0 else (partner, each)
            pairs.append(out([*t.row.values(), *u.row.values()], min(t.ts, u.ts), number))
        if order is None or other is not None:
            held[side].append((value, each))
    return pairs, passed(late[0]), passed(late[1])
