"""The rules together: to the end, in a sensible order, and without change of what comes out."""

import random
from dataclasses import replace

from hypothesis import given, note
from hypothesis import strategies as st

import australis as au
from australis.model.network import Arrow, Network, Output
from australis.model.qos.costs import BoxCost, Costs
from australis.plan.rules import optimize
from tests.plan.rules import drawings
from tests.plan.rules.agreement import NONE, A, compare, even, net

CLASSES = "join: {where: left.vid = right.vid, on: [tup#, null]}"


def test_rules_make_way_for_each_other():
    before = net(
        f"""j: a, cars -> {CLASSES}
        f: j -> filter: mph > 3 and class > 1
        m: f -> map: {{time: time, vid: vid, mph: mph + class, x: x}}
        g: m -> filter: vid = 1
        k: a, cars -> {CLASSES}
        s: g -> aggregate: {{on: time, size: 4, by: vid, mph: max(mph)}}
        h: k -> filter: mph > 3 and class > 1""",
        p="s",
        q="h",
    )
    after, firings = optimize(before, even(before))
    assert {firing.rule for firing in firings} == {"share", "push_filter", "combine", "project"}
    assert after.named.keys() >= {"j", "s"}
    for seed in range(4):
        compare(before, after, seed, gone=True)


def test_a_filter_goes_all_the_way_to_the_input():
    before = net(
        f"""m: a -> map: {{v: vid, y: x * 2, t: time, mph: mph}}
        n: m -> map: {{vid: v, y: y, u: y + 1, mph: mph}}
        j: n, cars -> {CLASSES}
        f: j -> filter: mph > 3 and class > 1 and y > class""",
        p="f",
    )
    after, firings = optimize(before, NONE)
    assert [firing.rule for firing in firings] == ["push_filter"] * 3
    assert after.named["f_1"].sources == (Arrow("a", "out"),)
    assert after.named["f_2"].sources == (Arrow("cars", "out"),)
    for seed in range(4):
        compare(before, after, seed)


def test_outputs_and_what_they_are_worth_stay():
    fast = A.filter("mph > 3", box="f").filter("x > 1", box="g")
    before = au.network(fast=fast.output(latency={1: 1.0, 2: 0.0}), all=A)
    after, firings = optimize(before, even(before))
    assert firings
    assert [(each.name, each.qos) for each in after.outputs] == [(each.name, each.qos) for each in before.outputs]
    assert after.inputs == before.inputs


MENU = [
    drawings.keep, drawings.keep, drawings.part, drawings.make, drawings.both, drawings.sort, drawings.window,
    drawings.hourly, drawings.classes, drawings.pairs, drawings.look_up, drawings.narrow,
]  # fmt: skip


def stateful(network: Network) -> set[str]:
    return {
        node.name
        for node in network.nodes
        if node.box.reads is None and node.box.tables(*(network.schema(arrow) for arrow in node.sources))
    }


@given(drawings.networks(MENU, 5) | drawings.networks(MENU, 6, wide=True), st.integers(0, 1000), st.booleans())
def test_random_networks_agree(network, seed, measured):
    draw = random.Random(seed)
    boxes = {node.name: BoxCost(draw.random() * 1e-6, {"out": draw.random()}) for node in network.nodes}
    costs = Costs(boxes) if measured else NONE
    after, firings = optimize(network, costs)
    note(f"{firings} {after}")
    assert optimize(after, costs) == (after, [])
    assert stateful(after) <= stateful(network)
    compare(network, after, seed, gone=True)


@given(drawings.networks(MENU, 4), st.integers(0, 1000))
def test_fixed_arrows_carry_the_same(network, seed):
    """They are seen as outputs, which the rules do not know of."""
    draw = random.Random(seed)
    arrows = [Arrow(node.name, port) for node in network.nodes for port in network.schemas[node.name]]
    fixed = draw.sample(arrows, min(2, len(arrows)))
    after, firings = optimize(network, NONE, fixed)
    note(f"{fixed} {firings} {after}")
    compare(watched(network, fixed), watched(after, fixed), seed, gone=True)


def watched(network: Network, arrows: list[Arrow]) -> Network:
    """The network, with arrows as outputs."""
    outputs = [Output(f"watched{at}", arrow) for at, arrow in enumerate(arrows)]
    return replace(network, outputs=(*network.outputs, *outputs))
