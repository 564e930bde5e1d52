"""Resample (Aurora 5.2.2.4)."""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.boxes.join.join import Join
from australis.boxes.resample.resample import Resample
from australis.errors import ExpressionError, SchemaError
from australis.expressions.aggregate import aggregation
from australis.model.order import Order
from australis.model.train import Train
from australis.testing import Cut, cuts
from tests.oracles import aggregate as folds
from tests.oracles.order import Order as Arriving
from tests.oracles.resample import resample
from tests.oracles.running import SINGLY, in_any_order, partitioned, run
from tests.oracles.tuples import Out, Stream, interleaved, stream_of, streams

FUNCTIONS: dict[str, tuple[str, Any]] = {
    "n": ("count(*)", lambda window, t: folds.count(window)),
    "mean": ("avg(x)", lambda window, t: folds.missing_left_out("x", folds.mean)(window)),
    "one": ("first(x)", lambda window, t: folds.first("x")(window) if window else None),
    "other": ("last(x)", lambda window, t: folds.last("x")(window) if window else None),
    "kinds": ("count(distinct x)", lambda window, t: folds.count_distinct("x")(window)),
    "gap": ("max(b - left.a)", lambda window, t: max((u.row["b"] - t.row["a"] for _, u in window), default=None)),
}


@dataclass(frozen=True)
class Case:
    """Arguments of a Resample, as the box and as its oracle take them."""

    type: str = "int"
    slacks: tuple[int, int] = (0, 0)
    by: tuple[str, ...] = ("g",)
    size: int = 2

    @property
    def box(self) -> Resample:
        functions = tuple((name, aggregation(text)) for name, (text, _) in FUNCTIONS.items())
        left, right = self.slacks
        return Resample(functions, Order("a", left), Order("b", right, self.by), self.size)

    def trains(self, left: Stream, right: Stream) -> list[Train]:
        return [stream_of(f"a {self.type}", left), stream_of(f"b {self.type}, g string, h int, x int", right)]

    def expected(self, left: Stream, right: Stream, end: bool = True) -> tuple[list[Out], ...]:
        orders = (Arriving("a", self.slacks[0]), Arriving("b", self.slacks[1], self.by))
        return resample(left, right, orders, self.size, [function for _, function in FUNCTIONS.values()], end)


CASES = st.builds(
    Case, type=st.sampled_from(["int", "double"]), slacks=st.tuples(st.integers(0, 2), st.integers(0, 2)),
    by=st.sampled_from([(), ("g",), ("h", "g")]), size=st.integers(0, 3),
)  # fmt: skip
VALUES = st.none() | st.integers(-1, 7)
LEFT = streams(most=7, steps=(0, 1, 2, 3), a=VALUES)
RIGHT = streams(
    most=10, steps=(0, 1, 2), b=VALUES, g=st.none() | st.sampled_from("xy"), h=st.integers(0, 1),
    x=st.none() | st.integers(0, 3),
)  # fmt: skip
SIDES = st.tuples(LEFT, RIGHT)


def in_their_numbers(ports: tuple[list[Out], ...]) -> tuple[list[Out], ...]:
    """Results of one arrival come in any order."""
    results, *late = ports
    return sorted(results, key=lambda each: (each[2], repr(each))), *late


@given(CASES, SIDES, cuts(), st.booleans())
def test_it_agrees_with_its_oracle_however_the_streams_are_cut(
    case: Case, sides: tuple[Stream, Stream], cut: Cut, end: bool
) -> None:
    got = run(case.box, case.trains(*sides), cut, end=end)
    assert in_their_numbers(got) == in_their_numbers(case.expected(*sides, end))


@given(CASES, SIDES, cuts())
def test_cuts_change_nothing_of_the_sequence(case: Case, sides: tuple[Stream, Stream], cut: Cut) -> None:
    trains = case.trains(*sides)
    assert run(case.box, trains, cut) == run(case.box, trains) == run(case.box, trains, SINGLY)


@given(CASES, SIDES, st.just(SINGLY) | cuts())
def test_a_restart_after_any_step_changes_nothing(case: Case, sides: tuple[Stream, Stream], cut: Cut) -> None:
    trains = case.trains(*sides)
    assert run(case.box, trains, cut, restart=True) == run(case.box, trains)


@given(CASES, SIDES, st.data())
def test_results_do_not_depend_on_how_the_streams_interleave(
    case: Case, sides: tuple[Stream, Stream], data: st.DataObject
) -> None:
    one, other = data.draw(interleaved(*sides)), data.draw(interleaved(*sides))
    first, second = run(case.box, case.trains(*one), SINGLY), run(case.box, case.trains(*other), SINGLY)
    for ports in zip(first, second, strict=True):
        unnumbered = [in_any_order((row, ts, 0) for row, ts, _ in port) for port in ports]
        assert unnumbered[0] == unnumbered[1]


@given(CASES, SIDES, st.integers(1, 3))
def test_partitions_by_its_keys_change_nothing(case: Case, sides: tuple[Stream, Stream], partitions: int) -> None:
    results, late_left, late_right = partitioned(case.box, case.trains(*sides), partitions)
    expected = [in_any_order(port) for port in case.expected(*sides)]
    assert [results, late_right] == [expected[0], expected[2]]
    # where every partition needs all of the left, each of them finds the late ones
    assert {repr(each) for each in late_left} == {repr(each) for each in expected[1]}


@given(SIDES, st.integers(0, 3), st.integers(0, 2), st.integers(0, 2))
def test_it_counts_the_pairs_of_a_join_without_a_predicate(
    sides: tuple[Stream, Stream], size: int, left: int, right: int
) -> None:
    case = Case(slacks=(left, right), size=size)
    pairs = run(Join(Order("a", left), Order("b", right, ("g",)), size, None), case.trains(*sides))[0]
    counted = run(case.box, case.trains(*sides))[0]
    assert sum(row[2] for row, _, _ in counted) == len(pairs)


def test_its_columns_are_the_groups_the_attribute_and_the_functions() -> None:
    made = Case(by=("h", "g")).box.outputs(schema("a int"), schema("b int, g string, h int, x int"))
    assert made["out"].names == ["h", "g", "a", *FUNCTIONS]
    assert list(made) == ["out", "late_left", "late_right"]


@pytest.mark.parametrize(
    ("left", "right", "size", "function", "error", "message"),
    [
        (Order("z"), Order("b"), 1, "count(*)", SchemaError, r"`z`.*a"),
        (Order("a"), Order("z"), 1, "count(*)", SchemaError, r"`z`.*b, x"),
        (Order("a"), Order("b"), 1, "sum(z)", ExpressionError, r"`z`.*b, x"),
        (Order("a"), Order("b"), -1, "count(*)", SchemaError, r"-1"),
        (Order("a"), Order("b"), "1 ms", "count(*)", SchemaError, r"1 ms is no whole number of seconds"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(
    left: Order, right: Order, size: Any, function: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        Resample((("n", aggregation(function)),), left, right, size).outputs(schema("a int"), schema("b int, x int"))
