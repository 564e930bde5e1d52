"""Samples inside windows: windows and late tuples are those of the exact run, and what was seen is counted."""

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from australis.boxes.aggregate.aggregate import Aggregate
from australis.errors import SchemaError
from australis.expressions import expr
from australis.expressions.aggregate import aggregation
from australis.model.box import Moment
from australis.model.order import Order
from australis.model.train import Train, concat, weights_of
from australis.qos.ranks import NumberRank
from australis.testing import train

FUNCTIONS = ("count(*)", "sum(v)", "first(v)", "last(v)", "max(v)")
DISTINCT = (*FUNCTIONS, "count(distinct v)")
SPANS = ((10, 10), (10, 5), (10, 3), (5, 10), (4, 6))
EDGES = [-(2**63), -(2**63) + 9, -1, 0, 2**63 - 1, 2**63 - 9]


class Found(NamedTuple):
    results: list[dict[str, Any]]
    """With their arrival number and `ts`."""
    late: list[int]
    passed: list[int]
    """The tuples that went in."""


def box(by: tuple[str, ...], slack: int, span: tuple[Any, Any], functions: tuple[str, ...] = FUNCTIONS) -> Aggregate:
    named = tuple((f"f{place}", aggregation(text)) for place, text in enumerate(functions))
    return Aggregate(named, Order("t", slack, by), *span, shed="sample")


def stream(kind: str, rows: list[tuple[Any, Any]], first: int = 1) -> Train:
    times, groups = [time for time, _ in rows], [group for _, group in rows]
    return train(f"t {kind}, g int, v int", t=times, g=groups, v=range(first, first + len(rows)), first=first)


def run(each: Aggregate, kind: str, rows: list[tuple[Any, Any]], lengths: list[int], parts: list[float] | None,
        again: bool = False) -> Found:  # fmt: skip
    """The results of trains of which so large parts are sampled; `again`, as at two places one after another."""
    tables = each.tables(stream(kind, []).schema)
    found, start = Found([], [], []), 0
    for number, length in enumerate([*lengths, len(rows)]):
        tuples = stream(kind, rows[start : start + length], start + 1)
        start = min(start + length, len(rows))
        if parts is not None and len(tuples):
            sample = NumberRank().of(tuples) < parts[number % len(parts)]
            wanted = tuples.number % 7 == 0 if again else np.zeros(len(tuples), np.bool_)
            tuples = tuples.weighted(each.thin(tuples, sample, wanted))
            if again:
                sample = NumberRank().of(tuples) < parts[number % len(parts)]
                tuples = tuples.weighted(each.thin(tuples, sample, np.zeros(len(tuples), np.bool_)))
        found.passed.extend(tuples["v"].to_pylist())
        out, late = each.step(tables, (tuples,), Moment(start, end=number == len(lengths)))
        stamps = zip(out.tuples.to_pylist(), out.number.tolist(), out.ts.tolist(), strict=True)
        found.results.extend(row | {"number": n, "ts": ts} for row, n, ts in stamps)
        found.late.extend(late["v"].to_pylist())
    return found


