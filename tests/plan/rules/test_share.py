"""Share: equal boxes over equal arrows become one."""

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import australis as au
from australis.model.network import Arrow
from australis.plan.rules import Firing, optimize
from australis.plan.rules.share import share
from tests.plan.rules import agreement, drawings
from tests.plan.rules.agreement import NONE, agree, compare, differ, many, net, outcome

FAST = "a -> filter: mph > 30"
STATS = "a -> aggregate: {on: time, size: 4, by: vid, n: count(*)}"
SOME = "cars -> filter: class > 1"
PAIRS = "join: {where: left.vid = right.vid, on: {on: time, by: vid}, size: 2}"
CLASSES = "join: {where: left.vid = right.vid, on: [tup#, null]}"
WRITE = "w: a -> write: {table: seen, most: mph}"

FIRES = {
    "filters": (net(f"f: {FAST}\ng: {FAST}", p="f", q="g"), net(f"f: {FAST}", p="f", q="f")),
    "what comes after them": (
        net(f"f: {FAST}\ng: {FAST}\nm: f -> map: {{m: mph}}\nn: g -> map: {{m: mph}}", p="m", q="n"),
        net(f"f: {FAST}\nm: f -> map: {{m: mph}}", p="m", q="m"),
    ),
    "other ports": (net(f"f: {FAST}\ng: {FAST}", p="f", q="g.rest"), net(f"f: {FAST}", p="f", q="f.rest")),
    "state": (net(f"s: {STATS}\nt: {STATS}", p="s", q="t"), net(f"s: {STATS}", p="s", q="s")),
    "late tuples that go somewhere": (
        net(f"s: {STATS}\nt: {STATS}", p="s", q="t", l="s.late", m="t.late"),
        net(f"s: {STATS}", p="s", q="s", l="s.late", m="s.late"),
    ),
    "both sides of a join": (
        net(f"f: {FAST}\ng: {FAST}\nj: f, g -> {PAIRS}", p="j"),
        net(f"f: {FAST}\nj: f, f -> {PAIRS}", p="j"),
    ),
    "stored tables": (
        net(f"f: {SOME}\ng: {SOME}\nj: a, f -> {CLASSES}", p="j", q="g"),
        net(f"f: {SOME}\nj: a, f -> {CLASSES}", p="j", q="f"),
    ),
    "a union of one input": (
        net(f"f: {FAST}\nu: f, a -> union: {{}}\nv: f, a -> union: {{}}", p="u", q="v"),
        net(f"f: {FAST}\nu: f, a -> union: {{}}", p="u", q="u"),
    ),
    "reads": (
        net(f"{WRITE}\nr: b -> read: seen\ns: b -> read: seen", o="w", p="r", q="s"),
        net(f"{WRITE}\nr: b -> read: seen", o="w", p="r", q="r"),
    ),
}


@pytest.mark.parametrize("case", FIRES)
def test_fires(case):
    before, after = FIRES[case]
    assert share(before, NONE) == after
    assert share(after, NONE) is None
    for seed in range(4):
        inputs = agreement.given(before, seed)
        agree(before, after, inputs, gone=True)


@au.function("double")
def at_random(x):
    return np.random.default_rng().random(len(x))


@au.function("double", pure=True)
def half_of(x):
    return x.to_numpy(zero_copy_only=False) / 2


def test_only_pure_functions_are_shared():
    def made(text):
        return net(f"m: a -> map: {{y: {text}}}\nn: a -> map: {{y: {text}}}", p="m", q="n")

    assert share(made("at_random(x)"), NONE) is None
    found = outcome(made("at_random(x)"), {"a": agreement.tuples(1, x=[1.0])})
    assert found["p"] != found["q"]
    shared = share(made("half_of(x)"), NONE)
    assert set(shared.named) == {"m"}
    agree(made("half_of(x)"), shared, {"a": agreement.tuples(1)})


STAYS = {
    "windows and samples": net(f"s: {STATS}\nt: {STATS[:-1]}, shed: sample}}", p="s", q="t"),
    "other parameters": net(f"f: {FAST}\ng: a -> filter: mph > 31", p="f", q="g"),
    "other arrows": net(f"f: {FAST}\ng: b -> filter: mph > 30", p="f", q="g"),
    "other ports": net(f"f: {FAST}\nm: f -> map: {{m: mph}}\nn: f.rest -> map: {{m: mph}}", p="m", q="n"),
    "the same length, written in another way": net(f"s: {STATS}\nt: {STATS.replace('4', '4.0')}", p="s", q="t"),
    "late tuples of only one go somewhere": net(f"s: {STATS}\nt: {STATS}", p="s", q="t", l="t.late"),
}


@pytest.mark.parametrize("case", STAYS)
def test_stays(case):
    assert share(STAYS[case], NONE) is None


def test_late_tuples_of_which_only_one_is_reported():
    """Shared, nobody would be told of what is late at `s`."""
    before = STAYS["late tuples of only one go somewhere"]
    forced = net(f"s: {STATS}", p="s", q="s", l="s.late")
    inputs = agreement.given(before)
    assert before.run_local(inputs).losses()
    assert not forced.run_local(inputs).losses()


def test_a_union_that_a_run_would_merge_by_two_orders_stays():
    times, sizes = ("aggregate: {on: " + on + ", size: 4, n: count(*)}" for on in ("time", "big"))
    before = net(f"u: a, b -> union: {{}}\nv: a, b -> union: {{}}\nt: u -> {times}\ns: v -> {sizes}", p="t", q="s")
    forced = net(f"u: a, b -> union: {{}}\nt: u -> {times}\ns: u -> {sizes}", p="t", q="s")
    assert share(before, NONE) is None
    inputs = {"a": agreement.tuples(1, ordered=True), "b": agreement.tuples(2, ordered=True)}
    assert differ(outcome(before, inputs), outcome(forced, inputs))


def test_a_fixed_arrow_keeps_its_box():
    before, after = FIRES["filters"]
    assert share(before, NONE, [Arrow("g", "out")]) is None
    assert share(before, NONE, [Arrow("f", "out")]) == after
    assert optimize(before, NONE) == (after, [Firing("share", ("f", "g"), None)])


MENU = [drawings.keep, drawings.keep, drawings.part, drawings.make, drawings.both, drawings.window, drawings.sort]


def test_random_networks_agree():
    fired = 0

    @given(drawings.networks(MENU, 15, ["mph > 30", "x > 0.5"], wide=True), st.integers(0, 1000))
    def agrees(network, seed):
        nonlocal fired
        shared = share(network, NONE)
        if shared is not None:
            fired += len(network.nodes) - len(shared.nodes)
            note(str(shared))
            compare(network, shared, seed, gone=True)

    agrees()
    assert fired >= many(), f"the rule fired {fired} times"
