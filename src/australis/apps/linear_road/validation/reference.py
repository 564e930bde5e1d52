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
from australis.apps.linear_road.validation.due import Due, Told, due
from australis.apps.linear_road.validation.history import PastTolls


def reference(feed: Feed, history: PastTolls | None = None, told: Told | None = None) -> Iterator[pa.Table]:
    """Tables of answers, each of one type, with the fields of a line; Emit is Time.

    Without a history there are none to the requests that ask about it.
    """
    for each in due(feed, history, told):
        if each.choices:
            yield _table(each)


def write_reference(feed: Feed, path: str | Path, history: PastTolls | None = None, told: Told | None = None) -> None:
    """Write a flat file of all right answers that are known, type by type."""
    form = csv.WriteOptions(include_header=False)
    with Path(path).open("wb") as file:
        for table in reference(feed, history, told):
            csv.write_csv(table, file, form)


def _table(due: Due) -> pa.Table:
    first, second = due.choices[0]
    if due.type == TRAVEL:
        first, second = np.round(first, 3), np.round(second, 3)
    values = {"vid": due.vid, "time": due.time, "emit": due.time, "qid": due.key, "first": first, "second": second}
    kind = np.full(len(due.key), due.type, np.int8)
    return pa.table({"type": kind} | {name: values[name] for name in LINES[due.type]})
