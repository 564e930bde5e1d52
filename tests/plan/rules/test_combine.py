"""Combine: filters in a row become one, and so do maps."""

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import australis as au
from australis.boxes import Filter, Map
from australis.errors import ExpressionError
from australis.expressions import expr
from australis.model.network import Arrow
from australis.model.qos.costs import BoxCost, Costs
from australis.plan.rules.combine import combine
from tests.plan.rules import agreement, drawings
from tests.plan.rules.agreement import NONE, compare, differ, even, many, net, outcome

FILTERS = "f: a -> filter: mph > 30\ng: f -> filter: x > 0.5"
CLASSES = "join: {where: left.vid = right.vid, on: [tup#, null]}"


def grouped(**boxes):
    """Filters in a row, each with its group."""
    stream = agreement.A
    for name, (group, predicate) in boxes.items():
        with au.group(group):
            stream = stream.filter(predicate, box=name)
    return au.network(p=stream)


FIRES = {
    "filters": (net(FILTERS, p="g"), net("f_g: a -> filter: mph > 30 and x > 0.5", p="f_g")),
    "conjunctions and alternatives": (
        net("f: a -> filter: mph > 30 and vid = 1\ng: f -> filter: x > 0.5 or vid = 2", p="g"),
        net("f_g: a -> filter: mph > 30 and vid = 1 and (x > 0.5 or vid = 2)", p="f_g"),
    ),
    "a first predicate that may fail": (
        net("f: a -> filter: big * big > 30\ng: f -> filter: x > 0.5", p="g"),
        net("f_g: a -> filter: big * big > 30 and x > 0.5", p="f_g"),
    ),
    "a name that is taken": (
        net(f"{FILTERS}\nf_g: b -> filter: mph > 3", p="g", q="f_g"),
        net("f_g_2: a -> filter: mph > 30 and x > 0.5\nf_g: b -> filter: mph > 3", p="f_g_2", q="f_g"),
    ),
    "stored tables": (
        net(f"f: cars -> filter: vid > 0\ng: f -> filter: class > 2\nj: a, g -> {CLASSES}", p="j"),
        net(f"f_g: cars -> filter: vid > 0 and class > 2\nj: a, f_g -> {CLASSES}", p="j"),
    ),
    "maps": (
        net("m: a -> map: {u: mph + 1, v: x}\nn: m -> map: {y: u * 2, z: v, w: v}", p="n"),
        net("m_n: a -> map: {y: (mph + 1) * 2, z: x, w: x}", p="m_n"),
    ),
    "a column that nobody reads": (
        net("m: a -> map: {u: big * big, v: x}\nn: m -> map: {z: v}", p="n"),
        net("m_n: a -> map: {z: x}", p="m_n"),
    ),
    "a constant that is copied": (
        net("m: a -> map: {u: 1, v: vid}\nn: m -> map: {y: u, z: v}", p="n"),
        net("m_n: a -> map: {y: 1, z: vid}", p="m_n"),
    ),
    "filters of one group": (
        grouped(f=("here", "mph > 30"), g=("here", "x > 0.5")),
        grouped(f_g=("here", "mph > 30 and x > 0.5")),
    ),
    "filters of two groups": (
        grouped(f=("here", "mph > 30"), g=("there", "x > 0.5")),
        net("f_g: a -> filter: mph > 30 and x > 0.5", p="f_g"),
    ),
}
FIXED = {
    "the first": (FIRES["filters"][0], "f", None),
    "the second": (FIRES["filters"][0], "g", None),
    "the input": (FIRES["filters"][0], "a", FIRES["filters"][1]),
}


@pytest.mark.parametrize("case", FIRES)
def test_fires(case):
    before, after = FIRES[case]
    assert combine(before, even(before)) == after
    for seed in range(4):
        compare(before, after, seed)


@au.function("double")
def of_train(x):
    """What comes out depends on what else is in the train."""
    return np.full(len(x), float(len(x)))


class Deep(Filter):
    """A filter whose predicate is as deep as any can be."""

    def followed_by(self, box, stream):
        raise ExpressionError("nested too deeply")


