"""Overlaps: who comes into regions and leaves them, beside all answers after every report."""

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from australis.boxes.moving import objects
from australis.boxes.moving.overlaps import FoundUpdates, joined, overlaps
from australis.boxes.moving.placements import Placements, placements
from australis.boxes.moving.versions import RegionVersions, versions
from australis.model.table import Table
from tests.boxes.moving.plane import LINE, inside, points
from tests.boxes.moving.test_placements import reports
from tests.boxes.moving.test_placing import registered

MOMENTS = 4
PATHS = st.lists(
    st.tuples(LINE, st.dictionaries(st.integers(0, MOMENTS - 1), st.none() | LINE, min_size=1)), min_size=1, max_size=5
)
"""Of each object, where it is before all moments, and where it is from some moments on."""
CIRCLES = st.lists(st.tuples(LINE, st.sampled_from([0.0, 1.0, 2.5]), st.booleans()), min_size=1, max_size=4)
"""Of each query, the place, the radius, and whether it goes with the first object."""


def scene(paths: Any, queries: Table) -> tuple[Placements, RegionVersions]:
    """The places of objects on a line, and the regions of the queries, which may follow the first of them."""
    table = objects.table(pa.field("id", pa.int64()), (), pa.int64())
    slots = table.find([pa.array(range(len(paths)))], len(paths))
    table[objects.X][slots] = [first for first, _ in paths]
    told = sorted((moment, slot, x) for slot, (_, path) in enumerate(paths) for moment, x in path.items())
    there = reports(*((slot, moment, x, 0) for moment, slot, x in told))
    placed = placements(table, table.alive, there, MOMENTS, None, None)
    leaders = np.where(queries["bound"], 0, -1)
    before = points([(first, 0.0) for first, _ in paths])
    return placed, versions(queries, queries.alive, leaders, before, placed, MOMENTS, False)


def where(path: Any, moment: int) -> float | None:
    """Where an object is after a moment."""
    first, told = path
    past = [at for at in told if at <= moment]
    return told[max(past)] if past else first


def changes(found: FoundUpdates, placed: Placements, queries: Any) -> set[tuple[int, int, int, int]]:
    """The updates as sign, query, object and moment, none of which may be told twice."""
    columns = (found.signs, queries, placed.slots[found.places], found.moments)
    told = list(zip(*(each.tolist() for each in columns), strict=True))
    assert len(told) == len(set(told))
    return set(told)


def stepwise(answers: Any) -> set[tuple[int, int, int, int]]:
    """The updates that lead from each answer (pairs of queries and objects) to the next."""
    steps = [(moment, answers(moment - 1), answers(moment)) for moment in range(MOMENTS)]
    left = {(-1, *pair, moment) for moment, before, after in steps for pair in before - after}
    return left | {(1, *pair, moment) for moment, before, after in steps for pair in after - before}


@given(PATHS, CIRCLES)
def test_updates_are_those_of_every_moment(paths: Any, circles: Any) -> None:
    rows = [
        {"kind": "circle", "x": x, "y": 0, "radius": radius, "focal": 0 if led else None} for x, radius, led in circles
    ]
    placed, regions = scene(paths, registered(*rows))
    none = np.zeros(len(placed.slots), bool)
    found = overlaps(placed, np.empty(0, np.int64), regions, np.arange(len(regions.queries)), none, MOMENTS)

    def answers(moment: int) -> set[tuple[int, int]]:
        places = [where(path, moment) for path in paths]
        return {
            (query, each)
            for query, (x, radius, led) in enumerate(circles)
            for each, place in enumerate(places)
            if not (led and places[0] is None) and place is not None
            if inside((x + (places[0] or 0.0) * led, 0.0, radius), (place, 0.0))
        }

    assert changes(found, placed, regions.queries[found.versions]) == stepwise(answers)


def test_no_updates_are_joined_to_none() -> None:
    assert [len(each) for each in joined([])] == [0] * 4
