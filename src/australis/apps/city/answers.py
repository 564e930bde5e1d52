"""Answers to the queries of a city: what a watch box gives at every moment, and how far circles of neighbours reach."""

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


def watched(
    path: Path, asked: pa.Table, city: dict[str, Any]
) -> Iterator[tuple[int, pa.RecordBatch, dict[int, float]]]:
    """For every moment, its second, the updates (`query, sign, id`), and how far each query for neighbours reaches."""
    objects, queries = au.stream("objects", OBJECTS), au.stream("queries", QUERIES)
    silence = int(city["every"] / city["share"]) - 1
    run = au.Local(
        au.network(seen=objects.moving.watch(queries, time="time", timeout=silence, every="train", box=_BOX))
    )
    times = asked["time"].to_numpy()
    for second, reports in _moments(path):
        wanted = asked.filter(pa.array(times == second))
        yield second, run.push(queries=wanted, objects=reports)["seen"], _reaches(run)


def _reaches(run: au.Local) -> dict[int, float]:
    queries = run.tables[_BOX]["queries"]
    slots = queries.slots[queries["kind"][queries.slots] == NEAREST]
    return dict(zip(queries["query"][slots].tolist(), queries["limit"][slots].tolist(), strict=True))


def _moments(path: Path) -> Iterator[tuple[int, pa.Table]]:
    """The reports of each second; they lie in its order."""
    held: list[pa.RecordBatch] = []
    for part in read(path, OBJECTS):
        times: npt.NDArray[Any] = part["time"].to_numpy()
        cuts = np.flatnonzero(np.diff(times)) + 1
        for start, stop in zip([0, *cuts.tolist()], [*cuts.tolist(), len(times)], strict=True):
            piece = part.slice(start, stop - start)
            if held and len(piece) and held[0]["time"][0] != piece["time"][0]:
                yield held[0]["time"][0].as_py(), pa.Table.from_batches(held)
                held = []
            if len(piece):
                held.append(piece)
    if held:
        yield held[0]["time"][0].as_py(), pa.Table.from_batches(held)
