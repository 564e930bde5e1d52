"""A table: the state of a box, columns of rows under slots, which knows the rows that the last step touched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from australis.arguments import fit_fields
from australis.arrow.columns import Values, arrow, plain, storage, take
from australis.errors import NetworkError, listing, near
from australis.kernels.jit import inner
from australis.model.keys import Keys, hashable, single, words
from australis.model.train import Bools, Ints

_FIRST_CAPACITY = 64
SLOT, ALIVE = "#slot", "#alive"


@dataclass(frozen=True)
class Keyed:
    """A named table with a key, which one box of a network writes and others may read."""

    name: str
    schema: pa.Schema
    key: tuple[str, ...]

    def __post_init__(self) -> None:
        fit_fields(self)
        names = self.schema.names
        if not self.key:
            raise NetworkError(f"a table has a key; its columns are {listing(names)}")
        if len(set(self.key)) < len(self.key):
            raise NetworkError(f"the key names a column twice: {listing(self.key)}")
        for part in self.key:
            if part not in names:
                raise NetworkError(f"the key {part} is no column; there are {listing(names)}{near(part, names)}")
            if not hashable(self.schema.field(part).type):
                raise NetworkError(
                    f"the key {part} is a {self.schema.field(part).type}, and values of that make no key: give a column"
                    " of numbers, texts or times"
                )


@dataclass(frozen=True)
class RowVersions:
    """The rows that one step wrote, one version a tuple, so that a reader sees them as of its own tuple.

    Sorted by slot, then by arrival number; a row's first version is from before the step.
    """

    slots: Ints
    numbers: Ints
    rows: pa.RecordBatch


class Table:
    """Rows in slots, column by column in plain arrays, so that kernels work on them in place.

    A field that is not nullable has no validity beside its values; a fixed-size list is an array of two dimensions.
    A spare slot is all zeros, ready for a kernel to take. In a table with a key, rows are found by its columns.
    """

    def __init__(self, schema: pa.Schema, key: Sequence[str] = ()) -> None:
        self.schema = schema
        self.key = tuple(key)
        self.columns: dict[str, Values] = {}
        self.valid: dict[str, Bools] = {}
        for field in schema:
            shape: tuple[int, ...] = (0,)
            type_ = field.type
            if isinstance(type_, pa.FixedSizeListType):
                shape, type_ = (0, type_.list_size), type_.value_type
            self.columns[field.name] = np.zeros(shape, storage(type_))
            if field.nullable:
                self.valid[field.name] = np.zeros(0, np.bool_)
        self.alive: Bools = np.zeros(0, np.bool_)
        self.touched: Bools = np.zeros(0, np.bool_)
        self.spare: Ints = np.empty(0, np.int64)
        self.top = 0
        self.lost: Ints = np.empty(0, np.int64)
        """Slots beyond the capacity that had rows at the last call of `changes`."""
        self.versions: RowVersions | None = None
        self.watched = True
        """Whether a second box reads it, and so needs the versions."""
        self._keys = Keys(words([pa.nulls(0, schema.field(name).type) for name in self.key], 0).shape[1])

    def __len__(self) -> int:
        return len(self.alive) - self.top

    def __getitem__(self, column: str) -> Values:
        return self.columns[column]

    @property
    def slots(self) -> Ints:
        """The slots in use, in ascending order."""
        return np.flatnonzero(self.alive)

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays, without the contents of strings."""
        arrays = (*self.columns.values(), *self.valid.values(), self.alive, self.touched, self.spare)
        return sum(each.nbytes for each in arrays) + (self._keys.nbytes if self.key else 0)

    def reserve(self, rows: int) -> None:
        """Make sure that there are at least `rows` spare slots."""
        if self.top >= rows:
            return
        old = len(self.alive)
        capacity = max(_FIRST_CAPACITY, 2 * old, len(self) + rows)
        for columns in (self.columns, self.valid):
            for name, values in columns.items():
                columns[name] = _grow(values, capacity)
        self.alive = _grow(self.alive, capacity)
        self.touched = _grow(self.touched, capacity)
        spare = np.zeros(capacity, np.int64)
        spare[: capacity - old] = np.arange(capacity - 1, old - 1, -1)
        spare[capacity - old : capacity - old + self.top] = self.spare[: self.top]
        self.spare = spare
        self.top += capacity - old
        if self.key:
            self._keys.grow(capacity, self.slots)

    def taken(self, top: int) -> Ints:
        """Make rows of the slots that a kernel took from the stack of spare ones, and return them in that order."""
        slots = self.spare[top : self.top][::-1].copy()
        self.occupy(slots, top)
        return slots

    def occupy(self, slots: Ints, top: int) -> None:
        """Make rows of slots that a kernel took, which left the stack of spare ones at `top`."""
        self.top = top
        self.alive[slots] = True
        self.touched[slots] = True

    def insert(self, rows: int) -> Ints:
        """Add `rows` rows of zeros, and return their slots."""
        self.reserve(rows)
        return self.taken(self.top - rows)

    def free(self, slots: Ints) -> None:
        """Remove rows. No slot may occur twice."""
        if self.key:
            self._keys.remove(slots)
        for values in (*self.columns.values(), *self.valid.values()):
            values[slots] = None if values.dtype == object else 0
        self.alive[slots] = False
        self.touched[slots] = True
        self.spare[self.top : self.top + len(slots)] = slots
        self.top += len(slots)

    def compact(self, room: float = 0.5) -> None:
        """Give memory back if more than the fraction `room` of the rows is unused; half of that stays.

        Rows beyond the smaller capacity move to lower slots.
        """
        if len(self.alive) <= max(_FIRST_CAPACITY, (1 + room) * len(self)):
            return
        capacity = max(_FIRST_CAPACITY, int((1 + room / 2) * len(self)))
        high = capacity + np.flatnonzero(self.alive[capacity:])
        low = np.flatnonzero(~self.alive[:capacity])[: len(high)]
        for values in (*self.columns.values(), *self.valid.values()):
            values[low] = values[high]
        if self.key:
            self._keys.words[low] = self._keys.words[high]
        self.touched[high] = True
        self.alive[low], self.touched[low] = True, True
        self.alive[high] = False
        self.cut(capacity)

    def cut(self, capacity: int) -> None:
        """Reduce the slots to `capacity`. There must be no row beyond."""
        self.lost = np.union1d(self.lost, capacity + np.flatnonzero(self.touched[capacity:]))
        for columns in (self.columns, self.valid):
            for name, values in columns.items():
                columns[name] = values[:capacity].copy()
        self.alive, self.touched = self.alive[:capacity].copy(), self.touched[:capacity].copy()
        vacant = np.flatnonzero(~self.alive)[::-1]
        self.top, self.spare = len(vacant), np.zeros(capacity, np.int64)
        self.spare[: self.top] = vacant
        if self.key:
            self._keys.grow(capacity, self.slots)

    def find(self, key: Sequence[pa.Array[Any]], rows: int) -> Ints:
        """The slots of `rows` keys; new keys get one. All of them count as touched."""
        if not self.key:
            if not len(self):
                self.insert(1)
            self.touched[0] = True
            return np.zeros(rows, np.int64)
        one = single(key)
        keys = words(key, rows) if one is None else one
        slots = np.empty(rows, np.int64)
        start = 0
        while True:
            start, top = self._keys.find(keys, slots, start, self.spare, self.top)
            fresh = self.taken(top)
            if len(fresh):
                self._name(fresh, slots[:start], key)
            if start == rows:
                _touch(self.touched, slots)
                return slots
            self.reserve(min(rows - start, len(self.alive) + _FIRST_CAPACITY))

    def _name(self, fresh: Ints, slots: Ints, key: Sequence[pa.Array[Any]]) -> None:
        """Write the key columns of new rows, each from the last input row with its key."""
        fresh = np.sort(fresh)
        place = np.minimum(np.searchsorted(fresh, slots), len(fresh) - 1)
        new = np.flatnonzero(fresh[place] == slots)
        last = np.empty(len(fresh), np.int64)
        last[place[new]] = new
        for name, array in zip(self.key, key, strict=True):
            self.put(name, fresh, take(array, last))

    def lookup(self, key: Sequence[pa.Array[Any]], rows: int) -> Ints:
        """The slots of keys, -1 for a key that has no row."""
        if not self.key:
            return np.full(rows, 0 if len(self) else -1, np.int64)
        return self._keys.lookup(words(key, rows))

    def put(self, column: str, slots: Ints, array: pa.Array[Any]) -> None:
        """Write a column of rows."""
        values, valid = plain(array)
        self.columns[column][slots] = values
        if column in self.valid:
            self.valid[column][slots] = True if valid is None else valid

    def get(self, column: str, slots: Ints) -> pa.Array[Any]:
        """Read a column of rows, as a copy."""
        values = _pick(self.columns[column], slots)
        type_ = self.schema.field(column).type
        if isinstance(type_, pa.FixedSizeListType):
            return pa.FixedSizeListArray.from_arrays(arrow(values.reshape(-1), None, type_.value_type), type_.list_size)
        return arrow(values, _pick(self.valid[column], slots) if column in self.valid else None, type_)

    def rows(self, slots: Ints, columns: Sequence[str] | None = None) -> pa.RecordBatch:
        """Rows as Arrow, with all columns or with `columns`."""
        names = self.schema.names if columns is None else list(columns)
        schema = pa.schema([self.schema.field(name) for name in names])
        return pa.RecordBatch.from_arrays([self.get(name, slots) for name in names], schema=schema)

    def changes(self) -> pa.RecordBatch:
        """The rows touched since the last call, with their slots and whether they are still alive."""
        inside = self.lost < len(self.alive)
        self.touched[self.lost[inside]] = True
        slots, lost = np.flatnonzero(self.touched), self.lost[~inside]
        self.touched[:] = False
        self.lost = lost[:0]
        batch, alive = self.rows(slots), np.concatenate([self.alive[slots], np.zeros(len(lost), np.bool_)])
        if len(lost):
            blank = Table(self.schema)
            blanks = blank.rows(blank.insert(len(lost)))
            columns = [pa.concat_arrays(both) for both in zip(batch.columns, blanks.columns, strict=True)]
            batch = pa.RecordBatch.from_arrays(columns, schema=batch.schema)
            slots = np.concatenate([slots, lost])
        return batch.append_column(SLOT, pa.array(slots)).append_column(ALIVE, pa.array(alive))

    def apply(self, changes: pa.RecordBatch) -> None:
        """Apply the changes of another copy of this table, so that the two are equal."""
        slots = plain(changes.column(SLOT))[0]
        alive = plain(changes.column(ALIVE))[0]
        if len(slots) and slots.max() >= len(self.alive):
            self.reserve(int(slots.max()) + 1 - len(self))
        replaced = slots[self.alive[slots]]
        if self.key:
            self._keys.remove(replaced)
        self.alive[slots] = alive
        for name in self.schema.names:
            array = changes.column(name)
            if isinstance(array, pa.FixedSizeListArray):
                self.columns[name][slots] = plain(array.flatten())[0].reshape(len(slots), array.type.list_size)
            else:
                self.put(name, slots, array)
        live = slots[alive]
        if self.key:
            key = [changes.column(name).filter(alive) for name in self.key]
            self._keys.insert(words(key, len(live)), live)
        vacant = np.flatnonzero(~self.alive)[::-1]
        self.top = len(vacant)
        self.spare[: self.top] = vacant


@inner
def _touch(touched: Bools, slots: Ints) -> None:
    for row in range(len(slots)):
        touched[np.uintp(slots[np.uintp(row)])] = True


def _pick(values: Any, slots: Ints) -> Any:
    """Values at slots. A run without gaps is copied as a whole, which is ten times as fast."""
    if len(slots) and slots[-1] - slots[0] == len(slots) - 1 and len(slots) > _FIRST_CAPACITY:
        whole = values[slots[0] : slots[-1] + 1]
        if np.array_equal(slots, np.arange(slots[0], slots[-1] + 1)):
            return whole.copy()
    return values[slots]


def _grow(values: Values, capacity: int) -> Any:
    grown = np.zeros((capacity, *values.shape[1:]), values.dtype)
    if values.dtype == object:
        grown[:] = None
    grown[: len(values)] = values
    return grown
