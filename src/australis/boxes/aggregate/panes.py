"""Panes: the disjoint parts of overlapping windows, so that each tuple is folded once.

A pane is a step of the windows' grid. A group chains its panes
in order; chains hold slot + 1, so that zero is their end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from australis.arrow.columns import Values
from australis.boxes.edges import WindowGrid, apart, between, earliest, edge, index, over, until
from australis.kernels.jit import inner, kernel, longer
from australis.model.order import admit, bounded
from australis.model.table import Table
from australis.model.train import Bools, Ints


class PaneShape(NamedTuple):
    """How windows lie on the values of an order."""

    grid: WindowGrid
    """Of which a step is a pane."""
    counts: bool
    """On arrival numbers, where there is no window before the first."""
    whole: bool
    """Values are whole numbers, which can be compared with a pane's start."""


class PaneGroups(NamedTuple):
    """The columns that panes need of the table of groups."""

    heap: Values
    seen: Ints
    head: Ints
    tail: Ints
    upcoming: Ints
    """Once a window was closed, the one after it."""
    closed: Bools
    due: Values
    """The last value of the earliest open window, or on doubles where it ends, while there are panes."""


class Panes(NamedTuple):
    """The columns of the table of panes."""

    group: Ints
    ordinal: Ints
    start: Values
    chain: Ints
    oldest: Ints
    touched: Bools


class Closed(NamedTuple):
    """Windows that are complete, in the order in which they closed, and the panes that no window needs any more."""

    rows: Ints
    groups: Ints
    windows: Ints
    starts: Ints
    """Window w has panes[starts[w]:starts[w + 1]]."""
    panes: Ints
    dropped: Ints
    lengths: Ints
    """How much of the above is filled: windows, panes, dropped panes."""

    def cut(self) -> Closed:
        windows, panes, dropped = self.lengths
        starts = self.starts[: windows + 1]
        return Closed(
            self.rows[:windows], self.groups[:windows], self.windows[:windows], starts,
            self.panes[:panes], self.dropped[:dropped], self.lengths,
        )  # fmt: skip


def group_fields(place: pa.DataType) -> list[pa.Field[Any]]:
    """What the table of groups needs beside the order's own columns."""
    numbers = [pa.field(name, pa.int64(), nullable=False) for name in ("#head", "#tail", "#upcoming")]
    return [*numbers, pa.field("#closed", pa.bool_(), nullable=False), pa.field("#due", place, nullable=False)]


def pane_fields(place: pa.DataType) -> list[pa.Field[Any]]:
    numbers = [pa.field(name, pa.int64(), nullable=False) for name in ("#group", "#ordinal", "#chain", "#oldest")]
    return [*numbers, pa.field("#start", place, nullable=False)]


def groups_of(table: Table) -> PaneGroups:
    return PaneGroups(*(table["#" + name] for name in PaneGroups._fields))


def panes_of(table: Table) -> Panes:
    return Panes(table["#group"], table["#ordinal"], table["#start"], table["#chain"], table["#oldest"], table.touched)


@kernel
def none_closed() -> Closed:
    """Room for windows to come."""
    room = 64
    return Closed(
        np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64), np.zeros(room + 1, np.int64),
        np.empty(room, np.int64), np.empty(room, np.int64), np.zeros(3, np.int64),
    )  # fmt: skip


@kernel
def _more(out: Closed) -> Closed:
    """More room."""
    rows, groups, windows, starts, panes, dropped, lengths = out
    if lengths[0] == len(rows):
        rows, groups, windows, starts = longer(rows), longer(groups), longer(windows), longer(starts)
    return Closed(rows, groups, windows, starts, longer(panes), longer(dropped), lengths)


@inner
def _earliest(group: int, shape: PaneShape, groups: PaneGroups, panes: Panes) -> int:
    """The earliest window of a group that is still open."""
    window = earliest(panes.ordinal[groups.head[group] - 1], shape.grid.per_window, shape.grid.per_advance)
    if shape.counts and window < 0:
        window = 0
    if groups.closed[group] and window < groups.upcoming[group]:
        window = int(groups.upcoming[group])
    return window


@inner
def _close(
    row: int, group: int, bound: Any, everything: bool, shape: PaneShape, groups: PaneGroups, panes: Panes, out: Closed
) -> bool:
    """Close the windows of a group that end at `bound` or before, or all of them; false if there is no more room."""
    while groups.head[group]:
        window = _earliest(group, shape, groups, panes)
        groups.due[group] = until(window, shape.grid, shape.grid.parts)
        if not everything and not over(bound, groups.due[group], shape.grid.parts):
            break
        first = window * shape.grid.per_advance
        closed, members, drops = out.lengths
        pane = groups.head[group] - 1
        while pane >= 0 and apart(panes.ordinal[pane], first) < np.uint64(shape.grid.per_window):
            if members == len(out.panes):
                return False
            out.panes[members] = pane
            members += 1
            pane = panes.chain[pane] - 1
        if closed == len(out.rows) or drops + members - out.lengths[1] > len(out.dropped):
            return False
        out.rows[closed], out.groups[closed], out.windows[closed] = row, group, window
        out.starts[closed + 1] = members
        groups.closed[group], groups.upcoming[group] = True, window + 1
        pane = groups.head[group] - 1
        while pane >= 0 and apart(panes.ordinal[pane], first) < np.uint64(shape.grid.per_advance):
            out.dropped[drops] = pane
            drops += 1
            pane = panes.chain[pane] - 1
        groups.head[group] = pane + 1
        if groups.head[group] == 0:
            groups.tail[group] = 0
        out.lengths[0], out.lengths[1], out.lengths[2] = closed + 1, members, drops
    return True


