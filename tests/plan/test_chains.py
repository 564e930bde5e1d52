"""Chains beside their boxes, one by one."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import australis as au
from australis.api.network import Network
from australis.arrow.schema import schema
from australis.engine.measures import TaskMeasures
from australis.engine.superbox import Event, Passage, sampled, steps, tables_of
from australis.errors import RunError
from australis.kernels import generated
from australis.model.box import Moment
from australis.model.train import Train
from australis.plan import plan
from australis.plan.chains import Chain, chains

SCHEMA = "n bigint, i int, x double, f float, up boolean, s string"
FIELDS = schema(SCHEMA)
EXTREMES = [-(2**63), -(2**63) + 1, -(2**31), -7, -1, 0, 1, 2, 5, 60, 3_037_000_500, 2**62, 2**63 - 1]
COMMON = {"n": 1, "i": 1, "x": 1.0, "f": 1.0, "up": True, "s": ""}

rows = st.lists(
    st.fixed_dictionaries(
        {
            "n": st.sampled_from(EXTREMES) | st.integers(-50, 50),
            "i": st.sampled_from([-(2**31), -3, 0, 1, 7, 2**31 - 1]),
            "x": st.sampled_from([0.0, -0.0, 0.1, -2.5, 1e300, float("nan"), float("inf")]),
            "f": st.sampled_from([0.0, 0.10000000149011612, -1.5, 3e38]),
            "up": st.booleans(),
            "s": st.sampled_from(["", "a"]),
        }
    ),
    min_size=1,
    max_size=20,
)


def arithmetic() -> Network:
    stream = au.stream("tuples", SCHEMA).filter("n % i != 3").map(n="n + i", s="s", i="i", x="x")
    return au.network(out=stream.map(n="n * 3 - i", q="n // i", r="x / i", s="s", a="abs(n)", m="-i").filter("n != 4"))


def cases() -> Network:
    stream = au.stream("tuples", SCHEMA).map(
        s="s", up="up", f="f * f + x", g="f", n="case when up then n when i > 0 then i end", low="least(n, i, 3)"
    )
    kept = stream.filter("up or n > 0 and f < 1").map(n="coalesce(n, 7)", none="n is null", more="n * n", g="g", s="s")
    return au.network(out=kept.filter("not none or g > 0.1"))


def ranks() -> Network:
    """NaN ranks above every number; of equal zeros the first one stays."""
    stream = au.stream("tuples", SCHEMA).map(s="s", y="least(x, 1.0625)", z="greatest(x, f, 0.0)", n="n", i="i", x="x")
    more = stream.map(s="s", y="y", z="least(z, y, x)", m="greatest(x, n)", l="least(i, n)", k="greatest(y, 1)", n="n")
    return au.network(out=more.filter("y < 2 or m > 3 or z != z or n = 9007199254740992.0"))


def guarded() -> Network:
    """What a tuple does not need does not fail."""
    stream = au.stream("tuples", SCHEMA).map(
        s="s",
        a="case when n < 1000 and n > -1000 then n * n * n else i end",
        b="coalesce(case when up then n end, case when n < 0 then 1 else 0 - n end)",
        c="(n > 1000 or n < -1000 or n * n > 100) and (up or abs(i) < 4)",
        n="n",
    )
    return au.network(out=stream.filter("n < 3037000499 and n > -3037000499 and n * n >= 0 or c"))


NETWORKS = {"arithmetic": arithmetic(), "cases": cases(), "ranks": ranks(), "guarded": guarded()}


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Compile before the first tuple."""
    monkeypatch.setattr(generated, "WORTH", -1)
    yield
    for compilation in generated._COMPILATIONS.values():
        if compilation.thread is not None:
            compilation.thread.join()


def chain_of(network: Network) -> Chain:
    """The one chain of a network, compiled."""
    (stage,) = plan(network).stages
    (chain,) = chains(network, stage).values()
    while chain.step(train_of([COMMON])) is None:
        thread = generated._COMPILATIONS[chain.fused.code.key].thread
        assert thread is not None
        thread.join()
    return chain


def train_of(tuples: list[dict[str, Any]]) -> Train:
    number = np.arange(len(tuples))
    return Train(pa.RecordBatch.from_pylist(tuples, FIELDS), 10 * number, number)


