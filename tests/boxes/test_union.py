"""Union (Aurora 5.2.1.3)."""

import math
from itertools import groupby
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.boxes.union import Union
from australis.errors import NetworkError, SchemaError
from australis.model.box import Moment
from australis.model.train import Train
from australis.testing import Cut, cuts, train
from tests.oracles.running import in_any_order, partitioned, run
from tests.oracles.tuples import Out, Stream, Tuple, out, passed, stream_of, streams

SCHEMA = "a int, s string"
STREAMS = streams(most=8, a=st.none() | st.integers(0, 4), s=st.none() | st.sampled_from("xy"))
INPUTS = st.lists(STREAMS, min_size=2, max_size=4)


def oracle(inputs: list[Stream]) -> list[Out]:
    arrivals = [(each.number, port, each) for port, stream in enumerate(inputs) for each in stream]
    return passed([each for *_, each in sorted(arrivals, key=lambda arrival: arrival[:2])])


def trains(inputs: list[Stream]) -> list[Train]:
    return [stream_of(SCHEMA, stream) for stream in inputs]


@given(INPUTS, cuts(), st.booleans())
def test_it_agrees_with_its_oracle_however_the_streams_are_cut(inputs: list[Stream], cut: Cut, restart: bool) -> None:
    assert run(Union(len(inputs)), trains(inputs), cut, restart=restart) == (oracle(inputs),)


@given(INPUTS, st.integers(1, 3))
def test_any_partitioning_does(inputs: list[Stream], partitions: int) -> None:
    box = Union(len(inputs))
    assert box.keys(*(schema(SCHEMA) for _ in inputs)) is None
    assert partitioned(box, trains(inputs), partitions) == (in_any_order(oracle(inputs)),)


@given(INPUTS, st.randoms(use_true_random=False))
def test_it_is_commutative_up_to_order(inputs: list[Stream], random: Random) -> None:
    shuffled = random.sample(inputs, len(inputs))
    (one,), (other,) = run(Union(len(inputs)), trains(inputs)), run(Union(len(inputs)), trains(shuffled))
    assert in_any_order(one) == in_any_order(other)


def merge_oracle(inputs: list[Stream], least: float) -> list[Out]:
    """A tuple at a time: of the tuples that wait, the least leaves once nothing before it can come."""
    made: list[Out] = []
    queues: list[list[tuple[Any, Tuple]]] = [[] for _ in inputs]
    reach: list[Any] = [least] * len(inputs)

    def leave(number: int, end: bool = False) -> None:
        while heads := [(queue[0][0], side) for side, queue in enumerate(queues) if queue]:
            place, side = min(heads)
            others = [at for at in range(len(inputs)) if at != side]
            if not end and not all(reach[at] > place or (reach[at] == place and at > side) for at in others):
                return
            each = queues[side].pop(0)[1]
            made.append(out(each.row.values(), each.ts, number))

    arrivals = sorted(((each.number, side, each) for side, s in enumerate(inputs) for each in s), key=lambda a: a[:2])
    for number, together in groupby(arrivals, key=lambda arrival: arrival[0]):
        for _, side, each in together:
            value = each.row["a"]
            placed = value is not None and math.isfinite(value)
            reach[side] = max(reach[side], value) if placed else reach[side]
            queues[side].append((reach[side], each))
        leave(number)
    leave(max([0, *(number for number, *_ in arrivals)]), end=True)
    return made


EXTREMES = st.none() | st.integers(0, 4) | st.sampled_from([-(2**63), 2**63 - 1])
FLOATS = st.none() | st.sampled_from([0.0, -0.0, 1.5, math.nan, math.inf, -math.inf, -1.7e308, 5e-324])


@pytest.mark.parametrize(("text", "values"), [("a bigint, s string", EXTREMES), ("a double, s string", FLOATS)])
def test_a_merge_agrees_with_its_oracle_however_the_streams_are_cut(text: str, values: Any) -> None:
    stream = streams(most=8, a=values, s=st.none() | st.sampled_from("xy"))

    @given(st.lists(stream, min_size=2, max_size=3), cuts(), st.booleans())
    def agrees(inputs: list[Stream], cut: Cut, restart: bool) -> None:
        trains = [stream_of(text, each) for each in inputs]
        least = -math.inf if "double" in text else -(2**63)
        assert run(Union(len(inputs), "a"), trains, cut, restart=restart) == (merge_oracle(inputs, least),)

    agrees()


@given(INPUTS, st.permutations(range(4)))
def test_a_merge_does_not_depend_on_which_stream_arrives_first(inputs: list[Stream], turns: list[int]) -> None:
    later = [
        [each._replace(number=each.number + 1000 * turn) for each in stream]
        for turn, stream in zip(turns, inputs, strict=False)
    ]
    (one,), (other,) = (run(Union(len(inputs), "a"), trains(each)) for each in (inputs, later))
    assert [row for row, *_ in one] == [row for row, *_ in other]


def test_a_merge_does_not_wait_for_streams_that_are_done() -> None:
    box = Union(2, "a")
    tables = box.tables(schema("a int"), schema("a int"))
    given = train("a int", a=[1, 5, 9]), train("a int", a=[3], first=9)
    (out,) = box.step(tables, given, Moment(9))
    assert out["a"].to_pylist() == [1, 3]
    (out,) = box.step(tables, (train("a int", a=[]), train("a int", a=[])), Moment(12, done=frozenset({1})))
    assert (out["a"].to_pylist(), out.number.tolist()) == ([5, 9], [12, 12])


def test_a_merge_is_on_a_column_that_can_be_ordered_and_in_one_partition() -> None:
    assert Union(2, "a").keys(schema(SCHEMA), schema(SCHEMA)) == ((), ())
    with pytest.raises(SchemaError, match="the order names `b`, which is no column"):
        Union(2, "b").outputs(schema(SCHEMA), schema(SCHEMA))
    with pytest.raises(SchemaError, match="cannot order on `s`"):
        Union(2, "s").outputs(schema(SCHEMA), schema(SCHEMA))
    with pytest.raises(NetworkError, match="without it a union is by arrival"):
        Union(2, "tup#").outputs(schema(SCHEMA), schema(SCHEMA))


def test_another_schema_is_refused_and_both_are_shown() -> None:
    with pytest.raises(SchemaError, match=r"a int, s string.*number 2.*a bigint, s string"):
        Union(2).outputs(schema(SCHEMA), schema("a bigint, s string"))


def test_a_union_of_one_is_refused() -> None:
    with pytest.raises(NetworkError, match="two streams or more"):
        Union(1).outputs(schema(SCHEMA))
