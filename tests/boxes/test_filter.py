"""Filter (Aurora 5.2.1.1, with one predicate)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.boxes.filter import Filter
from australis.errors import ExpressionError
from australis.expressions import expr
from australis.testing import Cut, apply, cuts, rows, train
from tests.oracles.running import in_any_order, partitioned, run
from tests.oracles.tuples import Out, Stream, passed, stream_of, streams

SCHEMA = "a int, s string"
BOX = Filter(expr("a > 2 or s = 'x'"))
STREAMS = streams(a=st.none() | st.integers(0, 4), s=st.none() | st.sampled_from("xy"))


def passes(a: int | None, s: str | None) -> bool:
    """Null or true is true, and null or false is null, which is not let through."""
    return (a is not None and a > 2) or s == "x"


def oracle(stream: Stream) -> tuple[list[Out], ...]:
    return tuple(passed([each for each in stream if passes(**each.row) == wanted]) for wanted in (True, False))


@given(STREAMS, cuts(), st.booleans())
def test_it_agrees_with_its_oracle_however_the_stream_is_cut(stream: Stream, cut: Cut, restart: bool) -> None:
    assert run(BOX, [stream_of(SCHEMA, stream)], cut, restart=restart) == oracle(stream)


@given(STREAMS, st.integers(1, 3))
def test_any_partitioning_does(stream: Stream, partitions: int) -> None:
    whole = stream_of(SCHEMA, stream)
    assert BOX.keys(whole.schema) is None
    assert partitioned(BOX, [whole], partitions) == tuple(map(in_any_order, oracle(stream)))


def test_a_filter_of_a_filter_sees_the_tuples_that_were_left() -> None:
    stream = train("a int, s string", a=[1, 5, 7, None], s=["x", "y", None, "x"], ts=[4, 3, 2, 1])
    high = apply(Filter(expr("a > 2")), stream)[0]
    named, rest = apply(Filter(expr("s is not null")), high)
    assert (rows(named), named.ts.tolist(), named.number.tolist()) == ([(5, "y")], [3], [2])
    assert (rows(rest), rest.ts.tolist(), rest.number.tolist()) == ([(7, None)], [2], [3])


def test_an_unknown_column_is_named_with_those_there_are() -> None:
    with pytest.raises(ExpressionError, match=r"`b`.*a, s"):
        Filter(expr("b > 2")).outputs(schema(SCHEMA))


def test_what_is_no_predicate_is_refused() -> None:
    with pytest.raises(ExpressionError, match=r"`a \+ 1`.*int"):
        Filter(expr("a + 1")).outputs(schema(SCHEMA))
