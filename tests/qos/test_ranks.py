"""Ranks: uniform, the same wherever they are asked for, and the least worth first.

Those of windows are in `tests/boxes/aggregate/test_shedding.py`.
"""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from australis.expressions import expr
from australis.model.qos.graph import graph
from australis.model.train import Train
from australis.qos.ranks import BINS, NumberRank, ValueRank, WindowPart
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


WORTH = graph({0: 0.0, 50: 0.2, 100: 1.0})


def ranked(values, seed: int = 0) -> tuple[ValueRank, Train]:
    stream = train("v double", v=values)
    empty = ValueRank(expr("v"), WORTH, (0,) * BINS, seed)
    counts = np.bincount(empty.bins(empty.worth(stream)), minlength=BINS)
    return ValueRank(expr("v"), WORTH, tuple(counts.tolist()), seed), stream


@given(st.lists(st.floats(-50, 150), min_size=1, max_size=200), st.floats(0, 1))
def test_of_a_part_what_is_kept_is_worth_at_least_what_is_shed(values, part):
    rank, stream = ranked(values)
    mask = rank.of(stream) < part
    worth = np.array([WORTH.utility(value) for value in values])
    if mask.any() and not mask.all():
        assert worth[mask].min() >= worth[~mask].max() - 1 / BINS - 1e-12


def test_the_part_that_is_asked_for_is_kept():
    values = np.random.default_rng(5).normal(60, 20, 20_000)
    rank, stream = ranked(values)
    for part in (0.0, 0.1, 0.5, 0.9, 1.0):
        assert abs((rank.of(stream) < part).mean() - part) < 0.02
    same, stream = ranked(np.full(20_000, 50.0))  # all worth the same: by chance
    assert abs((same.of(stream) < 0.3).mean() - 0.3) < 0.02


def test_a_value_that_is_unknown_is_worth_all():
    rank, stream = ranked([None, float("nan"), 0.0, 100.0])
    assert rank.worth(stream).tolist() == [1, 1, 0, 1]


def test_a_value_may_be_computed():
    rank = ValueRank(expr("mph * 2"), WORTH, (1,) * BINS)
    assert rank.worth(train("mph int", mph=[25, 50])).tolist() == [0.2, 1.0]


def test_where_nothing_was_seen_all_are_kept():
    rank = ValueRank(expr("v"), WORTH, (0,) * BINS)
    assert (rank.of(train("v double", v=[1.0, 99.0])) < 0.5).all()


LEAST, MOST = -(2**63), 2**63 - 1
NUMBERS = st.sampled_from([LEAST, LEAST + 1, -1, 0, 1, 7, MOST - 1, MOST])


@st.composite
def steps(draw):
    numbers = sorted(draw(st.sets(NUMBERS, max_size=4)))
    return WindowPart(tuple(numbers), tuple(draw(st.sampled_from([0.0, 0.2, 0.5, 1.0])) for _ in numbers))


@given(steps(), steps(), st.none() | NUMBERS)
def test_windows_that_have_begun_keep_the_lesser_part_of_two_plans(before, after, seen):
    both = before.followed_by(after, seen)
    for number in (LEAST, LEAST + 1, -2, -1, 0, 1, 2, 6, 7, 8, MOST - 1, MOST):
        begun = seen is None or number <= seen
        assert both.at(number) == (min(before.at(number), after.at(number)) if begun else after.at(number))
    assert both.followed_by(after, seen) == both
    assert list(both.numbers) == sorted(set(both.numbers))
