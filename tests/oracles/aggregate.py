"""Aggregate one tuple at a time (Aurora 5.2.2.2): every window is kept for ever, with all its tuples."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from tests.oracles.bsort import bsort
from tests.oracles.order import TUP, Order, Predicate
from tests.oracles.tuples import Clock, Out, Stream, Tuple, out, passed

Members = list[tuple[Any, Tuple]]
"""The tuples of a window as they arrived, each with its value of the order's attribute."""
Function = Callable[[Members], Any]


class Window:
    """From the opening to the close, and after."""

    def __init__(self, group: tuple[Any, ...], rank: int, begin: Any, size: Any | None, opened: int) -> None:
        self.group, self.rank, self.begin, self.opened = group, rank, begin, opened
        self.end = None if size is None else begin + size
        self.members: Members = []
        self.closed = False

    def covers(self, value: Any) -> bool:
        return self.begin <= value and (self.end is None or value < self.end)


class Aggregate:
    """The box's argument values, its windows so far, and what it has emitted."""

    def __init__(
        self,
        functions: Sequence[Function],
        on: str,
        size: Any | None,
        advance: Any | Predicate,
        *,
        slack: int = 0,
        by: tuple[str, ...] = (),
        timeout: int | None = None,
        partial: bool = False,
    ) -> None:
        self.functions, self.size, self.advance, self.timeout = functions, size, advance, timeout
        self.partial = partial
        self.order = Order(on, slack, by)
        self.windows: list[Window] = []
        self.out: list[Out] = []
        self.late: Stream = []

    def run(self, events: Sequence[Tuple | Clock], end: bool = True) -> tuple[list[Out], list[Out]]:
        """Results, and late tuples."""
        if callable(self.advance) and self.order.slack and self.order.on != TUP:
            events = _sorted_between_clocks(events, self.order, end)
            self.order.slack = 0
        last = 0
        for event in events:
            last = event.number
            if isinstance(event, Clock):
                self.time_out(self.windows, event.time, event.number)
            else:
                self.arrive(event)
        if end:
            counting = self.order.on == TUP and self.size is not None
            whole = [window for window in self.windows if not counting or len(window.members) == self.size]
            self.close(self.windows if self.partial else whole, last)
        return self.out, passed(self.late)

    def arrive(self, each: Tuple) -> None:
        group = self.order.group(each)
        rank = list(self.order.seen).index(group) if group in self.order.seen else len(self.order.seen)
        self.time_out([window for window in self.windows if window.group == group], each.ts, each.number)
        value = self.order.arrive(each)
        if value is None:
            self.late.append(each)
            return
        if callable(self.advance):
            wanted = self.advanced(each, value, group, rank)
        else:
            wanted = [self.window(begin, group, rank, each.ts) for begin in self.beginnings(value)]
        takers = [window for window in wanted if not window.closed]
        for window in takers:
            window.members.append((value, each))
        if wanted and not takers:
            self.late.append(each)
        bound = self.order.bound(group)
        if bound is not None:
            ended = [window for window in self.windows if window.end is not None and window.end <= bound]
            self.close([window for window in ended if window.group == group], each.number)

    def beginnings(self, value: Any) -> list[Any]:
        """Where the windows begin that cover a value, in their order."""
        origin = 1 if self.order.on == TUP else 0
        step = math.floor((value - origin) / self.advance)
        found = []
        while origin + step * self.advance + self.size > value and (self.order.on != TUP or step >= 0):
            found.append(origin + step * self.advance)
            step -= 1
        return found[::-1]

    def window(self, begin: Any, group: tuple[Any, ...], rank: int, ts: int) -> Window:
        for window in self.windows:
            if (window.group, window.begin) == (group, begin):
                return window
        self.windows.append(Window(group, rank, begin, self.size, ts))
        return self.windows[-1]

    def advanced(self, each: Tuple, value: Any, group: tuple[Any, ...], rank: int) -> list[Window]:
        """The windows that want a tuple where a predicate opens them."""
        own = [window for window in self.windows if window.group == group]
        if not own or self.advance(each.row):
            if self.size is None:
                self.close(own, each.number)
            own.append(Window(group, rank, value, self.size, each.ts))
            self.windows.append(own[-1])
        return [window for window in own if window.covers(value)] if self.size is not None else own[-1:]

    def time_out(self, windows: list[Window], time: int, number: int) -> None:
        if self.timeout is not None:
            self.close([window for window in windows if time > window.opened + self.timeout], number)

    def close(self, windows: list[Window], number: int) -> None:
        """Emit open windows for good, by their beginning and then by the first appearance of their groups."""
        for window in sorted(windows, key=lambda each: (each.begin, each.rank)):
            if not window.closed:
                window.closed = True
                results = [function(window.members) for function in self.functions]
                oldest = min(each.ts for _, each in window.members)
                self.out.append(out([window.begin, *window.group, *results], oldest, number))


def _sorted_between_clocks(events: Sequence[Tuple | Clock], order: Order, end: bool) -> list[Tuple | Clock]:
    """The stream behind a BSort, with each clock where it was."""
    made: list[Tuple | Clock] = []
    stream = [event for event in events if isinstance(event, Tuple)]
    for place, event in enumerate(events):
        if isinstance(event, Clock):
            before = [each for each in events[:place] if isinstance(each, Tuple)]
            ahead = bsort(before, order.on, order.slack, order.by, end=False)
            made += [*ahead[sum(isinstance(each, Tuple) for each in made) :], event]
    whole = bsort(stream, order.on, order.slack, order.by, end)
    return [*made, *whole[sum(isinstance(each, Tuple) for each in made) :]]


def missing_left_out(column: str, of: Callable[[list[Any]], Any]) -> Function:
    """A function of the values of a column that are not null; null when there is none."""

    def function(members: Members) -> Any:
        values = [each.row[column] for _, each in members if each.row[column] is not None]
        return of(values) if values else None

    return function


def count(members: Members) -> int:
    return len(members)


def count_of(column: str) -> Function:
    return lambda members: sum(each.row[column] is not None for _, each in members)


def count_distinct(column: str) -> Function:
    return lambda members: len({each.row[column] for _, each in members} - {None})


def first(column: str) -> Function:
    return lambda members: sorted(members, key=lambda member: member[0])[0][1].row[column]


def last(column: str) -> Function:
    return lambda members: sorted(members, key=lambda member: member[0])[-1][1].row[column]


def mean(values: list[Any]) -> float:
    return sum(values) / len(values)


def stddev(values: list[Any]) -> float | None:
    if len(values) < 2:
        return None
    return math.sqrt(sum((value - mean(values)) ** 2 for value in values) / (len(values) - 1))
