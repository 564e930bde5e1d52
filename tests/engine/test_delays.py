"""Delays from sketches beside the exact ones."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import australis as au
from australis.engine import measures
from australis.engine.delays import (
    EDGES,
    POINTS,
    ArrivalSketch,
    ArrivalTimes,
    arrivals_of,
    histogram,
    inputs_of,
    number_sketch,
    quantile,
)
from australis.engine.measures import TaskMeasures
from australis.model.box import Moment
from australis.model.network import Arrow
from australis.model.train import Train

SCHEMA = pa.schema({"a": pa.int64()})


def train(numbers, times):
    numbers, times = np.asarray(numbers, np.int64), np.asarray(times, np.int64)
    return Train(pa.RecordBatch.from_arrays([pa.array(numbers)], schema=SCHEMA), times, numbers)


def cut(whole, cuts):
    bounds = [0, *sorted(at % (len(whole) + 1) for at in cuts), len(whole)]
    return [whole.slice(start, stop) for start, stop in pairwise(bounds)]


def sketched(trains):
    sketch = ArrivalSketch()
    for each in trains:
        sketch.add(each)
    return sketch


COUNTS = st.integers(1, 600) | st.sampled_from([254, 255, 256, 257, 510, 511, 512, 5000])
CUTS = st.lists(st.integers(0, 5000), max_size=6)


@given(COUNTS, CUTS, st.integers(0, 2**63 - 10**6), st.randoms(use_true_random=False))
@example(1, [], 0, None)
@example(256, [1, 255], 2**63 - 10**6, None)
def test_a_sketch_of_arrivals_is_small_exact_at_both_ends_and_the_same_however_it_is_cut(count, cuts, first, random):
    steps = [0 if random is None else random.choice([0, 0, 1, 1000]) for _ in range(count)]
    numbers, times = first + np.arange(count), np.cumsum(steps)
    whole = train(numbers, times)
    sketch = sketched(cut(whole, cuts))
    known, at = sketch.points()
    assert sketch.tuples == count
    assert len(known) <= POINTS
    assert (known[0], known[-1], at[0], at[-1]) == (numbers[0], numbers[-1], times[0], times[-1])
    assert (np.diff(known) > 0).all()
    assert all((one == other).all() for one, other in zip(sketched([whole]).points(), (known, at), strict=True))
    # Never further off than the time in which 1/127 of the tuples came; exact where there are few.
    reach = 0 if count < POINTS else 2 * -(-count // 255)
    off = np.abs(ArrivalTimes(0, [("in", known, at)]).times(numbers, {"in"}) - times)
    after, before = (
        times[np.minimum(np.arange(count) + reach, count - 1)],
        times[np.maximum(np.arange(count) - reach, 0)],
    )
    assert (off <= after - before + 1e-6).all()


def test_a_sketch_does_not_hold_on_to_trains():
    whole = train(range(10_000), range(10_000))
    sketch = sketched([whole])
    assert not any(np.shares_memory(points, whole.number) for points in sketch.numbers)
    assert not any(np.shares_memory(points, whole.ts) for points in sketch.times)


def test_tuples_that_came_at_once_need_two_points():
    known, at = sketched([train(range(10_000), [7] * 10_000)]).points()
    assert (known.tolist(), at.tolist()) == ([0, 9999], [7, 7])
    assert [points.tolist() for points in ArrivalSketch().points()] == [[], []]


@given(st.lists(st.integers(0, 700), max_size=6))
@example([])
@example([0, 257])
@example([256])
@example([70_000, 1, 3])
def test_a_sketch_of_numbers_has_the_ends_and_all_weights(lengths):
    firsts = np.cumsum([0, *lengths])
    trains = [train(range(start, stop), range(start, stop)) for start, stop in pairwise(firsts.tolist())]
    numbers, weights = number_sketch(trains)
    total = sum(lengths)
    assert len(numbers) == len(weights) == min(total, POINTS)
    assert weights.sum() == total
    if total:
        assert (numbers[0], numbers[-1]) == (0, total - 1)
        assert np.abs(np.repeat(numbers, weights) - np.arange(total)).max() <= (0 if total <= POINTS else total / 128)


def test_only_the_numbers_of_a_sketch_are_selected():
    whole = train(range(10_000), [0] * 10_000)
    some = whole.where(pa.array(np.arange(10_000) % 2 == 0))
    numbers, weights = number_sketch([some])
    assert weights.sum() == 5000
    assert (numbers % 2 == 0).all()
    assert some._number_rows is not None


def test_numbers_that_no_split_has_count_from_the_clock_and_inputs_are_told_apart():
    arrivals = ArrivalTimes(1000, [
        ("a", np.array([10, 20]), np.array([100, 200])), ("a", np.array([30, 40]), np.array([300, 300])),
        ("b", np.array([10, 20]), np.array([150, 160])), ("b", np.array([], np.int64), np.array([], np.int64)),
    ])  # fmt: skip
    numbers = np.array([9, 10, 15, 20, 25, 30, 35, 41, 2**62])
    assert arrivals.times(numbers, {"a"}).tolist() == [0, -900, -850, -800, 0, -700, -700, 0, 0]
    assert arrivals.times(numbers, {"b"}).tolist() == [0, -850, -845, -840, 0, 0, 0, 0, 0]
    assert arrivals.times(numbers, {"a", "b"}).tolist() == [0, -900, -850, -840, 0, -700, -700, 0, 0]
    assert arrivals.times(numbers, {"c"}).tolist() == [0] * 9


@given(st.lists(st.floats(-1, 1e6), max_size=20))
@example([0.001, 0.0010001, 1000.0, 1000.1])
def test_buckets_are_eight_a_factor_of_ten_and_histograms_add_up(delays):
    counts = histogram(np.array(delays), np.ones(len(delays), np.int64))
    ends = [-np.inf, *EDGES.tolist(), np.inf]
    assert counts.tolist() == [sum(low < delay <= high for delay in delays) for low, high in pairwise(ends)]
    assert len(counts) == 50
    halves = [histogram(np.array(part), np.ones(len(part), np.int64)) for part in (delays[::2], delays[1::2])]
    assert (sum(halves) == counts).all()
    assert EDGES[0] == pytest.approx(0.001)
    assert EDGES[-1] == pytest.approx(1000)


def test_quantiles():
    assert np.isnan(quantile([0] * 50, 0.5))
    counts = histogram(np.array([0.0001, 0.02, 0.02, 5000]), np.array([1, 1, 1, 1]))
    assert quantile(counts, 0.25) == pytest.approx(0.001)
    assert 0.02 <= quantile(counts, 0.5) == quantile(counts, 0.75) <= 0.02 * 10 ** (1 / 8)
    assert quantile(counts, 1.0) == np.inf


@given(
    st.lists(st.tuples(st.integers(1, 3000), st.sampled_from([0, 3, 500, 40_000])), min_size=1, max_size=3),
    st.integers(1, 7),
    st.randoms(use_true_random=False),
)
def test_the_histogram_of_an_output_is_near_the_exact_delays(splits, share, random):
    now, clock = 10**15, 10**15 - 200_000
    measured, numbers, times, gaps = [], [], [], [0]
    for place, (count, step) in enumerate(splits):
        came = clock - np.cumsum([random.randint(0, step) for _ in range(count)])[::-1]
        whole = train((place << 26) + np.arange(count), came)
        task = TaskMeasures(au.network(out=au.stream("s", "a bigint").map(a="a")))
        for each in cut(whole, [random.randint(0, count) for _ in range(3)]):
            task.read("s", each)
        measured.append(task.table(1, place))
        numbers.append(whole.number[::share])
        times.append(came[::share])
        stride = 2 * -(-count // 255)
        gaps.append(int((came[stride:] - came[:-stride]).max(initial=0)) if count >= POINTS else 0)
    outputs = [train(*each) for each in zip(numbers, times, strict=True)]
    parts = measures.rows_of(measures.part("out", "", [each]) for each in outputs)
    arrivals = arrivals_of(clock, measures.rows_of(measured))
    (row,) = measures.output(1, "out", parts, now, arrivals, {"s"}).to_pylist()
    exact = np.sort((now - np.concatenate(times)) / 1e6)
    gap = max(gaps) / 1e6 + 1e-9
    assert row["given"] == len(exact) == sum(row["delays"])
    assert row["worst"] == pytest.approx(exact[-1], abs=1e-6)
    assert row["delay"] == pytest.approx(exact.mean(), abs=gap + (exact[-1] - exact[0]) / 128)
    assert (row["age"], row["oldest"]) == (pytest.approx(exact.mean()), pytest.approx(exact[-1]))
    if sum(len(each) > POINTS for each in outputs):
        slack = len(exact) // 100 + 1
    else:
        slack = 0
    for part in (0.01, 0.5, 0.9, 0.99, 1.0):
        rank = int(np.ceil(part * len(exact))) - 1
        low, high = exact[max(rank - slack, 0)] - gap, exact[min(rank + slack, len(exact) - 1)] + gap
        assert low - 1e-9 <= quantile(row["delays"], part) <= max(high, 0.001) * 10 ** (1 / 8) + 1e-9


def test_inputs_of_an_output():
    left, right, table = au.stream("left", "a int"), au.stream("right", "a int"), au.static("table", "a int")
    net = au.network(one=left.map(a="a"), both=left.union(right), held=right.join(table, "left.a = right.a"))
    named = {output.name: inputs_of(net, output.arrow) for output in net.outputs}
    assert named == {"one": {"left"}, "both": {"left", "right"}, "held": {"right", "table"}}
    assert inputs_of(net, Arrow("left")) == {"left"}


def test_a_window_has_the_delay_of_what_closed_it_and_the_age_of_its_first():
    net = au.network(out=au.stream("s", "a bigint").aggregate(on="a", size=10, n="count(*)"))
    whole = train(range(100), np.arange(100) * 1_000_000)  # one a second
    ((out, _),) = [net.nodes[0].box.step(net.nodes[0].box.tables(SCHEMA), (whole,), Moment(99))]
    assert out.number.tolist() == [10, 20, 30, 40, 50, 60, 70, 80, 90]
    arrivals = ArrivalTimes(99_000_000, [("s", *sketched([whole]).points())])
    (row,) = measures.output(
        1, "out", measures.rows_of([measures.part("out", "", [out])]), 100_000_000, arrivals, {"s"}
    ).to_pylist()
    assert (row["worst"], row["oldest"]) == (90.0, 100.0)
    assert (row["delay"], row["age"]) == (50.0, 60.0)


def test_an_output_without_tuples_has_no_delays():
    (row,) = measures.output(1, "out", [], 0).to_pylist()
    assert (row["given"], row["delay"], row["worst"], row["age"], row["oldest"], row["delays"]) == (0, *[None] * 5)
