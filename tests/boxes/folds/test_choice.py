"""Folds that choose a value: first and last, and the extremes of what is no number."""

from hypothesis import given
from hypothesis import strategies as st

from tests.boxes.folds.test_folds import BOTH, fold, there


@BOTH
@given(st.lists(st.none() | st.sampled_from(["", "a", "b", "ba"]), min_size=1, max_size=10))
def test_extremes_of_strings(panes: bool, values: list[str | None]) -> None:
    assert fold("min(x)", "string", values, panes) == min(there(values), default=None)
    assert fold("max(x)", "string", values, panes) == max(there(values), default=None)
    assert fold("count(distinct x)", "string", values) == len(set(there(values)))


@BOTH
@given(st.lists(st.tuples(st.integers(0, 3), st.none() | st.integers(0, 9)), min_size=1, max_size=9))
def test_first_and_last_go_by_value_and_then_by_arrival(panes: bool, tuples: list[tuple[int, int | None]]) -> None:
    at, values = [place for place, _ in tuples], [value for _, value in tuples]
    if min(at) > 0:
        at[0] = 0
    ordered = [value for _, value in sorted(zip(at, values, strict=True), key=lambda pair: pair[0])]
    assert fold("first(x)", "int", values, panes, at) == ordered[0]
    assert fold("last(x)", "int", values, panes, at) == ordered[-1]