def members(each: Aggregate, kind: str, rows: list[tuple[Any, Any]], late: list[int]) -> dict[Any, list[int]]:
    """The tuples of each window, by its beginning and group: one row at a time."""
    size, advance = each.size, each.advance
    windows: dict[Any, list[int]] = defaultdict(list)
    for v, (time, group) in enumerate(rows, 1):
        if v in late or time is None or not np.isfinite(time):
            continue
        last = int(time // advance)
        for number in range(last, last - int(size // advance) - 2, -1):
            if number * advance <= time < number * advance + size:
                windows[number * advance, group if each.order.by else None].append(v)
    return windows


TIMES = st.integers(-40, 60)
ROWS = {
    "int": st.lists(st.tuples(TIMES | st.none(), st.integers(0, 3)), max_size=60),
    "bigint": st.lists(st.tuples(TIMES | st.sampled_from(EDGES), st.integers(0, 3) | st.none()), max_size=60),
    "double": st.lists(
        st.tuples(TIMES | st.sampled_from([0.5, float("nan"), float("inf"), None]), st.integers(0, 3)), max_size=60
    ),
}
CASES = st.sampled_from(sorted(ROWS)).flatmap(lambda kind: st.tuples(st.just(kind), ROWS[kind]))
LENGTHS = st.lists(st.integers(0, 20), max_size=5)
PARTS = st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), min_size=1, max_size=4)


@given(
    CASES, LENGTHS, st.integers(0, 3), st.sampled_from([(), ("g",)]), st.sampled_from(SPANS), PARTS,
    st.sampled_from([FUNCTIONS, DISTINCT]), st.booleans(),
)  # fmt: skip
@example(("int", [(3, 0), (7, 0), (5, 0)]), [], 0, (), (10, 10), [0.0], FUNCTIONS, False)
@example(("int", [(0, 0), (9, 0), (1, 0), (2, 0), (30, 0)]), [2], 1, (), (10, 5), [0.0], DISTINCT, True)
def test_windows_and_late_tuples_are_those_of_the_exact_run(case, lengths, slack, by, span, parts, functions, again):
    kind, rows = case
    each = box(by, slack, span, functions)
    exact, found = run(each, kind, rows, lengths, None), run(each, kind, rows, lengths, parts, again)
    keys = ("t", *by, "number", "ts")
    assert [[row[name] for name in keys] for row in found.results] == [[row[n] for n in keys] for row in exact.results]
    assert all(row["seen"] == 1.0 for row in exact.results)
    assert found.late == [v for v in exact.late if v in set(found.passed)]
    if any(abs(time) > 2**53 for time, _ in rows if isinstance(time, int)):
        return  # which windows these are in is not as simple as below
    cuts, part_of = np.cumsum(lengths), {}
    ranks = NumberRank().of(stream(kind, rows)) if rows else []
    for v in range(1, len(rows) + 1):
        part_of[v] = parts[int(np.searchsorted(cuts, v - 1, side="right")) % len(parts)]
    sampled = {v for v in part_of if ranks[v - 1] < part_of[v]}
    windows = members(each, kind, rows, exact.late)
    for row, whole in zip(found.results, exact.results, strict=True):
        inside = windows[row["t"], row["g"] if by else None]
        assert whole["f0"] == len(inside)
        seen = [v for v in inside if v in sampled]
        values = [len(seen), sum(seen) or None, *((seen[0], seen[-1], max(seen)) if seen else (None,) * 3)]
        assert [row[f"f{place}"] for place in range(5)] == values
        if len(functions) > 5:
            assert row["f5"] == len(seen)
        if not exact.late:
            assert row["seen"] == pytest.approx(len(seen) / len(inside), rel=1e-12)
        assert 0 <= row["seen"] <= 1


def test_most_tuples_that_are_in_order_are_dropped():
    rows = [(time // 100, time % 3) for time in range(30_000)]
    found = run(box(("g",), 0, (10, 10)), "int", rows, [], [0.1])
    assert len(found.passed) < 0.11 * 30_000
    exact = run(box(("g",), 0, (10, 10)), "int", rows, [], None)
    came = sum(row["f0"] for row in exact.results)
    assert sum(row["f0"] for row in found.results) == pytest.approx(0.1 * came, rel=0.05)
    assert sum(row["f0"] / row["seen"] for row in found.results if row["seen"]) == pytest.approx(came)


def test_nothing_is_dropped_where_it_would_take_much_to_tell_who_is_late():
    each = box(("g",), 1000, (10, 10))
    tuples = train("t int, g int, v int", t=np.zeros(5000), g=np.arange(5000), v=np.arange(5000))
    weights = each.thin(tuples, np.arange(5000) < 10, np.zeros(5000, np.bool_))
    assert (np.abs(weights) == 1).all()
    assert (weights > 0).sum() == 10


def test_weights_go_with_trains():
    tuples = stream("int", [(time, 0) for time in range(10)])
    assert weights_of(tuples).tolist() == [1] * 10
    some = tuples.weighted(np.array([3, 0, 0, -1, 0, 5, 0, 0, 0, -1]))
    assert some["v"].to_pylist() == [1, 4, 6, 10]
    assert some.carrying(some.tuples).take(np.array([2, 0])).weights.tolist() == [5, 3]
    assert some.slice(1, 3).weights.tolist() == [-1, 5]
    assert concat(some.schema, [some, tuples.slice(0, 2)]).weights.tolist() == [3, -1, 5, -1, 1, 1]
    assert concat(tuples.schema, [tuples, tuples]).weights is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"order": Order("tup#")}, "windows that count tuples"),
        ({"timeout": 3}, "windows that time out"),
        ({"advance": expr("v > 3")}, "windows that a predicate opens"),
        ({"size": 1 / 3, "order": Order("d")}, "with a common measure"),
        ({"shed": "some"}, "`shed` is windows or sample, not 'some'"),
        ({"order": Order("t", 0, ("seen",))}, "rename the one of the input"),
        ({"functions": (("seen", aggregation("count(*)")),)}, "`seen` is a column of the output already"),
    ],
)
def test_what_cannot_be_sampled_is_refused(change, message):
    chosen = {"functions": (("n", aggregation("count(*)")),), "order": Order("t"), "size": 10, "advance": 10}
    if "d" in str(change.get("order", "")):
        chosen["advance"] = 1.0
    each = Aggregate(**(chosen | {"shed": "sample"} | change))
    with pytest.raises(SchemaError, match=message):
        each.outputs(train("t int, d double, seen int, v int", t=[], d=[], seen=[], v=[]).schema)
