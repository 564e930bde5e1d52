"""Simulate: the traffic of some expressways, second by second, written to a folder as it goes (3.1.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from australis.apps.linear_road.record import BALANCE, EVERY, EXIT, EXPENDITURE, REPORT, SEGMENTS, TRAVEL
from australis.apps.linear_road.simulation import accidents, ramps, reports, writer
from australis.apps.linear_road.simulation.following import move
from australis.apps.linear_road.simulation.lanes import change
from australis.apps.linear_road.simulation.road import Longs, Road, road, wider
from australis.errors import RunError, listing, near

_ROWS = 1 << 16
"""The most rows that are written at a time."""
_PROGRESS_EVERY = 10
"""Simulated seconds between two calls of `on_progress`."""
_MOST = 32767
"""The most expressways: their numbers have 16 bits."""


def simulate(
    out: Path,
    xways: int = 1,
    seconds: int = 10800,
    seed: int = 1,
    form: str = "arrow",
    copies: int = 1,
    on_progress: Callable[[int], None] | None = None,
    *,
    replace: bool = False,
) -> dict[str, Any]:
    """Write what the vehicles of some expressways send to a folder, and return the note that it holds.

    The same options give the same tuples in every form. `copies` is only noted: `feed` presents each expressway as that
    many. `on_progress` is called with the second that was reached. A simulation that is in the folder already is
    replaced only with `replace`.
    """
    _check(xways, seconds, seed, form, copies)
    city = _city(xways, seconds, seed)

    def note() -> dict[str, Any]:
        options = {"seed": seed, "seconds": seconds, "xways": xways, "copies": copies, "form": form}
        return {"version": version("australis"), **options, **_results(city, seconds)}

    with writer.folder(Path(out), form, xways, note, replace) as writes:
        # Expressways that share a flat file share a buffer, so that its lines are in order of time.
        buffers = [reports.rows(_ROWS) for _ in writes]
        for now in range(seconds):
            for xway in range(xways):
                at = min(xway, len(writes) - 1)
                _drive(city, xway, now, seconds)
                # A report may come with a request.
                if buffers[at].filled[0] + 2 * city.roads[xway].due[now % EVERY] > _ROWS:
                    _flush(buffers[at], writes[at])
                reports.report(city.roads[xway], city.idle, buffers[at], city.totals, now, xway, xways)
            if on_progress and now % _PROGRESS_EVERY == _PROGRESS_EVERY - 1:
                on_progress(now + 1)
        for rows, write in zip(buffers, writes, strict=True):
            _flush(rows, write)
    return note()


@dataclass
class _City:
    """All expressways, and the vehicles that are on none of them."""

    roads: list[Road]
    accidents: list[list[accidents.Accident]]
    idle: ramps.Idle
    totals: Longs
    """Tuples by type."""


def _city(xways: int, seconds: int, seed: int) -> _City:
    roads = [road(seed, number) for number in range(xways)]
    plans = [accidents.plan(each, number, seconds) for number, each in enumerate(roads)]
    return _City(roads, plans, ramps.idle(), np.zeros(TRAVEL + 1, np.int64))


def _drive(city: _City, xway: int, now: int, seconds: int) -> None:
    """Simulate a second of an expressway: vehicles change lanes, move, enter and have accidents."""
    here = city.roads[xway]
    if here.frees[0] < 2 * SEGMENTS:  # one may enter at every ramp
        here = city.roads[xway] = wider(here)
    if city.idle.numbers[0] + here.counts[:, EXIT].sum() > len(city.idle.vid):
        city.idle = ramps.enlarge(city.idle)
    change(here, now)
    move(here)
    ramps.enter(here, city.idle, now, ramps.entries(now))
    for accident in city.accidents[xway]:
        accidents.tend(accident, here, now, seconds)


def _flush(rows: reports.ReportRows, write: writer.Write) -> None:
    write(reports.batch(rows))
    rows.filled[0] = 0


def _results(city: _City, seconds: int) -> dict[str, Any]:
    """The totals of a simulation."""
    requests = {str(kind): int(city.totals[kind]) for kind in (BALANCE, EXPENDITURE, TRAVEL)}
    happened = [accident for each in city.accidents for accident in each if 0 <= accident.detected < seconds]
    return {
        "vehicles": int(city.idle.numbers[1]),
        "waiting": sum(int(each.waiting.sum()) for each in city.roads),
        "queries": sum(requests.values()),
        "reports": int(city.totals[REPORT]),
        "requests": requests,
        "accidents": [accident.note() for accident in happened],
    }


def _check(xways: int, seconds: int, seed: int, form: str, copies: int) -> None:
    for name, value, least, most in (
        ("expressways", xways, 1, _MOST), ("copies", copies, 1, _MOST), ("seconds", seconds, 1, 1 << 30),
    ):  # fmt: skip
        if not least <= value <= most:
            raise RunError(f"{value} {name}: give {least} to {most}")
    if xways * copies > _MOST:
        raise RunError(f"{xways} expressways in {copies} copies: that is more than the {_MOST} that can be numbered")
    if seed < 0:
        raise RunError(f"seed {seed}: give 0 or more")
    if form not in writer.FORMS:
        raise RunError(f"form `{form}`: give {listing(writer.FORMS)}{near(form, writer.FORMS)}")
