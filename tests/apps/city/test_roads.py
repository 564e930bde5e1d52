"""Roads: read, laid out, and with the fastest ways over them."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

from australis.apps.city.layout import layout
from australis.apps.city.roads import CLASSES, Roads, read, roads, tables
from australis.errors import RunError, SchemaError


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


edges = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda e: e[0] != e[1]), min_size=1)
