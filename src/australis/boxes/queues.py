"""Queues: tables of whole tuples that a box holds on to, as Aurora's storage manager did (Aurora 4.2).

In a kernel a tuple goes by its slot in the queue. While a step runs, `#row` tells a tuple of the train (its row plus
one) from one held since earlier (zero), so that what leaves again within the step is never copied into the table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from australis.arrow.columns import take
from australis.kernels.jit import inner
from australis.model.table import Table
from australis.model.train import Ints, Train

ROW, TS = "#row", "#ts"


def queue(stream: pa.Schema, *more: pa.Field[Any]) -> Table:
    """An empty queue of a stream's tuples, with further columns for the box's own use."""
    hidden = [pa.field(name, pa.int64(), nullable=False) for name in (TS, ROW)]
    return Table(pa.schema([*stream, *hidden, *more]))


def hold(held: Table, train: Train, slots: Ints) -> None:
    """Store the tuples of the train that a kernel left in these slots."""
    if not len(slots):
        return
    rows = held[ROW][slots] - 1
    for name in train.schema.names:
        held.put(name, slots, take(train[name], rows))
    held[TS][slots] = train.ts[rows]
    held[ROW][slots] = 0


def gather(held: Table, train: Train, ids: Ints, names: list[str]) -> list[pa.Array[Any]]:
    """Columns of tuples by id: a slot of the queue, or the complement of a row of the train."""
    slots, rows = np.empty(len(ids), np.int64), np.empty(len(ids), np.int64)
    count = _part(ids, len(train), slots, rows)
    if count == 0:
        return [take(train[name], rows) for name in names]
    slots = slots[:count]
    if count == len(ids):
        return [held.get(name, slots) for name in names]
    return [take(pa.concat_arrays([train[name], held.get(name, slots)]), rows) for name in names]


def gather_ts(held: Table, train: Train, ids: Ints) -> Ints:
    """The `ts` of tuples by id."""
    out = np.empty(len(ids), np.int64)
    _gather(ids, held[TS], train.ts, out)
    return out


@inner
def _part(ids: Ints, train: int, slots: Ints, rows: Ints) -> int:
    """The slots among ids, and for each id its row in the train, or among the slots, which follow the train."""
    stored = 0
    for i in range(len(ids)):
        if ids[i] >= 0:
            slots[stored] = ids[i]
            rows[i] = train + stored
            stored += 1
        else:
            rows[i] = ~ids[i]
    return stored


@inner
def _gather(ids: Ints, stored: Ints, arrived: Ints, out: Ints) -> None:
    for i in range(len(ids)):
        out[i] = stored[ids[i]] if ids[i] >= 0 else arrived[~ids[i]]
