"""Reports: what vehicles send, every 30 seconds and sometimes with a request (3.1.1, 3.1.2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from australis.apps.linear_road.record import (
    BALANCE,
    DAYS,
    EAST,
    EVERY,
    EXIT,
    EXPENDITURE,
    FEET,
    INPUT,
    REPORT,
    SEGMENTS,
    TRAVEL,
)
from australis.apps.linear_road.simulation.ramps import Idle, close_up, leave
from australis.apps.linear_road.simulation.road import FREE, MPH, Bytes, Longs, Road, Words
from australis.kernels.jit import inner
from australis.kernels.random import Chance, below, uniform

Shorts = npt.NDArray[np.int16]

_REQUESTS = 0.01
"""The fraction of reports that come with a request."""
_BALANCES, _EXPENDITURES = 0.5, 0.1
"""The fractions of requests of these types. The rest asks for travel times."""
_ELSEWHERE = 0.2
"""The fraction of requests about a random expressway, and not about the vehicle's own."""


class ReportRows(NamedTuple):
    """Tuples to write, by the columns of INPUT."""

    type: Bytes
    time: Words
    vid: Words
    spd: Bytes
    xway: Shorts
    lane: Bytes
    dir: Bytes
    seg: Bytes
    pos: Words
    qid: Words
    sinit: Bytes
    send: Bytes
    dow: Bytes
    tod: Shorts
    day: Bytes
    filled: Longs
    """How many, in an array of one."""


def rows(room: int) -> ReportRows:
    """Room for tuples."""
    columns = {column.name: np.zeros(room, column.type.to_pandas_dtype()) for column in INPUT}
    return ReportRows(**columns, filled=np.zeros(1, np.int64))


def batch(rows: ReportRows) -> pa.RecordBatch:
    """The tuples that are filled in, not copied."""
    count = int(rows.filled[0])
    return pa.RecordBatch.from_arrays([pa.array(getattr(rows, name)[:count]) for name in INPUT.names], schema=INPUT)


@inner
def position(road: Road, slot: int) -> int:
    """The position of a vehicle, counted from the west."""
    place = int(road.place[slot])
    return place if road.way[slot] == EAST else SEGMENTS * FEET - 1 - place


@inner
def _blank(rows: ReportRows, type: int, now: int, vid: int) -> int:
    """Add a row where no other field applies, and return its index."""
    i = int(rows.filled[0])
    rows.filled[0] = i + 1
    rows.type[i], rows.time[i], rows.vid[i] = type, now, vid
    rows.spd[i] = rows.xway[i] = rows.lane[i] = rows.dir[i] = rows.seg[i] = rows.pos[i] = -1
    rows.qid[i] = rows.sinit[i] = rows.send[i] = rows.dow[i] = rows.tod[i] = rows.day[i] = -1
    return i


@inner
def _request(rows: ReportRows, totals: Longs, now: int, vid: int, xway: int, xways: int, state: Chance) -> None:
    kind = uniform(state)
    if kind < _BALANCES:
        i = _blank(rows, BALANCE, now, vid)
    else:
        about = below(state, xways) if uniform(state) < _ELSEWHERE else xway
        if kind < _BALANCES + _EXPENDITURES:
            i = _blank(rows, EXPENDITURE, now, vid)
            rows.day[i] = 1 + below(state, DAYS)
        else:
            i = _blank(rows, TRAVEL, now, vid)
            begin, way = below(state, SEGMENTS), 1 + below(state, SEGMENTS - 1)
            rows.sinit[i], rows.send[i] = begin, (begin + way) % SEGMENTS
            rows.dow[i], rows.tod[i] = 1 + below(state, 7), 1 + below(state, 1440)
        rows.xway[i] = about
    rows.qid[i] = totals[BALANCE] + totals[EXPENDITURE] + totals[TRAVEL]
    totals[rows.type[i]] += 1


@inner
def report(road: Road, idle: Idle, rows: ReportRows, totals: Longs, now: int, xway: int, xways: int) -> None:
    """Report what is due, and end the trips that reported from an exit ramp; `totals` counts tuples by type."""
    for slot in range(len(road.state)):
        if road.phase[slot] != now % EVERY or road.state[slot] == FREE:
            continue
        vid = int(road.vid[slot])
        i = _blank(rows, REPORT, now, vid)
        pos = position(road, slot)
        rows.spd[i] = int(road.speed[slot] / MPH + 0.5)
        rows.xway[i], rows.lane[i], rows.dir[i] = xway, road.lane[slot], road.way[slot]
        rows.seg[i], rows.pos[i] = pos // FEET, pos
        totals[REPORT] += 1
        if uniform(road.chance) < _REQUESTS:
            _request(rows, totals, now, vid, xway, xways, road.chance)
        if road.lane[slot] == EXIT:
            leave(road, idle, slot, now)
    close_up(road, EXIT)
