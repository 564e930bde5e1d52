"""Order specifications: what a box may assume of the order in which tuples arrive (Aurora 5.2.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from australis.arguments import COUNT, fit_fields
from australis.arrow.columns import Values, plain, storage
from australis.arrow.durations import TUP
from australis.errors import SchemaError, listing, near
from australis.kernels.jit import inner
from australis.model.keys import hashable
from australis.model.table import Table
from australis.model.train import Bools, Ints, Train

__all__ = ["MOST_SLACK", "TUP", "Order", "admit", "bounded", "place_type", "sift"]

MOST_SLACK = 1 << 20
"""The largest slack: each group keeps that many values to tell what is out of order."""


@dataclass(frozen=True)
class Order:
    """Tuples ascend on `on` within each group of `by`, but for `slack`.

    A tuple is out of order when more than `slack` tuples before it in its group have a larger value. A tuple whose
    value is null or not finite is out of order too, since it has no place. The box sends such tuples to its `late`
    output.
    """

    on: str
    slack: int = 0
    by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        plain = type(self.on) is str and type(self.slack) is int and abs(self.slack) < COUNT
        if not plain or type(self.by) is not tuple or not all(type(name) is str for name in self.by):
            fit_fields(self)  # only now, because it is slow and boxes make orders while they run

    @property
    def counts(self) -> bool:
        """Whether it is on the arrival number, where nothing is ever late."""
        return self.on == TUP

    @property
    def attribute(self) -> str:
        """The column's name in the output of a box that reports the attribute."""
        return "tup" if self.counts else self.on

    def check(self, stream: pa.Schema) -> pa.DataType:
        """Check that the stream has the columns of the order, and return the type of the attribute."""
        for name in (*(() if self.counts else (self.on,)), *self.by):
            if name not in stream.names:
                raise SchemaError(
                    f"the order names `{name}`, which is no column{near(name, stream.names) or '.'}"
                    f" The columns are {listing(stream.names)}"
                )
        if len(set(self.by)) < len(self.by):
            raise SchemaError(f"the order groups by a column twice: {listing(self.by)}")
        for name in self.by:
            if not hashable(stream.field(name).type):
                raise SchemaError(f"cannot group by `{name}`: values of type {stream.field(name).type} make no key")
        if not 0 <= self.slack <= MOST_SLACK:
            raise SchemaError(
                f"slack is a count of tuples from 0 to {MOST_SLACK:,}, not {self.slack}: so many values are kept for"
                " each group"
            )
        if self.counts:
            return pa.int64()
        type_: pa.DataType = stream.field(self.on).type
        if type_ == pa.uint64():
            raise SchemaError(f"cannot order on `{self.on}`, a uint64: cast it to bigint with a map")
        if storage(type_).kind not in "iuf":
            raise SchemaError(f"cannot order on `{self.on}`, a {type_}: it takes a number or a time")
        return type_

    def groups(self, stream: pa.Schema, *more: pa.Field[Any]) -> Table:
        """A table of groups: the key, a heap of the `slack + 1` largest values, and how many tuples came."""
        place = place_type(self.check(stream))
        heap = pa.field("#heap", pa.list_(place, 1 if self.counts else self.slack + 1), nullable=False)
        seen = pa.field("#seen", pa.int64(), nullable=False)
        return Table(pa.schema([*(stream.field(name) for name in self.by), heap, seen, *more]), self.by)

    def find(self, groups: Table, train: Train) -> Ints:
        """The group of each tuple."""
        return groups.find([train[name] for name in self.by], len(train))

    def places(self, train: Train) -> tuple[Values, Bools]:
        """Each tuple's value of the attribute as a 64-bit number, and whether it has one; kernels count `tup#`."""
        if self.counts:
            return np.zeros(len(train), np.int64), np.ones(len(train), np.bool_)
        values, valid = plain(train[self.on])
        wide = values.astype(np.float64 if values.dtype.kind == "f" else np.int64)  # a copy, which kernels may change
        there = np.ones(len(train), np.bool_) if valid is None else valid
        return wide, there & np.isfinite(wide) if wide.dtype.kind == "f" else there

    def __str__(self) -> str:
        slack = f", slack {self.slack}" if self.slack else ""
        return f"on {self.on}{slack}{', by ' + ', '.join(self.by) if self.by else ''}"


def place_type(attribute: pa.DataType) -> pa.DataType:
    """The type of a place in an order."""
    return pa.float64() if pa.types.is_floating(attribute) else pa.int64()


@inner
def admit(group: int, place: Any, heap: Values, seen: Ints) -> bool:
    """Whether a tuple is in order; if so, put it on the heap, whose root is the smallest of the slack + 1 largest."""
    size = heap.shape[1]
    if seen[group] < size:
        child = seen[group]
        while child > 0 and heap[group, (child - 1) // 2] > place:
            heap[group, child] = heap[group, (child - 1) // 2]
            child = (child - 1) // 2
        heap[group, child] = place
        seen[group] += 1
        return True
    if place < heap[group, 0]:
        return False
    parent = 0
    while 2 * parent + 1 < size:
        child = 2 * parent + 1
        if child + 1 < size and heap[group, child + 1] < heap[group, child]:
            child += 1
        if heap[group, child] >= place:
            break
        heap[group, parent] = heap[group, child]
        parent = child
    heap[group, parent] = place
    seen[group] += 1
    return True


@inner
def bounded(group: int, heap: Values, seen: Ints) -> bool:
    """Whether the heap is full, so that nothing below `heap[group, 0]` can be in order any more."""
    return bool(seen[group] >= heap.shape[1])


@inner
def sift(groups: Ints, places: Values, valid: Bools, counts: bool, heap: Values, seen: Ints, timely: Bools) -> None:
    """Mark the tuples that are in order in `timely`; with `counts`, put their numbers within the group in `places`."""
    for row in range(len(groups)):
        group = groups[row]
        if counts:
            seen[group] += 1
            places[row] = seen[group]
            heap[group, 0] = seen[group] + 1  # the next one's
            timely[row] = True
        else:
            timely[row] = valid[row] and admit(group, places[row], heap, seen)
