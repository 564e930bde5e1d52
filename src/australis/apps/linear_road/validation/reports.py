"""Reports: the position reports of a file, vehicle by vehicle, and the requests between them (3.1.2)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from australis.apps.linear_road.feed import Feed
from australis.apps.linear_road.record import EVERY, INPUT, REPORT, SEGMENTS
from australis.apps.linear_road.validation.arrays import Ints
from australis.errors import RunError
from australis.kernels.jit import kernel

_COLUMNS = ("vid", "time", "spd", "xway", "lane", "dir", "seg", "pos")


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
    parts: dict[str, list[Ints]] = {name: [] for name in _COLUMNS}
    request_batches = []
    for batch in feed.read(file):
        columns = {name: batch[name].to_numpy() for name in ("type", *_COLUMNS)}
        is_report = columns["type"] == REPORT
        request_batches.append(batch.filter(pa.array(~is_report)))
        for name in _COLUMNS:
            parts[name].append(columns[name][is_report])
    requests = pa.Table.from_batches(request_batches, INPUT)
    return _sort({name: _concatenate(name, parts.pop(name)) for name in _COLUMNS}, file), requests


def _concatenate(name: str, parts: list[Ints]) -> Ints:
    return np.concatenate([np.empty(0, INPUT.field(name).type.to_pandas_dtype()), *parts])


def _sort(columns: dict[str, Ints], file: Path) -> Reports:
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
    previous = np.full(len(vid), -1, np.int32)
    for i in range(len(vid)):
        j = i - 1
        while j >= 0 and vid[j] == vid[i] and time[j] > time[i] - EVERY:
            j -= 1
        if j >= 0 and vid[j] == vid[i] and time[j] == time[i] - EVERY and place[j] // SEGMENTS == place[i] // SEGMENTS:
            previous[i] = j
    return previous
