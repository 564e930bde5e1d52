"""Half minutes: the reports of an expressway, 30 seconds at a time, compared with the reports before (3.2.1, 3.2.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from australis.apps.linear_road.feed import Feed
from australis.apps.linear_road.record import EVERY, FEET, REPORT, SEGMENTS
from australis.errors import RunError, listing

Array = npt.NDArray[Any]
_COLUMNS = ("time", "vid", "spd", "lane", "dir", "seg", "pos")


@dataclass(frozen=True)
class HalfMinute:
    """What vehicles send in 30 seconds, in which each reports once. Reports are in order of vehicles."""

    time: Array
    vid: Array
    spd: Array
    lane: Array
    dir: Array
    seg: Array
    pos: Array
    first: Array
    """Whether a report is the first of a trip."""
    crossed: Array
    """Whether it is the first of a trip in a segment."""
    still: Array
    """How many reports in a row come from this position."""
    requests: Array
    """The types of requests."""
    requesters: Array
    """The vehicles that sent them, on any expressway."""


def choose_expressway(feed: Feed, xway: int | None = None) -> tuple[Feed, int]:
    """The files and the number of an expressway, by default the first. A file has one of them, or is the only file."""
    firsts = [_first(replace(feed, files=(file,))) for file in feed.files]
    met = [each for each in firsts if each is not None]
    if not met:
        raise RunError("there is no position report in the input, so nothing to show")
    if xway is None:
        xway = met[0]
    if len(firsts) > 1 and xway not in met:
        raise RunError(f"no file is of expressway {xway}; they are of {listing(map(str, sorted(met)))}")
    files = tuple(file for file, first in zip(feed.files, firsts, strict=True) if len(firsts) == 1 or first == xway)
    return replace(feed, files=files, copies=1), xway


def half_minutes(feed: Feed, xway: int) -> Iterator[HalfMinute]:
    """The half minutes of an expressway, from time 0 on without a gap."""
    empty = {name: np.zeros(0, np.int64) for name in ("type", "xway", *_COLUMNS)}
    number, last = 0, None
    for batch in feed.merge(EVERY):
        columns = {name: batch[name].to_numpy() for name in empty}
        while number < columns["time"][0] // EVERY:
            last = _half_minute(empty, xway, None)
            number += 1
            yield last
        last = _half_minute(columns, xway, last)
        number += 1
        yield last


def _first(feed: Feed) -> int | None:
    """The expressway of the first report."""
    for file in feed.files:
        for batch in feed.read(file):
            reports = batch["type"].to_numpy() == REPORT
            if reports.any():
                return int(batch["xway"].to_numpy()[reports][0])
    return None


def _half_minute(columns: dict[str, Array], xway: int, last: HalfMinute | None) -> HalfMinute:
    own = (columns["type"] == REPORT) & (columns["xway"] == xway)
    others = columns["type"] != REPORT
    order = np.argsort(columns["vid"][own], kind="stable")
    now = {name: columns[name][own][order].astype(np.int64) for name in _COLUMNS}
    now["pos"] = np.clip(now["pos"], 0, SEGMENTS * FEET - 1)  # files made elsewhere may go on past the ends
    continued, at = np.zeros(len(order), np.bool_), np.zeros(len(order), np.int64)
    before: dict[str, Array] = dict.fromkeys(("seg", "still", "pos", "lane", "dir"), at)
    if last is not None and len(last.vid):
        at = np.minimum(np.searchsorted(last.vid, now["vid"]), len(last.vid) - 1)
        continued = (last.vid[at] == now["vid"]) & (now["time"] - last.time[at] == EVERY)
        before = {name: getattr(last, name)[at] for name in before}
    same = continued & np.logical_and.reduce([before[name] == now[name] for name in ("pos", "lane", "dir")])
    return HalfMinute(
        **now,
        first=~continued,
        crossed=~continued | (before["seg"] != now["seg"]),
        still=np.where(same, before["still"] + 1, 1),
        requests=columns["type"][others],
        requesters=columns["vid"][others],
    )
