"""Lightening: objects are left out of answers while a run has too much to do, as far as accuracies allow (SOLE 6).

What is saved is what updates cost, in the box and behind it: an object that is left out enters and leaves no answer. So
it stays left out while it moves, unless a query would have too little, or more of all answers is to be told again. The
objects themselves are kept, and where they are is known: accuracies are exact, whatever moves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from australis.boxes.moving.differences import members
from australis.boxes.moving.interest import interest
from australis.boxes.moving.regions import Floats
from australis.boxes.moving.shedding import (
    MOST_PAIRS,
    Interest,
    allowed,
    by_object,
    drop,
    had,
    only,
    populations,
    spare,
)
from australis.kernels.jit import inner
from australis.model.lightened import Lightened
from australis.model.table import Table
from australis.model.train import Bools, Ints

STEP = 0.01
"""By how much of all answers more or less may be told than was asked for, before objects are chosen anew."""
STEEP = 1 / 8
"""The part of all answers by which they change with a train: who is left out must leave them first, or enter again."""
FREE = 0.04
"""By how much more must be told than accuracies last allowed to leave out, before that is tried again."""
_TRIES = 16
"""After how many trains it is tried again in any case."""
_COUNTS = ("members", "missed", "reports", "idle", "objects")
_LOCKED, _ASKED = "locked", "asked"
"""The part of all answers below which accuracies did not allow to go, 0 if that is not known; the part last chosen for.
"""

Shrink = Callable[[Ints, float], Bools]
"""Who is wanted by shrunk queries, from how many answers have each object, and how many of these are to be told."""


class Choice(NamedTuple):
    """Between whom is chosen: the answers among all regions, focal objects, and those that can come back."""

    answers: Ints
    led: Bools
    back: Bools
    shrink: Shrink | None
    """How queries shrink, where objects are not chosen one by one."""


def table() -> Table:
    """What was left out after the last step, in one row once there is any."""
    types = {**dict.fromkeys(_COUNTS, pa.int64()), **dict.fromkeys((_LOCKED, _ASKED), pa.float64())}
    return Table(pa.schema([pa.field(name, type_, nullable=False) for name, type_ in types.items()]))


def read(told: Table) -> Lightened:
    return Lightened(*(int(told[name][0]) for name in _COUNTS)) if len(told) else Lightened()


def forget(told: Table) -> None:
    """Nothing is left out any more."""
    told.free(told.slots)


def lighten(
    told: Table, wanted: Interest, choice: Choice, ids: Ints, shed: Bools, accuracy: Floats, part: float
) -> Floats:
    """Choose who is `shed`, so that a part of all answers is told and no query has less than its accuracy.

    Those that fewest queries want go first, and those that most want come back first. Gives the accuracies.
    """
    if not len(told):
        told.insert(1)
        told[_ASKED][0] = 1.0
    told.touched[0] = True
    shed[choice.led] = False
    actual, hidden = populations(wanted, shed)
    left = allowed(actual, accuracy) - hidden
    if (left[wanted.queries] < 0).any():
        _take_back(wanted, ids, shed, left)
    whole, kept = int(actual[choice.answers].sum()), _kept(choice, actual, accuracy, left)
    aim, locked = part * whole, told[_LOCKED][0]
    risen = choice.shrink is None or part > told[_ASKED][0] + STEP  # shrunk queries may have less than was asked for
    if kept > max(aim + STEP * whole, (locked + FREE) * whole):
        most = max(aim, kept - STEEP * whole)
        _leave_out(wanted, choice, ids, shed, left, kept, most)
        if choice.shrink is not None:
            left = spare(wanted, shed, accuracy)
        kept = _kept(choice, actual, accuracy, left)
        told[_LOCKED][0], told[_ASKED][0] = kept / whole if kept > most + STEP * whole else 0.0, part
    elif part >= 1 or (kept < aim - STEP * whole and risen):
        _bring_back(wanted, choice, ids, shed, kept, min(aim, kept + STEEP * whole), part)
        left = spare(wanted, shed, accuracy)
        kept = _kept(choice, actual, accuracy, left)
        told[_LOCKED][0], told[_ASKED][0] = 0.0, part
    else:
        told[_LOCKED][0] = max(locked - FREE / _TRIES, 0.0)
    told["members"][0], told["missed"][0] = whole, whole - kept
    return had(actual, allowed(actual, accuracy) - left)


def count_reports(told: Table, shed: Bools, reported: Ints) -> None:
    """Count the reports of a step, those of objects that are left out, and these objects."""
    told["reports"][0], told["idle"][0] = len(reported), np.count_nonzero(shed[reported])
    told["objects"][0] = np.count_nonzero(shed)


def _kept(choice: Choice, actual: Ints, accuracy: Floats, left: Ints) -> int:
    """How many objects all answers have together."""
    return int((actual - allowed(actual, accuracy) + left)[choice.answers].sum())


def _leave_out(wanted: Interest, choice: Choice, ids: Ints, shed: Bools, left: Ints, kept: int, most: float) -> None:
    """Leave out objects until answers have at most so many of them."""
    weights = interest(wanted.grid, wanted.regions, choice.answers, len(shed))
    if choice.shrink is not None:
        shrunk = (weights > 0) & ~choice.shrink(weights, most)
        if weights[shrunk].sum() > weights[shed].sum():
            shed[:] = shrunk
        return
    candidates = (weights > 0) & ~shed & ~choice.led
    drop(wanted._replace(counts=weights), ids, shed, candidates, left, int(np.ceil(kept - most)), weights)


def _bring_back(wanted: Interest, choice: Choice, ids: Ints, shed: Bools, kept: int, least: float, part: float) -> None:
    """Let objects into answers again until these have about so many of them, one object at least."""
    weights = interest(wanted.grid, wanted.regions, choice.answers, len(shed))
    if choice.shrink is not None and part < 1:
        shed[:] = (weights > 0) & ~choice.shrink(weights, least)
        return
    order = np.flatnonzero(shed & choice.back)
    order = order[np.lexsort((ids[order], -weights[order]))]
    shed[order[: max(np.searchsorted(np.cumsum(weights[order]), least - kept, side="right"), 1)]] = False
    if part >= 1:
        shed &= weights > 0


def _take_back(wanted: Interest, ids: Ints, shed: Bools, left: Ints) -> None:
    """Let objects into answers again that would have too few, and no more than they need.

    `left` is how many more objects each region can miss.
    """
    broken = wanted.queries[left[wanted.queries] < 0]
    place = np.where(shed, 0, -1)
    slots = np.unique(members(only(wanted.grid, place), wanted.regions, broken)[1])
    slots = slots[np.argsort(ids[slots], kind="stable")]
    some = 1 << 10
    while len(slots):
        starts, asking = by_object(wanted, slots[:some], len(shed))
        _unshed(slots[:some], starts, asking, left, shed)
        slots, some = slots[some:], max(some * MOST_PAIRS // max(len(asking), MOST_PAIRS // 4), 1)


@inner
def _unshed(slots: Ints, starts: Ints, asking: Ints, left: Ints, shed: Bools) -> None:
    for place in range(len(slots)):
        broken = False
        for at in range(starts[place], starts[place + 1]):
            broken = broken or left[asking[at]] < 0
        if broken:
            for at in range(starts[place], starts[place + 1]):
                left[asking[at]] += 1
            shed[slots[place]] = False
