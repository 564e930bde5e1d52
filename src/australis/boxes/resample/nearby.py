"""Windows of one stream's tuples around those of another, as both arrive: the kernel of Resample."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from australis.arrow.columns import Values
from australis.boxes.chains import ChainColumns, above, first_from, identity, link, upper
from australis.kernels.jit import inner, kernel, longer
from australis.model.order import admit, bounded
from australis.model.train import Bools, Ints


class ResampleArrivals(NamedTuple):
    """What came on one side: arrival numbers, groups, places; what was late, and the slots the others took."""

    number: Ints
    group: Ints
    place: Values
    valid: Bools
    counts: bool
    late: Bools
    slots: Ints


class Heaps(NamedTuple):
    """What an order keeps of its groups, and how many there are."""

    heap: Values
    seen: Ints
    groups: int


class Reach(NamedTuple):
    """What is near: at most `size` away."""

    size: Any
    parts: Any
    """None on whole numbers, which the kernels are compiled for."""
    every: bool
    """Whether a window without members has a result too."""


class FoundWindows(NamedTuple):
    """Complete windows: the left tuple, the group, its place, the number that completed it, and its members."""

    lefts: Ints
    groups: Ints
    places: Ints
    numbers: Ints
    starts: Ints
    """Window w has members[starts[w]:starts[w + 1]]."""
    members: Ints
    lengths: Ints
    """How much of the above is filled: windows and members."""

    def cut(self) -> FoundWindows:
        windows, members = self.lengths
        return FoundWindows(
            self.lefts[:windows], self.groups[:windows], self.places[:windows], self.numbers[:windows],
            self.starts[: windows + 1], self.members[:members], self.lengths,
        )  # fmt: skip


def room(members: int) -> FoundWindows:
    """Room for so many members, of as many windows, to begin with."""
    lefts, groups, places, numbers, inside = (np.empty(members + 64, np.int64) for _ in range(5))
    return FoundWindows(lefts, groups, places, numbers, np.zeros(members + 65, np.int64), inside, np.zeros(2, np.int64))


@kernel
def _more(out: FoundWindows) -> FoundWindows:
    lefts, groups, places, numbers, starts, members, lengths = out
    if lengths[0] == len(lefts):
        lefts, groups, places = longer(lefts), longer(groups), longer(places)
        return FoundWindows(lefts, groups, places, longer(numbers), longer(starts), members, lengths)
    return FoundWindows(lefts, groups, places, numbers, starts, longer(members), lengths)


@inner
def _complete(
    t: int, group: int, number: int, left: ChainColumns, right: ChainColumns, reach: Reach, out: FoundWindows
) -> bool:
    """Emit the window of the left tuple in slot t over a group, if it has members; false if there is no more room."""
    here, window, last = left.place[t], out.lengths[0], out.lengths[1]
    if window == len(out.lefts):
        return False
    high = upper(here, reach.size, reach.parts)
    member = first_from(group, here, reach.size, reach.parts, right)
    while member and not above(right.place[member - 1], high, here, reach.size, reach.parts):
        if last == len(out.members):
            return False
        out.members[last] = identity(member - 1, right)
        last += 1
        member = right.next[member - 1]
    if reach.every or last > out.lengths[1]:
        out.lefts[window], out.groups[window] = identity(t, left), group
        out.places[window], out.numbers[window], out.starts[window + 1] = int(here), number, last
        out.lengths[0], out.lengths[1] = window + 1, last
    return True


@inner
def _settled(here: Any, group: int, order: Heaps, reach: Reach) -> bool:
    """Whether a group promises that nothing more comes near a place."""
    if not bounded(group, order.heap, order.seen):
        return False
    high = upper(here, reach.size, reach.parts)
    return above(order.heap[group, 0], high, here, reach.size, reach.parts)


@inner
def _take(row: int, side: ResampleArrivals, key: int, chain: ChainColumns, order: Heaps, spare: Ints, top: int) -> bool:
    """Put a tuple in its chain, unless it is late."""
    group = side.group[row]
    if side.counts:
        order.seen[group] += 1
        side.place[row] = order.seen[group]
        order.heap[group, 0] = side.place[row] + 1
    elif not side.valid[row] or not admit(group, side.place[row], order.heap, order.seen):
        side.late[row] = True
        return False
    side.slots[row] = spare[top - 1]
    link(spare[top - 1], key, side.place[row], row, chain)
    return True


@inner
def _left_arrived(
    row: int,
    first: int,
    side: ResampleArrivals,
    left: ChainColumns,
    right: ChainColumns,
    order: Heaps,
    reach: Reach,
    out: FoundWindows,
) -> int:
    """Emit a left tuple's windows that are complete, from a group on; the group there was no room for, or -1."""
    for group in range(first, order.groups):
        if _settled(side.place[row], group, order, reach):  # noqa: SIM102
            if not _complete(side.slots[row], group, side.number[row], left, right, reach, out):
                return group
    return -1


