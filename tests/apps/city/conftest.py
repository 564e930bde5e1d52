"""Cities that the tests of their modules share."""

from collections import defaultdict
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pytest

from australis.apps.city.frames import CityFrames, frames
from australis.apps.city.layout import layout
from australis.apps.city.queries import Mix
from australis.apps.city.roads import Roads
from australis.apps.city.routes import Routes, routes
from australis.apps.city.simulate import City, simulate
from tests.apps.city.simulated import MIX, SECONDS, inside, table, tuples


@pytest.fixture(scope="session")
def ground() -> Roads:
    return layout(lines=15, side=6000.0)


@pytest.fixture(scope="session")
def ways(ground: Roads) -> Routes:
    return routes(ground, 1)


@pytest.fixture(scope="session")
def told(ground: Roads) -> tuple[pd.DataFrame, pd.DataFrame]:
    return tuples(City(300, 200, mix=MIX), ground)


@pytest.fixture(scope="session")
def city(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("pictures") / "city"
    mix = Mix(12, nearest=0.2, smallest=0.02, largest=0.2, renewed=0.01)
    simulate(out, City(80, SECONDS, mix=mix), layout(lines=9, side=3000.0))
    return out


@pytest.fixture(scope="session")
def answers(city: Path) -> Path:
    """What a recomputation at every second gives, as changes."""
    seen: dict[int, dict[int, tuple[float, float]]] = defaultdict(dict)
    for row in table(city, "objects"):
        seen[row["time"]][row["id"]] = (row["x"], row["y"])
    asked, before, changes = {}, defaultdict(set), []
    for time in range(SECONDS):
        for row in table(city, "queries"):
            if row["time"] == time:
                asked[row["query"]] = row if row["action"] == "register" else None
        for query, row in asked.items():
            now = inside(row, seen[time])
            changes += [(query, 1, each, time) for each in sorted(now - before[query])]
            changes += [(query, -1, each, time) for each in sorted(before[query] - now)]
            before[query] = now
    path = city.parent / "answers.csv"
    columns = dict(zip(("query", "sign", "object", "time"), map(list, zip(*changes, strict=True)), strict=True))
    pa.csv.write_csv(pa.table(columns), path)
    return path


@pytest.fixture(scope="session")
def whole(city: Path, answers: Path) -> CityFrames:
    return frames(city, answers)
