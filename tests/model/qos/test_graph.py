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
