"""Windows kept one by one: by predicate, with timeouts."""

from dataclasses import replace

from australis.boxes.aggregate.aggregate import Aggregate
from australis.expressions import expr
from australis.expressions.aggregate import aggregation
from australis.model.order import Order
from australis.testing import train
from tests.oracles.running import SINGLY, run
from tests.oracles.tuples import Clock


def test_a_window_of_tuples_that_a_predicate_opened_is_whole_when_it_has_them() -> None:
    stream = train("x int", x=[0, 1, 0, 0, 1, 0])
    box = Aggregate((("n", aggregation("count(*)")),), Order("tup#"), 3, expr("x = 1"))
    assert [row for row, _, _ in run(box, [stream])[0]] == [(1, 3), (2, 3)]
    assert [row for row, _, _ in run(replace(box, partial=True), [stream])[0]] == [(1, 3), (2, 3), (5, 2)]
    # without a size it ends where the next begins, or with the input
    assert [row for row, _, _ in run(replace(box, size=None), [stream])[0]] == [(1, 1), (2, 3), (5, 2)]


def test_a_window_short_of_tuples_that_timed_out_is_emitted() -> None:
    stream = train("x int", x=[1, 2], ts=[0, 9])
    box = Aggregate((("n", aggregation("count(*)")),), Order("tup#"), 3, 3, timeout="5 us")
    assert run(box, [stream])[0] == [((1, 1), 0, 2)]


def test_an_overdue_window_is_emitted_and_its_stragglers_are_late() -> None:
    box = Aggregate((("n", aggregation("count(*)")),), Order("a"), 10, 10, timeout="5 us")
    stream = train("a int", a=[1, 2, 3, 12], ts=[0, 5, 6, 7])
    assert run(box, [stream]) == ([((0, 2), 0, 3), ((10, 1), 7, 4)], [((3,), 6, 3)])


def test_the_clock_times_windows_of_silent_groups_out() -> None:
    box = Aggregate((("n", aggregation("count(*)")),), Order("a", by=("g",)), 10, 10, timeout="5 us")
    stream = train("a int, g string", a=[11, 1, 2], g=["q", "p", "p"], ts=[0, 0, 3])
    results, late = run(box, [stream], clocks=[Clock(5, 2), Clock(6, 2)])
    assert results == [((0, "p", 1), 0, 2), ((10, "q", 1), 0, 2)]
    assert late == [((2, "p"), 3, 3)]


def test_a_predicate_opens_windows_that_end_where_the_next_begins() -> None:
    box = Aggregate((("n", aggregation("count(*)")),), Order("a"), None, expr("x = 1"))
    stream = train("a int, x int", a=[1, 2, 4, 5, 6], x=[0, 0, 1, 0, 1])
    assert run(box, [stream], SINGLY)[0] == [((1, 2), 1, 3), ((4, 2), 3, 5), ((6, 1), 5, 5)]


def test_windows_of_a_predicate_and_a_size_overlap_and_leave_gaps() -> None:
    box = Aggregate((("n", aggregation("count(*)")),), Order("a"), 3, expr("x = 1"))
    stream = train("a int, x int", a=[1, 2, 3, 7, 8], x=[0, 1, 0, 0, 1])
    assert run(box, [stream], SINGLY) == ([((1, 3), 1, 4), ((2, 2), 2, 4), ((8, 1), 5, 5)], [])
