"""Ranks: uniform, the same wherever they are asked for, whole groups together, and the least worth first."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.expressions import expr
from australis.model.keys import buckets
from australis.model.qos.graph import graph
from australis.model.train import Train
from australis.qos.ranks import BINS, KeyRank, NumberRank, Part, ValueRank, kept
from australis.testing import train

MASK = (1 << 64) - 1


def numbered(numbers) -> Train:
    tuples = pa.record_batch({"x": pa.nulls(len(numbers), pa.int64())})
    return Train(tuples, np.zeros(len(numbers), np.int64), np.array(numbers, np.int64))


def splitmix(word: int, seed: int) -> float:
    z = (word * 0x9E3779B97F4A7C15 + seed) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return ((z ^ (z >> 31)) >> 11) / 2**53


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20), st.integers(0, 2**70))
def test_a_number_s_rank_is_a_hash_of_it_and_of_the_seed(numbers, seed):
    found = NumberRank(seed).of(numbered(numbers))
    assert found.tolist() == [splitmix(number & MASK, seed & MASK) for number in numbers]


@pytest.mark.parametrize("step", [1, 2, 64, 1 << 26, 1 << 36])
def test_ranks_are_uniform_however_numbers_are_spaced(step):
    ranks = np.sort(NumberRank(7).of(numbered(np.arange(20_000) * step)))
    assert np.abs(ranks - (np.arange(20_000) + 0.5) / 20_000).max() < 0.015  # five times the deviation of a fair hash


def test_seeds_shed_other_tuples():
    both = [NumberRank(seed).of(numbered(range(10_000))) < 0.5 for seed in (1, 2)]
    assert 0.2 < (both[0] & both[1]).mean() < 0.3


@given(st.data())
def test_groups_are_kept_whole(data):
    keys = data.draw(st.lists(st.sampled_from([None, float("nan"), 0.0, -0.0, 1.5, float("inf")]), min_size=1))
    names = data.draw(st.lists(st.sampled_from(["a", "b", None]), min_size=len(keys), max_size=len(keys)))
    ranks = KeyRank(("k", "n")).of(train("k double, n string", k=keys, n=names))
    groups = {}
    for key, name, rank in zip(keys, names, ranks, strict=True):
        group = (None if key is None else "nan" if key != key else key + 0.0, name)
        assert groups.setdefault(group, rank) == rank


def test_the_groups_of_a_partition_are_shed_like_those_of_others():
    keys = train("k long", k=range(20_000))
    ranks, partitions = KeyRank(("k",)).of(keys), buckets([keys["k"]], len(keys), 4)
    for partition in range(4):
        assert abs((ranks[partitions == partition] < 0.3).mean() - 0.3) < 0.03


WORTH = graph({0: 0.0, 50: 0.2, 100: 1.0})


def ranked(values, seed: int = 0) -> tuple[ValueRank, Train]:
    stream = train("v double", v=values)
    empty = ValueRank(expr("v"), WORTH, (0,) * BINS, seed)
    counts = np.bincount(empty.bins(empty.worth(stream)), minlength=BINS)
    return ValueRank(expr("v"), WORTH, tuple(counts.tolist()), seed), stream


@given(st.lists(st.floats(-50, 150), min_size=1, max_size=200), st.floats(0, 1))
def test_of_a_part_what_is_kept_is_worth_at_least_what_is_shed(values, part):
    rank, stream = ranked(values)
    mask = kept(rank, Part((part,)), stream)
    worth = np.array([WORTH.utility(value) for value in values])
    if mask.any() and not mask.all():
        assert worth[mask].min() >= worth[~mask].max() - 1 / BINS - 1e-12


def test_the_part_that_is_asked_for_is_kept():
    values = np.random.default_rng(5).normal(60, 20, 20_000)
    rank, stream = ranked(values)
    for part in (0.0, 0.1, 0.5, 0.9, 1.0):
        assert abs(kept(rank, Part((part,)), stream).mean() - part) < 0.02
    same, stream = ranked(np.full(20_000, 50.0))  # all worth the same: by chance
    assert abs(kept(same, Part((0.3,)), stream).mean() - 0.3) < 0.02


def test_a_value_that_is_unknown_is_worth_all():
    rank, stream = ranked([None, float("nan"), 0.0, 100.0])
    assert rank.worth(stream).tolist() == [1, 1, 0, 1]


def test_a_value_may_be_computed():
    rank = ValueRank(expr("mph * 2"), WORTH, (1,) * BINS)
    assert rank.worth(train("mph int", mph=[25, 50])).tolist() == [0.2, 1.0]


def test_where_nothing_was_seen_all_are_kept():
    rank = ValueRank(expr("v"), WORTH, (0,) * BINS)
    assert kept(rank, Part((0.5,)), train("v double", v=[1.0, 99.0])).all()


STEPS = st.lists(
    st.tuples(st.integers(-50, 50), st.floats(0, 1)), min_size=1, max_size=6, unique_by=lambda step: step[0]
)


def part_at(steps, value) -> float:
    return next((part for start, part in reversed(steps) if start <= value), 1.0)


@given(STEPS, st.lists(st.integers(-60, 60) | st.none(), max_size=20))
def test_a_part_by_steps_is_that_of_the_last_step_before(steps, values):
    steps.sort()
    part = Part(tuple(y for _, y in steps), "t", tuple(x for x, _ in steps))
    found = np.broadcast_to(part.of(train("t int", t=values)), len(values))
    assert found.tolist() == [steps[-1][1] if value is None else part_at(steps, value) for value in values]


@given(STEPS, st.lists(st.tuples(st.integers(-60, 60), st.integers(1, 40)), min_size=1, max_size=10))
def test_a_window_has_the_least_part_of_all_its_values(steps, windows):
    steps.sort()
    part = Part(tuple(y for _, y in steps), "t", tuple(x for x, _ in steps))
    start, size = np.array(windows, np.float64).T
    expected = [min(part_at(steps, value) for value in range(at, at + length)) for at, length in windows]
    assert part.least(start, start + size).tolist() == expected
