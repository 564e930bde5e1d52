"""Samples of the tuples of windows: which of them go on, and how many each of those stands for.

What is left out must change nothing but what the functions see: neither which windows come out and when, nor which
tuples are late. That depends on the order of the tuples of each group alone, so of the tuples that the sample leaves
out these go on, and are not aggregated:

- the first of each pane in a train, one more than the slack: they open and close windows;
- those that are out of order in the train, and the larger ones before them, up to one more than the slack: these tell
  whether they are late;
- the largest of each group in a train, one more than the slack: by them tuples of later trains are late.

Each other tuple is counted in the weight of the last tuple of its pane that went on in order. It comes after no larger
one, so if that one is not late, it would not have been either. (If that one is late by an earlier train, it counts as
late too.)
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from australis.arrow.columns import Bools, Ints, Values
from australis.boxes.edges import WindowGrid, between, index
from australis.kernels.jit import inner, kernel
from australis.kernels.random import STEP
from australis.model.order import Order
from australis.model.table import Table
from australis.model.train import Train, weights_of

SEEN = "seen"
"""The column of results with the part of a window's tuples that the functions saw."""
TALLIES = (pa.field("#came", pa.int64(), nullable=False), pa.field("#seen", pa.int64(), nullable=False))
"""The columns of windows, or of panes, that count the tuples that came, and those in the sample."""
_MOST_HELD = 1 << 22


def thinned(order: Order, train: Train, on: WindowGrid, sample: Bools, wanted: Bools) -> Ints:
    """The weights of the tuples of a train, 0 for those that are left out, by which of them are in the sample.

    Those that somebody else wants go on, too.
    """
    weights = weights_of(train)
    sample = sample & (weights > 0)
    keys = Table(pa.schema([train.schema.field(name) for name in order.by]), order.by)
    groups = order.find(keys, train)
    count = int(groups.max()) + 1 if len(train) else 0
    if count * (order.slack + 1) > _MOST_HELD:  # to look for those that tell who is late would take too much
        wanted = np.ones(len(train), np.bool_)
    places, placed = order.places(train)
    panes = np.zeros(len(train), np.int64)
    _number(places, placed, on, panes)
    kept = np.zeros(len(train), np.int64)
    _thin(groups, count, panes, places, placed, order.slack + 1, sample, wanted, np.abs(weights), kept)
    return kept


def tally(into: Table, slots: Ints, weights: Ints) -> None:
    """Count tuples in the windows, or panes, that take them; a slot of -1 takes nothing."""
    _tally(slots, weights, into["#came"], into["#seen"])


@inner
def _tally(slots: Ints, weights: Ints, came: Ints, seen: Ints) -> None:
    for row in range(len(slots)):
        if slots[row] >= 0:
            came[slots[row]] += abs(weights[row])
            seen[slots[row]] += weights[row] > 0


@kernel
def _number(values: Values, placed: Bools, on: WindowGrid, panes: Ints) -> None:
    """Fill in the pane of each value that has a place, and note which have none."""
    for row in range(len(values)):
        here = values[row]
        if placed[row] and here >= on.least and here <= on.most:
            panes[row] = index(here, on.origin, on.step, on.parts)
            placed[row] = not between(panes[row], on.per_window, on.per_advance)
        else:
            placed[row] = False


@kernel
def _thin(
    groups: Ints,
    count: int,
    panes: Ints,
    places: Values,
    placed: Bools,
    most: int,
    sample: Bools,
    wanted: Bools,
    came: Ints,
    weights: Ints,
) -> None:
    """Fill in the weights.

    Panes are in an open-addressed table, each with its first row, how many tuples it had, and its last row that went on
    in order. Of each group the rows of the largest values are in a ring, ascending.
    """
    size = 16
    while size < 2 * len(groups):
        size *= 2
    owner, tuples, last = np.full(size, -1, np.int64), np.zeros(size, np.int64), np.empty(size, np.int64)
    counted_by = np.full(len(groups), -1, np.int64)
    ring, head, held = np.empty((count, most), np.int64), np.zeros(count, np.int64), np.zeros(count, np.int64)
    for row in range(len(groups)):
        if not placed[row]:
            weights[row] = came[row] if sample[row] else -came[row]
            continue
        group, here = groups[row], places[row]
        larger = 0
        while larger < held[group]:
            other = ring[group, (head[group] + held[group] - 1 - larger) % most]
            if not places[other] > here:
                break
            _restore(other, came, counted_by, weights)
            larger += 1
        z = (np.uint64(group) + np.uint64(panes[row]) * STEP) * STEP
        slot = np.int64((z ^ (z >> np.uint64(32))) & np.uint64(size - 1))
        while owner[slot] >= 0 and (groups[owner[slot]] != group or panes[owner[slot]] != panes[row]):
            slot = (slot + 1) & (size - 1)
        if owner[slot] < 0:
            owner[slot] = last[slot] = row
        tuples[slot] += 1
        if sample[row] or wanted[row] or larger or tuples[slot] <= most:
            weights[row] = came[row] if sample[row] else -came[row]
            if not larger:
                last[slot] = row
        else:
            counted_by[row] = last[slot]
            weights[last[slot]] += came[row] if weights[last[slot]] > 0 else -came[row]
        if larger == most:
            continue
        if held[group] == most:
            head[group] = (head[group] + 1) % most
            held[group] -= 1
        for step in range(larger):
            to = head[group] + held[group] - step
            ring[group, to % most] = ring[group, (to - 1) % most]
        ring[group, (head[group] + held[group] - larger) % most] = row
        held[group] += 1
    for group in range(count):
        for step in range(held[group]):
            _restore(ring[group, (head[group] + step) % most], came, counted_by, weights)


@inner
def _restore(row: int, came: Ints, counted_by: Ints, weights: Ints) -> None:
    """Let a tuple go on that was left out."""
    if weights[row] == 0:
        other = counted_by[row]
        weights[other] -= came[row] if weights[other] > 0 else -came[row]
        weights[row] = -came[row]
