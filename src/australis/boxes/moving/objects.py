"""Objects as a stream: where each was when it last reported, and those that have stopped reporting (SOLE 3.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from australis.arrow.columns import Values, plain, take
from australis.boxes.moving.regions import Floats, Points
from australis.expressions import Bound
from australis.model.order import Order
from australis.model.table import Table
from australis.model.train import Bools, Ints, Train

X, Y, TIME, MASK, SHED = "#x", "#y", "#time", "#mask", "#shed"
LONGITUDE, LATITUDE = 180.0, 90.0
"""The most that there are, in degrees."""


def table(identifier: pa.Field[pa.DataType], carried: Sequence[pa.Field[pa.DataType]], time: pa.DataType) -> Table:
    """The objects that are known, under their identifiers; none that is shed, but within a step."""
    types = {X: pa.float64(), Y: pa.float64(), TIME: time, MASK: pa.int64(), SHED: pa.bool_()}
    hidden = [pa.field(name, type_, nullable=False) for name, type_ in types.items()]
    return Table(pa.schema([identifier, *hidden, *carried]), (identifier.name,))


def points(objects: Table, there: Bools) -> Points:
    """The points of the objects that are `there`."""
    x = np.where(there, objects[X], np.nan)
    return Points(x, objects[Y].copy(), objects[MASK].copy(), objects[objects.key[0]].astype(np.int64))


def coordinate(train: Train, name: str) -> Floats:
    """A column of coordinates; none is no number."""
    values, valid = plain(train[name].cast(pa.float64(), safe=False))
    return values if valid is None else np.where(valid, values, np.nan)


def possible(train: Train, x: str, y: str, earth: bool) -> Bools | None:
    """Which reports have a possible place, or no place at all; None if all do.

    A place is two finite numbers, and on the earth a longitude and a latitude.
    """
    fine: Bools | None = None
    for name, most in ((x, LONGITUDE), (y, LATITUDE)):
        values, valid = plain(train[name].cast(pa.float64(), safe=False))
        far = np.abs(values)
        inside: Bools = far <= most if earth else far < np.inf
        if valid is not None:
            inside |= ~valid
        if not inside.all():
            fine = inside if fine is None else fine & inside
    return fine


def times(train: Train, name: str | None) -> tuple[Values, Bools]:
    """The time of each report, and whether it has one; without a column of times all are at zero."""
    if name is None:
        return np.zeros(len(train), np.int64), np.ones(len(train), np.bool_)
    return Order(name).places(train)


def columns(
    train: Train, x: str, y: str, time: str | None, conditions: Sequence[Bound]
) -> tuple[dict[str, Values], Bools]:
    """The columns of the table from reports, and which reports have a place, and a time if there is such a column."""
    read: dict[str, Values] = {X: coordinate(train, x), Y: coordinate(train, y), MASK: masks(train, conditions)}
    placed: Bools = np.isfinite(read[X]) & np.isfinite(read[Y])
    if time is not None:
        read[TIME], timed = times(train, time)
        placed &= timed
    return read, placed


def masks(train: Train, conditions: Sequence[Bound]) -> Ints:
    """A bit for each condition that a report satisfies."""
    bits = np.zeros(len(train), np.int64)
    for place, condition in enumerate(conditions):
        bits |= condition.mask(train.view).to_numpy(zero_copy_only=False).astype(np.int64) << place
    return bits


def latest(slots: Ints, size: int) -> Ints:
    """The last row of each slot among rows of a train."""
    last = np.full(size, -1, np.int64)
    last[slots] = np.arange(len(slots))
    return last[last >= 0]


def put(objects: Table, slots: Ints, rows: Ints, columns: dict[str, Values], train: Train) -> None:
    """Write the reports of rows, with the columns that the table carries."""
    for name, values in columns.items():
        objects[name][slots] = values[rows]
    for name in objects.schema.names:
        if name in train.schema.names and name not in objects.key:
            objects.put(name, slots, take(train[name], rows))


def forget(objects: Table, gone: Ints, stored: Bools, touched: Bools) -> None:
    """Free objects; those that were not `stored` before the step leave no trace among the changes."""
    objects.free(gone)
    objects.touched[gone] = padded(stored | touched, len(objects.alive))[gone]


def padded(flags: Bools, size: int) -> Bools:
    """Flags for slots of which some are new, and false there."""
    return np.concatenate([flags, np.zeros(size - len(flags), np.bool_)])


def named(train: Train, column: str) -> Ints:
    """The rows that have a value in a column."""
    if not train[column].null_count:
        return np.arange(len(train))
    return np.flatnonzero(pc.is_valid(train[column]).to_numpy(zero_copy_only=False))


def identifiers(train: Train, column: str) -> Ints:
    """The identifiers of objects, -1 where there is none."""
    values, valid = plain(train[column])
    wide = values.astype(np.int64)
    return wide if valid is None else np.where(valid, wide, -1)
