"""History writer: writes the history of one expressway, table by table (3.1.3)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import csv, ipc

from australis.apps.linear_road.record import SEGMENTS
from australis.apps.linear_road.road_history import TABLES, Columns, file
from australis.apps.linear_road.weeks import DAYS, MINUTES, PLACES, WEEKDAYS, loads, tolls_paid, traffic, weekday

_FORMS: dict[str, Callable[[Any, pa.Schema], Any]] = {
    "arrow": ipc.new_file,
    "csv": lambda sink, schema: csv.CSVWriter(sink, schema, write_options=csv.WriteOptions(include_header=False)),
}


def write(folder: Path, seed: int, xway: int, vids: npt.NDArray[np.int32], flat: bool, attempt: str = "0") -> None:
    """Write the tables of an expressway, for vehicles in order; `flat` writes the paper's files beside them."""
    endings = ("arrow", "csv") if flat else ("arrow",)
    weeks = np.zeros((2, WEEKDAYS, MINUTES * PLACES))
    _write_table(folder, "tolls", xway, endings, attempt, [_tolls(seed, xway, vids)])
    _write_table(folder, "segments", xway, endings, attempt, _segments(seed, xway, weeks))
    _write_table(folder, "weekly", xway, ("arrow",), attempt, [_weekly(weeks / (DAYS // WEEKDAYS))])


def _write_table(
    folder: Path, table: str, xway: int, endings: tuple[str, ...], attempt: str, batches: Iterable[pa.RecordBatch]
) -> None:
    """Write a table to temporary files of this attempt, and then rename them, since a task may run twice."""
    paths = [file(folder, table, xway, ending) for ending in endings]
    temporaries = [path.with_name(f".{path.name}.{attempt}") for path in paths]
    with ExitStack() as stack:
        sinks = [stack.enter_context(path.open("wb")) for path in temporaries]
        writers = [_FORMS[ending](sink, TABLES[table]) for ending, sink in zip(endings, sinks, strict=True)]
        for batch in batches:
            for writer in writers:
                writer.write_batch(batch)
        for writer, sink in zip(writers, sinks, strict=True):
            writer.close()
            sink.flush()
            os.fsync(sink.fileno())
    for temporary, path in zip(temporaries, paths, strict=True):
        temporary.replace(path)


def _tolls(seed: int, xway: int, vids: npt.NDArray[np.int32]) -> pa.RecordBatch:
    """The tolls of all vehicles on all days."""
    days = np.tile(np.arange(1, DAYS + 1, dtype=np.int8), len(vids))
    return _batch(
        "tolls",
        {
            "vid": np.repeat(vids, DAYS),
            "day": days,
            "xway": np.full(len(days), xway, np.int16),
            "tolls": tolls_paid(seed, xway, vids),
        },
    )


def _segments(seed: int, xway: int, weeks: npt.NDArray[np.float64]) -> Iterator[pa.RecordBatch]:
    """A batch for each day, by minute, direction and segment. Speeds and counts are added to those of the weekday."""
    profiles = [loads(each) for each in range(1, WEEKDAYS + 1)]
    rows = MINUTES * PLACES
    places = _places(MINUTES)
    for day in range(1, DAYS + 1):
        lav, cnt, toll = np.empty(rows, np.int16), np.empty(rows, np.int16), np.empty(rows, np.int32)
        traffic(profiles[weekday(day) - 1], seed, xway, day, lav, cnt, toll)
        weeks[:, weekday(day) - 1] += lav, cnt
        numbers: Columns = {"day": np.full(rows, day, np.int8), "xway": np.full(rows, xway, np.int16)}
        yield _batch("segments", places | numbers | {"lav": lav, "cnt": cnt, "toll": toll})


def _weekly(averages: npt.NDArray[np.float64]) -> pa.RecordBatch:
    """All weekdays in one batch, so that a column is one array."""
    lav, cnt = averages.reshape(2, -1)
    dow = np.repeat(np.arange(1, WEEKDAYS + 1, dtype=np.int8), MINUTES * PLACES)
    return _batch("weekly", _places(WEEKDAYS * MINUTES) | {"dow": dow, "lav": lav, "cnt": cnt})


def _places(minutes: int) -> Columns:
    """The columns that say where and when in the day, over a number of minutes."""
    return {
        "min": np.repeat(np.arange(minutes, dtype=np.int16) % MINUTES + 1, PLACES).astype(np.int16),
        "dir": np.tile(np.repeat(np.arange(2, dtype=np.int8), SEGMENTS), minutes),
        "seg": np.tile(np.arange(SEGMENTS, dtype=np.int8), 2 * minutes),
    }


def _batch(table: str, columns: Columns) -> pa.RecordBatch:
    schema = TABLES[table]
    return pa.record_batch([pa.array(columns[column.name], column.type) for column in schema], schema=schema)
