"""Reorder: filters in a row by what they cost and let through."""

import random
from dataclasses import replace
from itertools import permutations
from math import prod

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import australis as au
from australis.model.network import Arrow
from australis.model.qos import BoxCost, Costs, JointPasses
from australis.plan.rules.gain import LEAST_GAIN, chain_seconds, changed_boxes, expected_gain
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


NEGATED = "map: {time: time, vid: vid, mph: mph, big: big, x: 0 - x, name: name}"
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
    "a map between": (
        net(f"f: a -> filter: mph > 30\nm: f -> {NEGATED}\ng: m -> filter: x > 0.5", p="g"),
        costs(f=(10, 0.9), m=(10, 1.0), g=(10, 0.1)),
    ),
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


FIXED = {
    "the first": (FIRES["three"][0], FIRES["three"][2], "f", row(F, H, G)),
    "the last": (FIRES["three"][0], FIRES["three"][2], "h", row(G, F, H)),
    "the input": (FIRES["three"][0], FIRES["three"][2], "a", FIRES["three"][1]),
}


@pytest.mark.parametrize("case", FIXED)
def test_fixed_arrows_are_not_crossed(case):
    before, known, name, after = FIXED[case]
    assert reorder(before, known, [Arrow(name, "out")]) == after


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


NAMES = "fghij"
PREDICATES = {"f": "mph > 30", "g": "x > 0.5", "h": "vid = 1", "i": "big < 100", "j": "time > 2"}


def in_a_row(names):
    return row(*((name, PREDICATES[name]) for name in names))


def order(network):
    return "".join(node.name for node in network.nodes)


def spent(names, seconds, counts, of=NAMES):
    """What filters in an order take for a tuple, found tuple by tuple: `counts` are those of each pattern."""
    bits, total = {name: 1 << place for place, name in enumerate(sorted(seconds))}, 0.0
    for pattern, count in enumerate(counts):
        for name in names:
            total += count * seconds[name] * (name in of)
            if not pattern & bits[name]:
                break
    return total / sum(counts)


def dependent(seconds, counts, current):
    """Costs as a run measures them in an order: in its place each filter lets through what it does behind others."""
    filters = tuple(sorted(seconds))
    passes = JointPasses(filters, tuple(counts))
    boxes, before = {}, []
    for name in current:
        come, go = passes.part(before), passes.part([*before, name])
        boxes[name] = BoxCost(seconds[name], {"out": go / come if come else 0.0})
        before.append(name)
    return Costs(boxes, passes=(passes,))


@st.composite
def dependencies(draw, independent=False):
    names = NAMES[: draw(st.integers(2, 5))]
    seconds = {name: draw(st.sampled_from((1e-9, 3e-9, 1e-8, 1e-7, 1e-6))) for name in names}
    if independent:
        parts = [draw(st.integers(1, 9)) / 10 for _ in names]
        counts = [
            prod(part if pattern >> place & 1 else 1 - part for place, part in enumerate(parts))
            for pattern in range(1 << len(names))
        ]
    else:
        counts = draw(
            st.lists(st.sampled_from((0, 0, 1, 10, 100, 1000)), min_size=1 << len(names), max_size=1 << len(names))
        )
        counts[0] += not any(counts)
    return seconds, counts, "".join(draw(st.permutations(names)))


@given(dependencies())
@settings(max_examples=10 * settings().max_examples)
def test_filters_that_depend_on_each_other(drawn):
    seconds, counts, current = drawn
    before, known = in_a_row(current), dependent(seconds, counts, current)
    costs_of = {names: spent(names, seconds, counts) for names in map("".join, permutations(current))}
    rows = [before.named[name] for name in current]
    assert chain_seconds(before, rows, known) == pytest.approx(costs_of[current])
    after = reorder(before, known)
    best, then = min(costs_of.values()), costs_of[order(after or before)]
    assert then <= costs_of[current]
    assert then <= 4 * best / (1 - LEAST_GAIN)
    if after is not None:
        moved = changed_boxes(before, after)
        old, new = (spent(order(each), seconds, counts, moved) for each in (before, after))
        assert expected_gain(before, after, known) == pytest.approx(1 - new / old)
        # Whatever is measured of the filters in their new places, they stay there.
        assert reorder(after, dependent(seconds, counts, order(after))) is None


@given(dependencies(independent=True))
def test_filters_that_do_not_depend_come_in_the_best_order(drawn):
    seconds, counts, current = drawn
    before, known = in_a_row(current), dependent(seconds, counts, current)
    after = reorder(before, known) or before
    best = min(spent(names, seconds, counts) for names in permutations(current))
    assert spent(order(after), seconds, counts) <= best / (1 - LEAST_GAIN) * (1 + 1e-9)
    blind = reorder(before, replace(known, passes=())) or before
    assert spent(order(blind), seconds, counts) == pytest.approx(spent(order(after), seconds, counts))


# Hardly a tuple passes both f and g: behind the other, each of them looks as if it removed nearly all.
EXCLUSIVE = [0, 48, 48, 4]
SECONDS = {"f": 10e-9, "g": 9e-9}


def sampled_counts(counts, draw, tuples=4096):
    patterns = draw.choices(range(len(counts)), counts, k=tuples)
    return [patterns.count(pattern) for pattern in range(len(counts))]


@pytest.mark.parametrize("counted", [True, False])
def test_the_order_of_filters_that_depend_does_not_go_to_and_fro(counted):
    """Each time the costs are those that a run measures in the order that it has then, with some noise."""
    changes = {}
    for seed in range(20):
        draw = random.Random(seed)
        network, changes[seed] = in_a_row(draw.sample("fg", 2)), 0
        for _ in range(60):
            noisy = {name: each * draw.uniform(0.99, 1.01) for name, each in SECONDS.items()}
            known = dependent(noisy, sampled_counts(EXCLUSIVE, draw), order(network))
            after = reorder(network, known if counted else replace(known, passes=()))
            changes[seed], network = changes[seed] + (after is not None), after or network
    if counted:
        assert max(changes.values()) <= 1
    else:
        assert min(changes.values()) > 20


def test_one_that_may_fail_stays_behind_those_before_it():
    """It is not counted with the others, and comes after those that it stands behind."""
    filters = (("f", "big < 100"), ("g", "big * big > 5"), ("h", "vid = 1"), ("i", "x > 1"))
    before = row(*filters)
    known = replace(
        costs(f=(100, 0.9), g=(1, 0.1), h=(10, 0.5), i=(10, 0.5)),
        passes=(JointPasses(("f", "h", "i"), (0, 0, 0, 50, 0, 0, 0, 50)),),
    )
    after = reorder(before, known)
    assert order(after) == "ifgh"
    for seed in range(4):
        compare(before, after, seed)


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
