"""Push: filters go below the boxes before them."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import australis as au
from australis.engine.local import Local
from australis.model.box import Box
from australis.model.network import Arrow
from australis.model.qos.costs import BoxCost, Costs
from australis.plan.rules.push import push_filter
from tests.plan.rules import agreement, drawings
from tests.plan.rules.agreement import NONE, compare, differ, many, net, outcome

CLASSES = "join: {where: left.vid = right.vid, on: [tup#, null]}"
PAIRS = "join: {where: left.vid = right.vid, on: {on: time, by: vid}, size: 9}"
NEAR = PAIRS.replace("by: vid", "by: [vid, name]")
FIRST = "aggregate: {on: time, size: 4, by: [vid, name], slack: 1, mph: max(mph)}"
SECOND = "aggregate: {on: time, size: 8, by: [vid, name], mph: max(mph)}"
THEIRS = SECOND.replace("vid", "vid_right")
LATER = "map: {time: time + 1, vid: vid, name: name, mph: mph}"
TABLE = "join: {where: left.vid = right.vid, on: [null, tup#]}"
TIMED = "aggregate: {on: tup#, size: 3, by: vid, timeout: 1 s, n: count(*)}"
COUNTED = "aggregate: {on: tup#, size: 2, by: [vid, name], mph: max(mph)}"
WRITE = "w: a -> write: {table: seen, most: mph}"
STORE = "w: cars -> write: {table: seen, most: class}"
SOME = "g: cars -> filter: class > 1"
BOTH = "u: a, b -> union: {}"
HOURS = "aggregate: {on: time, size: 4, n: count(*)}"
SIGNAL = (
    agreement.A.aggregate(on="tup#", size=2, by="vid", mph="max(mph)", box="s")
    .filter("vid = 1", box="f")
    .signal.window("mph", on="tup", size=4, rate=1, box="w")
    .map(one="1", box="o")
)
"""Below the windows, the filter would no longer say that one signal is left."""

FIRES = {
    "a map": (
        net("m: a -> map: {u: mph, v: x * 2}\nf: m -> filter: u > 30", p="f"),
        net("f: a -> filter: mph > 30\nm: f -> map: {u: mph, v: x * 2}", p="m"),
    ),
    "a predicate that may fail, below a map": (
        net("m: a -> map: {u: big, v: x * 2}\nf: m -> filter: u * u > 30", p="f"),
        net("f: a -> filter: big * big > 30\nm: f -> map: {u: big, v: x * 2}", p="m"),
    ),
    "a part, below a map": (
        net("m: a -> map: {u: mph, v: x * 2}\nf: m -> filter: u > 30 and v > 1", p="f"),
        net("f_1: a -> filter: mph > 30\nm: f_1 -> map: {u: mph, v: x * 2}\nf: m -> filter: v > 1", p="f"),
    ),
    "a union": (
        net("u: a, b -> union: {}\nf: u -> filter: big * big > 30", p="f"),
        net("f_1: a -> filter: big * big > 30\nf_2: b -> filter: big * big > 30\nu: f_1, f_2 -> union: {}", p="u"),
    ),
    "a sort of groups": (
        net("s: a -> bsort: {on: time, slack: 2, by: [vid, name]}\nf: s -> filter: vid = 1", p="f"),
        net("f: a -> filter: vid = 1\ns: f -> bsort: {on: time, slack: 2, by: [vid, name]}", p="s"),
    ),
    "a sort without slack": (
        net("s: a -> bsort: time\nf: s -> filter: x > 1", p="f"),
        net("f: a -> filter: x > 1\ns: f -> bsort: time", p="s"),
    ),
    "a read": (
        net(f"{WRITE}\nr: b -> read: seen\nf: r -> filter: x > 1", o="w", p="f"),
        net(f"{WRITE}\nf: b -> filter: x > 1\nr: f -> read: seen", o="w", p="r"),
    ),
    "a map behind a union that a run may merge": (
        net(f"{BOTH}\nm: u -> map: {{time: time, u: mph}}\nf: m -> filter: u > 3\ns: f -> {HOURS}", p="s"),
        net(f"{BOTH}\nf: u -> filter: mph > 3\nm: f -> map: {{time: time, u: mph}}\ns: m -> {HOURS}", p="s"),
    ),
    "a map behind a filter that cannot be pushed": (
        au.network(p=SIGNAL, q=agreement.A.select("mph", box="m").filter("mph > 3", box="g")),
        au.network(p=SIGNAL, q=agreement.A.filter("mph > 3", box="g").select("mph", box="m")),
    ),
    "a map beside a stored table": (
        net(f"m: a -> map: {{vid: vid, u: mph}}\nf: m -> filter: u > 30\nj: f, cars -> {CLASSES}", p="j"),
        net(f"f: a -> filter: mph > 30\nm: f -> map: {{vid: vid, u: mph}}\nj: m, cars -> {CLASSES}", p="j"),
    ),
    "a map of what is written of a stored table": (
        net(f"{STORE}\nm: w -> map: {{vid: vid, u: most}}\nf: m -> filter: u > 1", p="f"),
        net(f"{STORE}\nf: w -> filter: most > 1\nm: f -> map: {{vid: vid, u: most}}", p="m"),
    ),
    "a sort by arrival": (
        net("s: a -> bsort: {on: tup#, slack: 2}\nf: s -> filter: x > 1", p="f"),
        net("f: a -> filter: x > 1\ns: f -> bsort: {on: tup#, slack: 2}", p="s"),
    ),
    "parts for each side of a join": (
        net(f"j: a, cars -> {CLASSES}\nf: j -> filter: mph > 3 and class > 1 and x > 1", p="f"),
        net(f"f_1: a -> filter: mph > 3 and x > 1\nf_2: cars -> filter: class > 1\nj: f_1, f_2 -> {CLASSES}", p="j"),
    ),
    "a join with a stored table": (
        net(f"j: a, cars -> {CLASSES}\nf: j -> filter: mph > 3 and class > 1 and x > class", p="f"),
        net(
            "f_1: a -> filter: mph > 3\nf_2: cars -> filter: class > 1\n"
            f"j: f_1, f_2 -> {CLASSES}\nf: j -> filter: x > class",
            p="f",
        ),
    ),
    "the right side of a join, under its own name": (
        net(f"j: a, cars -> {CLASSES}\nf: j -> filter: vid_right = 1", p="f"),
        net(f"f: cars -> filter: vid = 1\nj: a, f -> {CLASSES}", p="j"),
    ),
    "a join of what is in order": (
        net(f"s: a -> {FIRST}\nj: s, b -> {NEAR}\nf: j -> filter: mph > 3", p="f"),
        net(f"s: a -> {FIRST}\nf: s -> filter: mph > 3\nj: f, b -> {NEAR}", p="j"),
    ),
    "the groups of windows that count": (
        net(f"s: a -> {COUNTED}\nf: s -> filter: vid = 1 and mph > 3", p="f"),
        net(f"f_1: a -> filter: vid = 1\ns: f_1 -> {COUNTED}\nf: s -> filter: mph > 3", p="f"),
    ),
    "the groups of windows over what is in order": (
        net(f"s: a -> {FIRST}\nt: s -> {SECOND}\nf: t -> filter: vid = 1 or name is null", p="f"),
        net(f"s: a -> {FIRST}\nf: s -> filter: vid = 1 or name is null\nt: f -> {SECOND}", p="t"),
    ),
    "windows over what a map leaves in order": (
        net(f"s: a -> {FIRST}\nm: s -> {LATER}\nt: m -> {SECOND}\nf: t -> filter: vid = 1", p="f"),
        net(f"s: a -> {FIRST}\nm: s -> {LATER}\nf: m -> filter: vid = 1\nt: f -> {SECOND}", p="t"),
    ),
    "windows over the rest of a filter": (
        net(f"s: a -> {FIRST}\ng: s -> filter: mph > 3\nt: g.rest -> {SECOND}\nf: t -> filter: vid = 1", p="f"),
        net(f"s: a -> {FIRST}\ng: s -> filter: mph > 3\nf: g.rest -> filter: vid = 1\nt: f -> {SECOND}", p="t"),
    ),
    "windows over a join with a stored table": (
        net(f"s: a -> {FIRST}\nj: s, cars -> {CLASSES}\nt: j -> {SECOND}\nf: t -> filter: vid = 1", p="f"),
        net(f"s: a -> {FIRST}\nj: s, cars -> {CLASSES}\nf: j -> filter: vid = 1\nt: f -> {SECOND}", p="t"),
    ),
    "windows over a join with a part of a stored table": (
        net(f"s: a -> {FIRST}\n{SOME}\nj: s, g -> {CLASSES}\nt: j -> {SECOND}\nf: t -> filter: vid = 1", p="f"),
        net(f"s: a -> {FIRST}\n{SOME}\nj: s, g -> {CLASSES}\nf: j -> filter: vid = 1\nt: f -> {SECOND}", p="t"),
    ),
    "windows over a join of a stored table": (
        net(f"s: a -> {FIRST}\nj: cars, s -> {TABLE}\nt: j -> {THEIRS}\nf: t -> filter: vid_right = 1", p="f"),
        net(f"s: a -> {FIRST}\nj: cars, s -> {TABLE}\nf: j -> filter: vid_right = 1\nt: f -> {THEIRS}", p="t"),
    ),
}
FIXED = {
    "the box": (FIRES["a map"][0], "m", None),
    "the filter": (FIRES["a map"][0], "f", None),
    "the input": (FIRES["a map"][0], "a", FIRES["a map"][1]),
}


@pytest.mark.parametrize("case", FIRES)
def test_fires(case):
    before, after = FIRES[case]
    assert push_filter(before, NONE) == after
    for seed in range(5):
        compare(before, after, seed)


@au.function("double")
def rank_in_train(x):
    return np.arange(len(x), dtype=float)


@dataclass(frozen=True)
class Copy(Box):
    """Gives each tuple by two ports."""

    kind: ClassVar[str] = "copy"

    def outputs(self, *inputs):
        return {"out": inputs[0], "copy": inputs[0]}

    def pushes(self, predicate, port, inputs):
        return {0: predicate}

    def step(self, tables, trains, moment):
        return trains * 2


COPIED = agreement.A.draw(Copy(), name="c")
ENDLESS = (
    "s: a -> aggregate: {on: x, size: 100, by: vid, mph: max(mph)}\nm: s -> map: {x: x + 1.7e+308, vid: vid}\n"
    "t: m -> aggregate: {on: x, size: 100, by: vid, n: count(*)}"
)
FLOATING = "aggregate: {on: tup#, size: 2, by: x, n: count(*)}"
NEGATED = "map: {time: time, vid: vid, mph: mph, big: big, x: 0 - x, name: name}"
STAYS = {
    "the rest is used": net("m: a -> map: {u: mph}\nf: m -> filter: u > 30", p="f", q="f.rest"),
    "the rest is used, which has the same columns before": net(
        f"m: a -> {NEGATED}\nf: m -> filter: mph > 30", p="f", q="f.rest"
    ),
    "a box takes the rest, which has the same columns before": net(
        f"m: a -> {NEGATED}\nf: m -> filter: mph > 30\nn: f.rest -> map: {{y: x}}", p="f", q="n"
    ),
    "another takes what the box gives": net("m: a -> map: {u: mph}\nf: m -> filter: u > 30", p="f", q="m"),
    "another box takes what the box gives": net(
        "m: a -> map: {u: mph}\nf: m -> filter: u > 30\nn: m -> map: {v: u}", p="f", q="n"
    ),
    "something takes another port of the box": au.network(p=COPIED.filter("mph > 30", box="f"), q=COPIED.port("copy")),
    "a column that the map makes": net("m: a -> map: {u: mph + 1}\nf: m -> filter: u > 30", p="f"),
    "a function that is not pure": net("m: a -> map: {u: mph, v: rank_in_train(x)}\nf: m -> filter: u > 30", p="f"),
    "an impure predicate": net(
        "g: a -> filter: mph > 30\nm: g -> map: {x: x}\nf: m -> filter: rank_in_train(x) > 1", p="f"
    ),
    "an impure predicate on both sides of a union": net(
        "g: a -> filter: mph > 30\nu: g, a -> union: {}\nf: u -> filter: rank_in_train(x) > 1", p="f"
    ),
    "a merged union": net("u: a, b -> union: {on: time}\nf: u -> filter: mph > 3", p="f"),
    "a union that a run may merge": net(
        "u: a, b -> union: {}\nf: u -> filter: mph > 3\ns: f -> aggregate: {on: time, size: 4, n: count(*)}", p="s"
    ),
    "a sort by other columns": net("s: a -> bsort: {on: time, slack: 2, by: vid}\nf: s -> filter: mph > 3", p="f"),
    "a sort of floating groups": net("s: a -> bsort: {on: time, slack: 2, by: x}\nf: s -> filter: x > 0", p="f"),
    "a column that is read": net(f"{WRITE}\nr: b -> read: seen\nf: r -> filter: most > 3", o="w", p="f"),
    "a write": net(f"{WRITE}\nr: b -> read: seen\nf: w -> filter: mph > 3", o="r", p="f"),
    "a join of what may be late": net(f"j: a, b -> {PAIRS}\nf: j -> filter: mph > 3", p="f"),
    "a join that counts tuples": net(
        f"j: a, b -> {PAIRS.replace('on: time', 'on: tup#')}\nf: j -> filter: mph > 3", p="f"
    ),
    "a predicate that may fail, below a join": net(f"j: a, cars -> {CLASSES}\nf: j -> filter: big * big > 5", p="f"),
    "a part that may fail": net("m: a -> map: {u: big, v: x * 2}\nf: m -> filter: v > 1 and u * u > 5", p="f"),
    "windows of what may be late": net(f"s: a -> {FIRST}\nf: s -> filter: vid = 1", p="f"),
    "windows of what is sorted a little": net(
        f"t: a -> bsort: {{on: time, slack: 1}}\ns: t -> {FIRST}\nf: s -> filter: vid = 1", p="f"
    ),
    "windows on what may be infinite": net(f"{ENDLESS}\nf: t -> filter: vid = 1", p="f"),
    "windows on what is null": net(
        f"s: a -> {FIRST}\nm: s -> map: {{time: time + null, vid: vid, name: name, mph: mph}}\n"
        f"t: m -> {SECOND}\nf: t -> filter: vid = 1",
        p="f",
    ),
    "floating groups of windows": net(f"s: a -> {FLOATING}\nf: s -> filter: 'atan2(x, -1) > 0'", p="f"),
    "groups for which it may fail": net(
        "s: a -> aggregate: {on: tup#, size: 2, by: big, n: count(*)}\nf: s -> filter: big * big > 5", p="f"
    ),
    "a union with a stored table": net(
        "m: a -> map: {vid: vid, plate: name, class: mph}\nu: m, cars -> union: {}\nf: u -> filter: vid = 1", p="f"
    ),
    "a union with what is made of a stored table": net(
        f"m: a -> map: {{vid: vid, plate: name, class: mph}}\n{SOME}\nu: m, g -> union: {{}}\nf: u -> filter: vid = 1",
        p="f",
    ),
    "windows on a column that a map computes": net(
        f"s: a -> {FIRST}\nm: s -> {LATER.replace('time + 1', '0 - time')}\nt: m -> {SECOND}\nf: t -> filter: vid = 1",
        p="f",
    ),
    "windows by groups that a map computes": net(
        f"s: a -> {FIRST}\nm: s -> {LATER.replace('vid: vid', 'vid: vid % 2')}\nt: m -> {SECOND}\n"
        "f: t -> filter: vid = 1",
        p="f",
    ),
    "windows by fewer groups": net(
        f"s: a -> {FIRST}\nt: s -> {SECOND.replace('[vid, name]', 'vid')}\nf: t -> filter: vid = 1", p="f"
    ),
    "windows on a result of windows": net(
        f"s: a -> {FIRST}\nt: s -> {SECOND.replace('on: time', 'on: mph').replace('mph: max', 'n: max')}\n"
        "f: t -> filter: vid = 1",
        p="f",
    ),
    "windows of so many tuples that time out": net(f"s: a -> {TIMED}\nf: s -> filter: vid = 1", p="f"),
    "windows over windows that time out": net(
        f"s: a -> {FIRST.replace('slack: 1', 'slack: 1, timeout: 9 s')}\nt: s -> {SECOND}\nf: t -> filter: vid = 1",
        p="f",
    ),
    "windows over late tuples": net(f"s: a -> {FIRST}\nt: s.late -> {SECOND}\nf: t -> filter: vid = 1", p="f"),
    "windows over a join of streams": net(
        f"s: a -> {FIRST}\nr: b -> {FIRST}\nj: s, r -> {NEAR}\nt: j -> {SECOND}\nf: t -> filter: vid = 1", p="f"
    ),
    "windows on a column of a stored table": net(
        f"s: a -> {FIRST}\nj: s, cars -> {CLASSES}\nt: j -> {SECOND.replace('on: time', 'on: class')}\n"
        "f: t -> filter: vid = 1",
        p="f",
    ),
    "windows by groups of a stored table": net(
        f"s: a -> {FIRST}\nj: s, cars -> {CLASSES}\nt: j -> {SECOND.replace('[vid, name]', 'plate')}\n"
        "f: t -> filter: plate = 'A'",
        p="f",
    ),
    "a signal that the filter leaves of several": au.network(p=SIGNAL),
    "a constant predicate, below a join": net(f"j: a, cars -> {CLASSES}\nf: j -> filter: 1 > 2", p="f"),
    "results of windows": net(f"s: a -> {COUNTED}\nf: s -> filter: mph > 3", p="f"),
    "windows that time out": net(
        f"s: a -> {FIRST}\nt: s -> {SECOND.replace('mph:', 'timeout: 9 s, mph:')}\nf: t -> filter: vid = 1", p="f"
    ),
}


@pytest.mark.parametrize("case", STAYS)
def test_stays(case):
    assert push_filter(STAYS[case], NONE) is None


FORCED = {
    "the rest is used": net(
        "f: a -> filter: mph > 30\nm: f -> map: {u: mph}\nn: f.rest -> map: {u: vid}", p="m", q="n"
    ),
    "another takes what the box gives": net("f: a -> filter: mph > 30\nm: f -> map: {u: mph}", p="m", q="m"),
    "a function that is not pure": net("f: a -> filter: mph > 30\nm: f -> map: {u: mph, v: rank_in_train(x)}", p="m"),
    "a union that a run may merge": net(
        "f: a -> filter: mph > 3\ng: b -> filter: mph > 3\nu: f, g -> union: {}\n"
        "s: u -> aggregate: {on: time, size: 4, n: count(*)}",
        p="s",
    ),
    "a merged union": net("f: a -> filter: mph > 3\ng: b -> filter: mph > 3\nu: f, g -> union: {on: time}", p="u"),
    "a sort by other columns": net("f: a -> filter: mph > 3\ns: f -> bsort: {on: time, slack: 2, by: vid}", p="s"),
    "a sort of floating groups": net(
        "f: a -> filter: 'atan2(x, -1) > 0'\ns: f -> bsort: {on: time, slack: 2, by: x}", p="s"
    ),
    "a write": net(
        "f: a -> filter: mph > 3\nw: f -> write: {table: seen, most: mph}\nr: b -> read: seen", o="r", p="w"
    ),
    "a join of what may be late": net(f"f: a -> filter: mph > 3\nj: f, b -> {PAIRS}", p="j"),
    "a join that counts tuples": net(
        f"f: a -> filter: mph > 3\nj: f, b -> {PAIRS.replace('on: time', 'on: tup#').replace('9', '1')}", p="j"
    ),
    "windows of what may be late": net(f"f: a -> filter: vid = 1\ns: f -> {FIRST}", p="s"),
    "windows of what is sorted a little": net(
        f"t: a -> bsort: {{on: time, slack: 1}}\nf: t -> filter: vid = 1\ns: f -> {FIRST}", p="s"
    ),
    "results of windows": net(f"f: a -> filter: mph > 3\ns: f -> {COUNTED}", p="s"),
    "windows on what may be infinite": net(f"f: a -> filter: vid = 1\n{ENDLESS.replace('a ->', 'f ->')}", p="t"),
    "windows on what is null": net(
        f"s: a -> {FIRST}\nm: s -> map: {{time: time + null, vid: vid, name: name, mph: mph}}\n"
        f"f: m -> filter: vid = 1\nt: f -> {SECOND}",
        p="t",
    ),
    "floating groups of windows": net(f"f: a -> filter: 'atan2(x, -1) > 0'\ns: f -> {FLOATING}", p="s"),
    "an impure predicate": net("f: a -> filter: rank_in_train(x) > 1 and mph > 30\nm: f -> map: {x: x}", p="m"),
}
BEFORE = {
    **STAYS,
    "a sort of floating groups": net(
        "s: a -> bsort: {on: time, slack: 2, by: x}\nf: s -> filter: 'atan2(x, -1) > 0'", p="f"
    ),
    "a join that counts tuples": net(
        f"j: a, b -> {PAIRS.replace('on: time', 'on: tup#').replace('9', '1')}\nf: j -> filter: mph > 3", p="f"
    ),
}


@pytest.mark.parametrize("case", FORCED)
def test_else_the_answer_would_be_another(case):
    before, forced = BEFORE[case], FORCED[case]
    assert push_filter(before, NONE) is None
    inputs = [agreement.given(before, seed, x=[0.0, -0.0, 1.0], vid=[1, 2]) for seed in range(5)]
    inputs += [agreement.given(before, seed) for seed in range(5)]
    assert any(differ(outcome(before, each), outcome(forced, each)) for each in inputs)


def test_a_predicate_that_fails_for_tuples_without_a_partner():
    before = STAYS["a predicate that may fail, below a join"]
    forced = net(f"f: a -> filter: big * big > 5\nj: f, cars -> {CLASSES}", p="j")
    inputs = {"a": agreement.tuples(1, vid=[9], big=[2**40]), "cars": agreement.CLASSES}
    assert outcome(before, inputs) is not None
    assert outcome(forced, inputs) is None


def test_a_part_that_fails_where_the_part_before_does_not_hold():
    before = STAYS["a part that may fail"]
    forced = net("f_1: a -> filter: big * big > 5\nm: f_1 -> map: {u: big, v: x * 2}\nf: m -> filter: v > 1", p="f")
    inputs = {"a": agreement.tuples(1, x=[0.0], big=[2**40])}
    assert outcome(before, inputs) is not None
    assert outcome(forced, inputs) is None


def test_groups_that_fail_without_a_result():
    before = STAYS["groups for which it may fail"]
    forced = net("f: a -> filter: big * big > 5\ns: f -> aggregate: {on: tup#, size: 2, by: big, n: count(*)}", p="s")
    inputs = {"a": agreement.tuples(1, count=1, big=[2**40])}
    assert outcome(before, inputs) is not None
    assert outcome(forced, inputs) is None


def test_windows_that_time_out_make_tuples_late():
    """Those of vid 2 would not be reported."""
    before = STAYS["windows of so many tuples that time out"]
    forced = net(f"f: a -> filter: vid = 1\ns: f -> {TIMED}", p="s")
    late = []
    for network in (before, forced):
        run = Local(network)
        for clock in (0, 5_000_000, 10_000_000):
            run.push({"a": agreement.tuples(1, count=1, vid=[2])}, clock=clock)
        late.append(run.counts["s"].late)
    assert late == [2, 0]


def test_a_filter_that_is_dear_stays_behind_a_box_that_gives_little():
    before, after = FIRES["the groups of windows over what is in order"]
    dear = Costs({"t": BoxCost(1e-8, {"out": 0.01}), "f": BoxCost(1e-6, {"out": 0.5})})
    cheap = Costs({"t": BoxCost(1e-6, {"out": 0.01}), "f": BoxCost(1e-8, {"out": 0.5})})
    assert push_filter(before, dear) is None
    assert push_filter(before, cheap) == after


@pytest.mark.parametrize("case", FIXED)
def test_fixed_arrows_are_not_crossed(case):
    before, name, after = FIXED[case]
    assert push_filter(before, NONE, [Arrow(name, "out")]) == after


MENU = [
    drawings.keep, drawings.keep, drawings.make, drawings.both, drawings.sort, drawings.window, drawings.hourly,
    drawings.classes, drawings.pairs, drawings.look_up,
]  # fmt: skip


def test_random_networks_agree():
    fired = 0

    @given(drawings.networks(MENU, 8), st.integers(0, 1000))
    def agrees(network, seed):
        nonlocal fired
        before, after = network, push_filter(network, NONE)
        while after is not None:
            fired += 1
            network, after = after, push_filter(after, NONE)
        if network is not before:
            note(str(network))
            compare(before, network, seed)

    agrees()
    assert fired >= many(), f"the rule fired {fired} times"
