"""Windows kept one by one, where they cannot share panes: with a timeout, an advance by predicate, or sets of values.

A group chains its windows in the order of their beginnings; chains hold slot + 1, so that zero is their end. A window
that timed out stays in the chain, done, until nothing more can come, so that its stragglers are known.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from australis.arrow.columns import Values
from australis.arrow.durations import Span, microseconds
from australis.boxes.edges import WindowGrid, edge, ended, holding
from australis.errors import SchemaError
from australis.kernels.jit import inner
from australis.model.order import admit, bounded
from australis.model.table import Table
from australis.model.train import Bools, Ints


class WindowShape(NamedTuple):
    """How windows lie on the values of an order."""

    grid: WindowGrid
    by_predicate: bool
    """Whether a predicate opens windows."""
    bounded: bool
    """Whether windows end by their size; else the next one ends them."""
    counts: bool
    """On arrival numbers, where there is no window before the first."""
    timeout: int
    """In microseconds, or -1."""


def expiry(timeout: Span | None) -> int:
    """A timeout in microseconds, or -1 without one."""
    if timeout is None:
        return -1
    span = microseconds(timeout)
    if span < 0:
        raise SchemaError(f"a timeout of {timeout} lies in the past")
    return span


class WindowGroups(NamedTuple):
    """The columns that windows need of the table of groups."""

    heap: Values
    seen: Ints
    head: Ints
    tail: Ints
    held: Ints
    """How many windows the chain has."""
    opened: Ints
    """How many windows a predicate has opened."""


class Windows(NamedTuple):
    """The columns that they need of the table of windows."""

    group: Ints
    ordinal: Ints
    start: Values
    chain: Ints
    oldest: Ints
    opened: Ints
    done: Bools
    touched: Bools


class Outcome(NamedTuple):
    """What a run of tuples did: contributions in order, windows closed by which rows, and windows to drop."""

    rows: Ints
    slots: Ints
    triggers: Ints
    closed: Ints
    dropped: Ints
    lengths: Ints
    """How much of the above is filled: contributions, closed windows, dropped windows."""

    def cut(self) -> Outcome:
        rows, closed, dropped = self.lengths
        return Outcome(
            self.rows[:rows], self.slots[:rows], self.triggers[:closed], self.closed[:closed],
            self.dropped[:dropped], self.lengths,
        )  # fmt: skip


def room(each: int) -> Outcome:
    """Room for so many of each."""
    rows, slots, triggers, closed, dropped = (np.empty(each, np.int64) for _ in range(5))
    return Outcome(rows, slots, triggers, closed, dropped, np.zeros(3, np.int64))


def group_fields() -> list[pa.Field[Any]]:
    """What the table of groups needs beside the order's own columns."""
    return [pa.field(name, pa.int64(), nullable=False) for name in ("#head", "#tail", "#held", "#opened")]


def window_fields(place: pa.DataType) -> list[pa.Field[Any]]:
    names = ("#group", "#ordinal", "#chain", "#oldest", "#opened")
    numbers = [pa.field(name, pa.int64(), nullable=False) for name in names]
    return [*numbers, pa.field("#start", place, nullable=False), pa.field("#done", pa.bool_(), nullable=False)]


def groups_of(table: Table) -> WindowGroups:
    return WindowGroups(*(table["#" + name] for name in WindowGroups._fields))


def windows_of(table: Table) -> Windows:
    return Windows(
        table["#group"], table["#ordinal"], table["#start"], table["#chain"], table["#oldest"], table["#opened"],
        table["#done"], table.touched,
    )  # fmt: skip


@inner
def _close(row: int, slot: int, out: Outcome) -> None:
    out.triggers[out.lengths[1]], out.closed[out.lengths[1]] = row, slot
    out.lengths[1] += 1


@inner
def _drop_first(row: int, group: int, groups: WindowGroups, windows: Windows, out: Outcome) -> None:
    """Close the first window of a group, unless it timed out, and take it from the chain."""
    slot = groups.head[group] - 1
    if not windows.done[slot]:
        _close(row, slot, out)
    out.dropped[out.lengths[2]] = slot
    out.lengths[2] += 1
    groups.head[group] = windows.chain[slot]
    groups.held[group] -= 1
    if groups.head[group] == 0:
        groups.tail[group] = 0


@inner
def _drop_ended(
    row: int, group: int, bound: Any, shape: WindowShape, groups: WindowGroups, windows: Windows, out: Outcome
) -> None:
    """Close the windows that end at `bound` or before."""
    while groups.head[group]:
        slot = groups.head[group] - 1
        if not ended(bound, windows.start[slot], windows.ordinal[slot], shape.grid):
            break
        _drop_first(row, group, groups, windows, out)


@inner
def _open(
    group: int, index: int, start: Any, ts: int, before: int, slot: int, groups: WindowGroups, windows: Windows
) -> None:
    """A window in a spare slot, after the window `before` in the chain, or first."""
    windows.group[slot], windows.ordinal[slot], windows.start[slot] = group, index, start
    windows.oldest[slot], windows.opened[slot] = ts, ts
    if before >= 0:
        windows.chain[slot] = windows.chain[before]
        windows.chain[before] = slot + 1
        windows.touched[before] = True
    else:
        windows.chain[slot] = groups.head[group]
        groups.head[group] = slot + 1
    groups.held[group] += 1
    if windows.chain[slot] == 0:
        groups.tail[group] = slot + 1


