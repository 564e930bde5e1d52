"""Queries of a simulated city."""

import numpy as np
import pandas as pd
import pytest

from australis.apps.city.queries import Mix
from australis.apps.city.roads import Roads
from australis.apps.city.simulate import City
from tests.apps.city.simulated import tuples


def test_queries_are_registered_once_and_removed_once(told: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    objects, queries = told
    new, old = (queries[queries.action == action] for action in ("register", "remove"))
    assert new["query"].tolist() == list(range(len(new)))
    assert old["query"].is_unique
    assert (old.time.to_numpy() > new.set_index("query").time[old["query"]].to_numpy()).all()
    change = np.where(queries.action == "register", 1, -1)
    assert set(pd.Series(change).groupby(queries.time).sum().cumsum()) == {60}
    last = objects.groupby("id").time.max()
    ends = old.set_index("query").time.reindex(new["query"]).fillna(objects.time.max() + 1)
    focal = new.focal.notna().to_numpy()
    # A focal object is on the roads for as long as its query is.
    assert (ends.to_numpy()[focal] <= last[new.focal[focal]].to_numpy() + 1).all()


def test_queries_have_their_sizes_and_shares(ground: Roads) -> None:
    mix = Mix(4000, moving=0.25, nearest=0.5, smallest=0.001, largest=0.1, k=7)
    _, queries = tuples(City(50, 1, mix=mix), ground)
    x1, y1, x2, y2 = ground.space
    assert queries.focal.notna().mean() == pytest.approx(0.25, abs=0.03)
    assert (queries.kind == "knn").mean() == pytest.approx(0.5, abs=0.03)
    assert (queries.k.dropna() == 7).all()
    ranges = queries[queries.kind == "rectangle"]
    part = ranges.width * ranges.height / ((x2 - x1) * (y2 - y1))
    assert part.between(0.001 - 1e-9, 0.1 + 1e-9).all()
    assert (part < 0.01).mean() == pytest.approx(0.5, abs=0.05)
    still, around = ranges[ranges.focal.isna()], ranges[ranges.focal.notna()]
    assert (still.x - still.width / 2 >= x1 - 1e-9).all()
    assert (still.x + still.width / 2 <= x2 + 1e-9).all()
    assert (still.y + still.height / 2 <= y2 + 1e-9).all()
    assert (around[["x", "y"]] == 0).all(axis=None)
    assert queries[queries.kind == "knn"][["width", "height"]].isna().all(axis=None)
