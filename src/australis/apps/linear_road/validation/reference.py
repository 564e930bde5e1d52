"""Reference: all right answers to a feed, as a run would write them at once (3.3)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from australis.apps.linear_road.feed import Feed
from australis.apps.linear_road.record import TRAVEL
from australis.apps.linear_road.validation.answers import LINES
from australis.apps.linear_road.validation.due import DueAnswers, OnProgress, due
from australis.apps.linear_road.validation.history import PastTolls


def reference(
    feed: Feed, history: PastTolls | None = None, on_progress: OnProgress | None = None
) -> Iterator[pa.Table]:
    """Tables of answers, each of one type, with the fields of a line; Emit is Time.

    Without a history there are no answers to requests about it.
    """
    for each in due(feed, history, on_progress):
        if each.choices:
            yield _table(each)


def write_reference(
    feed: Feed, path: str | Path, history: PastTolls | None = None, on_progress: OnProgress | None = None
) -> None:
    """Write a flat file of all right answers that are known, type by type."""
    form = csv.WriteOptions(include_header=False)
    with Path(path).open("wb") as file:
        for table in reference(feed, history, on_progress):
            csv.write_csv(table, file, form)


def _table(due: DueAnswers) -> pa.Table:
    first, second = due.choices[0]
    if due.type == TRAVEL:
        first, second = np.round(first, 3), np.round(second, 3)
    values = {"vid": due.vid, "time": due.time, "emit": due.time, "qid": due.key, "first": first, "second": second}
    kind = np.full(len(due.key), due.type, np.int8)
    return pa.table({"type": kind} | {name: values[name] for name in LINES[due.type]})
