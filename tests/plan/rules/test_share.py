"""Share: equal boxes over equal arrows become one."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import australis as au
from australis.model.box import Box
from australis.model.network import Arrow
from australis.plan.rules import Firing, optimize
from australis.plan.rules.share import share
from tests.plan.rules import agreement, drawings
from tests.plan.rules.agreement import NONE, A, agree, compare, differ, many, net, outcome

FAST = "a -> filter: mph > 30"
STATS = "a -> aggregate: {on: time, size: 4, by: vid, n: count(*)}"
SOME = "cars -> filter: class > 1"
PAIRS = "join: {where: left.vid = right.vid, on: {on: time, by: vid}, size: 2}"
CLASSES = "join: {where: left.vid = right.vid, on: [tup#, null]}"
HOURS = "aggregate: {on: time, size: 4, n: count(*)}"
SIZES = "aggregate: {on: big, size: 4, n: count(*)}"
BOTH, PART, ALL = ("a, b -> union: {}", "f, a -> union: {}", "m, cars -> union: {}")
MERGED = "a, b -> union: {on: time}"
PLATES = "a -> map: {vid: vid, plate: name, class: mph}"
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
    "unions that are merged by a column": (
        net(f"u: {MERGED}\nv: {MERGED}\ns: v -> {HOURS}", p="u", q="s"),
        net(f"u: {MERGED}\ns: u -> {HOURS}", p="u", q="s"),
    ),
    "unions of one input before windows, beside another input": (
        net(f"f: {FAST}\nu: {PART}\nv: {PART}\ns: v -> {HOURS}\ng: b -> filter: x > 1", p="u", q="s", r="g"),
        net(f"f: {FAST}\nu: {PART}\ns: u -> {HOURS}\ng: b -> filter: x > 1", p="u", q="s", r="g"),
    ),
    "unions of an input and a table before windows": (
        net(f"m: {PLATES}\nu: {ALL}\nv: {ALL}\ns: v -> {HOURS.replace('time', 'class')}", p="u", q="s"),
        net(f"m: {PLATES}\nu: {ALL}\ns: u -> {HOURS.replace('time', 'class')}", p="u", q="s"),
    ),
    "unions of two inputs, beside windows of one": (
        net(f"u: {BOTH}\nv: {BOTH}\ns: a -> {HOURS}", p="u", q="v", r="s"),
        net(f"u: {BOTH}\ns: a -> {HOURS}", p="u", q="u", r="s"),
    ),
}
FIXED = {
    "the one that goes": (FIRES["filters"][0], "g", None),
    "the one that stays": (FIRES["filters"][0], "f", FIRES["filters"][1]),
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


def made(text):
    return net(f"m: a -> map: {{y: {text}}}\nn: a -> map: {{y: {text}}}", p="m", q="n")


@dataclass(frozen=True)
class Label(Box):
    """Puts a text in place of each tuple, of which a part does not show where the box is written."""

    value: object
    hidden: str = field(default="", repr=False)

    kind: ClassVar[str] = "label"

    def outputs(self, *inputs):
        return {"out": pa.schema([("label", "string")])}

    def step(self, tables, trains, moment):
        (train,) = trains
        return (train.made(self.outputs()["out"], [pa.array([f"{self.value} {self.hidden}"] * len(train))]),)


def labels(one, two):
    return au.network(p=A.draw(one, name="m"), q=A.draw(two, name="n"))


STAYS = {
    "windows and samples": net(f"s: {STATS}\nt: {STATS[:-1]}, shed: sample}}", p="s", q="t"),
    "other parameters": net(f"f: {FAST}\ng: a -> filter: mph > 31", p="f", q="g"),
    "other arrows": net(f"f: {FAST}\ng: b -> filter: mph > 30", p="f", q="g"),
    "other ports": net(f"f: {FAST}\nm: f -> map: {{m: mph}}\nn: f.rest -> map: {{m: mph}}", p="m", q="n"),
    "the same length, written in another way": net(f"s: {STATS}\nt: {STATS.replace('4', '4.0')}", p="s", q="t"),
    "the same number, written in another way": labels(Label(1), Label(1.0)),
    "what is not written": labels(Label(1, "a"), Label(1, "b")),
    "what cannot be looked up": labels(Label([1]), Label([1])),
    "a function that is not pure": made("at_random(x)"),
    "a union that a run would merge by two orders": net(
        f"u: {BOTH}\nv: {BOTH}\nt: u -> {HOURS}\ns: v -> {SIZES}", p="t", q="s"
    ),
    "unions of which a run would merge the first": net(f"u: {BOTH}\nv: {BOTH}\nt: u -> {HOURS}", p="t", q="v"),
    "unions of which a run would merge the second": net(f"u: {BOTH}\nv: {BOTH}\nt: v -> {HOURS}", p="t", q="u"),
    "unions of filters of which a run would merge the second": net(
        f"f: a -> filter: vid = 1\ng: b -> filter: vid = 1\nu: f, g -> union: {{}}\nv: f, g -> union: {{}}\n"
        f"t: v -> {HOURS}",
        p="t",
        q="u",
    ),
    "late tuples of only one go somewhere": net(f"s: {STATS}\nt: {STATS}", p="s", q="t", l="t.late"),
}


@pytest.mark.parametrize("case", STAYS)
def test_stays(case):
    assert share(STAYS[case], NONE) is None


def test_only_pure_functions_are_shared():
    found = outcome(made("at_random(x)"), {"a": agreement.tuples(1, x=[1.0])})
    assert found["p"] != found["q"]
    shared = share(made("half_of(x)"), NONE)
    assert set(shared.named) == {"m"}
    agree(made("half_of(x)"), shared, {"a": agreement.tuples(1)})


def test_late_tuples_of_which_only_one_is_reported():
    """Shared, nobody would be told of what is late at `s`."""
    before = STAYS["late tuples of only one go somewhere"]
    forced = net(f"s: {STATS}", p="s", q="s", l="s.late")
    inputs = agreement.given(before)
    assert before.run_local(inputs).losses()
    assert not forced.run_local(inputs).losses()


def test_a_union_that_a_run_would_merge_by_two_orders():
    before = STAYS["a union that a run would merge by two orders"]
    forced = net(f"u: {BOTH}\nt: u -> {HOURS}\ns: u -> {SIZES}", p="t", q="s")
    inputs = {"a": agreement.tuples(1, ordered=True), "b": agreement.tuples(2, ordered=True)}
    assert differ(outcome(before, inputs), outcome(forced, inputs))


@pytest.mark.parametrize("case", FIXED)
def test_a_fixed_arrow_keeps_its_box(case):
    before, name, after = FIXED[case]
    assert share(before, NONE, [Arrow(name, "out")]) == after


def test_what_is_shared_is_told():
    before, after = FIRES["filters"]
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