@inner
def _first_due(group: int, promised: bool, was: Any, left: ChainColumns, right: ChainColumns, reach: Reach) -> int:
    """The first left tuple, as slot + 1, whose window a group may have completed since it promised `was`.

    What a promise was beyond is complete since then. What lies too far before the group's first tuple has no member.
    """
    if reach.every and not promised:
        return int(left.head[0])
    beyond = was
    if not reach.every:
        first = right.place[right.head[group] - 1]
        beyond = max(was, first) if promised else first
    return first_from(0, beyond, reach.size, reach.parts, left)


@inner
def _right_arrived(
    t: int,
    row: int,
    side: ResampleArrivals,
    left: ChainColumns,
    right: ChainColumns,
    order: Heaps,
    reach: Reach,
    out: FoundWindows,
) -> int:
    """Emit the windows that a right tuple completed, from a left tuple on; the one there was no room for, or 0."""
    group = side.group[row]
    while t and _settled(left.place[t - 1], group, order, reach):
        if not _complete(t - 1, group, side.number[row], left, right, reach, out):
            return t
        t = left.next[t - 1]
    return 0


@inner
def _resample(
    left: ResampleArrivals,
    right: ResampleArrivals,
    left_chain: ChainColumns,
    right_chain: ChainColumns,
    left_order: Heaps,
    order: Heaps,
    left_spare: Ints,
    right_spare: Ints,
    at: Ints,
    reach: Reach,
    out: FoundWindows,
) -> bool:
    """Let tuples of both sides arrive by their numbers and emit the windows that each completes, while there is room.

    Goes on from `at`: the rows to come of either side, the tops of their spare slots, whether the row before was a left
    one, and the group or left tuple, each plus 1, from which on its windows are still to be emitted. True when done.
    """
    i, j, left_top, right_top, from_left, due = at
    while True:
        if due and from_left:
            due = _left_arrived(i - 1, due - 1, left, left_chain, right_chain, order, reach, out) + 1
        elif due:
            due = _right_arrived(due - 1, j - 1, right, left_chain, right_chain, order, reach, out)
            due += due > 0
        if due or (i == len(left.place) and j == len(right.place)):
            at[0], at[1], at[2], at[3], at[4], at[5] = i, j, left_top, right_top, from_left, due
            return bool(due == 0)
        from_left = j == len(right.place) or (i < len(left.place) and left.number[i] <= right.number[j])
        if from_left:
            if _take(i, left, 0, left_chain, left_order, left_spare, left_top):
                left_top -= 1
                due = 1
            i += 1
        else:
            group = right.group[j]
            promised, was = bounded(group, order.heap, order.seen), order.heap[group, 0]
            if _take(j, right, group, right_chain, order, right_spare, right_top):
                right_top -= 1
                if bounded(group, order.heap, order.seen) and not (promised and order.heap[group, 0] == was):
                    due = _first_due(group, promised, was, left_chain, right_chain, reach)
                    due += due > 0
            j += 1


@kernel
def near(
    left: ResampleArrivals,
    right: ResampleArrivals,
    left_chain: ChainColumns,
    right_chain: ChainColumns,
    left_order: Heaps,
    order: Heaps,
    left_spare: Ints,
    right_spare: Ints,
    at: Ints,
    reach: Reach,
    out: FoundWindows,
) -> FoundWindows:
    """All windows that the trains complete."""
    while not _resample(
        left, right, left_chain, right_chain, left_order, order, left_spare, right_spare, at, reach, out
    ):
        out = _more(out)
    return out


@kernel
def rest(
    left: ChainColumns, right: ChainColumns, order: Heaps, reach: Reach, number: int, out: FoundWindows
) -> FoundWindows:
    """Every window that is not complete: nothing more will come."""
    t = left.head[0]
    while t:
        for group in range(order.groups):
            if not _settled(left.place[t - 1], group, order, reach):
                while not _complete(t - 1, group, number, left, right, reach, out):
                    out = _more(out)
        t = left.next[t - 1]
    return out
