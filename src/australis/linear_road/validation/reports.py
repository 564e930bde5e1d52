"""Reports: the position reports of a file, vehicle by vehicle, and the requests between them (3.1.2)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from australis.errors import RunError
from australis.kernel import kernel
from australis.linear_road.feed import Feed
from australis.linear_road.record import BALANCE, EVERY, EXIT, EXPENDITURE, FEET, INPUT, REPORT, SEGMENTS, TRAVEL
from australis.linear_road.validation.arrays import Ints

LONGEST = 7 * 24 * 60 * 60
"""Times are below this many seconds: statistics of every minute are kept."""

_KEPT = ("vid", "time", "spd", "xway", "lane", "dir", "seg", "pos")
_RANGES = {
    "vid": 1 << 31,
    "spd": 128,
    "xway": 1 << 15,
    "lane": EXIT + 1,
    "dir": 2,
    "seg": SEGMENTS,
    "pos": SEGMENTS * FEET,
}
_MANY = (1 << 31) - 1
_ASKED: dict[int, dict[str, tuple[int, int]]] = {
    BALANCE: {"vid": (0, _MANY), "qid": (0, _MANY)},
    EXPENDITURE: {"vid": (0, _MANY), "qid": (0, _MANY)},
    TRAVEL: {"qid": (0, _MANY), "sinit": (0, SEGMENTS - 1), "send": (0, SEGMENTS - 1), "dow": (1, 7), "tod": (1, 1440)},
}


@dataclass(frozen=True)
class Reports:
    """Columns of equal length, in order of vehicles and of each vehicle's times.

    `place` numbers the segments of both directions of all expressways of the file: 100 by 100, one road after another.
    """

    vid: Ints
    time: Ints
    spd: Ints
    lane: Ints
    place: Ints
    pos: Ints
    previous: Ints
    """The row of the same vehicle's report 30 s before on the same expressway in the same direction, or -1."""
    places: int

    @property
    def minute(self) -> Ints:
        """The numbers of the minutes (table 1): the first is 1."""
        return self.time // 60 + 1

    @property
    def minutes(self) -> int:
        """Rows of a table by minute: up to the one after the last, in which a stopped vehicle may still be."""
        return int(self.time.max(initial=0)) // 60 + 3


def read(feed: Feed, file: Path) -> tuple[Reports, pa.Table]:
    """The reports and the requests of a file, as its first copy."""
    parts: dict[str, list[Ints]] = {name: [] for name in _KEPT}
    asked = []
    last = 0
    for batch in feed.read(file):
        columns = {name: batch[name].to_numpy() for name in ("type", *_KEPT)}
        last = _in_order(columns["time"], last, file)
        mine = columns["type"] == REPORT
        asked.append(batch.filter(pa.array(~mine)))
        for name in _KEPT:
            parts[name].append(columns[name][mine])
    requests = pa.Table.from_batches(asked, INPUT)
    _known(requests, file)
    return _sorted({name: _joined(name, parts.pop(name)) for name in _KEPT}, file), requests


def _joined(name: str, parts: list[Ints]) -> Ints:
    return np.concatenate([np.empty(0, INPUT.field(name).type.to_pandas_dtype()), *parts])


def _in_order(time: Ints, last: int, file: Path) -> int:
    if not len(time):
        return last
    falls = np.flatnonzero(np.diff(time, prepend=last) < 0)
    if len(falls):
        raise RunError(f"{file}: times fall to {time[falls[0]]}; sort the file by its second field")
    if time[-1] >= LONGEST:
        raise RunError(f"{file}: time {time[-1]} is not below {LONGEST}; times are seconds since the start of the run")
    return int(time[-1])


def _known(requests: pa.Table, file: Path) -> None:
    """Refuse requests that ask for what there is not."""
    types = requests["type"].to_numpy()
    strange = ~np.isin(types, list(_ASKED))
    if strange.any():
        raise RunError(f"{file}: type {types[strange][0]} of input; there are 0, 2, 3 and 4")
    for kind, ranges in _ASKED.items():
        mine = requests.filter(pa.array(types == kind))
        for name, (low, high) in ranges.items():
            values = mine[name].to_numpy()
            bad = np.flatnonzero((values < low) | (values > high))
            if len(bad):
                raise RunError(
                    f"{file}: a request of type {kind} at time {mine['time'][int(bad[0])]} has {name} {values[bad[0]]};"
                    f" give {low} to {high}"
                )


def _sorted(columns: dict[str, Ints], file: Path) -> Reports:
    for name, end in _RANGES.items():
        values = columns[name]
        if len(values) and (values.min() < 0 or values.max() >= end):
            row = int(np.flatnonzero((values < 0) | (values >= end))[0])
            raise RunError(
                f"{file}: vehicle {columns['vid'][row]} reports {name} {values[row]} at time {columns['time'][row]};"
                f" give 0 to {end - 1}"
            )
    codes = np.zeros(1 << 15, np.int32)
    xways = np.unique(columns["xway"])
    codes[xways] = np.arange(len(xways))
    place = (2 * codes[columns["xway"]] + columns["dir"]) * SEGMENTS + columns["seg"]
    # Times rise already, so a stable sort leaves those of a vehicle in order.
    order = np.argsort(columns["vid"], kind="stable")
    vid, time, spd, lane, pos = (columns.pop(name)[order] for name in ("vid", "time", "spd", "lane", "pos"))
    place = place[order]
    twice = np.flatnonzero((vid[1:] == vid[:-1]) & (time[1:] == time[:-1]))
    if len(twice):
        raise RunError(
            f"{file}: vehicle {vid[twice[0]]} reports twice at time {time[twice[0]]}; leave one of the reports out"
        )
    return Reports(vid, time, spd, lane, place, pos, _previous(vid, time, place), 2 * len(xways) * SEGMENTS)


@kernel
def _previous(vid: Ints, time: Ints, place: Ints) -> Ints:
    found = np.full(len(vid), -1, np.int32)
    for i in range(len(vid)):
        j = i - 1
        while j >= 0 and vid[j] == vid[i] and time[j] > time[i] - EVERY:
            j -= 1
        if j >= 0 and vid[j] == vid[i] and time[j] == time[i] - EVERY and place[j] // SEGMENTS == place[i] // SEGMENTS:
            found[i] = j
    return found
