"""Shadows: what is left of objects that were shed, so that accuracies are told (SOLE 6.5).

The paper leaves only their identifiers, by which it cannot tell which queries miss them once these move. A shadow has
its place too, and what is needed to know when it is gone and who wants it. It takes half the memory of an object
that carries nothing: no index leads to it. In a step shadows are objects like others, but for a flag.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from australis.boxes.moving.objects import MASK, SHED, TIME, X, Y
from australis.model.table import Table
from australis.model.train import Bools, Ints

ROOM = 0.1
"""The part of its rows by which a table may be larger than they are, where memory is short."""


def table(objects: Table, timed: bool, masked: bool) -> Table:
    """The shadows of objects that time out, or that conditions tell apart."""
    names = [*objects.key, X, Y, *([TIME] if timed else []), *([MASK] if masked else [])]
    return Table(pa.schema([objects.schema.field(name) for name in names]))


def recall(objects: Table, shadows: Table) -> Ints:
    """Make objects of all shadows for a step; gives their slots, in the order of the shadows' slots."""
    (key,), held = objects.key, shadows.slots
    slots = objects.find([shadows.get(key, held)], len(held))
    for name in shadows.schema.names:
        if name != key:
            objects[name][slots] = shadows[name][held]
    objects[SHED][slots] = True
    return slots


def conceal(objects: Table, shadows: Table, recalled: Ints, gone: Bools) -> Bools:
    """Put the objects that are shed after a step among the shadows; gives which these are."""
    (key,), held = objects.key, shadows.slots
    shed: Bools = objects[SHED] & objects.alive & ~gone
    stay = shed[recalled]
    new = shed.copy()
    new[recalled] = False
    shadows.free(held[~stay])
    here, there = held[stay], recalled[stay]
    for name in shadows.schema.names:
        if name != key:
            other = shadows[name][here] != objects[name][there]
            shadows.touched[here[other]] = True
            shadows[name][here] = objects[name][there]
    fresh = np.flatnonzero(new)
    rows = shadows.insert(len(fresh))
    for name in shadows.schema.names:
        shadows.put(name, rows, objects.get(name, fresh))
    shadows.compact(ROOM)
    return shed