@inner
def close_all(ending: Ints, groups: WindowGroups, windows: Windows, out: Outcome) -> None:
    """Close every window of these groups: nothing more will come."""
    for group in ending:
        while groups.head[group]:
            _drop_first(-1, group, groups, windows, out)


@inner
def _time_out(
    row: int, group: int, clock: int, shape: WindowShape, groups: WindowGroups, windows: Windows, out: Outcome
) -> None:
    """Close the windows of a group that opened too long ago; they stay in the chain, done."""
    slot = groups.head[group] - 1
    while slot >= 0:
        if not windows.done[slot] and windows.opened[slot] + shape.timeout < clock:
            windows.done[slot] = True
            _close(row, slot, out)
        slot = windows.chain[slot] - 1


@inner
def _open_between(
    group: int,
    lowest: int,
    highest: int,
    ts: int,
    shape: WindowShape,
    groups: WindowGroups,
    windows: Windows,
    spare: Ints,
    top: int,
) -> int:
    """Open the windows of these indices that are not open yet; gives the new top of the spare slots."""
    grid = shape.grid
    before, slot = -1, groups.head[group] - 1
    if groups.tail[group] and windows.ordinal[groups.tail[group] - 1] < lowest:
        before, slot = groups.tail[group] - 1, -1
    while slot >= 0 and windows.ordinal[slot] < lowest:
        before, slot = slot, windows.chain[slot] - 1
    for index in range(lowest, highest + 1):
        if slot < 0 or windows.ordinal[slot] != index:
            top -= 1
            slot = spare[top]
            begin = edge(index * grid.per_advance, grid.origin, grid.step, grid.parts)
            _open(group, index, begin, ts, before, slot, groups, windows)
        before, slot = slot, windows.chain[slot] - 1
    return top


@inner
def _give(
    row: int, group: int, lowest: int, highest: int, ts: int, groups: WindowGroups, windows: Windows, out: Outcome
) -> bool:
    """Give a tuple to the windows of these indices that are not done; gives whether all of them were."""
    before, wanted = out.lengths[0], False
    slot = groups.head[group] - 1
    while slot >= 0:
        if lowest <= windows.ordinal[slot] <= highest:
            wanted = True
            if not windows.done[slot]:
                out.rows[out.lengths[0]], out.slots[out.lengths[0]] = row, slot
                out.lengths[0] += 1
                windows.oldest[slot] = min(windows.oldest[slot], ts)
        slot = windows.chain[slot] - 1
    return wanted and out.lengths[0] == before


@inner
def place(
    row_groups: Ints,
    start: int,
    places: Values,
    valid: Bools,
    opens: Bools,
    ts: Ints,
    shape: WindowShape,
    groups: WindowGroups,
    windows: Windows,
    spare: Ints,
    top: int,
    late: Bools,
    out: Outcome,
) -> tuple[int, int, int]:
    """Give tuples from row `start` on to the windows of their groups, and close windows.

    Fills in `late`, and arrival numbers in `places`. `opens` says which tuples satisfy the predicate that advances the
    window, if one does. Stops early when spare slots or room for the outcome run short. Gives the row it came to, the
    top of the spare slots, and how many slots and how much room that row may need.
    """
    for row in range(start, len(row_groups)):
        group, here = row_groups[row], places[row]
        lowest, highest = 0, groups.opened[group] + 1
        fits = shape.counts or (valid[row] and shape.grid.least <= here <= shape.grid.most)
        need = groups.held[group] + 1
        if fits and not shape.by_predicate:
            lowest, highest = holding(groups.seen[group] + 1 if shape.counts else here, shape.grid)
            if shape.counts and lowest < 0:
                lowest = 0
            need += max(0, highest - lowest)
        if top < need or max(out.lengths[0], out.lengths[1], out.lengths[2]) + 2 * need > len(out.rows):
            return row, top, need
        if shape.timeout >= 0:
            _time_out(row, group, ts[row], shape, groups, windows, out)
        if shape.counts:
            groups.seen[group] += 1
            places[row] = groups.seen[group]
            here = places[row]
            groups.heap[group, 0] = here + 1
        elif not fits or not admit(group, here, groups.heap, groups.seen):
            late[row] = True
            continue
        if shape.by_predicate:
            if shape.bounded:
                _drop_ended(row, group, here, shape, groups, windows, out)
            if opens[row] or groups.opened[group] == 0:
                while not shape.bounded and groups.head[group]:
                    _drop_first(row, group, groups, windows, out)
                top -= 1
                _open(group, groups.opened[group], here, ts[row], groups.tail[group] - 1, spare[top], groups, windows)
                groups.opened[group] += 1
        else:
            top = _open_between(group, lowest, highest, ts[row], shape, groups, windows, spare, top)
        late[row] = _give(row, group, lowest, highest, ts[row], groups, windows, out)
        if shape.bounded and bounded(group, groups.heap, groups.seen):
            _drop_ended(row, group, groups.heap[group, 0], shape, groups, windows, out)
    return len(row_groups), top, 0
