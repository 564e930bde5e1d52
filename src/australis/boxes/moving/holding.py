"""Holding: tuples wait until the span of the objects' time in which they came is over, and are evaluated together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from australis.arrow.columns import plain
from australis.boxes.moving.moments import running
from australis.model.box import Tables, Trains
from australis.model.order import Order
from australis.model.table import Table
from australis.model.train import Ints, Train, concat

_TS, _NUMBER = "#ts", "#number"


def tables(inputs: Sequence[pa.Schema]) -> Tables:
    """The tuples of each input that wait."""
    own = [pa.field(name, pa.int64(), nullable=False) for name in (_TS, _NUMBER)]
    return {_name(at): Table(pa.schema([*stream, *own])) for at, stream in enumerate(inputs)}


def waits(tables: Tables, inputs: int) -> bool:
    return any(len(tables[_name(at)]) for at in range(inputs))


def released(
    tables: Tables, trains: Trains, time: str, span: Any, leeway: float, first: Any, end: int | None
) -> tuple[Trains, Any]:
    """The tuples of spans that are over, with the number of the tuple that ended each, and the latest time among them.

    A tuple belongs to the span of the latest time when it came, `first` before all. At the `end` all spans are over.
    """
    waiting = [_waiting(tables[_name(at)], train.schema) for at, train in enumerate(trains)]
    whole = [concat(train.schema, pair) for train, *pair in zip(trains, waiting, trains, strict=True)]
    numbers = np.unique(np.concatenate([each.number for each in whole]))
    if not len(numbers):
        return tuple(whole), first
    timed = [each for at, each in enumerate(whole) if at != 1]
    times, valid = map(np.concatenate, zip(*(Order(time).places(each) for each in timed), strict=True))
    at = np.concatenate([np.searchsorted(numbers, each.number) for each in timed])
    order = np.flatnonzero(valid)[np.argsort(at[valid], kind="stable")]
    nows = running(times[order], at[order], len(numbers), times.dtype.type(first), leeway)
    with np.errstate(invalid="ignore", over="ignore"):
        spans = np.nan_to_num(np.floor_divide(nows, span), nan=-np.inf)  # before any time there is no other
    starts = np.flatnonzero(np.append(True, spans[1:] != spans[:-1]))
    ends = np.append(numbers[starts[1:]], -1 if end is None else max(end, int(numbers[-1])))
    over = len(numbers) if end is not None else int(starts[-1])
    which = np.searchsorted(starts, np.arange(len(numbers)), side="right") - 1
    out = []
    for place, each in enumerate(whole):
        cut = int(np.searchsorted(each.number, numbers[over])) if over < len(numbers) else len(each)
        _wait(tables[_name(place)], each.slice(cut, len(each)))
        ready = each.slice(0, cut)
        out.append(Train(ready.tuples, ready.ts, ends[which[np.searchsorted(numbers, ready.number)]]))
    return tuple(out), nows[over - 1].item() if over else first


def _name(at: int) -> str:
    return f"held {at}"


def _waiting(table: Table, schema: pa.Schema) -> Train:
    slots = table.slots
    order: Ints = np.lexsort((slots, table[_NUMBER][slots]))
    rows = table.rows(slots[order])
    return Train(rows.select(schema.names), plain(rows[_TS])[0], plain(rows[_NUMBER])[0])


def _wait(table: Table, train: Train) -> None:
    """Have these tuples wait, and no others."""
    table.free(table.slots)
    slots = np.sort(table.insert(len(train)))
    for name in train.schema.names:
        table.put(name, slots, train[name])
    table[_TS][slots], table[_NUMBER][slots] = train.ts, train.number
