"""Updates: what enters and leaves answers, beside all answers before and after."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from australis.boxes.moving.grid import grid
from australis.boxes.moving.updates import Updates, candidates, only, updates
from tests.boxes.moving.plane import LINE, RECTANGLES, inside, pairs, points, regions

PLACE = st.none() | st.tuples(LINE, LINE)
BEFORE_AND_AFTER = st.lists(st.tuples(PLACE, PLACE), min_size=1, max_size=12)
MOVED = st.lists(st.tuples(RECTANGLES, RECTANGLES, st.booleans()), min_size=1, max_size=4)


def told(found: Updates) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """The pairs that leave, and those that enter."""
    here = found.leaving
    return pairs(found.queries[:here], found.objects[:here]), pairs(found.queries[here:], found.objects[here:])


def answers(shapes: Any, places: Any) -> set[tuple[int, int]]:
    return {(q, o) for q, shape in enumerate(shapes) for o, place in enumerate(places) if inside(shape, place)}


def scene(moves: Any, shapes: Any) -> tuple[Any, ...]:
    """Places and regions before and after, and which regions are others."""
    old, new = [before for before, _ in moves], [after for _, after in moves]
    first = [before for before, _, _ in shapes]
    second = [after if anew else before for before, after, anew in shapes]
    return old, new, first, second, np.array([anew for _, _, anew in shapes])


@given(BEFORE_AND_AFTER, MOVED, st.integers(0, 2**12 - 1))
def test_they_lead_from_the_answers_before_to_those_after(moves: Any, shapes: Any, bits: int) -> None:
    old, new, first, second, anew = scene(moves, shapes)
    here = points(new)
    cells = grid(here, points(old), np.flatnonzero(~np.isnan(here.x)))
    before, after = answers(first, old), answers(second, new)
    arguments = points(old), here, regions(first), regions(second), anew, cells
    assert told(updates(*arguments)) == (before - after, after - before)
    again = np.array([bits >> each & 1 for each in range(len(moves))], bool)
    marked = {(query, each) for query, each in before & after if again[each]}
    assert told(updates(*arguments, again)) == (before - after | marked, after - before | marked)


@given(BEFORE_AND_AFTER, MOVED, st.integers(0, 15), st.integers(0, 2**12 - 1))
def test_candidates_that_stay_enter_again(moves: Any, shapes: Any, queries: int, objects: int) -> None:
    old, new, first, second, anew = scene(moves, shapes)
    fresh = np.array([queries >> each & 1 for each in range(len(shapes))], bool)
    again = np.array([objects >> each & 1 for each in range(len(moves))], bool)
    before, after = answers(first, old), answers(second, new)
    found = candidates(points(old), points(new), regions(first), regions(second), anew, fresh, again)
    stay = {(query, each) for query, each in before & after if fresh[query] or again[each]}
    assert told(found) == (before - after, after - before | stay)


def test_the_other_regions_are_nowhere() -> None:
    kept = only(regions([(0, 1, 0, 1), (0, 1, 0, 1)]), np.array([True, False]))
    assert (kept.west <= kept.east).tolist() == [True, False]
