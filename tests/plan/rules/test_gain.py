"""Gain: what boxes in a row cost, and which boxes a change is about."""

import pytest

import australis as au
from australis.model.qos.costs import BoxCost, Costs
from australis.plan.rules.gain import chain_seconds, changed_boxes, expected_gain, selectivity

COSTS = Costs({"f": BoxCost(4.0, {"out": 0.5}), "g": BoxCost(1.0, {"out": 0.1})})


def chain(*names: str) -> au.Network:
    stream = au.stream("a", "x int")
    for name in names:
        stream = stream.filter(f"x > {ord(name)}", box=name)
    return au.network(out=stream)


def test_each_box_takes_what_those_before_it_let_through() -> None:
    both = chain("f", "g")
    assert chain_seconds(both, both.nodes, COSTS) == pytest.approx(4 + 0.5 * 1)
    other = chain("g", "f")
    assert chain_seconds(other, other.nodes, COSTS) == pytest.approx(1 + 0.1 * 4)
    assert expected_gain(both, other, COSTS) == pytest.approx(1 - 1.4 / 4.5)


def test_what_was_not_measured_has_no_gain() -> None:
    before, after = chain("f", "h"), chain("h", "f")
    assert selectivity(before, before.named["h"], COSTS) is None
    assert expected_gain(before, after, COSTS) is None
    assert expected_gain(chain("f", "g"), chain("f"), COSTS) is None


def test_the_boxes_of_a_change() -> None:
    assert changed_boxes(chain("f", "g"), chain("g", "f")) == ("f", "g")
    assert changed_boxes(chain("f", "g"), chain("f")) == ("f", "g")
    assert changed_boxes(chain("f"), chain("f")) == ()
    assert changed_boxes(chain("e", "f", "g", "h", "i"), chain("e", "h", "f", "g", "i")) == ("e", "f", "g", "h")


def test_a_box_that_passes_several_others() -> None:
    costs = Costs({name: BoxCost(1.0, {"out": 0.5}) for name in "fgh"} | {"i": BoxCost(0.1, {"out": 0.1})})
    gain = expected_gain(chain("f", "g", "h", "i"), chain("i", "f", "g", "h"), costs)
    assert gain == pytest.approx(1 - (0.1 + 0.1 * 1.75) / (1.75 + 0.0125))
