"""Pictures of networks: everything is in them, nothing overlaps, and text is escaped."""

from itertools import combinations
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

import australis as au
from australis.drawing.layout import Rect, layout
from australis.drawing.picture import svg
from tests import traffic

SVG = "{http://www.w3.org/2000/svg}"
REPORTS = au.stream("reports", "time int, vid int, mph int")


def texts(picture):
    return [element.text for element in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def test_a_picture_shows_names_kinds_parameters_ports_and_groups():
    found = texts(traffic.network().svg())
    for text in ("reports", "static table", "stats", "aggregate", "mph = avg(mph)", "jams", "police", "letters"):
        assert text in found
    fast = REPORTS.filter("mph > 60")
    assert {"rest"} <= set(texts(au.network(fast=fast, slow=fast.rest).svg()))


def test_text_is_escaped():
    net = au.network(out=au.stream("given", {"<b>": "int"}).filter('"<b>" < 1 and "<b>" > -1', box="few"))
    assert '"<b>" < 1 and "<b>" > -1' in texts(net.svg())


def test_long_parameters_are_cut_and_shown_whole_under_the_pointer():
    long = " or ".join(f"mph = {i}" for i in range(30))
    picture = au.network(out=REPORTS.filter(long)).svg()
    assert all(len(text) < 50 for text in texts(picture))
    assert long in "".join(element.text or "" for element in ElementTree.fromstring(picture).iter(f"{SVG}title"))


def test_a_shared_table_is_a_dotted_arrow():
    table = au.table("accounts", "vid int, balance bigint", key="vid")
    charged = REPORTS.write(table, balance="1")
    picture = au.network(charged, out=REPORTS.read(table)).svg()
    assert "au-shared" in picture.partition("</style>")[2]
    assert "accounts" in texts(picture)


@st.composite
def graphs(draw):
    count = draw(st.integers(1, 12))
    names = [f"n{i}" for i in range(count)]
    edges = [
        (names[draw(st.integers(0, at - 1))], names[at])
        for at in range(1, count)
        for _ in range(draw(st.integers(0, 2)))
    ]
    sizes = {name: (draw(st.integers(20, 200)) * 1.0, draw(st.integers(20, 90)) * 1.0) for name in names}
    paths = st.sampled_from([(), ("a",), ("b",), ("a", "c")])
    groups = {name: path for name in names if (path := draw(paths))}
    ends = {target for _, target in edges} - {source for source, _ in edges}
    return sizes, edges, sorted(ends) if draw(st.booleans()) else [], groups


@given(graphs())
def test_nodes_do_not_overlap_and_arrows_lead_to_the_right(graph):
    sizes, edges, last, groups = graph
    placed = layout(sizes, edges, last, groups, 60.0)
    assert all(not placed.nodes[a].meets(placed.nodes[b]) for a, b in combinations(sizes, 2))
    assert all(placed.nodes[source].right < placed.nodes[target].x for source, target in edges)
    page = Rect(-0.1, -0.1, placed.width + 0.2, placed.height + 0.2)
    for rect in (*placed.nodes.values(), *placed.groups.values()):
        assert page.x <= rect.x
        assert page.y <= rect.y
        assert rect.right <= page.right
        assert rect.bottom <= page.bottom
    for path, outline in placed.groups.items():
        for name, group in groups.items():
            if group[: len(path)] == path:
                assert outline.meets(placed.nodes[name])
        for name in sizes:
            if groups.get(name, ())[: len(path)] != path:
                assert not outline.meets(placed.nodes[name])
    assert placed.height < 4 * sum(height + 60 for _, height in sizes.values())


def test_a_large_network_is_drawn_quickly():
    stream = REPORTS
    for _ in range(150):
        fast = stream.filter("mph > 60")
        stream = fast.union(fast.rest)
    assert svg(au.network(out=stream)).count("<rect") == 302
