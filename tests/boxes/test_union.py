"""Union (Aurora 5.2.1.3)."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.boxes.union import Union
from australis.errors import NetworkError, SchemaError
from australis.schema import schema
from australis.testing import Cut, cuts
from australis.train import Train
from tests.oracles.running import in_any_order, partitioned, run
from tests.oracles.tuples import Out, Stream, passed, stream_of, streams

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


def test_another_schema_is_refused_and_both_are_shown() -> None:
    with pytest.raises(SchemaError, match=r"a int, s string.*number 2.*a bigint, s string"):
        Union(2).outputs(schema(SCHEMA), schema("a bigint, s string"))


def test_a_union_of_one_is_refused() -> None:
    with pytest.raises(NetworkError, match="two streams or more"):
        Union(1).outputs(schema(SCHEMA))
