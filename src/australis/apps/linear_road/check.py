"""Check: whether tuples are valid. Every tool checks what it reads (3.1.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.apps.linear_road.record import (
    BALANCE,
    EXIT,
    EXPENDITURE,
    FASTEST,
    FEET,
    INPUT,
    REPORT,
    SEGMENTS,
    TRAVEL,
)
from australis.errors import RunError

LONGEST = 7 * 24 * 60 * 60
"""Times are below this many seconds, because the validator keeps statistics of every minute."""
_MANY = (1 << 31) - 1
RANGES: dict[int, dict[str, tuple[int, int]]] = {
    REPORT: {
        "vid": (0, _MANY),
        "spd": (0, FASTEST),
        "xway": (0, (1 << 15) - 1),
        "lane": (0, EXIT),
        "dir": (0, 1),
        "seg": (0, SEGMENTS - 1),
        "pos": (0, SEGMENTS * FEET - 1),
    },
    BALANCE: {"vid": (0, _MANY), "qid": (0, _MANY)},
    EXPENDITURE: {"vid": (0, _MANY), "qid": (0, _MANY), "day": (0, 70)},
    TRAVEL: {
        "qid": (0, _MANY),
        "sinit": (0, SEGMENTS - 1),
        "send": (0, SEGMENTS - 1),
        "dow": (0, 7),
        "tod": (0, 1440),
    },
}
"""The ranges of the fields that apply to a type. Other fields are not checked.

The paper's weekdays and minutes begin at 1. The data of the original simulator has a weekday 0 as well: it is the day
before 1, which is 7, and a minute 0 is the last one of the day before.
"""

Columns = Mapping[str, npt.NDArray[Any]]
Fault = tuple[int, str]


def check(batch: pa.RecordBatch, last: int, place: Callable[[int], str]) -> int:
    """Check a batch, and return its last time. Raises for the first tuple that is not valid.

    `last` is the time of the tuple before, and `place` says where a row of the batch is.
    """
    if not batch.num_rows:
        return last
    faults = [*_empty(batch)] or [*_faults({name: batch[name].to_numpy() for name in INPUT.names}, last)]
    if faults:
        row, text = min(faults, key=itemgetter(0))
        line = ",".join("" if each is None else str(each) for each in batch.slice(row, 1).to_pylist()[0].values())
        raise RunError(f"{place(row)}: `{line}`: {text}")
    return int(batch["time"][-1].as_py())


def _empty(batch: pa.RecordBatch) -> Iterator[Fault]:
    for name in INPUT.names:
        if batch[name].null_count:
            yield int(np.flatnonzero(batch[name].is_null().to_numpy(zero_copy_only=False))[0]), f"{name} is missing"


def _faults(columns: Columns, last: int) -> Iterator[Fault]:
    """The first row with each kind of fault."""
    time, kinds = columns["time"], columns["type"]
    yield from _outside("time", time, (0, LONGEST - 1), np.arange(len(time)))
    falls = np.flatnonzero(np.concatenate([time[:1] < last, time[1:] < time[:-1]]))
    if len(falls):
        before = time[falls[0] - 1] if falls[0] else last
        yield int(falls[0]), f"times fall from {before} to {time[falls[0]]}; sort the file by its second field"
    typed = 0
    for kind, ranges in RANGES.items():
        rows = np.flatnonzero(kinds == kind)
        typed += len(rows)
        for name, bounds in ranges.items():
            yield from _outside(name, columns[name][rows], bounds, rows)
        if kind == REPORT:
            yield from _elsewhere(columns["seg"][rows], columns["pos"][rows], rows)
    if typed < len(kinds):
        row = int(np.flatnonzero(~np.isin(kinds, list(RANGES)))[0])
        yield row, f"there is no type {kinds[row]}; there are 0, 2, 3 and 4"


def _outside(
    name: str, values: npt.NDArray[Any], bounds: tuple[int, int], rows: npt.NDArray[np.int64]
) -> Iterator[Fault]:
    low, high = bounds
    if len(values) and (values.min() < low or values.max() > high):
        at = int(np.flatnonzero((values < low) | (values > high))[0])
        yield int(rows[at]), f"{name} is {values[at]}; give {low} to {high}"


def _elsewhere(seg: npt.NDArray[Any], pos: npt.NDArray[Any], rows: npt.NDArray[np.int64]) -> Iterator[Fault]:
    at = np.flatnonzero(seg != pos // FEET)
    if len(at):
        first = int(at[0])
        yield int(rows[first]), f"pos {pos[first]} is in segment {pos[first] // FEET}, and seg is {seg[first]}"
