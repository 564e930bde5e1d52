"""Route, the paper's Filter (Aurora 5.2.1.1)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.boxes.route import Route
from australis.errors import ExpressionError, NetworkError, RunError
from australis.expressions import expr
from australis.testing import Cut, apply, cuts, rows, train
from tests.oracles.running import in_any_order, partitioned, run
from tests.oracles.tuples import Out, Stream, passed, stream_of, streams

SCHEMA = "a int, s string"
BOX = Route((expr("a > 2"), expr("s = 'x'"), expr("a < 1 or s is null")))
STREAMS = streams(a=st.none() | st.integers(0, 4), s=st.none() | st.sampled_from("xy"))


def port_of(a: int | None, s: str | None) -> int:
    if a is not None and a > 2:
        return 0
    if s == "x":
        return 1
    if s is None or (a is not None and a < 1):
        return 2
    return 3


def oracle(stream: Stream) -> tuple[list[Out], ...]:
    return tuple(passed([each for each in stream if port_of(**each.row) == port]) for port in range(4))


@given(STREAMS, cuts(), st.booleans())
def test_it_agrees_with_its_oracle_however_the_stream_is_cut(stream: Stream, cut: Cut, restart: bool) -> None:
    assert run(BOX, [stream_of(SCHEMA, stream)], cut, restart=restart) == oracle(stream)


@given(STREAMS, st.integers(1, 3))
def test_any_partitioning_does(stream: Stream, partitions: int) -> None:
    whole = stream_of(SCHEMA, stream)
    assert BOX.keys(whole.schema) is None
    assert partitioned(BOX, [whole], partitions) == tuple(map(in_any_order, oracle(stream)))


@given(STREAMS)
def test_its_outputs_are_a_partition_of_its_input(stream: Stream) -> None:
    ports = run(BOX, [stream_of(SCHEMA, stream)])
    assert in_any_order(each for port in ports for each in port) == in_any_order(passed(stream))


WORDS = Route((expr("s = 'y'"), expr("s = 'w'"), expr("s = 'x'")))


@given(streams(a=st.integers(0, 4), s=st.none() | st.sampled_from("wxyz")), cuts())
def test_tuples_go_by_the_word_in_a_column(stream: Stream, cut: Cut) -> None:
    expected = [passed([each for each in stream if each.row["s"] == word]) for word in "ywx"]
    rest = passed([each for each in stream if each.row["s"] in (None, "z")])
    assert run(WORDS, [stream_of(SCHEMA, stream)], cut) == (*expected, rest)


@pytest.mark.parametrize(
    "predicates",
    [["s = 'x'", "s = 'x'"], ["s = 'x'", "t = 'y'"], ["s = 'x'", "s = 'y'", "s > 'x'"], ["t = 'x'", "'y' = t"]],
)
def test_other_predicates_go_one_after_the_other(predicates: list[str]) -> None:
    stream = train("s string, t string", s=["x", "y", "z", None], t=["x", "y", "y", "y"])
    hits = [set(rows(apply(Route((expr(each),)), stream)[0])) for each in predicates]
    expected = [hit.difference(*hits[:at]) for at, hit in enumerate(hits)]
    assert [set(rows(port)) for port in apply(Route(tuple(map(expr, predicates))), stream)][:-1] == expected


def test_its_ports_are_numbered_and_the_last_is_the_rest() -> None:
    assert list(BOX.outputs(schema(SCHEMA))) == ["1", "2", "3", "rest"]


def test_an_unknown_column_is_named_with_those_there_are() -> None:
    with pytest.raises(ExpressionError, match=r"`b`.*a, s"):
        Route((expr("b > 2"),)).outputs(schema(SCHEMA))


def test_what_is_no_predicate_is_refused() -> None:
    with pytest.raises(ExpressionError, match=r"`a \+ 1`.*int"):
        Route((expr("a + 1"),)).outputs(schema(SCHEMA))


def test_no_predicate_is_refused() -> None:
    with pytest.raises(NetworkError, match="predicate"):
        Route(()).outputs(schema(SCHEMA))


def test_a_predicate_is_not_asked_of_tuples_that_satisfied_one_before() -> None:
    box = Route((expr("s not rlike '^[0-9]+$'"), expr("cast(s as int) > 5")))
    words, large, rest = apply(box, train("s string", s=["two", "7", None, "3"]))
    assert [rows(each) for each in (words, large, rest)] == [[("two",)], [("7",)], [(None,), ("3",)]]
    with pytest.raises(RunError, match="'two'"):
        apply(Route((expr("s = '7'"), expr("cast(s as int) > 5"))), train("s string", s=["two"]))
