"""QoS graphs: piecewise-linear, checked, equal by value."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.errors import NetworkError
from australis.model.qos import Graph, QoS, qos
from australis.model.qos.graph import graph

POINTS = st.dictionaries(st.integers(0, 100), st.floats(0, 1), min_size=2, max_size=6)


def test_utility_is_linear_between_points_and_flat_beyond_them():
    latency = graph({2: 1.0, 10: 0.0})
    assert [latency.utility(x) for x in (0, 2, 4, 6, 10, 99)] == [1, 1, 0.75, 0.5, 0, 0]


@given(POINTS, st.floats(-10, 110))
def test_utility_agrees_with_its_oracle(points, x):
    ordered = sorted(points.items())
    if x <= ordered[0][0]:
        expected = ordered[0][1]
    elif x >= ordered[-1][0]:
        expected = ordered[-1][1]
    else:
        (x0, u0), (x1, u1) = next(pair for pair in pairwise(ordered) if pair[0][0] <= x <= pair[1][0])
        expected = u0 + (u1 - u0) * (x - x0) / (x1 - x0)
    assert graph(points).utility(x) == pytest.approx(expected)


@given(POINTS)
def test_graphs_are_equal_by_value_in_whatever_order_they_are_written(points):
    backwards = dict(reversed(points.items()))
    assert graph(points) == graph(backwards)
    assert len({graph(points), graph(backwards)}) == 1


def test_qos_shows_its_graphs():
    worth = qos(latency={2: 1, 10: 0}, delivered={0.5: 0, 1: 1}, value={"toll": {0: 0.1, 9: 1}})
    assert str(worth) == "latency {2: 1, 10: 0}, delivered {0.5: 0, 1: 1}, value of toll {0: 0.1, 9: 1}"
    assert str(QoS()) == ""


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ({"latency": {2: 1.0}}, "two points or more"),
        ({"latency": {2: 1.5, 10: 0}}, r"between 0 and 1.*1\.5 at 2"),
        ({"latency": {2: 0.0, 10: 1.0}}, "latency graph never rises"),
        ({"latency": {-1: 1.0, 10: 0.0}}, "starts at 0 seconds"),
        ({"latency": {0: 1.0, float("inf"): 0.0}}, "finite"),
        ({"delivered": {0: 1.0, 1: 0.0}}, "delivered graph never falls"),
        ({"delivered": {0: 0.0, 100: 1.0}}, "fractions from 0 to 1"),
        ({"value": {}}, "about one column"),
        ({"value": {"a": {0: 0, 1: 1}, "b": {0: 0, 1: 1}}}, "about one column.*'a', 'b'"),
    ],
)
def test_mistakes_are_told(written, told):
    with pytest.raises(NetworkError, match=told):
        qos(**written)


def test_points_of_a_graph_ascend():
    with pytest.raises(NetworkError, match="ascend"):
        Graph(((2.0, 1.0), (1.0, 0.0)))


@given(POINTS)
def test_the_hull_is_the_least_concave_graph_above(points):
    drawn = graph(points)
    hull = drawn.hull
    slopes = [(v - u) / (y - x) for (x, u), (y, v) in pairwise(hull.points)]
    assert all(slope >= after - 1e-9 for slope, after in pairwise(slopes))
    assert all(hull.utility(x) >= utility - 1e-9 for x, utility in drawn.points)
    assert set(hull.points) <= set(drawn.points)
    assert hull.concave
    assert drawn.concave == all(hull.utility(x) == pytest.approx(utility, abs=1e-8) for x, utility in drawn.points)


@given(POINTS)
def test_it_is_flat_up_to_its_bend(points):
    drawn = graph(points)
    first = drawn.points[0][1]
    assert drawn.utility(drawn.bend) == first
    assert drawn.bend == drawn.points[-1][0] or drawn.utility(drawn.bend + 1e-6 * (1 + drawn.bend)) != first


def test_errors_draw_the_graph():
    with pytest.raises(NetworkError) as told:
        qos(latency={0: 0.0, 4: 1.0})
    assert "this is {0: 0, 4: 1}:\n1 |" in str(told.value)
    assert str(told.value).count("*") == 12


def test_graphs_are_normalised():
    for written in ({"latency": {1: 0.9, 2: 0}}, {"delivered": {0: 0, 1: 0.5}}, {"value": {"x": {0: 0, 1: 0.5}}}):
        with pytest.raises(NetworkError, match="reaches 1, so that outputs can be compared"):
            qos(**written)


@pytest.mark.parametrize("weight", [0, -1, float("nan"), float("inf")])
def test_a_weight_is_a_finite_number_above_0(weight):
    with pytest.raises(NetworkError, match="weight"):
        qos(weight=weight)


@given(POINTS, POINTS, st.floats(-10, 110))
def test_a_graph_after_another_is_that_of_its_utilities(outer, inner, x):
    heights = dict(zip(sorted(inner), sorted(inner.values()), strict=True))
    one, other = graph({at / 100: utility for at, utility in outer.items()}), graph(heights)
    assert one.after(other).utility(x) == pytest.approx(one.utility(other.utility(x)), abs=1e-6)


def test_a_concave_graph_after_a_concave_one_that_rises_is_concave():
    assert graph({0: 0, 0.3: 0.8, 1: 1}).after(graph({0: 0, 0.2: 0.7, 0.6: 0.9, 1: 1})).concave
