"""Flood: many more requests for travel times than vehicles send, laid over an input."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import ipc

from australis.apps.linear_road.driver import ROWS
from australis.apps.linear_road.feed import NOTE, Feed
from australis.apps.linear_road.record import INPUT, SEGMENTS, TRAVEL
from australis.apps.linear_road.road import road
from australis.apps.linear_road.road_layout import is_laid_out
from australis.disk.durable import check_replaceable, renamed
from australis.errors import RunError
from australis.kernels.jit import kernel
from australis.kernels.random import Chance, below, chance

FILE = "flood.arrow"
_BATCH = 1 << 16
_STREAM = 1 << 32  # of random numbers: those below are the expressways of simulations


def flood(
    stream: Feed,
    out: Path,
    rate: float,
    since: int = 0,
    until: int | None = None,
    seed: int = 1,
    *,
    replace: bool = False,
) -> dict[str, Any]:
    """Write an input to a folder with so many requests a second more, and return the note that it holds.

    They are asked from the second `since` up to `until`, which is the end of the input if it is not given: about random
    expressways, segments, weekdays and minutes, for random vehicles. The same options give the same requests. The files
    of the input itself are linked where that can be. A simulation that is in the folder already is replaced only with
    `replace`.
    """
    if until is None:
        until = max(road(file).end for file in stream.files) if is_laid_out(stream) else since + 1
    _check(stream, out, rate, since, until, replace)
    note = dict(stream.note) | {"flood": {"rate": rate, "since": since, "until": until, "seed": seed}}
    first = stream.queries
    try:
        out.mkdir(parents=True, exist_ok=True)
        for old in [out / NOTE, *out.glob("*.arrow")]:  # without a note it is no simulation while it is made
            old.unlink(missing_ok=True)
        for file in stream.files:
            _link(file, out / file.name)
        count = 0
        with renamed(out / FILE) as opened, ipc.new_file(cast(Any, opened), INPUT) as writer:
            for batch in _requests(stream, rate, since, until, seed):
                writer.write_batch(batch)
                count += batch.num_rows
        asked = dict(note.get("requests", {}))
        note |= {"queries": first + count, "requests": asked | {str(TRAVEL): asked.get(str(TRAVEL), 0) + count}}
        with renamed(out / NOTE) as opened:
            opened.write(json.dumps(note, indent=2).encode() + b"\n")
    except OSError as error:
        raise RunError(f"{out}: cannot be written ({error}); free some room, or give another folder") from None
    return note


def _check(stream: Feed, out: Path, rate: float, since: int, until: int, replace: bool) -> None:
    if not is_laid_out(stream):
        raise RunError(f"{stream.files[0].parent}: a flood is laid over a folder that `simulate` made, as arrow")
    if any(file.name == FILE for file in stream.files):
        raise RunError(f"{stream.files[0].parent}: is flooded already; give the input that it was made of")
    if out.exists() and any(file.parent.samefile(out) for file in stream.files):
        raise RunError(f"{out}: is the input itself; give another folder to write to")
    if not 0 < rate <= ROWS:
        raise RunError(f"{rate:g} requests a second: give more than 0, and {ROWS} at most, which a file may hold")
    if not 0 <= since < until:
        raise RunError(f"requests from second {since} to {until}: give the later one last")
    check_replaceable(out, NOTE)
    if (out / NOTE).exists() and not replace:
        raise RunError(f"{out}: holds a simulation; say --replace to put another in its place, or give a new folder")


def _link(file: Path, to: Path) -> None:
    """Let a file have another name too; where that cannot be, copy it."""
    try:
        os.link(file, to)
    except OSError:
        shutil.copyfile(file, to)


def _requests(stream: Feed, rate: float, since: int, until: int, seed: int) -> Iterator[pa.RecordBatch]:
    """The requests in order of time, spread evenly over the seconds."""
    state, qid = chance(seed, _STREAM), stream.queries
    ends = np.floor(np.arange(until - since + 1) * rate).astype(np.int64)
    for begin in range(0, int(ends[-1]), _BATCH):
        places = np.arange(begin, min(begin + _BATCH, int(ends[-1])))
        time = since + np.searchsorted(ends, places, side="right") - 1
        columns = {column.name: np.full(len(places), -1, column.type.to_pandas_dtype()) for column in INPUT}
        columns["type"][:], columns["time"][:], columns["qid"][:] = TRAVEL, time, qid + places
        asked = [columns[name] for name in ("vid", "xway", "sinit", "send", "dow", "tod")]
        _ask(state, max(stream.vehicles, 1), max(stream.xways, 1), *asked)
        yield pa.RecordBatch.from_arrays([pa.array(columns[name]) for name in INPUT.names], schema=INPUT)


@kernel
def _ask(
    state: Chance,
    vehicles: int,
    xways: int,
    vid: npt.NDArray[np.int32],
    xway: npt.NDArray[np.int16],
    sinit: npt.NDArray[np.int8],
    send: npt.NDArray[np.int8],
    dow: npt.NDArray[np.int8],
    tod: npt.NDArray[np.int16],
) -> None:
    """Ask as vehicles do: from any segment to any other, at any minute of the week."""
    for i in range(len(vid)):
        vid[i], xway[i] = below(state, vehicles), below(state, xways)
        begin, way = below(state, SEGMENTS), 1 + below(state, SEGMENTS - 1)
        sinit[i], send[i] = begin, (begin + way) % SEGMENTS
        dow[i], tod[i] = 1 + below(state, 7), 1 + below(state, 1440)