TWICE = Map((("u", expr("mph")), ("u", expr("vid")), ("v", expr("x"))))
STAYS = {
    "the rest of the first is used": net(FILTERS, p="g", q="f.rest"),
    "the rest of the second is used": net(FILTERS, p="g", q="g.rest"),
    "the first is an output": net(FILTERS, p="g", q="f"),
    "another box takes the first": net(f"{FILTERS}\nh: f -> filter: vid = 1", p="g", q="h"),
    "the second may fail": net("f: a -> filter: big < 100\ng: f -> filter: big * big > 5", p="g"),
    "a column is computed and read twice": net("m: a -> map: {u: x * 2}\nn: m -> map: {y: u + 1, z: u}", p="n"),
    "a constant within an expression": net("m: a -> map: {u: 1, v: vid}\nn: m -> map: {y: 'coalesce(v, u)'}", p="n"),
    "a constant deep within": net(
        "m: a -> map: {u: 1, v: vid}\nn: m -> map: {y: 'cast(coalesce(v, u) as bigint)'}", p="n"
    ),
    "a constant whose type shows in a text": net(
        "m: a -> map: {u: 1, v: cast(x * 0.1 as float)}\nn: m -> map: {y: 'cast(coalesce(v, u) as string)'}", p="n"
    ),
    "a first function that is not pure": net("f: a -> filter: of_train(x) > 2\ng: f -> filter: mph > 30", p="g"),
    "another copy comes first": net("m: a -> map: {t: time, u: time}\nn: m -> map: {v: u}", p="n"),
    "a function that is not pure": net("f: a -> filter: mph > 30\ng: f -> filter: of_train(x) > 2", p="g"),
    "a filter behind a map": net("m: a -> map: {u: mph}\ng: m -> filter: u > 1", p="g"),
    "a map behind a filter": net("g: a -> filter: mph > 1\nm: g -> map: {u: mph}", p="m"),
    "the second may fail where the first is null": net(
        "f: a -> filter: vid > 0 and big < 100 or null\ng: f -> filter: big * big > 5", p="g"
    ),
    "another copy comes first, before a merged union": net(
        "u: a, b -> union: {}\nm: u -> map: {t: time, u: time}\nn: m -> map: {v: u}\n"
        "s: n -> aggregate: {on: v, size: 4, n: count(*)}",
        p="s",
    ),
    "expressions that would nest too deeply": au.network(
        p=agreement.A.draw(Deep(expr("mph > 30")), name="f").filter("x > 0.5", box="g")
    ),
    "two columns of one name": au.network(p=agreement.A.draw(TWICE).map(w="v")),
}


@pytest.mark.parametrize("case", STAYS)
def test_stays(case):
    assert combine(STAYS[case], even(STAYS[case])) is None


FORCED = {
    "the rest of the first is used": net("f: a -> filter: mph > 30 and x > 0.5", p="f", q="f.rest"),
    "the rest of the second is used": net("f: a -> filter: mph > 30 and x > 0.5", p="f", q="f.rest"),
    "the first is an output": net("f: a -> filter: mph > 30 and x > 0.5", p="f", q="f"),
    "a function that is not pure": net("f: a -> filter: mph > 30 and of_train(x) > 2", p="f"),
    "a constant within an expression": net("n: a -> map: {y: 'coalesce(vid, 1)'}", p="n"),
}


@pytest.mark.parametrize("case", FORCED)
def test_else_the_answer_would_be_another(case):
    before, forced = STAYS[case], FORCED[case]
    inputs = {"a": agreement.tuples(3, x=[1.0, 0.0, None])}
    schemas = [[each.schema(output.arrow) for output in each.outputs] for each in (before, forced)]
    assert differ(outcome(before, inputs, 3), outcome(forced, inputs, 3)) or schemas[0] != schemas[1]


def test_a_predicate_that_fails_where_the_first_is_null():
    """`and` asks the second part there, a filter does not."""
    inputs = {"a": agreement.tuples(1, vid=[None, 1], big=[2**62, 3])}
    before = STAYS["the second may fail where the first is null"]
    forced = net("f: a -> filter: (vid > 0 and big < 100 or null) and big * big > 5", p="f")
    assert outcome(before, inputs) is not None
    assert outcome(forced, inputs) is None


def test_a_merged_union_before_maps():
    """A run finds the column to merge a union by through the first copy of it alone."""
    before = STAYS["another copy comes first, before a merged union"]
    forced = net(
        "u: a, b -> union: {}\nn: u -> map: {v: time}\ns: n -> aggregate: {on: v, size: 4, n: count(*)}", p="s"
    )
    inputs = {"a": agreement.tuples(1, ordered=True), "b": agreement.tuples(2, ordered=True)}
    assert differ(outcome(before, inputs), outcome(forced, inputs))


def test_filters_stay_apart_where_that_saves_or_may():
    before, after = FIRES["filters"]
    assert combine(before, NONE) is None

    def costs(selectivity):
        return Costs({"f": BoxCost(1e-8, {"out": selectivity}), "g": BoxCost(1e-8, {"out": 0.5})})

    assert combine(before, costs(0.1)) is None
    assert combine(before, costs(0.99)) == after


@pytest.mark.parametrize("case", FIXED)
def test_fixed_arrows_are_not_crossed(case):
    before, name, after = FIXED[case]
    assert combine(before, even(before), [Arrow(name, "out")]) == after


def test_maps_whose_expressions_would_nest_too_deeply_stay_apart():
    def maps(depth):
        deep = "(" * depth + "x" + " + 1) * 2" * depth
        try:
            return net(f"m: a -> map: {{x: '{deep}'}}\nn: m -> map: {{x: '{deep}'}}", p="n")
        except ExpressionError:
            return None

    assert combine(maps(5), NONE) is not None
    # How deep is too deep depends on who calls; twice the deepest that is not is.
    deepest = next(network for depth in range(60, 5, -4) if (network := maps(depth)) is not None)
    assert combine(deepest, NONE) is None


MENU = [drawings.keep, drawings.keep, drawings.keep, drawings.make, drawings.make, drawings.both, drawings.part]


def test_random_networks_agree():
    fired = 0

    @given(drawings.networks(MENU, 15), st.integers(0, 1000))
    def agrees(network, seed):
        nonlocal fired
        before, after = network, combine(network, even(network))
        while after is not None:
            fired += 1
            network, after = after, combine(after, even(after))
        if network is not before:
            note(str(network))
            compare(before, network, seed)

    agrees()
    assert fired >= many(), f"the rule fired {fired} times"
