"""Panes: overlapping windows share the disjoint parts that they are made of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.boxes.aggregate.aggregate import Aggregate
from australis.errors import RunError
from australis.expressions.aggregate import aggregation
from australis.model.order import Order
from australis.testing import train
from tests.boxes.aggregate.test_aggregate import SLACKS, STREAMS, Case
from tests.oracles.running import SINGLY, run
from tests.oracles.tuples import Stream


@given(STREAMS, st.integers(1, 3), st.integers(1, 4), SLACKS)
def test_a_window_counts_what_its_panes_count(stream: Stream, pane: int, times: int, slack: int) -> None:
    def counts(size: int) -> dict[tuple[str | None, int], int]:
        box = Aggregate((("n", aggregation("count(*)")),), Order("a", slack, ("g",)), size, pane)
        return {(group, begin): n for (begin, group, n), _, _ in run(box, [case.train(stream)])[0]}

    case = Case()
    panes, windows = counts(pane), counts(pane * times)
    for (group, begin), n in windows.items():
        assert n == sum(panes.get((group, begin + step * pane), 0) for step in range(times))
    assert sum(windows.values()) == times * sum(panes.values())


def test_tuples_between_windows_are_neither_counted_nor_late() -> None:
    stream = train("a int", a=[0, 2, 3, 5, 6])
    box = Aggregate((("n", aggregation("count(*)")),), Order("a"), 2, 5)
    assert run(box, [stream], SINGLY) == ([((0, 1), 1, 2), ((5, 2), 4, 5)], [])


def test_windows_lie_on_multiples_of_the_advance_below_zero_too() -> None:
    stream = train("a int", a=[-3, 0])
    box = Aggregate((("n", aggregation("count(*)")),), Order("a"), 4, 2)
    assert [row for row, _, _ in run(box, [stream])[0]] == [(-6, 1), (-4, 1), (-2, 1), (0, 1)]


@pytest.mark.parametrize(("type_", "values"), [("uint8", [3, 7]), ("uint32", [3, 7]), ("int8", [-128, -120])])
def test_a_window_may_begin_below_what_the_type_of_its_values_can_say(type_: str, values: list[int]) -> None:
    box = Aggregate((("n", aggregation("count(*)")),), Order("a"), 10, 5)
    begins = sorted({value // 5 * 5 - step for value in values for step in (0, 5)})
    results = run(box, [train(schema({"a": type_}), a=values)])[0]
    assert [row[0] for row, _, _ in results] == begins


def test_a_window_that_begins_below_every_int_is_an_error() -> None:
    box = Aggregate((("n", aggregation("count(*)")),), Order("a"), 10, 5)
    with pytest.raises(RunError, match="-2147483655, which is no int32: cast `a` to bigint"):
        run(box, [train("a int", a=[-(2**31)])])
