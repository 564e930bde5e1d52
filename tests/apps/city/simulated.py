"""Simulated cities for tests."""

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from australis.apps.city.queries import Mix
from australis.apps.city.roads import Roads
from australis.apps.city.simulate import OBJECTS, QUERIES, City, moments

SECONDS = 60
MIX = Mix(60, nearest=0.3, renewed=0.02)


def tuples(city: City, ground: Roads) -> tuple[pd.DataFrame, pd.DataFrame]:
    found = list(moments(city, ground))
    objects = pa.Table.from_batches([moment.objects for moment in found], OBJECTS).to_pandas()
    return objects, pa.Table.from_batches([part for each in found for part in each.queries], QUERIES).to_pandas()


def table(city: Path, name: str) -> list[dict[str, Any]]:
    return pa.ipc.open_file(city / f"{name}.arrow").read_all().to_pylist()


def inside(row: dict[str, Any] | None, seen: dict[int, tuple[float, float]]) -> set[int]:
    if row is None or row["kind"] != "rectangle" or (row["focal"] is not None and row["focal"] not in seen):
        return set()
    around = (0.0, 0.0) if row["focal"] is None else seen[row["focal"]]
    return {
        each
        for each, (x, y) in seen.items()
        if abs(x - around[0] - row["x"]) <= row["width"] / 2 and abs(y - around[1] - row["y"]) <= row["height"] / 2
    }
