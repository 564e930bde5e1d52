"""Rankings: who is among the k nearest, beside all answers after every report."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from australis.boxes.moving.grid import grid
from australis.boxes.moving.nearest import limit
from australis.boxes.moving.placing import regions as placed_regions
from australis.boxes.moving.rankings import rankings
from tests.boxes.moving.plane import LINE, points
from tests.boxes.moving.test_overlaps import PATHS, changes, scene, stepwise, where
from tests.boxes.moving.test_placing import registered

QUERIES = st.lists(st.tuples(LINE, st.integers(1, 4), st.booleans()), min_size=1, max_size=3)
"""Of each query, the place, how many it wants, and whether it goes with the first object."""


@given(PATHS, QUERIES)
def test_updates_are_those_of_every_moment(paths: Any, wanted: Any) -> None:
    queries = registered(
        *({"kind": "knn", "x": x, "y": 0, "k": k, "focal": 0 if led else None} for x, k, led in wanted)
    )
    here = points([(first, 0.0) for first, _ in paths])
    reached = placed_regions(queries, queries.alive, here, np.where(queries["bound"], 0, -1), False)
    limit(grid(here, here, np.arange(len(paths))), reached, np.arange(len(wanted)), queries["k"])
    queries["limit"][:], queries["tie"][:] = reached.limit, reached.tie  # as they are once queries are registered
    placed, versions = scene(paths, queries)
    none = np.zeros(len(placed.slots), bool)
    chosen = np.arange(len(versions.queries))
    found = rankings(placed, np.empty(0, np.int64), versions, chosen, queries["k"], none, False).found

    def answers(moment: int) -> set[tuple[int, int]]:
        places = [where(path, moment) for path in paths]
        made = set()
        for query, (x, k, led) in enumerate(wanted):
            if led and places[0] is None:
                continue
            centre = x + (places[0] or 0.0) * led
            far = sorted((abs(place - centre), each) for each, place in enumerate(places) if place is not None)
            made |= {(query, each) for _, each in far[:k]}
        return made

    assert changes(found, placed, versions.queries[found.versions]) == stepwise(answers)
