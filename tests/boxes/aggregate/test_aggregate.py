"""Aggregate (Aurora 5.2.2.2)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from australis.arrow.schema import schema
from australis.boxes.aggregate.aggregate import Aggregate
from australis.boxes.bsort import BSort
from australis.errors import ExpressionError, SchemaError
from australis.expressions import expr
from australis.expressions.aggregate import aggregation
from australis.expressions.window_function import window_function
from australis.model.order import Order
from australis.model.train import Train
from australis.testing import Cut, cuts, drive_trains, train
from tests.oracles import aggregate as oracle
from tests.oracles.running import SINGLY, in_any_order, partitioned, run
from tests.oracles.tuples import Clock, Out, Stream, Tuple, emitted, out, stream_of, streams

EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True)
class Kind:
    """A type of the attribute: streams are made with small integers, and these say how the type shows them."""

    type: str
    value: Callable[[int], Any]
    span: Callable[[int], Any]


KINDS = {
    "int": Kind("int", int, int),
    "double": Kind("double", lambda value: value / 4, lambda span: span / 4),
    "timestamp": Kind("timestamp", lambda value: EPOCH + timedelta(seconds=value), lambda span: f"{span} s"),
    "bigint": Kind("bigint", lambda value: value * 10**12, lambda span: span * 10**12),
    "date": Kind("date", lambda value: (EPOCH + timedelta(days=value)).date(), lambda span: f"{span} days"),
}

# Overlapping windows can share panes where every function merges; the last set keeps windows one by one.
window_function(
    "latest_less_first",
    init=lambda: (0, 0, 0),
    incr=lambda state, x: (state[0] + 1, state[1] if state[0] else x, x),
    final=lambda state: state[2] - state[1],
)
FUNCTIONS: dict[str, tuple[str, oracle.Function]] = {
    "n": ("count(*)", oracle.count),
    "nx": ("count(x)", oracle.count_of("x")),
    "total": ("sum(x)", oracle.missing_left_out("x", sum)),
    "mean": ("avg(x)", oracle.missing_left_out("x", oracle.mean)),
    "least": ("min(x)", oracle.missing_left_out("x", min)),
    "most": ("max(s)", oracle.missing_left_out("s", max)),
    "sd": ("stddev(x)", oracle.missing_left_out("x", oracle.stddev)),
    "one": ("first(x)", oracle.first("x")),
    "other": ("last(s)", oracle.last("s")),
}
APART = FUNCTIONS | {
    "kinds": ("count(distinct s)", oracle.count_distinct("s")),
    "change": ("latest_less_first(x)", oracle.missing_left_out("x", lambda xs: xs[-1] - xs[0])),
}
SETS = {"panes": FUNCTIONS, "windows": APART}


@dataclass(frozen=True)
class Case:
    """Arguments of an Aggregate, as the box and as its oracle take them."""

    kind: str = "int"
    functions: str = "panes"
    slack: int = 0
    by: tuple[str, ...] = ()
    size: int | None = 4
    advance: int | str = 2
    timeout: int | None = None
    on: str = "a"
    partial: bool = False

    @property
    def schema(self) -> str:
        return f"a {KINDS[self.kind].type}, g string, h int, x int, s string"

    @property
    def box(self) -> Aggregate:
        span = int if self.on == "tup#" else KINDS[self.kind].span
        functions = [
            (name, aggregation(text, ["latest_less_first"])) for name, (text, _) in SETS[self.functions].items()
        ]
        advance = expr(self.advance) if isinstance(self.advance, str) else span(self.advance)
        size = None if self.size is None else span(self.size)
        timeout = None if self.timeout is None else f"{self.timeout} us"
        order = Order(self.on, self.slack, self.by)
        return Aggregate(tuple(functions), order, size, advance, timeout, self.partial)

    def train(self, stream: Stream) -> Any:
        shown = [each._replace(row={**each.row, "a": self.shown(each.row["a"])}) for each in stream]
        return stream_of(self.schema, shown)

    def shown(self, value: int | None) -> Any:
        return None if value is None else KINDS[self.kind].value(value)

    def expected(self, stream: Stream, clocks: list[Clock], end: bool = True) -> tuple[list[Out], list[Out]]:
        opens = (lambda row: row["x"] is not None and row["x"] > 1) if isinstance(self.advance, str) else self.advance
        functions = [function for _, function in SETS[self.functions].values()]
        box = oracle.Aggregate(
            functions, self.on, self.size, opens, slack=self.slack, by=self.by, timeout=self.timeout,
            partial=self.partial,
        )  # fmt: skip
        results, late = box.run(events(stream, clocks), end)
        if self.on != "tup#":
            results = [out([self.shown(begin), *rest], ts, number) for (begin, *rest), ts, number in results]
        return results, [out([self.shown(a), *rest], ts, number) for (a, *rest), ts, number in late]


def events(stream: Stream, clocks: list[Clock]) -> list[Tuple | Clock]:
    """Each clock after the tuples up to its number."""
    return sorted([*stream, *clocks], key=lambda event: (event.number, isinstance(event, Clock)))


STREAMS = streams(
    a=st.none() | st.integers(-3, 9),
    g=st.none() | st.sampled_from("pq"),
    h=st.integers(0, 1),
    x=st.none() | st.integers(0, 3),
    s=st.none() | st.sampled_from(["u", "v", "ww"]),
)


@st.composite
def clocked(draw: st.DrawFn, chance: bool = True) -> tuple[Stream, list[Clock]]:
    """A stream, and now and then the local time."""
    stream = draw(STREAMS)
    numbers = sorted({each.number for each in stream})
    at = draw(st.lists(st.sampled_from(numbers), unique=True, max_size=2)) if numbers and chance else []
    return stream, [Clock(draw(st.integers(0, 15)), number) for number in sorted(at)]


SLACKS = st.integers(0, 3)
GROUPS = st.sampled_from([(), ("g",), ("h", "g")])
BY_VALUE = st.builds(
    Case, kind=st.sampled_from(sorted(KINDS)), functions=st.sampled_from(sorted(SETS)), slack=SLACKS, by=GROUPS,
    size=st.integers(1, 5), advance=st.integers(1, 6),
)  # fmt: skip
BY_COUNT = st.builds(
    Case, functions=st.sampled_from(sorted(SETS)), slack=st.just(0), by=GROUPS, size=st.integers(1, 4),
    advance=st.integers(1, 5), on=st.just("tup#"), partial=st.booleans(),
)  # fmt: skip
BY_PREDICATE = st.builds(
    Case, kind=st.sampled_from(["int", "double"]), functions=st.sampled_from(sorted(SETS)), slack=SLACKS, by=GROUPS,
    size=st.none() | st.integers(1, 5), advance=st.just("x > 1"), on=st.sampled_from(["a", "a", "tup#"]),
    partial=st.booleans(),
)  # fmt: skip
CASES = BY_VALUE | BY_COUNT | BY_PREDICATE
TIMEOUTS = st.sampled_from([0, 2, 5])
TIMED = st.builds(lambda case, timeout: replace(case, timeout=timeout), CASES, TIMEOUTS)


@given(CASES, STREAMS, cuts(), st.booleans())
def test_it_agrees_with_its_oracle_however_the_stream_is_cut(case: Case, stream: Stream, cut: Cut, end: bool) -> None:
    assert run(case.box, [case.train(stream)], cut, end=end) == case.expected(stream, [], end)


@given(TIMED, clocked(), cuts(), st.booleans())
def test_with_a_timeout_too(case: Case, given_: tuple[Stream, list[Clock]], cut: Cut, end: bool) -> None:
    stream, clocks = given_
    assert run(case.box, [case.train(stream)], cut, clocks=clocks, end=end) == case.expected(stream, clocks, end)


FOLLOWING = [Tuple({"a": a, "g": None, "h": 0, "x": 0, "s": "u"}, a, a) for a in (1, 3, 5)]


@pytest.mark.slow
@given(CASES | TIMED, clocked(), st.just(SINGLY) | cuts())
@example(Case(size=4, advance=2), (FOLLOWING, []), SINGLY)  # panes: the link to a new pane is a change
@example(Case(size=4, advance=2, functions="windows"), (FOLLOWING, []), SINGLY)
def test_a_restart_after_any_step_changes_nothing(case: Case, given_: tuple[Stream, list[Clock]], cut: Cut) -> None:
    stream, clocks = given_
    whole = [case.train(stream)]
    assert run(case.box, whole, cut, clocks=clocks, restart=True) == run(case.box, whole, clocks=clocks)


@given(CASES | TIMED, clocked(), st.integers(1, 3))
def test_partitions_by_its_key_change_nothing(case: Case, given_: tuple[Stream, list[Clock]], partitions: int) -> None:
    stream, clocks = given_
    expected = tuple(map(in_any_order, case.expected(stream, clocks)))
    assert partitioned(case.box, [case.train(stream)], partitions, clocks=clocks) == expected


@given(BY_VALUE | BY_PREDICATE, STREAMS, cuts())
def test_slack_is_a_bsort_in_front(case: Case, stream: Stream, cut: Cut) -> None:
    """The identity of 5.2.2.2; only `change` goes by arrival, and so by the order in which BSort lets go."""
    box = replace(case, functions="panes").box
    sort, rest = BSort(box.order), replace(box, order=replace(box.order, slack=0))
    whole = case.train(stream)
    (sorted_,) = drive_trains(sort, cut(whole), end=False)
    assert run(box, [whole], end=False) == run_trains(rest, sorted_)


def run_trains(box: Aggregate, trains: list[Train]) -> tuple[list[Out], ...]:
    return tuple(map(emitted, drive_trains(box, trains, end=False)))


@given(STREAMS, st.integers(1, 5), SLACKS, GROUPS)
def test_tumbling_windows_and_late_tuples_are_a_partition_of_the_input(
    stream: Stream, size: int, slack: int, by: tuple[str, ...]
) -> None:
    case = Case(slack=slack, by=by, size=size, advance=size)
    results, late = run(case.box, [case.train(stream)])
    assert sum(row[1 + len(by)] for row, _, _ in results) + len(late) == len(stream)


def test_a_result_carries_the_number_of_the_tuple_that_closed_its_window_and_the_oldest_ts() -> None:
    case = Case(size=2, advance=2)
    stream = train("a int, x int", a=[0, 1, 5, 6], x=[1, 2, 3, 4], ts=[7, 5, 9, 9], number=[3, 4, 8, 9])
    box = Aggregate((("total", aggregation("sum(x)")),), Order("a"), case.size, 2)
    assert run(box, [stream], SINGLY) == ([((0, 3), 5, 8), ((4, 3), 9, 9), ((6, 4), 9, 9)], [])


def test_a_late_tuple_leaves_by_late_and_counts_nowhere() -> None:
    stream = train("a int", a=[0, 4, 1, None, 4])
    box = Aggregate((("n", aggregation("count(*)")),), Order("a"), 4, 4)
    assert run(box, [stream]) == ([((0, 1), 1, 2), ((4, 2), 2, 5)], [((1,), 3, 3), ((None,), 4, 4)])


def test_windows_of_tuples_begin_with_the_first() -> None:
    stream = train("x int", x=[10, 20, 30, 40, 50])
    box = Aggregate((("total", aggregation("sum(x)")),), Order("tup#"), 3, 2)
    assert run(box, [stream], SINGLY)[0] == [((1, 60), 1, 3), ((3, 120), 3, 5)]


def test_windows_short_of_tuples_at_the_end_are_emitted_if_asked_for() -> None:
    stream = train("k string, x int", k=["p", "q", "p", "p"], x=[1, 7, 2, 5])
    pairs = (("prev", aggregation("first(x)")), ("cur", aggregation("last(x)")))
    box = Aggregate(pairs, Order("tup#", by=("k",)), 2, 1)
    whole = [(1, "p", 1, 2), (2, "p", 2, 5)]
    assert [row for row, _, _ in run(box, [stream])[0]] == whole
    more = [row for row, _, _ in run(replace(box, partial=True), [stream])[0]]
    assert more == [*whole, (1, "q", 7, 7), (3, "p", 5, 5)]


@pytest.mark.slow
def test_many_groups_and_windows_outgrow_the_first_tables() -> None:
    stream = [
        Tuple(
            {"a": number // 40 - number % 3, "g": str(number % 97), "h": 0, "x": number % 4, "s": "u"}, number, number
        )
        for number in range(1, 1001)
    ]
    for functions in SETS:
        case = Case(functions=functions, slack=2, by=("g",), size=12, advance=1)
        expected = case.expected(stream, [])
        for restart in (False, True):
            assert run(case.box, [case.train(stream)], Cut((100, 101, 500)), restart=restart) == expected


@pytest.mark.parametrize("functions", ["count(*)", "count(distinct a)"])
def test_what_is_no_finite_number_has_no_window(functions: str) -> None:
    box = Aggregate((("n", aggregation(functions)),), Order("a"), 2.0, 1.0)
    inf, nan = float("inf"), float("nan")
    stream = train("a double", a=[1.0, inf, nan, -inf, None])
    results, late = run(box, [stream])
    assert [row for row, _, _ in results] == [(0.0, 1), (1.0, 1)]
    assert [number for _, _, number in late] == [2, 3, 4, 5]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"order": Order("b")}, SchemaError, r"`b`.*a, s"),
        ({"order": Order("s")}, SchemaError, r"`s`.*string.*number or a time"),
        ({"order": Order("a", by=("z",))}, SchemaError, r"`z`.*a, s"),
        ({"functions": ()}, SchemaError, r"no function"),
        ({"functions": (("n", aggregation("sum(b)")),)}, ExpressionError, r"`b`.*a, s"),
        ({"functions": (("n", aggregation("sum(s)")),)}, ExpressionError, r"sum.*number.*string"),
        ({"functions": (("a", aggregation("count(*)")),)}, SchemaError, r"`a` is a column of the output already"),
        ({"size": 0}, SchemaError, r"size \(0\)"),
        ({"advance": -1}, SchemaError, r"advance \(-1\)"),
        ({"size": "1 ms"}, SchemaError, r"1 ms is no whole number of seconds, as `a`"),
        ({"size": 1.5}, SchemaError, r"1\.5.*whole number"),
        ({"size": None}, SchemaError, r"needs a size"),
        ({"advance": expr("a + 1")}, ExpressionError, r"`a \+ 1`"),
        ({"advance": expr("z > 1")}, ExpressionError, r"`z`.*a, s"),
        ({"timeout": -1}, SchemaError, r"timeout of -1"),
        ({"partial": 1}, SchemaError, r"partial.*not 1"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(changes: dict[str, Any], error: type[Exception], message: str) -> None:
    good = Aggregate((("n", aggregation("count(*)")),), Order("a"), 2, 2)
    good.outputs(schema("a int, s string"))
    with pytest.raises(error, match=message):
        replace(good, **changes).outputs(schema("a int, s string"))


def test_an_unsigned_order_of_64_bits_is_refused() -> None:
    with pytest.raises(SchemaError, match=r"`a`, a uint64: cast it to bigint"):
        Aggregate((("n", aggregation("count(*)")),), Order("a"), 60, 60).outputs(schema({"a": "uint64"}))


def test_a_number_measures_nothing_on_a_time() -> None:
    with pytest.raises(SchemaError, match=r"60.*`a`.*timestamp.*duration"):
        Aggregate((("n", aggregation("count(*)")),), Order("a"), 60, 60).outputs(schema("a timestamp"))
