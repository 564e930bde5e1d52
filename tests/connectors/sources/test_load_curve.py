"""Load curves: tuples are due by their integral, however they are asked for."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from australis import RunError
from australis.arrow.schema import schema
from australis.connectors.sources.load_curve import LoadCurve, load_curve
from australis.connectors.sources.rate import Rate
from australis.connectors.sources.uri import source
from tests.connectors.sources.test_replay import Clock, stamps

SECOND = 1_000_000


@st.composite
def curves(draw: st.DrawFn) -> LoadCurve:
    gaps = draw(st.lists(st.sampled_from([0.25, 1.0, 3.5, 10.0]), max_size=5))
    seconds = np.cumsum([0.0, *gaps]).tolist()
    rates = [draw(st.sampled_from([0.0, 0.5, 1.0, 7.0, 1000.0])) for _ in seconds]
    return LoadCurve((*zip(seconds, rates, strict=True), (seconds[-1] + 1, 3.0)))


def integral(curve: LoadCurve, second: float) -> float:
    """How many tuples have come by a second, one step after another."""
    ends = [start for start, _ in curve.steps[1:]] + [second]
    return sum(rate * max(min(end, second) - start, 0.0) for (start, rate), end in zip(curve.steps, ends, strict=True))


@given(curves(), st.sampled_from([0.0, 0.1, 0.25, 1.0, 4.75, 60.0]))
@example(LoadCurve(((0, 0), (2, 10))), 1.0)
def test_what_is_due_is_the_integral(curve: LoadCurve, second: float) -> None:
    assert curve.count(second) == int(integral(curve, second) + 1e-9) + 1
    assert curve.count(-0.001) == 0


@given(curves(), st.integers(0, 300))
@example(LoadCurve(((0, 10), (1, 0), (5, 10))), 11)
def test_a_tuple_is_due_when_all_before_it_have_come(curve: LoadCurve, number: int) -> None:
    (due,) = curve.due(number, number + 1)
    assert integral(curve, due) == pytest.approx(number, abs=1e-6)
    assert curve.count(due + 1e-6) > number
    if due > 0:
        assert curve.count(due - 1e-6) <= number


def test_while_nothing_comes_the_last_tuple_was_due_as_that_began() -> None:
    assert LoadCurve(((0, 10), (1, 0), (5, 10))).due(9, 12).tolist() == [0.9, 1.0, 5.1]
    assert LoadCurve(((0, 10), (1, 0))).due(10, 12).tolist() == [1.0, np.inf]


def test_the_rate_at_a_second_is_that_of_its_step() -> None:
    curve = LoadCurve(((0, 10), (1, 0), (5, 20)))
    assert [curve.at(second) for second in (-1, 0, 0.9, 1, 5, 1e9)] == [10, 10, 10, 0, 20, 20]


@given(curves(), st.integers(1, 40), st.integers(1, 4), st.lists(st.integers(1, 9), max_size=5))
def test_tuples_of_a_curve_came_when_they_were_due_however_they_are_cut(
    curve: LoadCurve, count: int, splits: int, cuts: list[int]
) -> None:
    clock = Clock()
    rate = Rate(schema("vid int"), curve, limit=count, began=clock.now, clock=clock)
    clock.now += 1000 * SECOND
    due = (curve.due(0, count) * 1e6).astype(np.int64) + rate.began
    assert stamps(rate, [*cuts, 100], splits) == due.tolist()
    assert rate.arrived({"began": rate.began, "n": 0}) == rate.began
    assert rate.finished(rate.latest(rate.start(), 100))


def test_a_curve_gives_what_is_due_and_no_more() -> None:
    clock = Clock()
    rate = Rate(schema("vid int"), load_curve("10,1000@2"), began=clock.now, clock=clock)
    for seconds, tuples in ((0, 1), (1, 11), (2, 21), (3, 1021)):
        clock.now = rate.began + seconds * SECOND
        assert rate.backlog(rate.start()) == rate.latest(rate.start(), 10**9)["n"] == tuples


def test_a_curve_has_a_text_form() -> None:
    read = source("rate:500,5000@10,500@30.5?limit=9", "vid int")
    assert isinstance(read, Rate)
    assert read.a_second == LoadCurve(((0, 500), (10, 5000), (30.5, 500))) == load_curve(str(read.a_second))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("10,x@3", "`x@3` is no step of a load curve; write it as RATE@SECOND"),
        ("10@1,20@2", "a load curve begins at second 0, not as in 10@1,20@2"),
        ("10,20@2,30@2", "the seconds of a load curve ascend; those of 10,20@2,30@2 do not"),
        ("10,-1@2", "rates from 0 to 1e.12 at finite seconds, not -1@2"),
        ("10,nan@2", "rates from 0 to 1e.12 at finite seconds, not nan@2"),
        ("10,1e300@2", "rates from 0 to 1e.12"),
        ("10,1@inf", "rates from 0 to 1e.12 at finite seconds, not 1@inf"),
        ("0,0@2", "no tuples come by 0,0@2; give a rate above zero"),
    ],
)
def test_mistakes_in_a_curve_are_told(text: str, told: str) -> None:
    with pytest.raises(RunError, match=told):
        source(f"rate:{text}", "vid int")
