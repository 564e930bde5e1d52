"""BSort (Aurora 5.2.2.1)."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.boxes.bsort import BSort
from australis.errors import SchemaError
from australis.model.order import Order
from australis.testing import Cut, cuts, train
from tests.oracles.bsort import bsort, bubble
from tests.oracles.running import SINGLY, in_any_order, partitioned, run
from tests.oracles.tuples import Stream, Tuple, passed, stream_of, streams

INTS = "a int, g string, h int, x int"
DOUBLES = "a double, g string, h int, x int"
TIMES = "a timestamp, g string, h int, x int"
EPOCH = datetime(1970, 1, 1)
GROUPS = st.sampled_from([(), ("g",), ("g", "h")])
SLACKS = st.integers(0, 3)


def rows_of(a: st.SearchStrategy[Any]) -> st.SearchStrategy[Stream]:
    groups = {"g": st.none() | st.sampled_from("xy"), "h": st.none() | st.integers(0, 1)}
    return streams(a=a, **groups, x=st.integers(0, 99))


ANY = st.one_of(
    st.tuples(st.just(INTS), rows_of(st.none() | st.integers(-2, 6))),
    st.tuples(st.just(DOUBLES), rows_of(st.none() | st.sampled_from([-1.5, -0.0, 0.0, 0.5, 2.0, float("nan")]))),
    st.tuples(st.just(TIMES), rows_of(st.none() | st.integers(-2, 6).map(lambda s: EPOCH + timedelta(seconds=s)))),
)


@given(ANY, SLACKS, GROUPS, cuts(), st.booleans())
def test_it_agrees_with_its_oracle_however_the_stream_is_cut(
    given_: tuple[str, Stream], slack: int, by: tuple[str, ...], cut: Cut, end: bool
) -> None:
    kind, stream = given_
    box = BSort(Order("a", slack, by))
    assert run(box, [stream_of(kind, stream)], cut, end=end) == (passed(bsort(stream, "a", slack, by, end)),)


@given(ANY, SLACKS, GROUPS, st.just(SINGLY) | cuts())
def test_a_restart_after_any_step_changes_nothing(
    given_: tuple[str, Stream], slack: int, by: tuple[str, ...], cut: Cut
) -> None:
    kind, stream = given_
    box, whole = BSort(Order("a", slack, by)), stream_of(kind, stream)
    assert run(box, [whole], cut, restart=True) == run(box, [whole])


@given(ANY, SLACKS, GROUPS, st.integers(1, 3))
def test_partitions_by_its_key_change_nothing(
    given_: tuple[str, Stream], slack: int, by: tuple[str, ...], partitions: int
) -> None:
    kind, stream = given_
    box, whole = BSort(Order("a", slack, by)), stream_of(kind, stream)
    assert partitioned(box, [whole], partitions) == (in_any_order(passed(bsort(stream, "a", slack, by))),)


@given(st.lists(st.integers(0, 6), max_size=20), SLACKS)
def test_it_equals_as_many_passes_of_bubble_sort(values: list[int], slack: int) -> None:
    whole = train("a int", a=values)
    box, sorted_ = BSort(Order("a", slack)), [(value,) for value in bubble(values, slack)]
    assert [row for row, _, _ in run(box, [whole])[0]] == sorted_
    # before the end, all but what is in the buffer
    assert [row for row, _, _ in run(box, [whole], end=False)[0]] == sorted_[: max(0, len(values) - slack)]


@given(st.lists(st.integers(0, 20), max_size=20), SLACKS)
def test_a_stream_whose_disorder_is_within_the_slack_is_sorted(values: list[int], slack: int) -> None:
    near = [value for place, value in enumerate(values) if sum(before > value for before in values[:place]) <= slack]
    assert [row for row, _, _ in run(BSort(Order("a", slack)), [train("a int", a=near)], SINGLY)[0]] == [
        (value,) for value in sorted(near)
    ]


@given(ANY, SLACKS, GROUPS)
def test_it_emits_exactly_what_it_takes(given_: tuple[str, Stream], slack: int, by: tuple[str, ...]) -> None:
    kind, stream = given_
    (out,) = run(BSort(Order("a", slack, by)), [stream_of(kind, stream)])
    assert in_any_order((*each[:2], 0) for each in out) == in_any_order((*each[:2], 0) for each in passed(stream))


@given(rows_of(st.integers(0, 6)), SLACKS, cuts())
def test_arrival_numbers_are_in_order_already(stream: Stream, slack: int, cut: Cut) -> None:
    assert run(BSort(Order("tup#", slack, ("g",))), [stream_of(INTS, stream)], cut) == (passed(stream),)


def test_equal_tuples_leave_as_they_came() -> None:
    stream = train("a int, x int", a=[2, 1, 1, 2, 1], x=[1, 2, 3, 4, 5])
    assert [row for row, _, _ in run(BSort(Order("a", 2)), [stream], SINGLY)[0]] == [
        (1, 2), (1, 3), (1, 5), (2, 1), (2, 4),
    ]  # fmt: skip


def test_many_groups_outgrow_the_first_tables() -> None:
    groups = [number % 300 for number in range(1200)]
    values = [(number * 7919) % 1201 for number in range(1200)]
    stream = train("a int, g int", a=values, g=groups)
    rows = [{"a": a, "g": g} for a, g in zip(values, groups, strict=True)]
    tuples = [Tuple(row, number, number) for number, row in enumerate(rows, start=1)]
    expected = (passed(bsort(tuples, "a", 2, ("g",))),)
    assert run(BSort(Order("a", 2, ("g",))), [stream], Cut((400, 401, 900))) == expected
    assert run(BSort(Order("a", 2, ("g",))), [stream], Cut((400, 401, 900)), restart=True) == expected


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (Order("b"), r"`b`.*a, g, h, x"),
        (Order("a", by=("k",)), r"`k`.*a, g, h, x"),
        (Order("g"), r"`g`.*string.*number or a time"),
        (Order("a", slack=-1), r"slack.*-1"),
        (Order("a", by=("g", "g")), r"twice.*g, g"),
    ],
)
def test_an_order_that_does_not_fit_is_refused(order: Order, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        BSort(order).outputs(schema(INTS))
