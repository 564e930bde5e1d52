"""Reorder: filters in a row by what they cost and let through."""

import random

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import australis as au
from australis.model.network import Arrow
from australis.model.qos.costs import BoxCost, Costs
from australis.plan.rules.gain import expected_gain
from australis.plan.rules.optimize import Firing, optimize
from australis.plan.rules.reorder import reorder
from tests.plan.rules import agreement, drawings
from tests.plan.rules.agreement import NONE, compare, differ, many, net, outcome


def costs(**boxes):
    """Costs from nanoseconds and selectivities."""
    return Costs({name: BoxCost(each[0] * 1e-9, {"out": each[1]}) for name, each in boxes.items()})


def row(*predicates, **outputs):
    """Filters in a row, named in the order of the alphabet as they are written in `predicates`."""
    lines, before = [], "a"
    for name, predicate in predicates:
        lines.append(f"{name}: {before} -> filter: {predicate}")
        before = name
    return net("\n".join(lines), **(outputs or {"p": before}))


F, G, H = ("f", "mph > 30"), ("g", "x > 0.5"), ("h", "vid = 1")
SURE, UNSURE = ("f", "big < 100"), ("g", "big * big > 5")

FIRES = {
    "the selective one first": (row(F, G), row(G, F), costs(f=(10, 0.9), g=(10, 0.1))),
    "the cheap one first": (row(F, G), row(G, F), costs(f=(100, 0.5), g=(10, 0.5))),
    "three": (row(F, G, H), row(H, G, F), costs(f=(100, 0.9), g=(50, 0.5), h=(10, 0.1))),
    "what costs nothing first": (row(F, G), row(G, F), costs(f=(10, 0.5), g=(0, 0.5))),
    "a part, beside what was not measured": (row(H, F, G), row(H, G, F), costs(f=(10, 0.9), g=(10, 0.1))),
    "one that may fail goes back": (row(UNSURE, SURE), row(SURE, UNSURE), costs(f=(10, 0.1), g=(10, 0.9))),
}


@pytest.mark.parametrize("case", FIRES)
def test_fires(case):
    before, after, known = FIRES[case]
    assert reorder(before, known) == after
    assert reorder(after, known) is None
    for seed in range(4):
        compare(before, after, seed)


@au.function("double")
def of_many(x):
    return np.full(len(x), float(len(x)))


GOOD = costs(f=(10, 0.9), g=(10, 0.1))
STAYS = {
    "not measured": (row(F, G), costs(f=(10, 0.9))),
    "measured without its port": (row(F, G), Costs({"f": BoxCost(1e-8), "g": BoxCost(1e-8, {"out": 0.1})})),
    "in the best order": (row(G, F), GOOD),
    "alike": (row(F, G), costs(f=(10, 0.5), g=(10, 0.5))),
    "not worth it": (row(F, G), costs(f=(10, 0.52), g=(10, 0.50))),
    "the rest of the first is used": (row(F, G, p="g", q="f.rest"), GOOD),
    "the rest of the second is used": (row(F, G, p="g", q="g.rest"), GOOD),
    "the first is an output": (row(F, G, p="g", q="f"), GOOD),
    "one that may fail": (row(SURE, UNSURE), GOOD),
    "a function that is not pure": (row(("f", "of_many(x) > 2"), G), GOOD),
}


@pytest.mark.parametrize("case", STAYS)
def test_stays(case):
    before, known = STAYS[case]
    assert reorder(before, known) is None


FORCED = {
    "the rest of the first is used": row(G, F, p="f", q="f.rest"),
    "the rest of the second is used": row(G, F, p="f", q="f.rest"),
    "the first is an output": row(G, F, p="f", q="g"),
    "a function that is not pure": row(G, ("f", "of_many(x) > 2")),
}


@pytest.mark.parametrize("case", FORCED)
def test_else_the_answer_would_be_another(case):
    inputs = {"a": agreement.tuples(3, x=[1.0, 0.0, None])}
    assert differ(outcome(STAYS[case][0], inputs, 3), outcome(FORCED[case], inputs, 3))


def test_one_that_fails_for_what_the_first_removes():
    inputs = {"a": agreement.tuples(1, big=[3, 2**40])}
    assert outcome(STAYS["one that may fail"][0], inputs) is not None
    assert outcome(row(UNSURE, SURE), inputs) is None


def test_fixed_arrows_are_not_crossed():
    before, after, known = FIRES["three"]
    assert reorder(before, known, [Arrow("f", "out")]) == row(F, H, G)
    assert reorder(before, known, [Arrow("h", "out")]) == row(G, F, H)
    assert reorder(before, known, [Arrow("a", "out")]) == after


def test_the_gain_is_told():
    before, after, known = FIRES["three"]
    old, new = 100 + 0.9 * 50 + 0.45 * 10, 10 + 0.1 * 50 + 0.05 * 100
    assert expected_gain(before, after, known) == pytest.approx(1 - new / old)
    assert expected_gain(before, after, NONE) is None
    network, (firing,) = optimize(before, known)
    assert network == after
    assert firing == Firing("reorder", ("f", "g", "h"), pytest.approx(1 - new / old))


def test_small_changes_of_what_is_measured_do_not_change_the_order_again():
    draw = random.Random(5)
    network, changes = row(F, G, H), 0
    for _ in range(200):
        noisy = {name: (10 * draw.uniform(0.98, 1.02), 0.5 * draw.uniform(0.98, 1.02)) for name in "fgh"}
        changed = reorder(network, costs(**noisy))
        changes, network = changes + (changed is not None), changed or network
    assert changes == 0


MENU = [drawings.keep] * 6 + [drawings.part, drawings.make, drawings.sort]


def test_random_networks_agree():
    fired = 0

    @given(drawings.networks(MENU, 13), st.integers(0, 1000))
    def agrees(network, seed):
        nonlocal fired
        draw, before = random.Random(seed), network
        for _ in range(3):
            known = costs(**{node.name: (draw.choice((1, 10, 100)), draw.random()) for node in network.nodes})
            after = reorder(network, known)
            while after is not None:
                fired += 1
                network, after = after, reorder(after, known)
        if network is not before:
            note(str(network))
            compare(before, network, seed)

    agrees()
    assert fired >= many(), f"the rule fired {fired} times"
