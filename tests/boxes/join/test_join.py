"""Join (Aurora 5.2.2.3)."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.boxes.bsort import BSort
from australis.boxes.join.join import Join
from australis.errors import ExpressionError, SchemaError
from australis.expressions import expr
from australis.model.order import Order
from australis.model.train import Train, concat
from australis.testing import Cut, cuts, drive_trains, train
from tests.oracles.join import join
from tests.oracles.order import Order as Arriving
from tests.oracles.running import SINGLY, in_any_order, partitioned, run
from tests.oracles.tuples import Out, Stream, Tuple, interleaved, stream_of, streams

EPOCH = datetime(1970, 1, 1)
SHOWN: dict[str, tuple[Callable[[int], Any], Callable[[int], Any]]] = {
    "int": (int, int),
    "double": (lambda value: value / 4, lambda span: span / 4),
    "timestamp": (lambda value: EPOCH + timedelta(minutes=value), lambda span: f"{span} minutes"),
}
PREDICATES: dict[str | None, Callable[[dict[str, Any], dict[str, Any]], Any]] = {
    None: lambda t, u: True,
    "p = q": lambda t, u: _equal(t["p"], u["q"]),
    "left.g = right.g": lambda t, u: _equal(t["g"], u["g"]),
    "left.g = right.g and p = q": lambda t, u: _equal(t["g"], u["g"]) and _equal(t["p"], u["q"]),
    "p < q": lambda t, u: None not in (t["p"], u["q"]) and t["p"] < u["q"],
    "right.g = left.g and p <= q": lambda t, u: (
        _equal(t["g"], u["g"]) and None not in (t["p"], u["q"]) and t["p"] <= u["q"]
    ),
}
BYS: list[tuple[str, ...]] = [(), ("g",)]


def _equal(one: Any, other: Any) -> bool:
    return one is not None and one == other


@dataclass(frozen=True)
class Case:
    """Arguments of a Join, as the box and as its oracle take them; a slack of none makes a side static."""

    kind: str = "int"
    slacks: tuple[int | None, int | None] = (0, 0)
    by: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    size: int = 2
    predicate: str | None = "p = q"
    on: tuple[str, str] = ("a", "b")

    @property
    def box(self) -> Join:
        left, right = (
            None if slack is None else Order(on, slack, by)
            for on, slack, by in zip(self.on, self.slacks, self.by, strict=True)
        )
        size = None
        if None not in self.slacks:
            size = self.size if "tup#" in self.on else SHOWN[self.kind][1](self.size)
        return Join(left, right, size, None if self.predicate is None else expr(self.predicate))

    def trains(self, left: Stream, right: Stream) -> list[Train]:
        return [
            stream_of(f"a {self.kind}, g string, p int", [self._shown(each, "a") for each in left]),
            stream_of(f"b {self.kind}, g string, q bigint", [self._shown(each, "b") for each in right]),
        ]

    def _shown(self, each: Tuple, name: str) -> Tuple:
        value = each.row[name]
        return each._replace(row={**each.row, name: None if value is None else SHOWN[self.kind][0](value)})

    def expected(self, left: Stream, right: Stream) -> tuple[list[Out], ...]:
        orders = tuple(
            None if slack is None else Arriving(on, slack, by)
            for on, slack, by in zip(self.on, self.slacks, self.by, strict=True)
        )
        size = self.size
        if self.kind != "int" and "tup#" not in self.on:
            left = [self._shown(each, "a") for each in left]
            right = [self._shown(each, "b") for each in right]
            size = {"double": self.size / 4, "timestamp": timedelta(minutes=self.size)}[self.kind]
        elif self.kind != "int":
            left, right = [self._shown(each, "a") for each in left], [self._shown(each, "b") for each in right]
        return join(left, right, orders, size, PREDICATES[self.predicate])


GROUP = st.none() | st.sampled_from("xy")
KEY = st.none() | st.integers(0, 2)
LEFT = streams(most=9, steps=(0, 1, 2, 3), a=st.none() | st.integers(-1, 6), g=GROUP, p=KEY)
RIGHT = streams(most=9, steps=(0, 1, 2, 3), b=st.none() | st.integers(-1, 6), g=GROUP, q=KEY)
SIDES = st.tuples(LEFT, RIGHT)
BOTH = st.tuples(st.integers(0, 2), st.integers(0, 2))
STREAMING = st.builds(
    Case, kind=st.sampled_from(sorted(SHOWN)), slacks=BOTH, by=st.tuples(st.sampled_from(BYS), st.sampled_from(BYS)),
    size=st.integers(0, 4), predicate=st.sampled_from(list(PREDICATES)),
)  # fmt: skip
COUNTING = st.builds(
    Case, slacks=BOTH, size=st.integers(0, 3), predicate=st.sampled_from(list(PREDICATES)),
    on=st.sampled_from([("tup#", "tup#"), ("a", "tup#")]),
)  # fmt: skip
STATIC = st.builds(
    Case, kind=st.sampled_from(sorted(SHOWN)), slacks=st.sampled_from([(None, 0), (1, None), (None, None)]),
    by=st.sampled_from([((), ()), (("g",), ("g",))]), predicate=st.sampled_from(list(PREDICATES)),
)  # fmt: skip
CASES = STREAMING | COUNTING


def table_first(case: Case, sides: tuple[Stream, Stream]) -> tuple[Stream, Stream]:
    """A static side before the stream."""
    shift = 100 if case.slacks[1] is None else 0
    back = 100 if case.slacks[0] is None else 0
    left, right = sides
    return [e._replace(number=e.number + shift) for e in left], [e._replace(number=e.number + back) for e in right]


@given(CASES, SIDES, cuts(), st.booleans())
def test_it_agrees_with_its_oracle_however_the_streams_are_cut(
    case: Case, sides: tuple[Stream, Stream], cut: Cut, end: bool
) -> None:
    assert run(case.box, case.trains(*sides), cut, end=end) == case.expected(*sides)


@given(STATIC, SIDES, cuts())
def test_a_side_may_be_a_table(case: Case, sides: tuple[Stream, Stream], cut: Cut) -> None:
    sides = table_first(case, sides)
    assert run(case.box, case.trains(*sides), cut) == case.expected(*sides)


@given(STREAMING, SIDES, st.data())
def test_the_pairs_do_not_depend_on_how_the_streams_interleave(
    case: Case, sides: tuple[Stream, Stream], data: st.DataObject
) -> None:
    one, other = data.draw(interleaved(*sides)), data.draw(interleaved(*sides))
    first, second = run(case.box, case.trains(*one), SINGLY), run(case.box, case.trains(*other), SINGLY)
    for ports in zip(first, second, strict=True):
        unnumbered = [in_any_order((row, ts, 0) for row, ts, _ in port) for port in ports]
        assert unnumbered[0] == unnumbered[1]


@given(CASES | STATIC, SIDES, st.just(SINGLY) | cuts())
def test_a_restart_after_any_step_changes_nothing(case: Case, sides: tuple[Stream, Stream], cut: Cut) -> None:
    trains = case.trains(*table_first(case, sides))
    assert run(case.box, trains, cut, restart=True) == run(case.box, trains)


LATE_OF_ALL = (
    [Tuple({"a": 5, "g": "x", "p": 1}, 0, 1), Tuple({"a": 3, "g": "x", "p": 2}, 0, 2)],
    [Tuple({"b": 3, "g": "x", "q": 2}, 0, 3)],
)


@given(CASES | STATIC, SIDES, st.integers(1, 3))
@example(Case(), LATE_OF_ALL, 2)  # the order is of the whole stream, and p is only the key of the predicate
@example(Case(), LATE_OF_ALL, 3)
def test_partitions_by_its_keys_change_nothing(case: Case, sides: tuple[Stream, Stream], partitions: int) -> None:
    sides = table_first(case, sides)
    expected = tuple(map(in_any_order, case.expected(*sides)))
    assert partitioned(case.box, case.trains(*sides), partitions) == expected


@given(STREAMING, SIDES, cuts())
def test_slack_is_a_bsort_in_front_of_either_side(case: Case, sides: tuple[Stream, Stream], cut: Cut) -> None:
    """The identity of 5.2.2.3; what BSort holds comes later, and so in another order."""
    box, trains = case.box, case.trains(*sides)
    assert box.left is not None
    assert box.right is not None
    sorted_ = []
    for order, whole in zip((box.left, box.right), trains, strict=True):
        (parts,) = drive_trains(BSort(order), [whole], end=True)
        tuples = concat(whole.schema, parts)
        columns = {name: tuples[name].to_pylist() for name in whole.schema.names}
        sorted_.append(train(whole.schema, columns, ts=tuples.ts.tolist(), number=tuples.number.tolist()))
    straight = Join(Order(box.left.on, 0, box.left.by), Order(box.right.on, 0, box.right.by), box.size, box.predicate)
    for one, other in zip(run(box, trains), run(straight, sorted_, cut), strict=True):
        assert in_any_order((row, ts, 0) for row, ts, _ in one) == in_any_order((row, ts, 0) for row, ts, _ in other)


@pytest.mark.parametrize(
    ("box", "error", "message"),
    [
        (Join(Order("z"), Order("b"), 1, None), SchemaError, r"`z`.*a, g, p"),
        (Join(Order("a"), Order("g"), 1, None), SchemaError, r"`g`.*string"),
        (Join(Order("a"), Order("b"), 1, expr("p = z")), ExpressionError, r"`z`"),
        (Join(Order("a"), Order("b"), 1, expr("g = 'x'")), ExpressionError, r"left\.g.*right\.g"),
        (Join(Order("a"), Order("b"), 1, expr("p + q")), ExpressionError, r"`p \+ q`"),
        (Join(Order("a"), Order("b"), None, None), SchemaError, r"needs a size"),
        (Join(None, Order("b"), 1, None), SchemaError, r"static table.*no size"),
        (Join(Order("a"), Order("b"), -1, None), SchemaError, r"-1"),
        (Join(Order("a"), Order("b"), "1 ms", None), SchemaError, r"1 ms is no whole number of seconds"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(box: Join, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        box.outputs(schema("a int, g string, p int"), schema("b int, g string, q bigint"))


def test_times_and_numbers_have_no_distance() -> None:
    with pytest.raises(SchemaError, match=r"`a`.*`b`.*no distance"):
        Join(Order("a"), Order("b"), 1, None).outputs(schema("a int"), schema("b timestamp"))
