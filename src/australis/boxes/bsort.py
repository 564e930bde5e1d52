"""BSort: a sort of bounded passes over an endless stream (Aurora 5.2.2.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa

from australis.arrow.columns import Values
from australis.boxes.ordering import columns_of, takes_whole_groups
from australis.boxes.queues import ROW, gather, gather_ts, hold
from australis.boxes.queues import queue as queue_table
from australis.expressions import Expr
from australis.kernels.jit import inner
from australis.model.ascent import Ascent
from australis.model.box import Box, Key, Moment, Tables, Trains, unchanged
from australis.model.facts import Facts
from australis.model.labels import as_written
from australis.model.order import Order, place_type
from australis.model.parameters import By, On, order
from australis.model.table import Table
from australis.model.train import Bools, Ints, Train, concat


class SortRows(NamedTuple):
    """The tuples of a train, and room for the order in which tuples leave."""

    group: Ints
    place: Values
    valid: Bools
    ids: Ints
    """The tuples that leave, in order."""
    triggers: Ints
    """The rows that made them leave."""
    taken: Ints
    """The slots of the queue that rows took."""


class SortHeaps(NamedTuple):
    """The buffer of each group: a heap of slots of the queue, and their places beside them."""

    heap: Ints
    least: Values
    held: Ints
    seen: Ints


class SortQueue(NamedTuple):
    """The tuples that are held: their places, their turns in their groups, and their rows plus 1 if they just came."""

    place: Values
    serial: Ints
    group: Ints
    row: Ints


@dataclass(frozen=True)
class BSort(Box):
    """A buffer of slack + 1 tuples a group: whenever it is full, its least tuple leaves, the earliest among equals.

    That is the output of `slack` passes of bubble sort. Nothing is discarded: what came too late for the buffer leaves
    at once, as does a tuple whose attribute is null. At the end of the input the buffers are emptied in order.

    >>> from australis.testing import apply, train
    >>> stream = train("a int", a=[1, 3, 1, 2, 4, 4, 8, 3, 4, 4])
    >>> apply(BSort(Order("a", slack=2)), stream)[0]["a"].to_pylist()
    [1, 1, 2, 3, 4, 3, 4, 4]
    """

    order: Order

    kind: ClassVar[str] = "bsort"

    @classmethod
    def make(cls, on: On, slack: int = 0, by: By = ()) -> BSort:
        """Sort on a column as far as a buffer of `slack` + 1 tuples can."""
        return cls(order(on, slack, by))

    def written(self) -> Mapping[str, object]:
        return {"on": self.order.on, "slack": self.order.slack, "by": as_written(self.order.by)}

    def outputs(self, *inputs: pa.Schema) -> dict[str, pa.Schema]:
        (stream,) = inputs
        self.order.check(stream)
        return {"out": stream}

    def keys(self, *inputs: pa.Schema) -> tuple[Key, ...] | None:
        return (self.order.by,)

    def tables(self, *inputs: pa.Schema) -> Tables:
        (stream,) = inputs
        place = place_type(self.order.check(stream))
        by = [stream.field(name) for name in self.order.by]
        room = max(1, self.order.slack)
        heap = [
            pa.field(n, pa.list_(type_, room), nullable=False)
            for n, type_ in (("#heap", pa.int64()), ("#least", place))
        ]
        numbers = [pa.field(name, pa.int64(), nullable=False) for name in ("#held", "#seen")]
        own = [pa.field(name, pa.int64(), nullable=False) for name in ("#group", "#serial")]
        return {
            "groups": Table(pa.schema([*by, *heap, *numbers]), self.order.by),
            "queue": queue_table(stream, pa.field("#place", place, nullable=False), *own),
        }

    def holds(self, *inputs: pa.Schema) -> str:
        each = f" for each {', '.join(self.order.by)}" if self.order.by else ""
        return f"at most {self.order.slack} tuples{each}"

    def passes(self, port: str, *inputs: pa.Schema) -> Mapping[int, Mapping[str, str]]:
        return {0: unchanged(inputs[0])}

    def columns_needed(self, port: str, columns: AbstractSet[str], *inputs: pa.Schema) -> tuple[AbstractSet[str], ...]:
        return (columns | columns_of(self.order),)

    def pushes(self, predicate: Expr, port: str, inputs: Sequence[Ascent]) -> Mapping[int, Expr] | None:
        """A predicate on the groups: each has a buffer of its own. Without slack it sorts nothing, and any will do."""
        idle = self.order.slack == 0 or self.order.counts
        return {0: predicate} if idle or takes_whole_groups(self.order, predicate, inputs[0].schema) else None

    def sorts(self, port: str) -> Key | None:
        return (self.order.on,) if self.order.slack and not self.order.counts else None

    def ordered_on(self, side: int) -> str:
        return self.order.on

    def facts(self, title: str, given: Sequence[Facts], streams: Sequence[pa.Schema]) -> Facts:
        return given[0]

    def step(self, tables: Tables, trains: Trains, moment: Moment) -> Trains:
        (train,) = trains
        if self.order.slack == 0 or self.order.counts:
            return (train,)
        groups, held = tables["groups"], tables["queue"]
        out = [self._sort(groups, held, train)] if len(train) else []
        if moment.end:
            out.append(_drained(groups, held, train, moment.number))
        return (concat(train.schema, out),)

    def _sort(self, groups: Table, held: Table, train: Train) -> Train:
        group = self.order.find(groups, train)
        places, valid = self.order.places(train)
        held.reserve(len(train))
        ids, triggers, taken = (np.full(len(train), -1, np.int64) for _ in range(3))
        rows = SortRows(group, places, valid, ids, triggers, taken)
        heaps = SortHeaps(groups["#heap"], groups["#least"], groups["#held"], groups["#seen"])
        queue = SortQueue(held["#place"], held["#serial"], held["#group"], held[ROW])
        left, top = _bsort(rows, heaps, queue, held.spare, held.top)
        ids, triggers = ids[:left], triggers[:left]
        slots = taken[(taken >= 0) & (held[ROW][taken] == np.arange(1, len(train) + 1))]
        names = train.schema.names
        tuples = pa.RecordBatch.from_arrays(gather(held, train, ids, names), schema=train.schema)
        sorted_ = Train(tuples, gather_ts(held, train, ids), train.number[triggers])
        held.occupy(slots, top)
        hold(held, train, slots)
        held.free(ids[ids >= 0])
        return sorted_


def _drained(groups: Table, held: Table, train: Train, number: int) -> Train:
    slots = held.slots
    slots = slots[np.lexsort((held["#serial"][slots], held["#group"][slots], held["#place"][slots]))]
    tuples = held.rows(slots, train.schema.names)
    drained = Train(tuples.cast(train.schema), held["#ts"][slots], np.full(len(slots), number))
    groups["#held"][:] = 0
    groups.touched[groups.slots] = True
    held.free(slots)
    return drained


@inner
def _enter(queue: SortQueue, slot: int, place: Any, serial: int, group: int, row: int) -> None:
    """Let a row of the train have a slot of the queue; `row` is 0 for a slot that is left again."""
    queue.place[slot], queue.serial[slot], queue.group[slot], queue.row[slot] = place, serial, group, row


@inner
def _rise(group: int, slot: int, place: Any, heaps: SortHeaps) -> None:
    """Put a tuple in a group's heap, which has room."""
    heap, least, at = heaps.heap, heaps.least, heaps.held[group]
    heaps.held[group] += 1
    while at > 0 and place < least[group, (at - 1) // 2]:
        heap[group, at], least[group, at] = heap[group, (at - 1) // 2], least[group, (at - 1) // 2]
        at = (at - 1) // 2
    heap[group, at], least[group, at] = slot, place


@inner
def _sink(group: int, slot: int, place: Any, heaps: SortHeaps, queue: SortQueue) -> None:
    """Put a tuple in a group's heap in place of the least one."""
    heap, least, at, room = heaps.heap, heaps.least, 0, heaps.heap.shape[1]
    while 2 * at + 1 < room:
        child = 2 * at + 1
        if child + 1 < room:
            tie = least[group, child + 1] == least[group, child]
            if tie:  # the one that came earlier
                child += queue.serial[heap[group, child + 1]] < queue.serial[heap[group, child]]
            else:
                child += least[group, child + 1] < least[group, child]
        if place < least[group, child]:
            break  # of equals, this one came last
        heap[group, at], least[group, at] = heap[group, child], least[group, child]
        at = child
    heap[group, at], least[group, at] = slot, place


@inner
def _bsort(rows: SortRows, heaps: SortHeaps, queue: SortQueue, spare: Ints, top: int) -> tuple[int, int]:
    """Fill in the ids of the tuples that leave, the rows that made them leave, and the slots that rows took.

    Gives the number of tuples that leave, and the top of the spare slots: a slot that is left again is taken again.
    """
    room, left = heaps.heap.shape[1], 0
    for row in range(len(rows.group)):
        group, here = rows.group[row], rows.place[row]
        if not rows.valid[row] or (heaps.held[group] == room and here < heaps.least[group, 0]):
            rows.ids[left], rows.triggers[left] = ~row, row
            left += 1
            continue
        top -= 1
        slot = spare[top]
        rows.taken[row] = slot
        _enter(queue, slot, here, heaps.seen[group], group, row + 1)
        heaps.seen[group] += 1
        if heaps.held[group] < room:
            _rise(group, slot, here, heaps)
            continue
        first = heaps.heap[group, 0]
        rows.triggers[left], rows.ids[left] = row, first
        if queue.row[first]:
            rows.ids[left] = -queue.row[first]
            _enter(queue, first, 0, 0, 0, 0)
            spare[top] = first
            top += 1
        left += 1
        _sink(group, slot, here, heaps, queue)
    return left, top
