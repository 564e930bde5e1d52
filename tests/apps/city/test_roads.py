"""Roads: read, laid out, and with the fastest ways over them."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.apps.city.layout import SIDE, layout
from australis.apps.city.roads import CLASSES, Roads, read, roads, tables
from australis.apps.city.routes import NO_TURN, backward, fastest, routes, times
from australis.errors import RunError, SchemaError
from tests.oracles.city import costs


def town(edges: list[tuple[int, int]], nodes: int, kinds: list[int] | None = None) -> Roads:
    """Nodes on a curve, so that no two ways are equally long by accident."""
    t = np.arange(nodes, dtype=np.float64)
    begins, ends = (np.array(side, np.int64) for side in zip(*edges, strict=True))
    return roads(100 * t, 7 * t * t, begins, ends, np.array(kinds or [2] * len(edges), np.uint8))


def files(folder: Path, nodes: str, edges: str) -> tuple[Path, Path]:
    (folder / "nodes.csv").write_text(nodes)
    (folder / "edges.csv").write_text(edges)
    return folder / "nodes.csv", folder / "edges.csv"


def test_files_are_read_with_what_they_leave_out(tmp_path: Path) -> None:
    found = read(
        *files(
            tmp_path,
            "node,x,y\nA,0,0\nB,300,400\nC,300,0\nfar,9,9\n",
            "from,to,class,oneway\nA,B,highway,false\nB,C,lane,true\nC,A,street,true\n",
        )
    )
    ways = {(int(b), int(e)): i for i, (b, e) in enumerate(zip(found.begins, found.ends, strict=True))}
    assert set(ways) == {(0, 1), (1, 0), (1, 2), (2, 0)}  # `far` is reached by nothing
    assert found.length[ways[0, 1]] == 500
    assert found.limit[ways[1, 2]] * 3.6 == pytest.approx(30)
    assert [CLASSES[kind] for kind in found.kind] == ["highway", "highway", "lane", "street"]
    assert found.space == (0, 0, 300, 400)


def test_what_is_written_reads_back_the_same(tmp_path: Path) -> None:
    from pyarrow import csv

    city = layout(seed=3, lines=9)
    for name, table in zip(("nodes", "edges"), tables(city), strict=True):
        csv.write_csv(table, tmp_path / f"{name}.csv")
    again = read(tmp_path / "nodes.csv", tmp_path / "edges.csv")
    for mine, other in zip(city, again, strict=True):
        np.testing.assert_allclose(mine, other)


@pytest.mark.parametrize(
    ("nodes", "edges", "told"),
    [
        ("node,x\n1,2\n", "from,to\n1,1\n", "has no column y; there are node, x"),
        ("node,x,y\n1,2,3\n1,2,3\n", "from,to\n1,1\n", "a node stands there twice"),
        ("node,x,y\n1,2,3\n", "from,to\n1,2\n", "names the node 2, which is not in"),
        ("node,x,y\n1,2,3\n2,,4\n", "from,to\n1,2\n", "the column x lacks values"),
        ("node,x,y\n1,2,3\n2,a,4\n", "from,to\n1,2\n", "the column x has values that are no numbers"),
        ("node,x,y\n1,2,3\n2,2,4\n", "from,to,class\n1,2,strete\n", "there is no class strete.*did you mean `street`"),
        ("node,x,y\n1,2,3\n2,2,4\n", "from,to,speed\n1,2,0\n", "the column speed has 0.0; give values above 0"),
        ("node,x,y\n1,2,3\n2,2,4\n", "from,to,oneway\n1,2,no way\n", "oneway is true or false"),
        ("node,x,y\n1,2,3\n2,2,4\n", "from,to,oneway\n1,2,true\n", "the roads lead nowhere"),
        ("node,x,y\n1,2,3\n", "from,to\nA,B\n", "nodes are string there, and int64 in"),
        ("node,x,y\n", "from,to\n1,2\n", "is empty"),
    ],
)
def test_files_that_do_not_fit_are_told(tmp_path: Path, nodes: str, edges: str, told: str) -> None:
    with pytest.raises(SchemaError, match=told):
        read(*files(tmp_path, nodes, edges))


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="cannot be read"):
        read(tmp_path / "no.csv", tmp_path / "no.csv")


def test_the_city_is_dense_in_the_middle_and_all_of_it_is_reached() -> None:
    city = layout(1)
    assert city.space == pytest.approx((0, 0, SIDE, SIDE), abs=1)
    middle = np.hypot(city.x - SIDE / 2, city.y - SIDE / 2) < SIDE / 5
    assert middle.mean() > 2 * np.pi / 25  # twice as dense as if it were even
    assert set(city.kind) == set(range(len(CLASSES)))
    assert (routes(city, 1, 0).turns == NO_TURN).sum(axis=2).max() == 1  # only at the place itself
    assert not np.array_equal(layout(2).x, city.x)


edges = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda e: e[0] != e[1]), min_size=1)


@given(edges, st.integers(0, 7), st.data())
def test_fastest_ways_agree_with_an_oracle(found: list[tuple[int, int]], place: int, data: st.DataObject) -> None:
    both = [*found, *((end, begin) for begin, end in found)]
    city = town(both, 8, data.draw(st.lists(st.integers(0, 3), min_size=len(both), max_size=len(both))))
    place %= len(city.x)
    seconds = times(city, np.ones(len(city.ends)))[0]
    cost, turns = np.empty(len(city.x)), np.empty(len(city.x), np.uint8)
    room = np.empty(len(city.ends) + 1), np.empty(len(city.ends) + 1, np.int64)
    back = backward(city)
    fastest(place, city.starts, city.begins, *back, seconds, cost, *room, turns)
    lines = list(zip(city.begins.tolist(), city.ends.tolist(), seconds.tolist(), strict=True))
    expected = costs(len(city.x), lines, place)
    assert cost.tolist() == expected
    for node in range(len(city.x)):
        if node == place:
            assert turns[node] == NO_TURN
        else:
            edge = city.starts[node] + turns[node]
            assert city.begins[edge] == node
            assert expected[node] == seconds[edge] + expected[city.ends[edge]]


def test_bicycles_keep_off_highways_where_they_can() -> None:
    # The highway 0-1 is straight; the lane over 2 is longer, and faster only for those that shun the highway.
    city = roads(
        np.array([0.0, 1000.0, 500.0]), np.array([0.0, 0.0, 200.0]),
        np.array([0, 1, 0, 2, 1, 2]), np.array([1, 0, 2, 0, 2, 1]), np.array([0, 0, 3, 3, 3, 3], np.uint8),
    )  # fmt: skip
    car, *_, bicycle = times(city, np.ones(6))
    assert car[city.kind == 0].max() < car[city.kind == 3].min()
    assert bicycle[city.kind == 0].min() > bicycle[city.kind == 3].sum()