def one_by_one(network: Network, train: Train) -> tuple[Train, TaskMeasures]:
    """The oracle: no chains. Gives the output, and what is measured."""
    trains, measures = {("tuples", "out"): train}, TaskMeasures(network)
    measures.run(steps(network, network.nodes, tables_of(network, network.nodes), trains, Moment()))
    arrow = network.outputs[0].arrow
    return trains[arrow.source, arrow.port], measures


@pytest.mark.parametrize("name", NETWORKS)
def test_a_chain_gives_what_its_boxes_give(name: str) -> None:
    network = NETWORKS[name]
    chain = chain_of(network)
    assert chain.nodes == network.nodes

    @given(rows)
    def agrees(tuples: list[dict[str, Any]]) -> None:
        train = train_of(tuples)
        passed = chain.step(train)
        try:
            wanted, oracle = one_by_one(network, train)
        except RunError:
            assert passed is None
            return
        if passed is None:  # a number that is too big only by the loop's careful measure
            return
        found, counts = passed
        assert repr(found.tuples.to_pylist()) == repr(wanted.tuples.to_pylist())
        assert found.schema == wanted.schema
        assert found.ts.tolist() == wanted.ts.tolist()
        assert found.number.tolist() == wanted.number.tolist()
        measures = TaskMeasures(network)
        measures.run([Passage(chain, train, tuple(counts.tolist()))])
        taken, expected = ({name: box[1] for name, box in each.boxes.items()} for each in (measures, oracle))
        assert taken == expected
        given, expected = ({port: counts[0] for port, counts in each.arrows.items()} for each in (measures, oracle))
        assert given == expected

    agrees()


def test_common_numbers_take_the_loop_and_nulls_the_boxes() -> None:
    chain = chain_of(NETWORKS["arithmetic"])
    assert chain.step(train_of([{**COMMON, "n": n, "i": 1 + n % 5} for n in range(-100, 100)])) is not None
    assert chain.step(train_of([{**COMMON, "n": None}])) is None


def test_numbers_that_are_too_big_where_nobody_asks_take_the_loop() -> None:
    chain = chain_of(NETWORKS["guarded"])
    assert chain.step(train_of([{**COMMON, "n": n, "i": 1} for n in (2**63 - 1, -(2**62), 0, 999)])) is not None
    assert chain.step(train_of([{**COMMON, "n": -(2**63), "up": False}])) is not None
    assert chain.step(train_of([{**COMMON, "i": -(2**31), "up": False, "n": 2000}])) is None  # abs has no room


def test_a_filter_on_the_least_gives_the_same_before_its_loop_is_compiled_and_after() -> None:
    network = au.network(out=au.stream("tuples", "t bigint, x double").map(t="t", y="least(x, 1.0625)").filter("y < 2"))
    x = np.arange(16) % 4 * np.where(np.arange(16) % 2, np.nan, 1.0)
    tuples = pa.RecordBatch.from_pydict({"t": np.arange(16), "x": x})
    train = Train(tuples, np.arange(16), np.arange(16))
    before = one_by_one(network, train)[0].tuples
    (stage,) = plan(network).stages
    (chain,) = chains(network, stage).values()
    while (after := chain.step(train)) is None:
        thread = generated._COMPILATIONS[chain.fused.code.key].thread
        assert thread is not None
        thread.join()
    assert before.num_rows == 16
    assert before.column("y").to_pylist() == np.where(np.isnan(x), 1.0625, np.minimum(x, 1.0625)).tolist()
    assert after[0].tuples == before


def test_a_superbox_takes_the_chain() -> None:
    network = NETWORKS["arithmetic"]
    chain = chain_of(network)
    train = train_of([{**COMMON, "n": n, "i": 3} for n in range(20)])
    trains, tables = {("tuples", "out"): train}, tables_of(network, network.nodes)
    events = list(steps(network, network.nodes, tables, trains, Moment(), chains={chain.nodes[0].name: chain}))
    assert [type(event) for event in events] == [Passage]
    arrow = network.outputs[0].arrow
    assert trains[arrow.source, arrow.port].tuples == one_by_one(network, train)[0].tuples


def found(**outputs: Any) -> list[list[str]]:
    network = au.network(**outputs)
    every = [chain for stage in plan(network).stages for chain in chains(network, stage).values()]
    return [[node.box.kind for node in chain.nodes] for chain in every]


