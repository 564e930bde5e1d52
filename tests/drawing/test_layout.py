"""Places for the nodes of a drawn graph."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from australis.drawing.layout import Rect, layout


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
