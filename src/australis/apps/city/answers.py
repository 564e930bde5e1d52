"""Answers to the queries of a city, from a watch box: the updates of every moment, and the reach of neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import australis as au
from australis.apps.city.queries import QUERIES
from australis.apps.city.simulate import OBJECTS
from australis.boxes.moving.regions import NEAREST
from australis.connectors.sources.uri import read

_BOX = "watch"


def watch_answers(
    path: Path, query_rows: pa.Table, city: dict[str, Any]
) -> Iterator[tuple[int, pa.RecordBatch, dict[int, float]]]:
    """Run a watch box. Yields each moment's second, updates (`query, sign, id`) and reach of kNN queries."""
    objects, queries = au.stream("objects", OBJECTS), au.stream("queries", QUERIES)
    silence = int(city["every"] / city["share"]) - 1
    run = au.Local(
        au.network(seen=objects.moving.watch(queries, time="time", timeout=silence, every="train", box=_BOX))
    )
    times = query_rows["time"].to_numpy()
    for second, reports in _moments(path):
        now = query_rows.filter(pa.array(times == second))
        yield second, run.push(queries=now, objects=reports)["seen"], _reaches(run)


def _reaches(run: au.Local) -> dict[int, float]:
    queries = run.tables[_BOX]["queries"]
    slots = queries.slots[queries["kind"][queries.slots] == NEAREST]
    return dict(zip(queries["query"][slots].tolist(), queries["limit"][slots].tolist(), strict=True))


def _moments(path: Path) -> Iterator[tuple[int, pa.Table]]:
    """The reports of each second. The file is in order of time."""
    pieces: list[pa.RecordBatch] = []
    for part in read(path, OBJECTS):
        times: npt.NDArray[Any] = part["time"].to_numpy()
        cuts = np.flatnonzero(np.diff(times)) + 1
        for start, stop in zip([0, *cuts.tolist()], [*cuts.tolist(), len(times)], strict=True):
            piece = part.slice(start, stop - start)
            if pieces and len(piece) and pieces[0]["time"][0] != piece["time"][0]:
                yield pieces[0]["time"][0].as_py(), pa.Table.from_batches(pieces)
                pieces = []
            if len(piece):
                pieces.append(piece)
    if pieces:
        yield pieces[0]["time"][0].as_py(), pa.Table.from_batches(pieces)
