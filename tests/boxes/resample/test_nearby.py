"""Windows of one stream's tuples around those of another, as both arrive."""

from australis.boxes.resample.resample import Resample
from australis.expressions.aggregate import aggregation
from australis.model.order import Order
from australis.testing import Cut, train
from tests.boxes.resample.test_resample import Case
from tests.oracles.running import SINGLY, run
from tests.oracles.tuples import Tuple


def test_a_group_that_begins_late_is_near_an_old_tuple_still() -> None:
    case = Case(size=1)
    left = [Tuple({"a": 5}, 9, 1)]
    right = [
        Tuple({"b": b, "g": g, "h": 0, "x": b}, 4, n) for n, (b, g) in enumerate([(9, "x"), (5, "y"), (7, "y")], 2)
    ]
    assert [(row[:3], number) for row, _, number in run(case.box, case.trains(left, right), SINGLY)[0]] == [
        (("y", 5, 1), 4)
    ]


def test_a_tuple_with_nothing_near_has_a_result_too() -> None:
    functions = {"n": "count(*)", "mean": "avg(x)", "one": "first(x)", "kinds": "count(distinct x)", "total": "sum(x)"}
    box = Resample(tuple((n, aggregation(f)) for n, f in functions.items()), Order("a"), Order("b"), 1)
    left = train("a int", a=[0, 5, 9], ts=[7, 3, 8], number=[1, 2, 6])
    right = train("b int, x int", b=[5, 8], x=[4, 6], ts=[9, 1], number=[3, 4])
    nothing = (0, None, None, 0, None)
    expected = [((0, *nothing), 7, 3), ((5, 1, 4, 4, 1, 4), 3, 4), ((9, 1, 6, 6, 1, 6), 1, 6)]
    for cut in (SINGLY, Cut(())):
        assert run(box, [left, right], cut)[0] == expected
    none = [((a, *nothing), ts, 6) for a, ts in ((0, 7), (5, 3), (9, 8))]
    assert run(box, [left, right.slice(0, 0)], SINGLY)[0] == none


def test_of_groups_only_those_with_a_tuple_near_have_a_result() -> None:
    box = Resample((("n", aggregation("count(*)")),), Order("a"), Order("b", by=("g",)), 1)
    left, right = train("a int", a=[0, 5]), train("b int, g string", b=[5, 40, 41], g=["x", "x", "y"], first=3)
    assert [row for row, _, _ in run(box, [left, right])[0]] == [("x", 5, 1)]


def test_ties_and_late_tuples() -> None:
    box = Resample((("n", aggregation("count(*)")),), Order("a"), Order("b"), 1)
    left, right = train("a int", a=[3, 2, 3], number=[1, 2, 3]), train("b int", b=[2, 3, 5, 4], first=4)
    results, late_left, late_right = run(box, [left, right], SINGLY)
    assert [(row, number) for row, _, number in results] == [((3, 2), 6), ((3, 2), 6)]
    assert [row for row, _, _ in late_left] == [(2,)]
    assert [row for row, _, _ in late_right] == [(4,)]
