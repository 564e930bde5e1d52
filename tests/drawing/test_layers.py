"""Layers of a drawn graph."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from australis.drawing.layers import Neighbours, layers_of, neighbours, untangle, with_bends


def test_a_node_is_right_of_its_sources_and_a_source_just_before_what_it_feeds() -> None:
    edges = [("a", "b"), ("b", "c"), ("late", "c"), ("c", "out"), ("a", "short")]
    names = ["a", "late", "b", "c", "out", "short"]
    assert layers_of(names, edges, set()) == {"a": 0, "b": 1, "late": 1, "c": 2, "out": 3, "short": 1}
    assert layers_of(names, edges, {"out", "short"})["short"] == 3
    assert layers_of([], [], set()) == {}
    assert layers_of(["only"], [], {"only"}) == {"only": 0}


def test_an_edge_bends_in_each_layer_that_it_passes() -> None:
    layers, links, chains = with_bends({"a": 0, "b": 1, "c": 3}, [("a", "b"), ("a", "c")])
    assert layers == [["a"], ["b", (1, 1)], [(1, 2)], ["c"]]
    assert links == [("a", "b"), ("a", (1, 1)), ((1, 1), (1, 2)), ((1, 2), "c")]
    assert chains == {0: [], 1: [(1, 1), (1, 2)]}


def crossings(layers: list[list[object]], after: Neighbours) -> int:
    """How many pairs of links between two layers cross, by looking at each pair."""
    links = [
        (layer, layers[layer].index(node), layers[layer + 1].index(target))
        for layer in range(len(layers) - 1)
        for node in layers[layer]
        for target in after.get(node, ())
    ]
    return sum(1 for (one, a, b), (other, c, d) in combinations(links, 2) if one == other and (a - c) * (b - d) < 0)


def test_links_that_cross_without_need_are_untangled() -> None:
    layers: list[list[object]] = [["a", "b"], ["c", "d"], ["e", "f"]]
    before, after = neighbours([("a", "d"), ("b", "c"), ("d", "e"), ("c", "f")])
    assert before == {"d": ["a"], "c": ["b"], "e": ["d"], "f": ["c"]}
    untangle(layers, before, after, {})
    assert crossings(layers, after) == 0


@given(st.data())
def test_no_order_has_more_crossings_than_the_first(data: st.DataObject) -> None:
    layers: list[list[object]] = [[f"{layer}.{node}" for node in range(4)] for layer in range(3)]
    pairs = [(one, other) for layer in range(2) for one in layers[layer] for other in layers[layer + 1]]
    before, after = neighbours(data.draw(st.lists(st.sampled_from(pairs), unique=True)))
    found = [list(layer) for layer in layers]
    untangle(found, before, after, {})
    assert [sorted(layer, key=str) for layer in found] == layers
    assert crossings(found, after) <= crossings(layers, after)


def test_members_of_a_group_are_side_by_side() -> None:
    layers: list[list[object]] = [["a", "b", "c"], ["d", "e", "f"]]
    before, after = neighbours([("a", "f"), ("b", "e"), ("c", "d")])
    untangle(layers, before, after, {"d": ("g",), "f": ("g", "h")})
    assert abs(layers[1].index("d") - layers[1].index("f")) == 1
