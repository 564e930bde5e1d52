"""Map (Aurora 5.2.1.2)."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.boxes.filter import Filter
from australis.boxes.map import Map
from australis.errors import ExpressionError, NetworkError
from australis.expressions import expr
from australis.testing import Cut, apply, cuts, rows, train
from tests.oracles.running import in_any_order, partitioned, run
from tests.oracles.tuples import Out, Stream, out, passed, stream_of, streams

SCHEMA = "a int, b int, s string"
BOX = Map(tuple((name, expr(text)) for name, text in {
    "total": "a + b", "s": "upper(s)", "one": "1", "big": "a > 2", "b": "b",
}.items()))  # fmt: skip
COPIES = Map(tuple((name, expr(name)) for name in ("a", "b", "s")))
NUMBERS = st.none() | st.integers(0, 4)
STREAMS = streams(a=NUMBERS, b=NUMBERS, s=st.none() | st.sampled_from(["x", "yz"]))


def oracle(stream: Stream) -> list[Out]:
    made = []
    for (a, b, s), ts, number in ((each.row.values(), each.ts, each.number) for each in stream):
        total = None if a is None or b is None else a + b
        made.append(out([total, s and s.upper(), 1, None if a is None else a > 2, b], ts, number))
    return made


@given(STREAMS, cuts(), st.booleans())
def test_it_agrees_with_its_oracle_however_the_stream_is_cut(stream: Stream, cut: Cut, restart: bool) -> None:
    assert run(BOX, [stream_of(SCHEMA, stream)], cut, restart=restart) == (oracle(stream),)


@given(STREAMS, st.integers(1, 3))
def test_any_partitioning_does(stream: Stream, partitions: int) -> None:
    whole = stream_of(SCHEMA, stream)
    assert BOX.keys(whole.schema) is None
    assert partitioned(BOX, [whole], partitions) == (in_any_order(oracle(stream)),)


@given(STREAMS)
def test_copies_are_the_identity(stream: Stream) -> None:
    assert run(COPIES, [stream_of(SCHEMA, stream)]) == (passed(stream),)


def test_behind_a_filter_it_keeps_the_hidden_columns_of_what_was_left() -> None:
    stream = train("a int", a=[1, 5, 7], ts=[9, 8, 7], first=4)
    high = apply(Filter(expr("a > 2")), stream)[0]
    (doubled,) = apply(Map((("twice", expr("a * 2")),)), high)
    assert (rows(doubled), doubled.ts.tolist(), doubled.number.tolist()) == ([(10,), (14,)], [8, 7], [5, 6])


def test_the_schema_has_the_types_of_the_expressions() -> None:
    made = BOX.outputs(schema(SCHEMA))["out"]
    assert made.names == ["total", "s", "one", "big", "b"]
    assert [made.field(name).type for name in ("s", "big", "b")] == [pa.string(), pa.bool_(), pa.int32()]


def test_an_unknown_column_is_named_with_those_there_are() -> None:
    with pytest.raises(ExpressionError, match=r"`c`.*a, b, s"):
        Map((("c", expr("c + 1")),)).outputs(schema(SCHEMA))


def test_a_map_to_nothing_is_refused() -> None:
    with pytest.raises(NetworkError, match="at least one column"):
        Map(()).outputs(schema(SCHEMA))
