"""The network as it was drawn and the one that runs: what rules may change while there is state, and what not."""

from dataclasses import replace

import australis as au
from australis.engine.succession import losses
from australis.model.network import Arrow
from australis.plan.drawn import carried, optimized, settled, steady

REPORTS = au.stream("reports", "time int, vid int, seg int, mph int, name string")
CARS = au.static("cars", "vid int, plate string")
STATS = {"on": "time", "size": 60, "by": "seg", "n": "count(*)"}


def joined(box: str = "met") -> au.Stream:
    return REPORTS.join(CARS, "left.vid = right.vid", box=box)


def test_a_network_with_nothing_to_do_is_the_one_that_was_drawn() -> None:
    net = au.network(out=REPORTS.filter("mph > 3", box="f").filter("vid > 3", box="g"))
    assert optimized(net) == (net, None)
    assert optimized(net)[0] is net
    assert settled(net) == (net, None)


def test_filters_stay_apart_for_they_may_be_put_in_another_order() -> None:
    net = au.network(out=REPORTS.map(m="mph", box="m").filter("m > 3", box="f").filter("m < 99", box="g"))
    running, drawn = optimized(net)
    assert drawn is not None
    assert {"f", "g"} <= running.named.keys()
    assert {firing.rule for firing in drawn.firings} == {"push_filter"}


def test_before_there_is_state_rules_may_change_it_and_later_they_may_not() -> None:
    net = au.network(out=joined().filter("mph > 50", box="fast"))
    running, drawn = optimized(net)
    assert drawn is not None
    assert running.named["fast"].sources == (Arrow("reports", "out"),)
    assert drawn.altered == {"met"}
    later, of_later = settled(net)
    assert of_later is None
    assert later == net


def test_of_equal_boxes_one_has_the_state() -> None:
    one, two = (REPORTS.aggregate(**STATS, box=name) for name in ("one", "two"))
    net = au.network(one=one.filter("n > 1", box="f"), two=two.filter("n > 2", box="g"))
    running, drawn = optimized(net)
    assert drawn is not None
    assert "two" not in running.named
    assert drawn.altered == {"two"}
    assert settled(net)[0].named.keys() >= {"one", "two"}


def test_projections_come_where_the_state_is_the_same_with_them() -> None:
    net = au.network(out=REPORTS.aggregate(**STATS, box="stats"), met=joined().map(vid="vid", plate="plate", box="m"))
    running, drawn = optimized(net)
    assert drawn is not None
    assert drawn.altered == frozenset()
    assert running.schema(running.named["stats"].sources[0]).names == ["time", "seg"]
    assert running.named["met"] == net.named["met"]  # its tables would have fewer columns
    assert not list(losses(running, net))
    assert not list(losses(net, running))


def test_what_has_come_out_of_stored_tables_stays() -> None:
    names = CARS.map(vid="vid", name="plate", box="m").map(name="name", box="n")
    net = au.network(names=names, out=REPORTS.map(mph="mph", box="p").map(m="mph * 2", box="q"))
    assert {arrow.source for arrow in steady(net)} == {"m", "n"}
    assert settled(net)[0].named.keys() == {"m", "n", "p_q"}
    running, drawn = optimized(net)
    assert drawn is not None
    assert running.named.keys() == {"m_n", "p_q"}
    assert drawn.altered == {"m", "n"}


def test_another_network_is_changed_in_the_same_places() -> None:
    def net(least: int, **more: au.Stream) -> au.Network:
        slow = REPORTS.filter(f"mph < {least}", box="slow")
        return au.network(out=joined().filter("mph > 50", box="fast"), slow=slow, **more)

    first, second = net(5), net(9, all=REPORTS.filter("vid > 3", box="some"))
    running, _ = optimized(first)
    found = carried(first, running, second)
    assert found is not None
    assert found == optimized(second)[0]
    assert carried(first, running, first) == running
    assert carried(first, first, second) == second


def test_another_network_that_differs_in_those_places_is_not() -> None:
    first = au.network(out=joined().filter("mph > 50", box="fast"))
    running, _ = optimized(first)
    met = joined()
    for other in (
        au.network(out=met.filter("mph > 50", box="fast"), met=met),
        au.network(out=met.filter("mph > 60", box="fast")),
        au.network(out=met),
        au.network(out=met.filter("mph > 50", box="fast").filter("vid = 1", box="more")),
    ):
        assert carried(first, running, other) is None


def test_boxes_that_rules_made_go_with_those_that_they_serve() -> None:
    both = {name: REPORTS.map(mph=column, box=f"{name}1").map(m="mph + 1", box=f"{name}2")
            for name, column in (("a", "mph"), ("b", "vid"))}  # fmt: skip
    first, second = au.network(**both), au.network(a=both["a"])
    running, _ = optimized(first)
    assert running.named.keys() == {"a1_a2", "b1_b2"}
    found = carried(first, running, second)
    assert found is not None
    assert found.named.keys() == {"a1_a2"}


def test_names_that_are_taken_are_not_given_to_others() -> None:
    first = au.network(a=REPORTS.map(mph="mph", box="m").map(m="mph + 1", box="n"))
    running, _ = optimized(first)
    other = au.network(x=REPORTS.filter("vid = 1", box="m_n"))
    second = replace(first, nodes=(*first.nodes, *other.nodes), outputs=(*first.outputs, *other.outputs))
    assert carried(first, running, second) is None


def test_rules_that_did_the_same_to_the_same_boxes_before_are_no_news() -> None:
    def net(least: int, column: str, **more: au.Stream) -> au.Network:
        slow = REPORTS.map(m="mph", box="m").filter(f"m < {least}", box="slow")
        return au.network(out=REPORTS.aggregate(**STATS, x=f"max({column})", box="stats"), slow=slow, **more)

    ran, before = optimized(net(5, "mph"))
    assert before is not None
    assert [str(firing) for firing in before.firings] == ["push_filter m, slow", "project stats_columns, stats"]
    for network, news in (
        (net(5, "mph"), []),
        (net(5, "mph", all=REPORTS.filter("vid > 3", box="some")), []),
        (net(9, "mph"), ["push_filter m, slow"]),
        (net(5, "vid"), ["project stats_columns, stats"]),
        (net(5, "mph", x=joined().map(vid="vid", box="p").map(v="vid + 1", box="q")), ["combine p, q, p_q"]),
    ):
        running, drawn = settled(network)
        assert drawn is not None
        assert [str(firing) for firing in drawn.new_firings(running, before, ran)] == news
