"""Wiring: who takes which arrow, and networks with some boxes replaced."""

from dataclasses import replace

import australis as au
from australis.boxes import Filter
from australis.expressions import expr
from australis.model.network import Arrow, Node
from australis.plan.rules.wiring import ArrowAscent, Wiring, new_name, rewired

A = au.stream("a", "t int, x double")
F = A.filter("t > 1", box="f")
G = F.filter("t > 2", box="g")
NET = au.network(out=G, rest=G.rest)


def test_who_takes_what() -> None:
    wiring = Wiring(NET)
    assert wiring.takers == {Arrow("a", "out"): [("f", 0)], Arrow("f", "out"): [("g", 0)]}
    assert wiring.only_taker("f") is NET.named["g"]
    assert wiring.only_taker("g") is None
    assert wiring.used("g") == [Arrow("g", "out"), Arrow("g", "rest")]
    assert wiring.main_only(NET.named["f"])
    assert not wiring.main_only(NET.named["g"])


def test_what_is_fixed_stays() -> None:
    wiring = Wiring(NET, (Arrow("f", "out"),))
    assert wiring.kept("f")
    assert not wiring.kept("g")
    assert wiring.only_taker("f") is None


def test_boxes_are_replaced_and_arrows_follow() -> None:
    other = Node("h", Filter(expr("t > 3")), NET.named["f"].sources)
    changed = rewired(NET, {"f": (other,)}, {Arrow("f", "out"): Arrow("h", "out")})
    assert changed is not None
    assert list(changed.named) == ["h", "g"]
    assert changed.named["g"].sources == (Arrow("h", "out"),)


def test_a_network_that_is_refused_or_gives_other_columns_is_none() -> None:
    wrong = replace(NET.named["f"], box=Filter(expr("nothing > 1")))
    assert rewired(NET, {"f": (wrong,)}) is None
    narrower = au.network(out=A.select("t", box="f"), rest=A.select("t", box="f2"))
    assert rewired(NET, {"g": (replace(narrower.named["f"], name="g"),)}) is None


def test_names_are_new() -> None:
    assert new_name(NET, "h") == "h"
    assert new_name(NET, "f") == "f_2"
    assert new_name(NET, "a") == "a_2"


def test_nothing_is_known_of_inputs_nor_of_numbers_that_may_be_infinite() -> None:
    ordered = A.aggregate(on="t", size=10, n="count(*)", box="s")
    net = au.network(out=ordered.filter("n > 1", box="f"))
    assert ArrowAscent(net, Arrow("a", "out")).disorder("t", set()) is not None
    assert ArrowAscent(net, Arrow("f", "out")).disorder("t", set()) is None
    assert ArrowAscent(NET, Arrow("f", "out")).disorder("x", set()) is not None
    assert not ArrowAscent(net, Arrow("f", "out")).stored