def test_a_chain_ends_where_tuples_part() -> None:
    first = au.stream("tuples", SCHEMA).filter("n > 1").map(n="n + 1", s="s")
    assert found(out=first.filter("n > 3"), all=first) == [["filter", "map"]]
    last = first.filter("n > 3")
    assert found(out=last, rest=last.rest) == [["filter", "map"]]
    assert found(out=first.map(s="upper(s)").filter("s = 'A'")) == [["filter", "map"]]
    assert found(out=au.stream("tuples", SCHEMA).filter("n > 1")) == []
    assert found(out=first.filter("n > 3").aggregate(on="n", size=5, m="max(n)")) == [["filter", "map", "filter"]]


def long_train(first: int, count: int) -> Train:
    columns = {"n": np.arange(count), "i": np.full(count, 3, np.int32), "x": np.ones(count)}
    more = {"f": np.ones(count, np.float32), "up": np.ones(count, bool), "s": ["a"] * count}
    number = first + np.arange(count)
    return Train(pa.RecordBatch.from_pydict({**columns, **more}, schema=FIELDS), number, number)


@pytest.mark.parametrize("apart", [1, 1000, 1 << 16, 1 << 26, (1 << 26) + 65_536])
@pytest.mark.parametrize("first", [0, 1, 1 << 36, 2**62])
def test_about_one_long_train_in_64_goes_box_by_box_and_the_same_again(first: int, apart: int) -> None:
    trains = [Train(LONG.tuples, LONG.ts, LONG.number + first + k * apart) for k in range(4096)]
    chosen = [sampled(train) for train in trains]
    assert 32 <= sum(chosen) <= 128
    assert [sampled(train) for train in trains] == chosen
    assert not any(sampled(train.slice(0, 999)) for train in trains)


LONG = long_train(0, 1000)


def test_a_train_that_goes_box_by_box_gives_the_same_and_the_loop_learns_from_it() -> None:
    network = NETWORKS["arithmetic"]
    chain = chain_of(network)
    arrow = network.outputs[0].arrow
    first = next(number for number in range(1000) if sampled(long_train(number, 1000)))
    for number, kind in ((first, Event), (first + 1, Passage)):
        train = long_train(number, 1000)
        trains, tables = {("tuples", "out"): train}, tables_of(network, network.nodes)
        events = steps(network, network.nodes, tables, trains, Moment(), chains={chain.nodes[0].name: chain})
        measures, seen = TaskMeasures(network), []
        measures.run(seen.append(event) or event for event in events)
        assert {type(event) for event in seen} == {kind}
        wanted, oracle = one_by_one(network, train)
        assert trains[arrow.source, arrow.port].tuples == wanted.tuples
        assert {name: box[1] for name, box in measures.boxes.items()} == {
            name: box[1] for name, box in oracle.boxes.items()
        }
        assert set(chain.samples) == {node.name for node in chain.nodes if oracle.boxes[node.name][1] >= 1000}
        assert all(len(samples) == 1 for samples in chain.samples.values())  # the loop teaches nothing


def test_the_time_of_a_loop_is_shared_by_what_boxes_cost_alone() -> None:
    chain = replace(chain_of(NETWORKS["arithmetic"]), samples={})
    first, second, third, _ = (node.name for node in chain.nodes)
    assert chain.share(8.0, (100, 50, 50, 0)) == [4.0, 2.0, 2.0, 0.0]  # nothing is known: by counts
    chain.learn(first, 3.0, 1000)
    chain.learn(second, 1.0, 1000)
    chain.learn(third, 99.0, 999)  # too few
    assert chain.share(9.0, (100, 100, 100, 100)) == pytest.approx([3.375, 1.125, 2.25, 2.25])  # others as on average
    for seconds in (1.0, 50.0, 1.0):  # as if something had disturbed it
        chain.learn(first, seconds, 1000)
    assert chain.share(6.0, (100, 100, 0, 0)) == pytest.approx([4.0, 2.0, 0.0, 0.0])
    for _ in range(9):
        chain.learn(first, 3.0, 1000)
    assert chain.share(4.0, (100, 100, 0, 0)) == pytest.approx([3.0, 1.0, 0.0, 0.0])
    assert chain.share(1.0, (0, 0, 0, 0)) == [0.0] * 4
    assert sum(chain.share(7.0, (1000, 999, 3, 1))) == pytest.approx(7.0)
