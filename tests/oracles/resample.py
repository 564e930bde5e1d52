"""Resample one tuple at a time (Aurora 5.2.2.4)."""

from collections.abc import Sequence
from typing import Any

from tests.oracles.aggregate import Members
from tests.oracles.order import Order
from tests.oracles.tuples import Out, Stream, Tuple, out, passed


def resample(
    left: Stream, right: Stream, orders: tuple[Order, Order], size: Any, functions: Sequence[Any], end: bool = True
) -> tuple[list[Out], list[Out], list[Out]]:
    """Results in any order within one arrival, late lefts and late rights; a function takes the window and the left."""
    arrivals = sorted([(each.number, 0, each) for each in left] + [(each.number, 1, each) for each in right],
                      key=lambda arrival: arrival[:2])  # fmt: skip
    lefts: list[tuple[Any, Tuple]] = []
    groups: dict[tuple[Any, ...], Members] = {} if orders[1].by else {(): []}
    done: set[tuple[int, tuple[Any, ...]]] = set()
    late: tuple[Stream, Stream] = ([], [])
    results: list[Out] = []

    def conclude(number: int, ended: bool) -> None:
        for place, (value, t) in enumerate(lefts):
            for group, members in groups.items():
                bound = orders[1].bound(group) if group in orders[1].seen else None
                window = sorted((m for m in members if abs(m[0] - value) <= size), key=lambda member: member[0])
                if (place, group) in done or (orders[1].by and not window):
                    continue
                if ended or (bound is not None and bound - value > size):
                    done.add((place, group))
                    row = [*group, value, *(function(window, t) for function in functions)]
                    results.append(out(row, min([t.ts, *(u.ts for _, u in window)]), number))

    for number, side, each in arrivals:
        value = orders[side].arrive(each)
        if value is None:
            late[side].append(each)
        elif side == 0:
            lefts.append((value, each))
        else:
            groups.setdefault(orders[1].group(each), []).append((value, each))
        conclude(number, False)
    if end:
        conclude(max([0, *(number for number, *_ in arrivals)]), True)
    return results, passed(late[0]), passed(late[1])
