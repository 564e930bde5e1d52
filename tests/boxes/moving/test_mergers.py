"""Mergers: the k nearest of candidates, beside all answers after every moment."""

import math
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from australis.boxes.moving.mergers import Events, mergers
from australis.boxes.moving.placements import sequences
from tests.boxes.moving.plane import LINE
from tests.boxes.moving.test_overlaps import MOMENTS, changes, stepwise

TOLD = st.lists(st.tuples(st.integers(0, MOMENTS - 1), st.integers(0, 5), st.none() | LINE), min_size=1, max_size=12)
"""At a moment, how far a candidate is from then on; none if it goes."""


def really(told: Any, before: Any) -> list[Any]:
    """What is told, in order and once a moment, without those that go and have not been there."""
    made, now = [], list(before)
    for (moment, slot), away in sorted({each[:2]: each[2] for each in told}.items(), key=lambda pair: pair[0]):
        if away is not None or now[slot] is not None:
            made.append((moment, slot, away))
            now[slot] = away
    return made


@given(TOLD, st.lists(st.none() | LINE, min_size=6, max_size=6), st.integers(0, 4), st.integers(0, 4))
def test_updates_are_those_of_every_moment(told: Any, before: Any, few: int, many: int) -> None:
    """Candidates 0 to 3 are of one query, and the others of another, whose k changes when anything is told."""
    told = really(told, before)
    if not told:
        return
    far = np.array([math.nan if away is None else away for away in before])
    moments, slots = (np.array([each[at] for each in told]) for at in (0, 1))
    away = np.array([math.nan if each[2] is None else each[2] for each in told])
    held = np.arange(6)
    placed = sequences(held, far, held, slots, moments, away, MOMENTS)
    asking = (slots > 3).astype(np.int64)
    order = np.lexsort((moments, asking))
    events = Events(asking[order], moments[order], np.full(len(told), many))
    none = np.zeros(len(placed.slots), bool)
    queries = (placed.slots > 3).astype(np.int64)
    found, member = mergers(placed, placed.points.x, queries, events, np.full(2, few), none, MOMENTS)

    def answers(moment: int) -> set[tuple[int, int]]:
        made = set()
        for query, own in ((0, range(4)), (1, range(4, 6))):
            here = [each for each in told if each[1] in own and each[0] <= moment]
            if not any(each[1] in own for each in told):
                continue  # of a query that nothing is told of, nothing changes
            now = {each: before[each] for each in own} | {slot: place for _, slot, place in here}
            ranked = sorted((place, each) for each, place in now.items() if place is not None)
            made |= {(query, each) for _, each in ranked[: many if here else few]}
        return made

    assert changes(found, placed, found.versions) == stepwise(answers)
    assert set(np.flatnonzero(member).tolist()) == {each for _, each in answers(MOMENTS - 1)}
