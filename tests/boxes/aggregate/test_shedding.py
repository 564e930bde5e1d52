"""Which window holds a tuple: as the aggregate counts them; and whole windows that are left out change no others."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.boxes.aggregate.aggregate import Aggregate
from australis.expressions.aggregate import aggregation
from australis.model.box import Moment
from australis.model.order import Order
from australis.model.train import Train
from australis.qos.ranks import WindowPart
from australis.testing import train

COUNT = (("n", aggregation("count(*)")), ("s", aggregation("sum(v)")))
TYPES = ("int", "tinyint", "bigint", "double", "timestamp")
Results = list[tuple[Any, ...]]


def box(by: tuple[str, ...], slack: int, size: object = 10) -> Aggregate:
    return Aggregate(COUNT, Order("t", slack, by), size, size)


def stream(kind: str, rows: list[tuple[int | None, int]], first: int = 1) -> Train:
    scale = 1_000_000 if kind == "timestamp" else 1
    times = [None if time is None else time * scale for time, _ in rows]
    groups = [group for _, group in rows]
    return train(f"t {kind}, g int, v int", t=times, g=groups, v=range(len(rows)), first=first)


def run(kind: str, rows: list[tuple[int | None, int]], lengths: list[int], slack: int, by: tuple[str, ...],
        part: WindowPart | None) -> tuple[Results, int]:  # fmt: skip
    """The results of trains, with windows left out if there is a part; and how many tuples went in."""
    size: object = "10 seconds" if kind == "timestamp" else 10
    each = box(by, slack, size)
    tables = each.tables(stream(kind, []).schema)
    results: Results = []
    taken, start = 0, 0
    for number, length in enumerate([*lengths, len(rows)]):
        chosen = rows[start : start + length]
        tuples = stream(kind, chosen, start + 1)
        start += length
        if part is not None:
            windows = each.windows(tuples)
            assert windows is not None
            mask = part.passing(windows)
            tuples = tuples.take(np.flatnonzero(mask))
        taken += len(tuples)
        out, _ = each.step(tables, (tuples,), Moment(start, end=number == len(lengths)))
        if part is not None:
            windows = each.windows(out)
            assert windows is not None
            out = out.take(np.flatnonzero(part.kept(windows)))
        results += [tuple(row.values())[: 1 + len(by) + 1] for row in out.tuples.to_pylist()]
    return results, taken


ROWS = st.lists(st.tuples(st.integers(-40, 60) | st.none(), st.integers(0, 3)), max_size=60)
STEPS = st.lists(st.tuples(st.integers(-5, 7), st.floats(0, 1)), min_size=1, max_size=4, unique_by=lambda step: step[0])


@given(
    st.sampled_from(TYPES), ROWS, st.lists(st.integers(0, 20), max_size=5), st.integers(0, 3),
    st.sampled_from([(), ("g",)]), STEPS,
)  # fmt: skip
def test_windows_that_come_out_are_exact_and_those_that_are_kept_come_out(kind, rows, lengths, slack, by, steps):
    steps.sort()
    part = WindowPart(tuple(number for number, _ in steps), tuple(each for _, each in steps))
    exact, _ = run(kind, rows, lengths, slack, by, None)
    found, _ = run(kind, rows, lengths, slack, by, part)
    every = train(f"t {kind}, g int", t=[row[0] for row in exact], g=[row[1] if by else 0 for row in exact])
    windows = box(by, slack, "10 seconds" if kind == "timestamp" else 10).windows(every)
    expected = [row for row, kept in zip(exact, part.kept(windows), strict=True) if kept]
    assert Counter(found) == Counter(expected)


def test_most_tuples_of_windows_that_are_left_out_are_dropped():
    rows = [(time // 100, 0) for time in range(10_000)]
    _, taken = run("int", rows, [], 0, (), WindowPart((-100,), (0.0,)))
    assert taken == 10  # one of each window


def test_a_part_of_windows_is_kept():
    each = box(("g",), 0)
    many = train("t int, g int", t=np.repeat(np.arange(0, 1000, 10), 100), g=np.tile(np.arange(100), 100))
    for part in (0.0, 0.2, 0.7, 1.0):
        windows = each.windows(many)
        assert windows is not None
        assert abs(WindowPart((-1,), (part,)).kept(windows).mean() - part) < 0.02


@pytest.mark.parametrize(
    "other",
    [
        Aggregate(COUNT, Order("t"), 10, 5),
        Aggregate(COUNT, Order("tup#"), 10, 10),
        Aggregate(COUNT, Order("t"), 10, 10, timeout=3),
    ],
)
def test_windows_that_overlap_count_or_time_out_cannot_be_left_out(other):
    assert other.windows(stream("int", [(1, 0)])) is None


def test_values_without_a_place_are_in_no_window():
    found = box((), 0).windows(train("t double", t=[None, float("nan"), float("inf"), 25.0, -0.5]))
    assert found is not None
    assert found.placed.tolist() == [False, False, False, True, True]
    assert found.numbers[3:].tolist() == [2, -1]
