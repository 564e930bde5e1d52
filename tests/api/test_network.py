"""Networks made of streams."""

import australis as au
from australis.boxes import Filter
from australis.model.network import Arrow, Node

REPORTS = au.stream("reports", "time int, vid int, mph int, xway int, seg int")


def test_boxes_are_named_in_a_fixed_order_and_shared_boxes_are_one():
    stats = REPORTS.aggregate(on="time", size=60, n="count(*)", box="stats")
    few, many = stats.filter("n < 3"), stats.filter("n > 9", box="filter_1")
    net = au.network(few=few, rest=few.rest, many=many)
    assert [node.name for node in net.nodes] == ["stats", "filter_2", "filter_1"]
    assert [output.arrow for output in net.outputs] == [
        Arrow("filter_2", "out"),
        Arrow("filter_2", "rest"),
        Arrow("filter_1", "out"),
    ]
    assert net == au.network(few=few, rest=few.rest, many=many)


def test_a_network_takes_outputs_whose_names_are_no_python_names():
    assert [output.name for output in au.network({"too-fast": REPORTS.filter("mph > 60")}).outputs] == ["too-fast"]


def test_an_input_may_be_an_output():
    net = au.network(out=REPORTS)
    assert not net.nodes
    assert net.outputs[0].arrow == Arrow("reports", "out")


def test_building_a_ladder_of_diamonds_is_quick():
    stream = REPORTS
    for _ in range(60):
        fast = stream.filter("mph > 60")
        stream = fast.union(fast.rest)
    assert len(au.network(out=stream).nodes) == 120


def test_building_a_long_chain_needs_no_recursion():
    stream = REPORTS
    for _ in range(3000):
        stream = stream.filter("mph > 60")
    assert len(au.network(out=stream).nodes) == 3000


def test_equal_boxes_in_equal_places_are_equal_nodes():
    first, second = (au.network(out=REPORTS.filter("mph>60")).nodes for _ in range(2))
    assert first == second == (Node("filter_1", Filter(au.expr("mph > 60")), (Arrow("reports", "out"),)),)
