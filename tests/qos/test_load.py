"""The load of a network: forward and backward passes agree, and the arithmetic is what a person works out by hand."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

import australis as au
from australis.errors import RunError
from australis.model.network import OUT, Arrow
from australis.model.qos import BoxCost, Costs
from australis.plan import plan
from australis.qos.load import LoadModel, Machine


def two_branches() -> au.Network:
    reports = au.stream("reports", "time int, seg int, mph int")
    fast = reports.filter("mph > 60", box="fast")
    stats = reports.aggregate(on="time", size=60, by=["seg"], mph="avg(mph)", box="stats")
    return au.network(alerts=fast.output(latency={0.5: 1, 2: 0}), stats=stats.output(latency={2: 1, 10: 0}))


COSTS = Costs(
    {"fast": BoxCost(1e-6, {"out": 0.25}), "stats": BoxCost(4e-6, {"out": 0.01})},
    sources={"reports": 1e-6},
    exchanges={"reports": 2e-6},
    sinks={"alerts": 8e-6},
    batch=0.05,
)


def model(machine: Machine, costs: Costs = COSTS, network: au.Network | None = None) -> LoadModel:
    net = network or two_branches()
    return LoadModel(
        net, plan(net, {i.name: () if machine.partitions == 1 else None for i in net.inputs}), costs, machine
    )


def test_the_load_is_what_a_person_works_out():
    one = model(Machine())
    # A tuple is read (1), filtered (1), one in four goes to the sink (8), and all are aggregated (4): 8 µs on one core.
    assert one.load({"reports": 100_000}) == pytest.approx(0.8)
    assert one.coefficients[Arrow("reports", OUT)] == pytest.approx(8e-6)
    # With two cores, reading, filtering, exchange and aggregate are done by both, and the sink by the driver.
    two = model(Machine(2, 2))
    assert two.load({"reports": 100_000}) == pytest.approx((1 + 1 + 4 + 2) / 2 * 0.1 + 0.2)


def test_rates_follow_selectivities():
    rates = model(Machine()).rates({"reports": 1000})
    assert rates[Arrow("fast", "out")] == pytest.approx(250)
    assert rates[Arrow("stats", "out")] == pytest.approx(10)
    assert rates[Arrow("fast", "rest")] == 0


@given(
    st.floats(0, 1e6),
    st.lists(st.tuples(st.floats(0, 1e-4), st.floats(0, 3), st.floats(0, 3)), min_size=4, max_size=4),
    st.integers(1, 4),
    st.integers(1, 4),
)
def test_the_coefficients_give_the_load(rate, numbers, cores, partitions):
    a = au.stream("a", "x int, y int")
    f = a.filter("x > 1", box="f")
    g = f.filter("y > 1", box="g")
    h = f.rest.filter("y > 2", box="h")
    joined = g.union(h, box="u")
    net = au.network(o=joined, p=g)
    costs = Costs({name: BoxCost(c, {"out": s, "rest": t}) for name, (c, s, t) in zip("fghu", numbers, strict=True)})
    each = model(Machine(cores, partitions), costs, net)
    assert each.load({"a": rate}) == pytest.approx(sum(share.busy for share in each.shares({"a": rate})))


def test_headroom_interval_and_delay():
    one = model(Machine(headroom=0.9))
    assert one.reach() == 0.5
    assert one.longest() == pytest.approx(0.5 / 1.9)
    assert one.interval(0.4) == pytest.approx(0.1)  # 0.05 s of every 0.1 s beside 0.4
    assert one.interval(0.9) == one.longest()
    assert one.most == pytest.approx(0.9 - 0.05 * 1.9 / 0.5)
    assert one.delay(0.4, 0.1) == pytest.approx(0.05 + 0.05 + 0.04)
    assert one.delay(0.4, 0.1, backlog=2) == pytest.approx(2.14)


@given(st.floats(1e-4, 1), st.floats(0.01, 100), st.floats(0.05, 1))
def test_the_most_load_keeps_every_delay_on_the_flat_part(batch, bend, headroom):
    x = au.stream("x", "v int")
    net = au.network(o=x.filter("v > 0", box="f").output(latency={bend: 1, bend + 1: 0}))
    each = model(Machine(headroom=headroom), Costs({"f": BoxCost(1e-6, {"out": 1})}, batch=batch), net)
    most, interval = each.most, each.interval(each.most)
    assert 0 <= most <= headroom
    if bend <= 2 * batch:
        assert each.reach() == inf  # it cannot be reached, and is not aimed at
    elif most > 0:
        assert interval + batch + most * interval <= bend * (1 + 1e-9)  # one that came just after a batch had begun
        assert batch + most * interval <= headroom * interval * (1 + 1e-9)
        over, longest = most * 1.01 + 1e-6, each.longest()
        assert batch + over * longest > headroom * longest


def test_boxes_that_were_not_measured_are_named():
    assert model(Machine(), Costs({"fast": BoxCost(1e-6)})).unmeasured == ["stats"]


def test_mistakes_are_told():
    with pytest.raises(RunError, match=r"no stream input raports.*reports"):
        model(Machine()).load({"raports": 1})
    with pytest.raises(RunError, match="tuples a second, not -1"):
        model(Machine()).load({"reports": -1})
    with pytest.raises(RunError, match="headroom is a part"):
        Machine(headroom=1.5)
    with pytest.raises(RunError, match="cores"):
        Machine(cores=0)


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.integers(1, 2))
def test_branches_that_take_different_numbers_share_what_they_read(some: float, more: float, cores: int) -> None:
    net = model(Machine(cores, cores))
    assert [branch.name for branch in net.branches] == ["alerts", "stats"]
    taken = {"alerts": {"reports": some}, "stats": {"reports": more}}
    by_hand = max(some, more) * 1e-6 / cores + some * (1e-6 / cores + 0.25 * 8e-6) + more * 4e-6 / cores
    by_hand += more * 2e-6 / cores if cores > 1 else 0.0
    assert net.load_of(taken) == pytest.approx(by_hand)
    assert net.load_of({name: {"reports": more} for name in taken}) == pytest.approx(net.load({"reports": more}))
    assert net.load_of({}) == 0