@kernel
def close_all(ending: Ints, shape: PaneShape, groups: PaneGroups, panes: Panes) -> Closed:
    """Close every window of these groups: nothing more will come."""
    out = none_closed()
    for group in ending:
        while not _close(-1, group, shape.grid.origin, True, shape, groups, panes, out):
            out = _more(out)
    return out


@inner
def _pane(group: int, here: Any, ts: int, shape: PaneShape, groups: PaneGroups, panes: Panes, fresh: int) -> int:
    """The pane of a value, made in the slot `fresh` if it is new; -1 between windows."""
    origin, step, parts = shape.grid.origin, shape.grid.step, shape.grid.parts
    at = index(here, origin, step, parts)
    if between(at, shape.grid.per_window, shape.grid.per_advance):
        return -1
    before = int(groups.tail[group]) - 1
    if before >= 0 and panes.ordinal[before] > at:  # only where there is slack
        before = -1
        after = groups.head[group] - 1
        while after >= 0 and panes.ordinal[after] <= at:
            before = after
            after = panes.chain[after] - 1
    if before >= 0 and panes.ordinal[before] == at:
        return before
    panes.group[fresh], panes.ordinal[fresh], panes.start[fresh] = group, at, edge(at, origin, step, parts)
    panes.oldest[fresh] = ts
    if before >= 0:
        panes.chain[fresh] = panes.chain[before]
        panes.chain[before] = fresh + 1
        panes.touched[before] = True
    else:
        panes.chain[fresh] = groups.head[group]
        groups.head[group] = fresh + 1
        groups.due[group] = until(_earliest(group, shape, groups, panes), shape.grid, parts)
    if panes.chain[fresh] == 0:
        groups.tail[group] = fresh + 1
    return fresh


@inner
def _put(
    row: int,
    group: int,
    places: Values,
    valid: Bools,
    ts: int,
    shape: PaneShape,
    groups: PaneGroups,
    panes: Panes,
    spare: Ints,
    top: int,
    slots: Ints,
    late: Bools,
) -> tuple[int, bool]:
    """Put a tuple in its pane; the new top of the spare slots, and whether a window of the group is due."""
    slots[row] = -1
    if shape.counts:
        groups.seen[group] += 1
        places[row] = groups.seen[group]
        groups.heap[group, 0] = places[row] + 1
    elif (
        not valid[row]
        or not shape.grid.least <= places[row] <= shape.grid.most
        or not admit(group, places[row], groups.heap, groups.seen)
    ):
        late[row] = True
        return top, False
    here = places[row]
    slot = groups.tail[group] - 1
    if not shape.whole or slot < 0 or here < panes.start[slot] or _beyond(here, panes.start[slot], shape.grid):
        slot = _pane(group, here, ts, shape, groups, panes, spare[top - 1])
        if slot == spare[top - 1]:
            top -= 1
    slots[row] = slot
    if slot >= 0:
        panes.touched[slot] = True
        if ts < panes.oldest[slot]:
            panes.oldest[slot] = ts
    due = groups.head[group] != 0 and bounded(group, groups.heap, groups.seen)
    return top, due and over(groups.heap[group, 0], groups.due[group], shape.grid.parts)


@inner
def _beyond(here: Any, start: Any, grid: WindowGrid) -> bool:
    """Whether a whole number lies behind the pane at a start, which is no larger."""
    return bool(np.uint64(here) - np.uint64(start) >= np.uint64(grid.step))


@inner
def _stays(
    row: np.uintp,
    group: np.uintp,
    places: Values,
    ts: Ints,
    shape: PaneShape,
    groups: PaneGroups,
    panes: Panes,
    slots: Ints,
) -> bool:
    """Put a tuple in its group's last pane if that is where it belongs, as most do; no window is due by it.

    There is no slack, and the row and the group are unsigned, so that nobody looks whether they count from the end.
    """
    first, slot = np.uintp(0), np.uintp(groups.tail[group] - 1)
    here = places[row]
    if groups.tail[group] == 0 or here < groups.heap[group, first] or _beyond(here, panes.start[slot], shape.grid):
        return False
    groups.heap[group, first] = here
    groups.seen[group] += 1
    slots[row] = slot
    panes.touched[slot] = True
    panes.oldest[slot] = min(panes.oldest[slot], ts[row])
    return True


@inner
def place(
    row_groups: Ints,
    start: int,
    places: Values,
    valid: Bools,
    ts: Ints,
    shape: PaneShape,
    groups: PaneGroups,
    panes: Panes,
    spare: Ints,
    top: int,
    slots: Ints,
    late: Bools,
    out: Closed,
) -> tuple[int, int, bool]:
    """Put tuples from row `start` on in the panes of their groups, and close windows, while there is room for both.

    Fills in `slots` (-1 for a tuple that is late or between windows), `late`, and arrival numbers in `places`. Gives
    the row it came to, the top of the spare slots, and whether that row is in place but could not close all it should.
    """
    simple = shape.whole and not shape.counts and groups.heap.shape[1] == 1
    for row in range(start, len(row_groups)):
        if top == 0:
            return row, top, False
        group = row_groups[row]
        if simple and valid[row] and _stays(np.uintp(row), np.uintp(group), places, ts, shape, groups, panes, slots):
            continue
        top, due = _put(row, group, places, valid, ts[row], shape, groups, panes, spare, top, slots, late)
        if due and not _close(row, group, groups.heap[group, 0], False, shape, groups, panes, out):
            return row, top, True
    return len(row_groups), top, False


@kernel
def close_due(row: int, group: int, shape: PaneShape, groups: PaneGroups, panes: Panes, out: Closed) -> Closed:
    """Close the windows that a tuple made due, with more room."""
    out = _more(out)
    while not _close(row, group, groups.heap[group, 0], False, shape, groups, panes, out):
        out = _more(out)
    return out
